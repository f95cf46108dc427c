"""Orders: taking one, and showing one (circulation, "Order").

:func:`take` is where an order is taken: what it does to subscribers, subscriptions, terms and money
stands there from top to bottom. ``masthead.store.books.order_*`` has the statements. Every look-up
uses an index, so an order takes as long in a large account as in a small one.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from masthead.books import payments, term_payments
from masthead.books.account import Books, refresh_touched
from masthead.books.invoicing import Billed, bill
from masthead.books.order_lines import Lines, named_by
from masthead.books.payer_payments import Incoming, receive
from masthead.circulation.amounts import CENTS_MAX, decimal, in_currency
from masthead.circulation.ordering import Order, Person, RefusedOrder, digest
from masthead.store.billing.order_tax import taxed
from masthead.store.billing.settings import is_billing
from masthead.store.books import order_money, order_readers, order_records, similar_readers
from masthead.store.books.derived_values import refresh_subscriptions
from masthead.store.books.earlier_orders import history_until
from masthead.store.books.extendable_subscriptions import named
from masthead.store.books.item_pricing import PricedItem, price_item
from masthead.store.books.names import order_named
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_details import ItemShown, OrderShown, TermShown, show_order
from masthead.store.books.order_people import Resolved, resolve
from masthead.store.books.order_readers import Held
from masthead.store.books.order_records import OrderedItem
from masthead.store.books.similar_readers import Resembling
from masthead.store.search_filters import ascii_lower

__all__ = [
    "Held",
    "ItemShown",
    "Newcomer",
    "OrderShown",
    "Placed",
    "Price",
    "Resembling",
    "TermShown",
    "described",
    "held_by",
    "newest",
    "place",
    "price_of",
    "show",
    "take",
]


class Newcomer(NamedTuple):
    """A subscriber whom an order adds, and who looks like existing readers.

    ``item`` is the number of the item for this recipient, from 0; None for the payer.
    """

    name: str
    item: int | None
    resembling: Sequence[Resembling]


class OtherPrice(NamedTuple):
    """A price of one bundle or product that is not the one in the catalogue, in cents with tax.

    ``is_older``: the payer had it in an earlier order.
    """

    cents: int
    list_cents: int
    is_older: bool

    @property
    def text(self) -> str:
        """Which price it is, and which one it replaces."""
        which = "the older price of" if self.is_older else "the price of"
        return f"at {which} {decimal(self.cents)} instead of {decimal(self.list_cents)}"


class Placed(NamedTuple):
    """An order that was placed; ``is_known`` if it existed already.

    ``was_paid``: its payment was booked now. ``was_ended``: it is marked as paid, but has nothing
    left to pay for. ``subscriptions`` are those that it began or extended, ``begun`` those that it
    began, and ``going_on`` those that were cancelled, and go on. ``cents`` is its grand total.
    ``newcomers`` are new subscribers who look like an existing one. ``invoice`` is the number of
    its invoice or receipt, if the account bills; it is empty in a dry run, since another order can
    get the number before this one is taken.
    """

    order_id: int
    is_known: bool
    was_paid: bool
    subscriber_id: int
    subscriptions: tuple[int, ...]
    cents: int
    currency: str
    was_ended: bool = False
    newcomers: tuple[Newcomer, ...] = ()
    begun: tuple[int, ...] = ()
    going_on: tuple[int, ...] = ()
    other_prices: tuple[OtherPrice, ...] = ()
    invoice: str | None = None

    @property
    def sentence(self) -> str:
        """What happened to the order, with its grand total and the subscriptions."""
        was_there = f"order {self.order_id} was there already"
        if self.was_ended:
            return (
                f"{was_there}: it is marked as paid now, and what it brought was refunded, "
                "cancelled or written off before; no payment was booked"
            )
        if self.is_known:
            return f"{was_there}{', and is paid now' if self.was_paid else ': nothing changed'}"
        paid = "paid" if self.was_paid else "not paid"
        price = f"{in_currency(self.cents, self.currency)}, {paid}" if self.cents else "free"
        price += "".join(f", {each.text}" for each in self.other_prices)
        said = f"order {self.order_id} of subscriber {self.subscriber_id}: {price}"
        if self.invoice is not None:
            kind = "receipt" if self.was_paid else "invoice"
            said += f", {kind} {self.invoice}" if self.invoice else f", with a new {kind}"
        if not self.subscriptions:
            return said
        said += f"; {_numbered(self.subscriptions)}"
        if self.going_on:
            is_one = len(self.going_on) == 1
            then = "was cancelled, and goes on" if is_one else "were cancelled, and go on"
            said += f"; {_numbered(self.going_on)} {then}"
        return said


def _numbered(subscriptions: Sequence[int]) -> str:
    word = "subscription" if len(subscriptions) == 1 else "subscriptions"
    return f"{word} {', '.join(map(str, subscriptions))}"


def place(books: Books, order: Order, *, after: int | None = None, dry_run: bool = False) -> Placed:
    """Take an order: what it brings to subscribers, subscriptions, terms and money.

    An order that exists already is not taken again. It exists if an order has its reference; a
    payment that has come since is then booked. It also exists if an order of the same content was
    taken after the order ``after`` (:func:`newest`), as when a form is sent twice. Raises
    RefusedOrder, also for the same reference with other content.
    """
    with books.change(dry_run=dry_run) as change:
        placed = take(change, order, after)
        if not placed.is_known:
            placed = placed._replace(other_prices=_other_prices(change, placed))
        if not placed.is_known or placed.was_paid:
            change.say(placed.sentence)
        if dry_run and placed.invoice is not None:
            placed = placed._replace(invoice="")
        return placed._replace(newcomers=described(change, placed.newcomers))


def take(change: Operation, order: Order, after: int | None = None) -> Placed:
    """Take an order within a running operation, which the caller undoes if this raises.

    What is derived of its subscriptions is up to date then, or at the end of the operation.
    :func:`place` says what ``after`` is, and what this raises.
    """
    # Does the order exist already?
    content = digest(order)
    if (known := _known(change, order, content, after)) is not None:
        change.touch(known.subscriptions)
        return known

    # What does it order, and who pays for it and gets it?
    if not order.items:
        raise RefusedOrder("bundle_id", "an order has at least one bundle or product")
    priced_items = [price_item(change, number, item) for number, item in enumerate(order.items)]
    is_billed = is_billing(change) and any(priced.net + priced.tax for priced in priced_items)
    was_paid, order = order.is_paid, order._replace(is_paid=order.is_paid and not is_billed)
    people = _People(change, order)
    payer = people.payer
    order_id = change.new_id("orders")
    lines = Lines(change, payer, is_paid=order.is_paid)
    recipients = [
        _recipient(change, people, lines.check_named, number, priced)
        for number, priced in enumerate(priced_items)
    ]
    lines.tell_apart(zip(priced_items, recipients, strict=True))

    # What does it cost, with tax and shipping, and is it a gift?
    priced_items, shipping = taxed(change, payer, priced_items, recipients)
    cents = sum(priced.net + priced.tax for priced in priced_items)
    cents += sum(part.net + part.tax for part in shipping)
    if cents > CENTS_MAX:
        most = in_currency(CENTS_MAX, change.currency)
        raise RefusedOrder("price", f"the order is over {most} in all")
    gifts = [_is_gift(*each, payer) for each in zip(priced_items, recipients, strict=True)]

    # Each line of a bundle begins or extends a subscription by a term.
    items = list[OrderedItem]()
    for number, (priced, recipient) in enumerate(zip(priced_items, recipients, strict=True)):
        item_id = change.new_id("order_items")
        purchase_id = None if priced.item.bundle_id is None else change.new_id("purchases")
        first_day = lines.first_day(number, priced)
        addresses = [
            lines.add_term(number, item_id, purchase_id, priced, line, recipient, first_day)
            for line in priced.lines
        ]
        address_id = next((each for each in addresses if each is not None), None)
        items.append(OrderedItem(item_id, purchase_id, priced, address_id, gifts[number]))
    lines.write()
    order_records.add_order(change, order_id, order, content, payer, items, shipping)

    # What is paid is received, and partly earned if grace issues come out of it.
    if order.is_paid:
        term_payments.receive(change, [term for term in lines.terms if term.is_due])
    invoice = None
    if not is_billed:
        change.touch(lines.subscriptions)
    else:
        billed = Billed({item.order_item_id: item.priced.parts for item in items}, shipping)
        invoice = _bill(change, order_id, order, billed, lines.subscriptions, is_paid=was_paid)
    return Placed(
        order_id,
        False,
        was_paid,
        payer.subscriber_id,
        lines.subscriptions,
        cents,
        change.currency,
        newcomers=tuple(each for each in people.newcomers if each.resembling),
        begun=tuple(lines.begun),
        going_on=tuple(lines.going_on),
        invoice=invoice,
    )


class Price(NamedTuple):
    """What an order costs: the net price and the tax of everything, with shipping, in cents."""

    net: int
    tax: int


def price_of(reading: Reading, order: Order) -> Price:
    """Return what an order would cost today if it was taken; its people are there already.

    Nothing is written, so that pages can ask for it in a snapshot.

    Raises RefusedOrder as :func:`take` does for what is ordered, and by whom and for whom.
    """
    priced_items = [price_item(reading, number, item) for number, item in enumerate(order.items)]
    people = _People(reading, order)
    check = partial(named_by, reading)
    recipients = [
        _recipient(reading, people, check, number, priced)
        for number, priced in enumerate(priced_items)
    ]
    priced_items, shipping = taxed(reading, people.payer, priced_items, recipients)
    return Price(
        sum(priced.net for priced in priced_items) + sum(part.net for part in shipping),
        sum(priced.tax for priced in priced_items) + sum(part.tax for part in shipping),
    )


def _bill(
    change: Operation,
    order_id: int,
    order: Order,
    billed: Billed,
    subscriptions: Iterable[int],
    *,
    is_paid: bool,
) -> str | None:
    """Make the invoice of a new order; one that is paid gets a receipt, and its payment today."""
    # The invoice prints until when they last. What is paid is refreshed once more at the end of the
    # operation. So are the kinds: these are looked for among all that it has written, which takes
    # ever longer.
    refresh_subscriptions(change, subscriptions, with_kinds=False)
    invoice = bill(change, order_id, billed, is_paid=is_paid)
    if invoice is None:
        return None
    if is_paid:
        incoming = Incoming(
            invoice.total, change.today, order.payment_type, order.payment_reference
        )
        receive(change, incoming, invoice=invoice)
    return invoice.number_text


def _other_prices(change: Operation, placed: Placed) -> tuple[OtherPrice, ...]:
    """Return the prices of an order that are not those of the catalogue, each once."""
    here = change.connection, change.account_id
    found = []
    for item in show_order(*here, placed.order_id).items:
        if item.list_price is None:
            continue
        earlier = order_readers.earlier_prices(
            *here, placed.subscriber_id, item.bundle_id, placed.order_id
        )
        is_older = any(each.gross == item.price_of_one for each in earlier)
        found.append(OtherPrice(item.price_of_one, item.list_price, is_older))
    return tuple(dict.fromkeys(found))


def _known(change: Operation, order: Order, content: str, after: int | None) -> Placed | None:
    """Return what happened to an order that exists already; None if it is new.

    A payment that has come since is booked, unless the order is history or costs nothing.
    """
    if order.reference is None:
        sent = None if after is None else order_records.order_since(change, after, content)
        return sent and Placed(
            sent.order_id, True, False, sent.subscriber_id, (), 0, change.currency
        )
    reference = ascii_lower(order.reference)
    known = order_records.orders_by(change, [reference])[reference]
    if known is None:
        return None
    if known.content_digest is not None and known.content_digest != content:
        raise RefusedOrder(
            "external_reference",
            f"{order_named(change, known.order_id)} has the reference {order.reference!r} and "
            "other content: give the other order another reference, or refund that one",
        )
    placed = Placed(known.order_id, True, False, known.subscriber_id, (), 0, change.currency)
    is_due = order.is_paid and known.paid_on is None
    if not is_due or known.order_id <= history_until(change.direct, change.account_id):
        return placed
    booked = order_money.find_order(change, known.order_id)
    due = term_payments.due_terms(change, booked)
    if due is None or payments.has_nothing_open(change, booked):
        had_price = any(item.net or item.tax for item in booked.items)
        return placed._replace(was_ended=due is None or had_price)
    paid = payments.book_payment(
        change,
        known.order_id,
        due,
        payments.Payment(order.payment_type, None, order.payment_reference),
    )
    return placed._replace(was_paid=True, subscriptions=paid.subscriptions, cents=paid.cents)


class _People:
    """The people of an order, each resolved once: equal descriptions mean the same person."""

    def __init__(self, reading: Reading, order: Order) -> None:
        self._reading = reading
        self._resolved = list[tuple[Person, Resolved]]()
        self.newcomers = list[Newcomer]()
        self.payer_person = _payer(reading, order)
        self.payer = self.resolve(self.payer_person)

    def resolve(self, person: Person, number: int | None = None) -> Resolved:
        """Return a person as a subscriber, added if new: the payer, or who gets item ``number``."""
        for known, resolved in self._resolved:
            if known == person:
                return resolved
        found = resolve(self._reading, person, "" if number is None else "recipient_")
        self._resolved.append((person, found))
        self.newcomers.append(Newcomer(person.name, number, found.resembling))
        return found


def _payer(reading: Reading, order: Order) -> Person:
    """Return the payer; if none is named, the reader of the subscription to extend."""
    if not order.payer.is_named:
        for number, item in enumerate(order.items):
            if item.subscription_id is not None:
                reader = named(reading, item.subscription_id, number).subscriber_id
                return order.payer._replace(subscriber_id=reader)
    return order.payer


def _recipient(
    reading: Reading,
    people: _People,
    check_named: Callable[[int, PricedItem, int], object],
    number: int,
    priced: PricedItem,
) -> Resolved:
    """Return the recipient of an item, with the address: the payer, unless another is named.

    ``check_named`` refuses a subscription that the item names and cannot extend.
    """
    item, payer = priced.item, people.payer
    person = item.recipient
    if not person.is_named:
        reader = payer.subscriber_id
        if item.subscription_id is not None:
            reader = named(reading, item.subscription_id, number).subscriber_id
        is_elsewhere = person.address_id is not None or any(person.address.values())
        if reader == payer.subscriber_id and not is_elsewhere:
            person = people.payer_person
        else:
            person = person._replace(subscriber_id=reader)
    try:
        found = people.resolve(person, number)
        check_named(number, priced, found.subscriber_id)
    except RefusedOrder as error:
        error.item = number
        raise
    return found


def _is_gift(priced: PricedItem, recipient: Resolved, payer: Resolved) -> bool:
    """Return whether an item is a gift: the payer is somebody else, and no organisation."""
    if priced.item.is_gift is not None:
        return priced.item.is_gift
    return recipient.subscriber_id != payer.subscriber_id and not payer.company


def described(change: Operation, newcomers: Sequence[Newcomer]) -> tuple[Newcomer, ...]:
    """Return newcomers with a line about each reader whom they look like."""
    ids = {one.subscriber_id for each in newcomers for one in each.resembling}
    if not ids:
        return ()
    refresh_touched(change)
    lines = similar_readers.described(change, ids)
    return tuple(
        each._replace(
            resembling=[one._replace(line=lines[one.subscriber_id]) for one in each.resembling]
        )
        for each in newcomers
    )


def newest(books: Books) -> int:
    """Return the id of the newest order, 0 if there is none."""
    with books.read() as reading:
        return order_records.newest_order(reading)


def held_by(books: Books, subscribers: Iterable[int]) -> list[Held]:
    """Return the subscriptions of readers that were not cancelled, which an order can extend."""
    with books.read() as reading:
        return order_readers.held_by(reading.connection, books.account_id, subscribers)


def show(books: Books, order_id: int | None = None, *, reference: str | None = None) -> OrderShown:
    """Return an order by its id or its external reference. Raises NotFound if there is none."""
    with books.read() as reading:
        return show_order(reading.connection, books.account_id, order_id, reference=reference)
