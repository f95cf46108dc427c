"""``masthead reminders``: levels, select, send, pdf."""

from pathlib import Path

import click

from masthead.billing.reminding import DAYS_MAX, Level
from masthead.books import reminder_documents, reminder_levels, reminders
from masthead.circulation.amounts import in_currency
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.cli.document_files import write_documents
from masthead.cli.options import Amount
from masthead.contract.printable import counted, printable

_THEN = {"nothing": "nothing", "stop": "stop", "write-off": "write_off"}


@click.group("reminders")
def reminders_group() -> None:
    """Reminders of invoices that are overdue: their levels, whom to remind, and the letters.

    Read the payments first: `masthead payment import`. Then `masthead reminders select` lists whom
    to remind, and `masthead reminders send` records it.
    """


@reminders_group.group("levels")
def levels_group() -> None:
    """The levels of reminders: each is due some days after the due day of an invoice.

    An invoice gets one level after the other, with at least 7 days between two, and none is left
    out, however late it is. For instance, level 1 after 10 days without a fee, level 2 after 24
    days with a fee, level 3 after 40 days, which stops the service.
    """


@levels_group.command("list")
@account_options
def list_levels(account: int | None, database: str) -> None:
    """List the levels in their order, with their texts."""
    found = reminder_levels.levels(books_of(account, database))
    for each in found:
        click.echo(each.sentence)
        if each.level.text:
            click.echo(f"  {printable(each.level.text)}")
    if not found:
        click.echo("no levels: `masthead reminders levels set` makes one")


@levels_group.command("set")
@click.argument("level", type=ID)
@click.option(
    "--days",
    type=click.IntRange(1, DAYS_MAX),
    required=True,
    help="Days after the due day of the invoice.",
)
@click.option("--fee", type=Amount(), default="0", help="What the letter costs; nothing at first.")
@click.option(
    "--then",
    type=click.Choice(list(_THEN)),
    default="nothing",
    help="What the last level does: stop what is not paid, or write it off without a letter.",
)
@click.option("--text", help="The text of the letter, in place of the template's.")
@dry_run
@account_options
def set_level(
    level: int,
    days: int,
    fee: int,
    then: str,
    text: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Add level LEVEL (1 to 9), or replace it: it gets all values that are given here.

    With --then stop, the subscriptions that the invoice would pay for end with the letter, and a
    credit note takes back what they cost. With --then write-off, they end too, what is open is
    written off, and no letter is written.
    """
    books = books_of(account, database)
    wanted = Level(level, days, fee, _THEN[then], text)  # type: ignore[arg-type]
    say(reminder_levels.set_level(books, wanted, dry_run=dry_run), dry_run=dry_run)


@levels_group.command("remove")
@click.argument("level", type=ID)
@dry_run
@account_options
def remove_level(level: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Remove level LEVEL; the reminders that were written stay."""
    books = books_of(account, database)
    say(reminder_levels.remove_level(books, level, dry_run=dry_run), dry_run=dry_run)


@reminders_group.command("select")
@account_options
def select(account: int | None, database: str) -> None:
    """List whom to remind today: payer, invoices, days overdue, level and fee. Nothing is recorded.

    Invoices that are with the bank, are disputed, or are paid but for the tolerance get no
    reminder, and neither does a payer whose credit is enough. The last line says up to which value
    date payments were read.
    """
    found = reminders.due(books_of(account, database))
    for letter in found.letters:
        fee = f", fee {in_currency(letter.fee, found.currency)}" if letter.fee else ""
        click.echo(f"{_payer(letter.leading)}: level {letter.leading.level.level}{fee}")
        for each in letter.due:
            click.echo(f"  {_line(each, found.currency)}, level {each.level.level}")
    for each in found.write_offs:
        click.echo(f"{_payer(each)}: written off, level {each.level.level}")
        click.echo(f"  {_line(each, found.currency)}")
    click.echo(found.sentence)
    if found.letters or found.write_offs:
        click.echo("`masthead reminders send` records them")


def _payer(late: reminders.Due) -> str:
    invoice = late.invoice
    name = " ".join(filter(None, (invoice.first_name, invoice.last_name))) or invoice.company
    return printable(f"{name or 'payer'} (subscriber {invoice.subscriber_id})")


def _line(late: reminders.Due, currency: str) -> str:
    invoice = late.invoice
    return (
        f"invoice {invoice.number_text}, due {invoice.due_on}, "
        f"{counted(late.days_overdue, 'day')} overdue: {in_currency(invoice.open_cents, currency)}"
    )


@reminders_group.command("send")
@dry_run
@account_options
def send(account: int | None, database: str, *, dry_run: bool) -> None:
    """Record the reminders that `masthead reminders select` lists now, with their fees.

    A payer gets one letter for all invoices that are due, at the highest of their levels, with the
    fee of that level: an invoice of its own, which is no revenue and is settled last. What the
    levels say is done: subscriptions end, or what is open is written off. A second call on the same
    day finds nobody.
    """
    done = reminders.send(books_of(account, database), dry_run=dry_run)
    say(done, dry_run=dry_run)
    if done.letters and not dry_run:
        click.echo(
            "`masthead reminders pdf --into FOLDER` writes the letters, and `masthead mail send` "
            "sends those that go by email"
        )


@reminders_group.command("pdf")
@click.option("--sent", "day", type=Day(), help="The day of the reminders; today by default.")
@click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder for the files, which are named after the first invoice and the level.",
)
@account_options
def pdf(day: str | None, folder: Path, account: int | None, database: str) -> None:
    """Write the letters of a day as PDF, one for each payer whose letter does not go by email.

    The same letters have the same bytes each time, unless the templates, the logo or the colour
    were changed. `masthead documents` changes templates.
    """
    letters = reminder_documents.letters(books_of(account, database), day)
    number = write_documents(letters, folder, "reminder-")
    click.echo(f"{counted(number, 'letter')} written to {printable(folder)}")
