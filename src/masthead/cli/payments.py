"""``masthead payment``: add, reverse, refund, list, and what ``bank_imports`` has."""

from typing import Any

import click

from masthead.books import payer_payments, payment_reversals
from masthead.circulation.amounts import in_currency
from masthead.cli import bank_imports
from masthead.cli.books_options import ID, Day, account_options, books_of, dry_run, say
from masthead.cli.options import Amount
from masthead.contract.printable import printable


@click.group("payment")
def payment_group() -> None:
    """Payments of an account that bills: money that came, came back, or was paid back.

    A payment settles the invoice that it names, or else the payer's oldest open one first. What is
    over is a credit of the payer.
    """


for _command in bank_imports.COMMANDS:
    payment_group.add_command(_command)


@payment_group.command("add")
@click.option("--invoice", help="The number of the invoice, such as 2026-000123.")
@click.option("--payer", "subscriber_id", type=ID, help="The payer, if no invoice is named.")
@click.option("--amount", "cents", type=Amount(), required=True, help="How much came, with tax.")
@click.option("--on", "value_date", type=Day(), help="The value date; today by default.")
@click.option("--fee", type=Amount(), default="0", help="What the bank kept of the amount.")
@click.option("--type", "payment_type", help="How it was paid: check, transfer, card.")
@click.option("--reference", help="Its number, such as that of the cheque.")
@dry_run
@account_options
def add(
    invoice: str | None,
    subscriber_id: int | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
    **given: Any,
) -> None:
    """Book a payment: of an invoice (--invoice 2026-000123), or of a payer (--payer 17).

    A short payment leaves the invoice open with what is missing. What is over becomes a credit.
    """
    done = payer_payments.add(
        books_of(account, database),
        payer_payments.Incoming(**given),
        invoice=invoice,
        subscriber_id=subscriber_id,
        dry_run=dry_run,
    )
    say(done, dry_run=dry_run)


@payment_group.command("reverse")
@click.argument("payment_id", type=ID)
@click.option("--on", "day", type=Day(), help="When it came back; today by default.")
@click.option("--fee", type=Amount(), default="0", help="What the bank charges for it.")
@click.option("--reason", help="Why, such as the bank's words.")
@dry_run
@account_options
def reverse(
    payment_id: int,
    day: str | None,
    fee: int,
    reason: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Book that a payment came back: a bounced cheque, a returned debit, a chargeback.

    Its invoices are open again, and their subscriptions are unpaid. `masthead payment list` prints
    the ids of payments.
    """
    done = payment_reversals.reverse(
        books_of(account, database), payment_id, day=day, fee=fee, reason=reason, dry_run=dry_run
    )
    say(done, dry_run=dry_run)


@payment_group.command("refund")
@click.argument("subscriber_id", type=ID)
@click.option("--amount", type=Amount(), help="How much; by default all of the credit.")
@click.option("--on", "day", type=Day(), help="When it was paid; today by default.")
@click.option("--type", "payment_type", help="How: transfer, check.")
@click.option("--reference", help="The number of the transfer or the cheque.")
@dry_run
@account_options
def refund(
    subscriber_id: int,
    amount: int | None,
    day: str | None,
    payment_type: str | None,
    reference: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Book that a payer's credit was paid back. You transfer the money yourself."""
    done = payer_payments.pay_back(
        books_of(account, database),
        subscriber_id,
        amount,
        day=day,
        payment_type=payment_type,
        reference=reference,
        dry_run=dry_run,
    )
    say(done, dry_run=dry_run)


@payment_group.command("list")
@click.argument("subscriber_id", type=ID)
@account_options
def list_command(subscriber_id: int, account: int | None, database: str) -> None:
    """Print the payments of a payer, the oldest first, and what is left of each."""
    books = books_of(account, database)
    currency = books.currency
    for each in payer_payments.list_payments(books, subscriber_id):
        kind = each.kind.replace("_", " ")
        said = f"{kind} {each.payment_id}  {each.value_date}  {in_currency(each.cents, currency)}"
        if each.payment_type or each.reference:
            texts = filter(None, (each.payment_type, each.reference))
            said += f"  {printable(' '.join(texts))}"
        if each.left_cents:
            said += f", credit {in_currency(each.left_cents, currency)}"
        if each.reason:
            said += f" ({printable(each.reason)})"
        click.echo(said)
