"""``masthead order``: add, import, show, pay, refund, allowance, dispute, settle."""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from masthead.books import disputes, orders, payments, refunds
from masthead.circulation.addresses import FIELDS
from masthead.circulation.amounts import in_currency, stored_cents
from masthead.circulation.ordering import COPIES_MAX, Item, Order, Person
from masthead.cli.books_options import (
    ID,
    Day,
    account_options,
    books_of,
    dry_run,
    end_of,
    say,
    why_history,
)
from masthead.cli.options import Amount, Command
from masthead.cli.order_import import import_
from masthead.contract.printable import printable
from masthead.errors import BadInput, BadUsage

_PERSON = ("email", "first_name", "last_name")
_ADDRESS = tuple(name for name in FIELDS if name not in _PERSON)
_ADDRESSEE = ("first_name", "last_name")
"""Name fields that an address has too."""

_PREFIX = "recipient_"
_TOTALS = {"sub_total", "tax_total", "grand_total"}


@click.group("order")
def order_group() -> None:
    """Orders: take one by hand, load a web shop's, book payments and refunds.

    An order begins subscriptions, or extends those of the recipient. `masthead catalogue bundle
    list` lists what can be ordered.
    """


def _person_options(prefix: str, whose: str) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for name in reversed((*_PERSON, *_ADDRESS)):
            flag = f"--{prefix}{name}".replace("_", "-")
            command = click.option(flag, f"{prefix}{name}")(command)
        command = click.option(
            f"--{prefix}address-id".replace("_", "-"),
            f"{prefix}address_id",
            type=ID,
            help=f"An address that {whose} has already.",
        )(command)
        command = click.option(
            f"--{prefix}renewal-code".replace("_", "-"),
            f"{prefix}renewal_code",
            help=f"{whose.capitalize()}, by the renewal code.",
        )(command)
        flag = "--recipient" if prefix else "--subscriber"
        return click.option(
            flag, f"{prefix}subscriber_id", type=ID, help=f"{whose.capitalize()}, by the id."
        )(command)

    return decorate


@order_group.command("add")
@click.option("--bundle", "bundles", type=ID, multiple=True, help="A bundle; may be repeated.")
@click.option("--product", "products", type=ID, multiple=True, help="A product; may be repeated.")
@_person_options("", "who pays")
@_person_options(_PREFIX, "who gets it")
@click.option(
    "--copies",
    type=click.IntRange(min=1, max=COPIES_MAX),
    default=1,
    help="How many copies are ordered; 1 by default.",
)
@click.option(
    "--price", type=Amount(), help="Another price of one copy than the bundle's, without tax."
)
@click.option("--tax", type=Amount(), help="Another tax of one copy than the bundle's.")
@click.option("--new", "is_new", is_flag=True, help="Always begin a new subscription.")
@click.option(
    "--subscription", "subscription_id", type=ID, help="Extend this subscription and no other."
)
@click.option(
    "--gift/--no-gift",
    "is_gift",
    default=None,
    help="Whether it is a gift. By default, it is one if another person pays, but not if "
    "an organisation does.",
)
@click.option(
    "--new-reader",
    "adds_reader",
    is_flag=True,
    help="Add a new reader even if the person looks like an existing one.",
)
@click.option("--first-issue", type=ID, help="Id of the issue to begin with.")
@click.option("--class", "of_class", help="The class of free copies, such as staff.")
@click.option("--paid", "is_paid", is_flag=True, help="The order is paid today.")
@click.option("--payment-type", help="How it is paid: check, card, invoice.")
@click.option("--payment-reference", help="The number of the payment, such as that of a transfer.")
@click.option("--fulfilled", "is_fulfilled", is_flag=True, help="The products were handed over.")
@click.option(
    "--reference", help="Its number in another system; no second order with this number is taken."
)
@click.option("--notes")
@click.option("--channel", "channel_id", type=ID, help="Number of the channel by which it came.")
@dry_run
@account_options
def add(
    bundles: tuple[int, ...],
    products: tuple[int, ...],
    account: int | None,
    database: str,
    *,
    dry_run: bool,
    **given: Any,
) -> None:
    """Take an order.

    For an existing subscriber, give --subscriber 17 or --renewal-code, such as in --subscriber 17
    --bundle 1 --paid. For a new one, give --email, --first-name, --last-name or --company,
    --address, --city and so on; an existing subscriber with the same email address and name is
    found by them. If the new one looks like an existing subscriber, nothing is saved: the command
    shows the existing one, and asks for --subscriber or --new-reader. If another person receives
    the order, give --recipient 18, or --recipient-last-name and so on; the payer keeps the billing
    address. An order extends the subscription that is running; --subscription names another. An
    unpaid order is served for the publication's credit, until `masthead order pay`.
    """
    items = _items(bundles, products, given)
    order = Order(
        _person(given),
        items,
        reference=given["reference"] or None,
        is_paid=given["is_paid"],
        payment_type=given["payment_type"] or None,
        payment_reference=given["payment_reference"] or None,
        is_fulfilled=given["is_fulfilled"],
        notes=given["notes"] or None,
        channel_id=given["channel_id"],
    )
    with books_of(account, database).together(dry_run=dry_run) as books:
        placed = orders.place(books, order)
        unsure = "" if given["adds_reader"] else _who_is_it(placed.newcomers)
        if unsure and not dry_run:
            raise BadInput(unsure)
    click.echo(placed.sentence)
    if unsure:
        click.echo(unsure)
    end_of(dry_run=dry_run)


