"""``masthead invoice``: make, show, list, pdf, cancel, credit, write-off."""

from pathlib import Path

import click

from masthead.books import invoice_documents, invoices
from masthead.circulation.amounts import in_currency
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.cli.document_files import write_documents
from masthead.cli.options import Amount
from masthead.contract.printable import counted, printable

_LIMIT = 1_000


@click.group("invoice")
def invoice_group() -> None:
    """Invoices, receipts and credit notes of an account that bills its orders.

    An order makes its invoice; one that is paid at once gets a receipt. Documents never change:
    what is wrong is taken back by a credit note. `masthead billing begin` begins billing.
    """


@invoice_group.command("make")
@click.argument("order_id", type=ID)
@dry_run
@account_options
def make(order_id: int, account: int | None, database: str, *, dry_run: bool) -> None:
    """Make the invoice of an order that has none, such as one of before billing began."""
    say(invoices.make(books_of(account, database), order_id, dry_run=dry_run), dry_run=dry_run)


@invoice_group.command("show")
@click.argument("number")
@account_options
def show(number: str, account: int | None, database: str) -> None:
    """Print an invoice or a credit note: its lines, and what settled it."""
    shown = invoices.show(books_of(account, database), number)
    invoice, currency = shown.invoice, shown.currency
    said = f"{invoice.name} of {invoice.issued_on}, subscriber {invoice.subscriber_id}"
    if invoice.order_id is not None:
        said += f", order {invoice.order_id}"
    if invoice.due_on:
        said += f", due on {invoice.due_on}"
    click.echo(said)
    if invoice.payment_reference:
        click.echo(f"payment reference {invoice.payment_reference}")
    if invoice.reason:
        click.echo(f"reason: {printable(invoice.reason)}")
    for line in shown.lines:
        copies = f"{line.copies} copies, " if line.copies > 1 else ""
        click.echo(
            f"  {printable(line.description)}: {copies}{in_currency(line.net, currency)} and "
            f"{in_currency(line.tax, currency)} tax"
        )
    click.echo(
        f"total {in_currency(invoice.total, currency)}, of which tax "
        f"{in_currency(invoice.tax, currency)}"
    )
    for name, cents in zip(
        ("paid", "taken back by credit notes", "written off"), shown.settled, strict=True
    ):
        if cents:
            click.echo(f"{name}: {in_currency(cents, currency)}")
    if invoice.kind != "credit_note":
        click.echo(f"open: {in_currency(invoice.open_cents, currency)}")


@invoice_group.command("list")
@click.option("--payer", "subscriber_id", type=ID, help="Those of this subscriber.")
@click.option("--open", "is_open", is_flag=True, help="Those of which something is open.")
@click.option("--due-by", type=Day(), help="Open ones that are due on this day or before.")
@account_options
def list_command(
    subscriber_id: int | None,
    is_open: bool,
    due_by: str | None,
    account: int | None,
    database: str,
) -> None:
    """Print invoices and credit notes, one a line."""
    books = books_of(account, database)
    currency = books.currency
    after = 0
    while True:
        page = invoices.listed(
            books,
            subscriber_id=subscriber_id,
            is_open=is_open,
            due_by=due_by,
            after=after,
            limit=_LIMIT,
        )
        for invoice, first, last, company in page:
            who = " ".join(filter(None, (first, last))) or company or ""
            due = f", due {invoice.due_on}" if invoice.due_on else ""
            left = f", open {in_currency(invoice.open_cents, currency)}"
            click.echo(
                f"{invoice.name}  {invoice.issued_on}  {in_currency(invoice.total, currency)}  "
                f"{printable(who)}{due}{left if invoice.open_cents else ''}"
            )
            after = invoice.invoice_id
        if len(page) < _LIMIT:
            return


@invoice_group.command("pdf")
@click.argument("numbers", nargs=-1, required=True, metavar="NUMBER...")
@click.option(
    "--into",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="The folder for the files, which are named after the numbers.",
)
@account_options
def pdf(numbers: tuple[str, ...], folder: Path, account: int | None, database: str) -> None:
    """Write invoices, receipts and credit notes as PDF, with the electronic invoice inside.

    The same document has the same bytes each time, unless its templates, the logo or the colour
    were changed. `masthead documents` changes templates.
    """
    made = invoice_documents.documents(books_of(account, database), numbers)
    number = write_documents(made, folder)
    click.echo(f"{counted(number, 'document')} written to {printable(folder)}")


@invoice_group.command("cancel")
@click.argument("number")
@click.option("--reason", help="Why; the credit note prints it.")
@dry_run
@account_options
def cancel(
    number: str, reason: str | None, account: int | None, database: str, *, dry_run: bool
) -> None:
    """Take back a whole invoice: its order ends, and a credit note is made.

    What was paid becomes a credit of the payer, which the next invoice uses, or which `masthead
    payment refund` pays back.
    """
    books = books_of(account, database)
    say(invoices.cancel(books, number, reason=reason, dry_run=dry_run), dry_run=dry_run)


@invoice_group.command("credit")
@click.argument("number")
@click.option("--amount", type=Amount(), required=True, help="How much, with tax.")
@click.option("--item", "item_id", type=ID, help="The item of the order, if it has several.")
@click.option("--reason", help="Why; the credit note prints it.")
@dry_run
@account_options
def credit(
    number: str,
    amount: int,
    item_id: int | None,
    reason: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Give back a part of a paid invoice by a credit note; the subscriptions go on."""
    done = invoices.credit(
        books_of(account, database),
        number,
        amount,
        item_id=item_id,
        reason=reason,
        dry_run=dry_run,
    )
    say(done, dry_run=dry_run)


@invoice_group.command("write-off")
@click.argument("number")
@click.option(
    "--keep",
    is_flag=True,
    help="The subscriptions go on for what was paid; by default, they end.",
)
@dry_run
@account_options
def write_off(
    number: str, account: int | None, database: str, *, keep: bool, dry_run: bool
) -> None:
    """Write off what is open of an invoice: nobody expects it any more."""
    books = books_of(account, database)
    say(invoices.write_off(books, number, keep=keep, dry_run=dry_run), dry_run=dry_run)
