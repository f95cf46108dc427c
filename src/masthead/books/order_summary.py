"""What an order brings to whom until when, as a clerk tells the caller before it is saved.

The sentences have names and addresses, so they are shown and never stored.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.orders import Placed
from masthead.circulation.amounts import decimal, in_currency, stored_cents
from masthead.contract.moments import in_words, with_day
from masthead.contract.subscription_types import UNLIMITED, type_in_words
from masthead.store.books import details, order_readers
from masthead.store.books.operation import Reading
from masthead.store.books.order_details import ItemShown, OrderShown, show_order
from masthead.store.books.order_readers import Brought, EarlierPrice, Held

__all__ = ["EarlierPrice", "Readers", "Summary", "readers", "summary"]


class Summary(NamedTuple):
    """What an order does: a sentence for each subscription and product, and one for the money.

    ``payer`` and ``bill_to`` are the name and the address of who pays. ``older`` are the prices
    that the payer had for the order's bundles in earlier orders and that are not its price now, the
    newest first; each is for one copy.
    """

    payer: str
    bill_to: str
    brings: Sequence[str]
    money: str
    older: Sequence[EarlierPrice]

    @property
    def sentence(self) -> str:
        """All in one paragraph."""
        if len(self.brings) == 1:
            return f"{self.brings[0]}; {self.money}."
        return " ".join(f"{each}." for each in (*self.brings, f"In all {self.money}"))


def summary(books: Books, placed: Placed) -> Summary:
    """Return what an order that was just placed brings, in the books of :meth:`Books.together`.

    Such as ``Extends Harbor & Coast (print) of Susan Lopez: 12 more issues, until 30 November
    2028; 74.90 USD including 4.90 tax, not paid yet.``
    """
    with books.read() as reading:
        here = reading.connection, reading.account_id
        order = show_order(*here, placed.order_id)
        payer, bill_to = order_readers.payer_of(*here, placed.order_id)
        found = order_readers.brought(*here, [item.order_item_id for item in order.items])
        readers = {each.held.subscriber_id for each in found}
        others = [
            each
            for each in order_readers.held_by(*here, readers)
            if each.subscription_id not in placed.subscriptions
        ]
        by = payer if order.fields["is_gift"] else ""
        brings = [
            _of_term(reading, each, placed, others, by, is_alone=len(found) == 1) for each in found
        ]
        brings += [_of_product(item) for item in order.items if item.product_id is not None]
        older = [
            each
            for item in order.items
            if item.bundle_id is not None
            for each in order_readers.earlier_prices(
                *here, placed.subscriber_id, item.bundle_id, placed.order_id
            )
            if each.gross != item.price_of_one
        ]
        money = _money(reading.currency, order, placed)
        return Summary(payer, bill_to, brings, money, list(dict.fromkeys(older)))


class Readers(NamedTuple):
    """The people of an order: who pays, where the bill goes, and what each item brought to whom."""

    payer: str
    bill_to: str
    brought: Mapping[int, Sequence[Brought]]


def readers(books: Books, order: OrderShown) -> Readers:
    """Return the people of an order; ``brought`` is by the ids of its items."""
    with books.read() as reading:
        here = reading.connection, reading.account_id
        items = [item.order_item_id for item in order.items]
        found = order_readers.brought(*here, items)
        payer, bill_to = order_readers.payer_of(*here, int(order.fields["order_id"] or 0))
    by_item = {key: [each for each in found if each.order_item_id == key] for key in items}
    return Readers(payer, bill_to, by_item)


def _of_term(
    reading: Reading,
    term: Brought,
    placed: Placed,
    others: Sequence[Held],
    by: str,
    *,
    is_alone: bool,
) -> str:
    """Return what an item brings to a subscription, and until when that lasts."""
    held = term.held
    is_begun = held.subscription_id in placed.begun
    issues = "issues without end"
    if term.issues != UNLIMITED:
        more = "" if is_begun else "more "
        issues = f"{term.issues} {more}{'issue' if term.issues == 1 else 'issues'}"
    if term.copies > 1:
        issues += f" in {term.copies} copies"
    until = f", until {in_words(held.last_day)}" if held.last_day else ""
    where = f", to {held.address}" if held.address and (is_begun or not is_alone) else ""
    gift = f", a gift of {by}" if by and held.subscriber_id != placed.subscriber_id else ""
    if not is_begun:
        goes_on = held.subscription_id in placed.going_on
        cancelled = ", which was cancelled and goes on" if goes_on else ""
        return f"Extends {held.name} of {held.reader}{cancelled}{gift}: {issues}{until}{where}"
    same = [
        each
        for each in others
        if (each.subscriber_id, each.publication_id) == (held.subscriber_id, held.publication_id)
    ]
    first = details.first_issue(reading.connection, reading.account_id, held.subscription_id)
    begins = f", from {with_day(first.name, first.day)}" if first else ""
    what = "a second subscription of " if same else ""
    return (
        f"Begins {what}{held.name} for {held.reader}{_beside(same)}{gift}: {issues}{begins}"
        f"{until}{where}"
    )


def _of_product(item: ItemShown) -> str:
    name = item.name or f"Product {item.product_id}"
    return name if item.copies == 1 else f"{name}, {item.copies} times"


def _beside(same: Sequence[Held]) -> str:
    """Return which subscriptions of the publication a reader has already."""
    said = []
    for each in same:
        until = f" until {in_words(each.last_day)}" if each.last_day else " without an end"
        kind = f" {type_in_words(each.type)}" if each.type else ""
        said.append(f"a{kind} one{until}" if each.issues else f"a{kind} one that has ended")
    return f", who has {' and '.join(said)}" if said else ""


def _money(currency: str, order: OrderShown, placed: Placed) -> str:
    """Return what the order costs, at which price, and how it is paid."""
    cents, tax = (stored_cents(str(order.fields[name])) for name in ("grand_total", "tax_total"))
    if not cents:
        return "free"
    how = order.fields["payment_type"]
    paid = f"by {str(how).lower()}" if how else ""
    paid = f"paid {paid}".rstrip() if order.fields["paid_on"] else paid or "not paid yet"
    taxed = f" including {decimal(tax)} tax" if tax else ""
    prices = "".join(f", {each.text}" for each in placed.other_prices)
    return f"{in_currency(cents, currency)}{taxed}{prices}, {paid}"
