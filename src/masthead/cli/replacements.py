"""``masthead replacement``: copies that are sent again, and their files."""

from pathlib import Path

import click

from masthead.books import replacements
from masthead.cli.books_options import ID, account_options, books_of, dry_run, raw, say
from masthead.contract.printable import printable
from masthead.loading.mail_files import write_replacements


@click.group("replacement")
def replacement_group() -> None:
    """Copies that are sent again: add, list and remove them, and write their file.

    A copy that was lost or damaged waits for the next file of replacements. It takes no issue from
    the subscription.
    """


@replacement_group.command("add")
@click.argument("subscription_id", type=ID, metavar="SUBSCRIPTION")
@click.option("--issue", "issue_id", type=ID, required=True, help="Id of the delivered issue.")
@click.option("--copies", type=int, default=1, show_default=True, help="How many copies.")
@dry_run
@account_options
def add(
    subscription_id: int,
    issue_id: int,
    copies: int,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Send an issue to SUBSCRIPTION again, with the next file of replacements."""
    books = books_of(account, database)
    say(
        replacements.send_again(books, subscription_id, issue_id, copies, dry_run=dry_run),
        dry_run=dry_run,
    )


@replacement_group.command("list")
@account_options
def list_(account: int | None, database: str) -> None:
    """List the copies that wait for the next file, and the newest files."""
    books = books_of(account, database)
    for each in replacements.waiting(books):
        name = " ".join(filter(None, (each.first_name, each.last_name)))
        click.echo(
            printable(
                f"replacement {each.replacement_id}: {each.copies} of {each.publication} "
                f"{each.issue} ({each.date}) for subscriber {each.subscriber_id} {name}, asked "
                f"for on {each.asked_on}"
            )
        )
    for file in replacements.files(books):
        click.echo(f"file of {file.written_at}: {file.rows} rows, {file.copies} copies")


@replacement_group.command("remove")
@click.argument("replacement_id", type=ID, metavar="REPLACEMENT")
@dry_run
@account_options
def remove(replacement_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Remove a REPLACEMENT that no file has yet."""
    say(
        replacements.remove(books_of(account, database), replacement_id, dry_run=dry_run),
        dry_run=dry_run,
    )


@replacement_group.command("file")
@click.argument("path", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE")
@click.option("--again", "written_at", help="Write the file of this time again.")
@raw
@account_options
def file(
    path: Path,
    written_at: str | None,
    account: int | None,
    database: str,
    *,
    is_raw: bool,
) -> None:
    """Write all copies that wait to FILE, whose name ends in .csv or .xlsx.

    Each goes to the address that the subscription has today. Afterwards, their issues can no longer
    be reopened. `masthead replacement list` has the times for --again.
    """
    count = write_replacements(books_of(account, database), path, written_at, is_raw=is_raw)
    click.echo(f"{path}: {count} rows")
