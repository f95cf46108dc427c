"""``masthead debit``: run, list, file, cancel, collected, returns."""

from pathlib import Path

import click

from masthead.bank_files.pain008 import VERSIONS
from masthead.books import Books, debit_collections, debit_returns, debit_runs
from masthead.circulation.amounts import in_currency
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, end_of, say
from masthead.cli.new_files import check_new, replace_option, written
from masthead.contract.printable import counted, printable
from masthead.errors import BadUsage, MastheadError

_FILE = click.Path(path_type=Path, dir_okay=False)
_SHOWN_MAX = 100


@click.group("debit")
def debit_group() -> None:
    """Direct debits: hand in invoices, and book what was collected and what came back.

    `masthead mandate add` adds the mandates of payers.
    """


@debit_group.command("run")
@click.option("--on", "day", type=Day(), required=True, help="When the bank shall collect.")
@click.option(
    "--format",
    "version",
    type=click.Choice(VERSIONS),
    default=VERSIONS[0],
    help="The format of the file that the bank asks for.",
)
@click.option("--to", "path", type=_FILE, help="Also write the file for the bank.")
@replace_option
@dry_run
@account_options
def run(
    day: str,
    version: str,
    path: Path | None,
    account: int | None,
    database: str,
    *,
    replace: bool,
    dry_run: bool,
) -> None:
    """Hand in all invoices that the bank can collect on a day.

    These are open, due by then, issued at least `debit_notice_days` before, of payers with an
    active mandate, and not with the bank. The credit of a payer settles them first. The bank has
    paid nothing by this: a statement of the bank or
    `masthead debit collected` books the payments. `masthead debit file` writes the file again.
    """
    if path is not None and not path.parent.is_dir():
        raise BadUsage(f"--to: there is no folder {path.parent}: nothing was handed in")
    if path is not None:
        check_new(path, replace=replace)
    books = books_of(account, database)
    done = debit_runs.run(books, day, version=version, dry_run=dry_run)
    say(done, dry_run=dry_run)
    if path is not None and done.run.claims and not dry_run:
        run_id = done.run.debit_run_id
        try:
            _write(books, run_id, path)
        except OSError as error:
            raise MastheadError(
                f"{path}: {error.strerror}: the claims of debit run {run_id} are stored, and "
                f"`masthead debit file {run_id} FILE` writes the file"
            ) from error


@debit_group.command("file")
@click.argument("run_id", type=ID, metavar="RUN")
@click.argument("path", type=_FILE, metavar="FILE")
@replace_option
@account_options
def file(run_id: int, path: Path, account: int | None, database: str, *, replace: bool) -> None:
    """Write the file of a run for the bank (pain.008): the same bytes each time.

    A bank takes a file once: it knows the id of one that it has.
    """
    check_new(path, replace=replace)
    _write(books_of(account, database), run_id, path)


def _write(books: Books, run_id: int, path: Path) -> None:
    with debit_runs.file_of(books, run_id) as made:
        with written(path) as out:
            out.writelines(made.pieces)
        run = made.run
        claims = counted(run.claims, "claim")
        click.echo(f"{printable(path)}: {run.version}, {claims}, id {run.message_id}")


@debit_group.command("cancel")
@click.argument("run_id", type=ID, metavar="RUN")
@dry_run
@account_options
def cancel(run_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Cancel a run whose file you did not give to the bank.

    Its invoices are open as before, and the next run collects them. If the bank has the file,
    cancel it there, and read its report with `masthead debit returns`.
    """
    say(debit_runs.cancel(books_of(account, database), run_id, dry_run=dry_run), dry_run=dry_run)


@debit_group.command("list")
@click.argument("run_id", type=ID, metavar="RUN", required=False)
@click.option("--after", type=ID, default=0, help="Only runs, or claims of RUN, after this id.")
@click.option("--limit", type=click.IntRange(1, 1000), default=_SHOWN_MAX, help="How many at most.")
@account_options
def list_command(
    run_id: int | None, after: int, limit: int, account: int | None, database: str
) -> None:
    """List the runs and what became of them, or the claims of one RUN."""
    books = books_of(account, database)
    if run_id is None:
        for each in debit_runs.listed_runs(books, after=after, limit=limit):
            click.echo(printable(each.sentence))
        return
    currency = books.currency
    for claim, number in debit_runs.claims_of(books, run_id, after=after, limit=limit):
        said = (
            f"{claim.claim_id}  invoice {number}  {in_currency(claim.cents, currency)}  "
            f"{claim.sequence}  {claim.end_to_end_id}  {claim.status}"
        )
        if claim.payment_id is not None:
            said += f", payment {claim.payment_id}"
        if claim.returned_on:
            said += f", returned on {claim.returned_on}: {claim.return_reason}"
        click.echo(printable(said))


@debit_group.command("collected")
@click.argument("run_id", type=ID, metavar="RUN")
@click.option("--on", "day", type=Day(), required=True, help="The value date of the bank.")
@dry_run
@account_options
def collected(run_id: int, day: str, account: int | None, database: str, *, dry_run: bool) -> None:
    """Book that the bank has collected all claims of a run that are with it.

    `masthead payment import` does so by itself where a statement names the run or its claims.
    """
    done = debit_collections.collected(books_of(account, database), run_id, day, dry_run=dry_run)
    say(done, dry_run=dry_run)


@debit_group.command("returns")
@click.argument("path", type=_FILE, metavar="FILE")
@click.option(
    "--leave-unknown",
    is_flag=True,
    help="Leave out claims that this account never handed in, such as those of an earlier system.",
)
@dry_run
@account_options
def returns(
    path: Path, account: int | None, database: str, *, leave_unknown: bool, dry_run: bool
) -> None:
    """Read what the bank refuses or gives back (pain.002): these invoices are open again.

    Returns in a statement (camt.053, camt.054) come by `masthead payment import`. The same file
    again changes nothing. A report with a claim that this account never handed in is refused.
    After returns in a row (`mandate_rests_after`), a mandate rests.
    """
    done = debit_returns.import_report(
        books_of(account, database), path, leave_unknown=leave_unknown, dry_run=dry_run
    )
    click.echo(printable(done.sentence))
    for each in done.returned[:_SHOWN_MAX]:
        click.echo(f"  {printable(each.sentence)}")
    if len(done.returned) > _SHOWN_MAX:
        click.echo(f"  and {len(done.returned) - _SHOWN_MAX} more")
    for unknown in done.unknown[:_SHOWN_MAX]:
        click.echo(f"  {printable(unknown)} is no claim of this account: it is left out")
    end_of(dry_run=dry_run)