def _who_is_it(newcomers: Sequence[orders.Newcomer]) -> str:
    """Return sentences about newcomers who look like known readers, and how to say who they are."""
    lines = []
    for each in newcomers:
        flag = "--subscriber" if each.item is None else "--recipient"
        lines.append(
            f"{printable(each.name)} looks like an existing reader: give {flag} and "
            "the number for that reader, or --new-reader for a new one"
        )
        lines += [f"  {one.why}: {printable(one.line)}" for one in each.resembling]
    return "\n".join(lines)


def _items(
    bundles: tuple[int, ...], products: tuple[int, ...], given: dict[str, Any]
) -> tuple[Item, ...]:
    if not bundles and not products:
        raise BadUsage("give the id of a --bundle or a --product")
    if len(bundles) + len(products) > 1 and (given["price"], given["tax"]) != (None, None):
        raise BadUsage(
            "--price and --tax are for an order of one item; several with prices of their own go "
            "into a file for `masthead order import`"
        )
    recipient = _person(given, _PREFIX)
    names = ("is_new", "first_issue", "subscription_id", "is_gift", "of_class")
    of_bundle = {name: given[name] for name in names}
    if products and not bundles and any(each not in {None, False} for each in of_bundle.values()):
        raise BadUsage("--new, --first-issue, --subscription, --gift and --class are for bundles")
    if given["is_new"] and given["subscription_id"] is not None:
        raise BadUsage(
            "--subscription extends one, and --new begins another: give only one of the two"
        )
    own = {"price": given["price"], "tax": given["tax"], "copies": given["copies"]}
    return (
        *(Item(bundle_id=each, recipient=recipient, **of_bundle, **own) for each in bundles),
        *(Item(product_id=each, **own) for each in products),
    )


def _person(given: dict[str, Any], prefix: str = "") -> Person:
    """Return the payer or recipient. Raises BadUsage if an id comes with fields it overrides."""
    subscriber_id = given[f"{prefix}subscriber_id"]
    told = [name for name in _PERSON if given[f"{prefix}{name}"]]
    if any(given[f"{prefix}{name}"] for name in _ADDRESS):
        told = [name for name in told if name not in _ADDRESSEE]
    if subscriber_id is not None and told:
        flag = f"--{prefix}{told[0]}".replace("_", "-")
        raise BadUsage(
            f"{flag} does not change subscriber {subscriber_id}, who is named by the id: leave one "
            "of the two out"
        )
    return Person(
        subscriber_id=subscriber_id,
        renewal_code=given[f"{prefix}renewal_code"] or "",
        **{name: given[f"{prefix}{name}"] or "" for name in _PERSON},
        address_id=given[f"{prefix}address_id"],
        address={name: given[f"{prefix}{name}"] for name in _ADDRESS if given[f"{prefix}{name}"]},
    )


