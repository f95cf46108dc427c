"""``masthead payment``: import, proposals, confirm, assign, split, ignore."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from masthead.bank_files.csv_mapping import read_mapping
from masthead.books import bank_decisions, bank_imports
from masthead.books.bank_decisions import Part
from masthead.books.bank_imports import Read
from masthead.circulation.amounts import cents_of
from masthead.cli.books_options import ID, account_options, books_of, dry_run, end_of, say
from masthead.contract.printable import printable
from masthead.errors import BadUsage

_FILE = click.Path(path_type=Path, dir_okay=False)
_SHOWN_MAX = 100


@click.command("import")
@click.argument("path", type=_FILE, metavar="FILE")
@click.option(
    "--map",
    "mapping",
    type=_FILE,
    help="The mapping of a CSV file, which says what its columns are.",
)
@dry_run
@account_options
def import_(
    path: Path, mapping: Path | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Read a statement of the bank, and book the payments that are certain.

    The file is camt.053, camt.054 or MT940, or CSV with a mapping, such as the payouts of a shop or
    a card provider. An entry with the reference of an open invoice settles it; so does one with its
    number, if the amount or the payer's name fits too. What fits only by amount and name is
    proposed: `masthead payment confirm` books it, and `masthead payment assign` books what is
    unknown. The same file again, or another one with the same entries, changes nothing.
    """
    done = bank_imports.import_file(
        books_of(account, database),
        path,
        read_mapping(mapping) if mapping else None,
        dry_run=dry_run,
    )
    click.echo(printable(done.sentence))
    for status in ("settled", "proposed", "unknown"):
        _list(status, done.of(status))
    end_of(dry_run=dry_run)


def _list(status: str, entries: Sequence[Read]) -> None:
    if entries:
        click.echo(f"{status}:")
    for each in entries[:_SHOWN_MAX]:
        click.echo(f"  {printable(each.sentence)}")
    if len(entries) > _SHOWN_MAX:
        click.echo(f"  and {len(entries) - _SHOWN_MAX} more")


@click.command("proposals")
@click.option("--after", type=ID, default=0, help="Only entries after this one.")
@click.option("--limit", type=click.IntRange(1, 1000), default=_SHOWN_MAX, help="How many at most.")
@account_options
def proposals(after: int, limit: int, account: int | None, database: str) -> None:
    """List the entries of statements that wait for a decision, the oldest first."""
    for each in bank_decisions.to_decide(books_of(account, database), after=after, limit=limit):
        click.echo(printable(each.sentence))


@click.command("confirm")
@click.argument("entry_id", type=ID, metavar="ENTRY")
@dry_run
@account_options
def confirm(entry_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Book an entry as the payment of the invoice that is proposed for it."""
    done = bank_decisions.confirm(books_of(account, database), entry_id, dry_run=dry_run)
    say(done, dry_run=dry_run)


@click.command("assign")
@click.argument("entry_id", type=ID, metavar="ENTRY")
@click.option("--invoice", help="The number of the invoice, such as 2026-000123.")
@click.option("--payer", "subscriber_id", type=ID, help="The payer, whose oldest invoice is first.")
@dry_run
@account_options
def assign(
    entry_id: int,
    invoice: str | None,
    subscriber_id: int | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Book an entry as a payment of an invoice or of a payer."""
    if invoice is None and subscriber_id is None:
        raise BadUsage("give the number of the --invoice, or the --payer")
    done = bank_decisions.assign(
        books_of(account, database),
        entry_id,
        invoice=invoice,
        subscriber_id=subscriber_id,
        dry_run=dry_run,
    )
    say(done, dry_run=dry_run)


class OfAmount(click.ParamType[tuple[str, int]]):
    """What a part of an entry is for, and its amount, such as ``2026-000123=49.00``."""

    name = "of=amount"

    def convert(
        self, value: Any, _param: click.Parameter | None, _context: click.Context | None
    ) -> tuple[str, int]:
        """Return the words before the last ``=``, and the cents; raise BadUsage without both."""
        if isinstance(value, tuple):
            return value
        named, _, amount = str(value).rpartition("=")
        if not named.strip():
            raise BadUsage(f"{value!r} has no amount: a part is such as 2026-000123=49.00")
        try:
            return named.strip(), cents_of(amount)
        except ValueError as error:
            raise BadUsage(f"{value!r}: {error}") from None


@click.command("split")
@click.argument("entry_id", type=ID, metavar="ENTRY")
@click.option(
    "--invoice",
    "of_invoices",
    type=OfAmount(),
    multiple=True,
    metavar="NUMBER=AMOUNT",
    help="A part that pays an invoice; may be repeated.",
)
@click.option(
    "--payer",
    "of_payers",
    type=OfAmount(),
    multiple=True,
    metavar="ID=AMOUNT",
    help="A part of a payer, whose oldest invoice is first; may be repeated.",
)
@dry_run
@account_options
def split(
    entry_id: int,
    of_invoices: Sequence[tuple[str, int]],
    of_payers: Sequence[tuple[str, int]],
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Book an entry as several payments, such as a transfer for two payers.

    The amounts of the parts are together that of the entry. A part of more than is open of its
    invoice settles other invoices of the payer, or is a credit.
    """
    parts = [Part(cents, invoice=number) for number, cents in of_invoices]
    parts += [Part(cents, subscriber_id=_id(payer)) for payer, cents in of_payers]
    done = bank_decisions.split(books_of(account, database), entry_id, parts, dry_run=dry_run)
    say(done, dry_run=dry_run)


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < len(str(ID.max))):
        raise BadUsage(f"--payer: {text!r} is no id of a payer: a part is such as 2=49.00")
    return int(text)


@click.command("ignore")
@click.argument("entry_id", type=ID, metavar="ENTRY")
@click.option("--reason", help="Why it is no payment, such as a fee of the bank.")
@dry_run
@account_options
def ignore(
    entry_id: int, reason: str | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Mark an entry as no payment of a payer; its name and its texts are deleted."""
    done = bank_decisions.ignore(books_of(account, database), entry_id, reason, dry_run=dry_run)
    say(done, dry_run=dry_run)


COMMANDS = (import_, proposals, confirm, assign, split, ignore)
"""The commands of ``masthead payment`` for statements of banks."""