order_group.add_command(import_)


@order_group.command("show")
@click.argument("order_id", type=ID, required=False)
@click.option("--reference", help="Its external reference, in place of the id.")
@account_options
def show(order_id: int | None, reference: str | None, account: int | None, database: str) -> None:
    """Show an order: its items, the terms that they brought, and their money.

    What was received for a term is earned, refunded, or still unearned.
    """
    if (order_id is None) == (reference is None):
        raise BadUsage("give the id of the order, or --reference")
    books = books_of(account, database)
    found = orders.show(books, order_id, reference=reference)
    currency = books.currency
    for name, value in found.fields.items():
        is_money = value is not None and name in _TOTALS
        text = _amount(str(value), currency) if is_money else "" if value is None else value
        click.echo(f"{name}: {printable(text)}")
    if found.shipping:
        click.echo(f"shipping: {in_currency(found.shipping, currency)}")
    if found.is_history:
        click.echo(f"history: {why_history(books)}, so it is neither paid nor refunded here")
    elif not found.fields["paid_on"] and found.due != stored_cents(
        str(found.fields["grand_total"])
    ):
        click.echo(f"due: {in_currency(found.due, currency)}, without what has ended")
    for item in found.items:
        click.echo(_item_line(item, currency, is_history=found.is_history))
        for term in item.terms:
            click.echo(f"  {_term_line(term, currency)}")


def _item_line(item: orders.ItemShown, currency: str, *, is_history: bool) -> str:
    what = f"product {item.product_id}" if item.bundle_id is None else f"bundle {item.bundle_id}"
    line = f"item {item.order_item_id}: {what} {printable(item.name or '')}".rstrip()
    line += f", {item.copies} copies" if item.copies > 1 else ""
    line += f", {_amount(item.grand_total, currency)}"
    line += f" of which tax {_amount(item.tax_total, currency)}"
    if item.list_price is not None:
        line += f", at {in_currency(item.price_of_one, currency)} instead of "
        line += in_currency(item.list_price, currency)
    if item.refund_date:
        refunded = in_currency(item.refunded, currency)
        line += f", refunded {refunded}, last on {item.refund_date[:10]}"
    elif item.refunded:
        line += f", allowance {in_currency(item.refunded, currency)}"
    if is_history and item.purchase_id is not None:
        line += f", purchase {item.purchase_id}"
        line += f" for {_amount(item.purchase_total, currency)}" if item.purchase_total else ""
        line += f", {item.payment_type}" if item.payment_type else ""
    return printable(line)


def _amount(number: str, currency: str) -> str:
    return in_currency(stored_cents(number), currency)


def _term_line(term: orders.TermShown, currency: str) -> str:
    left = "unlimited" if term.issues < 0 else f"{term.issues_left} of {term.issues} issues left"
    paid = f"paid on {term.paid_on}" if term.paid_on else "not paid" if term.price else "free"
    unearned = term.received - term.earned - term.refunded
    line = (
        f"term {term.term_id}: subscription {term.subscription_id} of subscriber "
        f"{term.subscriber_id}, {printable(term.publication or 'publication')}, {left}, "
        f"{in_currency(term.price, currency)} {paid}"
    )
    if term.received:
        line += (
            f": earned {in_currency(term.earned, currency)}, refunded "
            f"{in_currency(term.refunded, currency)}, unearned {in_currency(unearned, currency)}"
        )
    return f"{line}, ended at {term.ended_at}" if term.ended_at else line


@order_group.command("pay")
@click.argument("order_id", type=ID)
@click.option("--payment-type", help="How it was paid: check, card, transfer.")
@click.option("--on", "paid_on", type=Day(), help="The day of the payment; today if not given.")
@click.option("--reference", help="Such as the number of the transfer or the check.")
@click.option("--amount", type=Amount(), help="The sum that came, to compare with what is due.")
@dry_run
@account_options
def pay(
    order_id: int,
    payment_type: str | None,
    paid_on: str | None,
    reference: str | None,
    amount: int | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Book that an order was paid in full, today or on an earlier day.

    Revenue for issues that were delivered on credit is earned at once. The order's subscriptions
    are served again. A payment of a month that has ended is booked to today.
    """
    books = books_of(account, database)
    payment = payments.Payment(payment_type or None, paid_on, reference or None, amount)
    click.echo(payments.pay(books, order_id, payment, dry_run=dry_run).sentence)
    end_of(dry_run=dry_run)


@order_group.command("refund")
@click.argument("order_id", type=ID)
@click.option("--item", "item_id", type=ID, help="Id of the item, if the order has several.")
@click.option(
    "--amount",
    type=Amount(),
    help="Amount with tax. By default, what is unearned with its share of the tax. 0 "
    "refunds nothing and ends the item.",
)
@click.option("--yes", is_flag=True, help="Do not ask before keeping money of issues that end.")
@dry_run
@account_options
def refund(
    order_id: int,
    item_id: int | None,
    amount: int | None,
    account: int | None,
    database: str,
    *,
    yes: bool,
    dry_run: bool,
) -> None:
    """Refund an item of an order. Its remaining issues end, whatever the amount.

    The amount is at most what was paid for the item. The refund takes unearned money first, then
    takes back earned money; unearned money that remains is earned. Before the command keeps money
    of issues that end, it says so and asks. `masthead order allowance` gives money back and keeps
    the issues. You send the money yourself.
    """
    books = books_of(account, database)
    if amount is not None and not (yes or dry_run):
        _confirm(refunds.refund(books, order_id, item_id, amount, dry_run=True))
    click.echo(refunds.refund(books, order_id, item_id, amount, dry_run=dry_run).sentence)
    end_of(dry_run=dry_run)


def _confirm(done: refunds.Refunded) -> None:
    """Ask for confirmation of a refund that keeps money of issues which end."""
    if not (done.kept and done.issues):
        return
    said = done.sentence
    if not sys.stdin.isatty():
        raise BadUsage(
            f"{said}: `masthead order allowance` gives money back and keeps the "
            "issues; give --yes if they are to end; nothing was changed"
        )
    click.confirm(f"{said}. `masthead order allowance` keeps the issues. Refund?", abort=True)


@order_group.command("allowance")
@click.argument("order_id", type=ID)
@click.option("--item", "item_id", type=ID, help="Id of the item, if the order has several.")
@click.option("--amount", type=Amount(), required=True, help="Amount with tax.")
@dry_run
@account_options
def allowance(
    order_id: int,
    item_id: int | None,
    amount: int,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Give back money of an item of an order, and keep its issues, such as for late copies.

    The money comes out of what is unearned; the rest is spread over the issues that remain. You
    send the money yourself.
    """
    books = books_of(account, database)
    click.echo(refunds.allow(books, order_id, item_id, amount, dry_run=dry_run).sentence)
    end_of(dry_run=dry_run)


@order_group.command("dispute")
@click.argument("order_id", type=ID)
@click.option("--because", "text", required=True, help="What the reader or the bank says.")
@click.option("--on", "day", type=Day(), help="The day of the dispute; today if not given.")
@dry_run
@account_options
def dispute(
    order_id: int,
    text: str,
    day: str | None,
    account: int | None,
    database: str,
    *,
    dry_run: bool,
) -> None:
    """Note that the reader or the bank disputes an order or its payment.

    Until it is settled, no renewal letter goes to the order's subscriptions. Issues go on: suspend
    a subscription to stop them.
    """
    books = books_of(account, database)
    say(disputes.dispute(books, order_id, text, day, dry_run=dry_run), dry_run=dry_run)


@order_group.command("settle")
@click.argument("order_id", type=ID)
@click.option(
    "--upheld/--rejected",
    "is_upheld",
    required=True,
    help="Whether the reader or the bank is right.",
)
@dry_run
@account_options
def settle(
    order_id: int, account: int | None, database: str, *, is_upheld: bool, dry_run: bool
) -> None:
    """Settle the dispute of an order.

    With --upheld, all that was paid for the order is refunded, and its issues end; an unpaid order
    ends. With --rejected, all is as before. You send the money yourself, unless the bank took it.
    """
    books = books_of(account, database)
    say(disputes.settle(books, order_id, is_upheld=is_upheld, dry_run=dry_run), dry_run=dry_run)
