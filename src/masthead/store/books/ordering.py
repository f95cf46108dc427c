"""Orders: what they bring to subscribers, subscriptions, terms and purchases.

All that an order does is one operation (circulation, "Order"). Every look-up uses an index, so an
order takes as long in a large account as in a small one. The functions run in an operation
(``store.books.operation``), which then touches the subscriptions.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from masthead.circulation.amounts import CENTS_MAX, decimal, shortest
from masthead.circulation.ordering import Order, Person, RefusedOrder, digest
from masthead.store.books import extendable_subscriptions, order_people, paying
from masthead.store.books.derived_values import refresh
from masthead.store.books.earlier_orders import history_until
from masthead.store.books.extendable_subscriptions import named
from masthead.store.books.item_pricing import Offer, offer_of
from masthead.store.books.operation import Operation
from masthead.store.books.order_lines import Lines
from masthead.store.books.order_people import Resolved, resolve
from masthead.store.books.pending_rows import Record
from masthead.store.books.similar_readers import Resembling
from masthead.store.database import Connection
from masthead.store.search_filters import ascii_lower

_LOOKED_UP = 500
"""The number of orders whose data is looked up together."""

_REFERENCES = "orders by reference"

_TOUCHED_MAX = 5_000
"""The most subscription ids that one statement names."""


class _Known(NamedTuple):
    """An order that exists already."""

    order_id: int
    subscriber_id: int
    content_digest: str | None
    paid_on: str | None


class Newcomer(NamedTuple):
    """A subscriber whom an order adds, and who looks like existing readers.

    ``item`` is the number of the item for this recipient, from 0; None for the payer.
    """

    name: str
    item: int | None
    resembling: Sequence[Resembling]


class Placed(NamedTuple):
    """An order that was placed; ``is_known`` if it existed already.

    ``was_paid``: its payment was booked now. ``was_ended``: it is marked as paid, but has nothing
    left to pay for. ``subscriptions`` are those that it began or extended, ``cents`` is its grand
    total, and ``newcomers`` are new subscribers who look like an existing one.
    """

    order_id: int
    is_known: bool
    was_paid: bool
    subscriber_id: int
    subscriptions: tuple[int, ...]
    cents: int
    was_ended: bool = False
    newcomers: tuple[Newcomer, ...] = ()

    @property
    def sentence(self) -> str:
        """What happened to the order, with its grand total and the subscriptions."""
        was_there = f"order {self.order_id} was there already"
        if self.was_ended:
            return (
                f"{was_there}: it is marked as paid now, and what it brought was refunded or "
                "cancelled before; no payment was booked"
            )
        if self.is_known:
            return f"{was_there}{', and is paid now' if self.was_paid else ': nothing changed'}"
        paid = "paid" if self.was_paid else "not paid"
        money = f"{decimal(self.cents)}, {paid}" if self.cents else "free"
        said = f"order {self.order_id} of subscriber {self.subscriber_id}: {money}"
        if not self.subscriptions:
            return said
        word = "subscription" if len(self.subscriptions) == 1 else "subscriptions"
        return f"{said}; {word} {', '.join(map(str, self.subscriptions))}"


def place(books: Operation, order: Order) -> Placed:
    """Place an order, unless one with its reference exists (``books.orders.place``).

    The same reference with the same content changes nothing, except that a payment that has come
    since is booked. Raises RefusedOrder, also for the same reference with other content.
    """
    known = _known(books, order)
    if known is not None:
        return known
    if not order.items:
        raise RefusedOrder("bundle_id", "an order has at least one bundle or product")
    offers = [offer_of(books, number, item) for number, item in enumerate(order.items)]
    payer = _payer(books, order)
    return _Placing(books, order, payer, resolve(books, payer), offers).run()


def _payer(books: Operation, order: Order) -> Person:
    """Return the payer; if none is named, the reader of the subscription to extend."""
    if not order.payer.is_named:
        for number, item in enumerate(order.items):
            if item.subscription_id is not None:
                reader = named(books, item.subscription_id, number).subscriber_id
                return order.payer._replace(subscriber_id=reader)
    return order.payer


def place_many(books: Operation, orders: Sequence[Order]) -> Iterator[Placed | RefusedOrder]:
    """Place orders as :func:`place` does, with a few statements for many; yield each result.

    The caller undoes the operation if any order was refused, since a part of it may be written.
    """
    for first in range(0, len(orders), _LOOKED_UP):
        part = orders[first : first + _LOOKED_UP]
        _look_up(books, part)
        for order in part:
            try:
                yield place(books, order)
            except RefusedOrder as error:
                yield error


def newest_order(connection: Connection, account_id: int) -> int:
    """Return the id of the account's newest order, 0 if it has none."""
    ((newest,),) = connection.rows(
        "SELECT coalesce(max(order_id), 0) FROM orders WHERE account_id = :account_id",
        account_id=account_id,
    )
    return int(newest)


def placed_since(books: Operation, order: Order, newest: int | None) -> Placed | None:
    """Return an order of the same content that was placed after the order ``newest``, if any.

    So an order that is sent twice is placed once. An order with a reference is found by that
    instead.
    """
    if newest is None or order.reference is not None:
        return None
    row = books.connection.row(
        """
        SELECT order_id, subscriber_id FROM orders
        WHERE account_id = :account_id AND order_id > :newest AND content_digest = :content
        """,
        account_id=books.account_id,
        newest=newest,
        content=digest(order),
    )
    return Placed(row[0], True, False, row[1], (), 0) if row else None


def refresh_subscriptions(books: Operation, subscriptions: Iterable[int]) -> None:
    """Recompute the derived values of some subscriptions, by their ids."""
    touched = sorted(subscriptions)
    for first in range(0, len(touched), _TOUCHED_MAX):
        part = touched[first : first + _TOUCHED_MAX]
        refresh(books, _ids_query(part))


def _ids_query(ids: Sequence[int]) -> str:
    listed = ", ".join(f"{each:d}" for each in ids)
    return f"""SELECT s.subscription_id FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id IN ({listed})"""


def _look_up(books: Operation, orders: Sequence[Order]) -> None:
    """Look up what :func:`place` needs for each order."""
    known = _orders_by(books, [ascii_lower(each.reference) for each in orders if each.reference])
    new = [each for each in orders if not each.reference or not known[ascii_lower(each.reference)]]
    order_people.look_up(
        books, [who for each in new for who in (each.payer, *(i.recipient for i in each.items))]
    )
    extendable_subscriptions.look_up(books, books.memory("addresses"))


def _orders_by(books: Operation, references: Iterable[str]) -> Mapping[str, _Known | None]:
    """Return the order of each reference; references are in lower case."""
    memory = books.memory(_REFERENCES)
    new = [each for each in dict.fromkeys(references) if each not in memory]
    if new:
        memory |= dict.fromkeys(new)
        values = {f"v{number}": each for number, each in enumerate(new)}
        for reference, *row in books.direct.rows(
            f"""
            SELECT external_reference_lower, {", ".join(_Known._fields)} FROM orders
            WHERE account_id = :account_id
                AND external_reference_lower IN (:{", :".join(values)})
            """,
            account_id=books.account_id,
            **values,
        ):
            memory[reference] = _Known(*row)
    return memory


def _known(books: Operation, order: Order) -> Placed | None:
    if order.reference is None:
        return None
    reference = ascii_lower(order.reference)
    known = _orders_by(books, [reference])[reference]
    if known is None:
        return None
    order_id, subscriber_id, content, paid_on = known
    # None: the content was erased with the subscriber, or came from elsewhere.
    if content is not None and content != digest(order):
        raise RefusedOrder(
            "external_reference",
            f"order {order_id} has the reference {order.reference!r} and other content: give the "
            "other order another reference, or refund that one",
        )
    is_due = order.is_paid and paid_on is None
    if not is_due or order_id <= history_until(books.direct, books.account_id):
        return Placed(order_id, True, False, subscriber_id, (), 0)
    if paying.has_ended(books, order_id):
        return Placed(order_id, True, False, subscriber_id, (), 0, was_ended=True)
    paid = paying.pay(books, order_id, order.payment_type)
    return Placed(order_id, True, True, subscriber_id, paid.subscriptions, paid.cents)


class _Brought(NamedTuple):
    """What an item brings, and the address to which it goes."""

    mailing_address_id: int | None
    purchase: Record
    item: Record


class _Placing:
    """The placing of one order."""

    def __init__(
        self,
        books: Operation,
        order: Order,
        person: Person,
        payer: Resolved,
        offers: Sequence[Offer],
    ) -> None:
        self._books = books
        self._order = order
        self._payer = payer
        self._people = [(person, payer)]
        """Equal descriptions within an order mean the same person."""
        self._newcomers = [Newcomer(person.name, None, payer.resembling)]
        self._offers = offers
        self._account = books.account_id
        self._lines = Lines(books, payer)

    def run(self) -> Placed:
        """Queue the order and all that it brings; its own rows come when all are known."""
        books, order, payer = self._books, self._order, self._payer
        order_id = books.new_id("orders")
        recipients = [self._recipient(number) for number in range(len(self._offers))]
        is_gift = any(map(self._is_gift, self._offers, recipients))
        net = sum(offer.net for offer in self._offers)
        tax = sum(offer.tax for offer in self._offers)
        if net + tax > CENTS_MAX:
            raise RefusedOrder("price", f"the order is over {decimal(CENTS_MAX)} in all")
        brought = [
            self._place(number, order_id, offer, recipient)
            for number, (offer, recipient) in enumerate(zip(self._offers, recipients, strict=True))
        ]
        mailing = (each.mailing_address_id for each in brought)
        content = digest(order)
        paid_on = books.today if order.is_paid else None
        books.add(
            "orders",
            order_id=order_id,
            subscriber_id=payer.subscriber_id,
            mailing_address_id=next(
                (each for each in mailing if each is not None), payer.address_id
            ),
            billing_address_id=payer.address_id,
            import_name=order.import_name,
            channel_id=order.channel_id,
            order_date=books.now,
            is_gift=int(is_gift),
            sub_total=shortest(net),
            tax_total=shortest(tax),
            grand_total=shortest(net + tax),
            external_reference=order.reference,
            content_digest=content,
            paid_on=paid_on,
            payment_type=order.payment_type,
            commit_id=books.commit_id,
        )
        for each in brought:
            if each.purchase:
                books.add("purchases", **each.purchase)
            books.add("order_items", **each.item)
        self._lines.write(is_paid=order.is_paid)
        if order.is_paid:
            due = [term for term in self._lines.terms if term.is_due]
            paying.add_revenue(books, paying.receipts(books, due))
        if order.reference is not None:
            known = _Known(order_id, payer.subscriber_id, content, paid_on)
            books.memory(_REFERENCES)[ascii_lower(order.reference)] = known
        return Placed(
            order_id,
            False,
            order.is_paid,
            payer.subscriber_id,
            self._lines.subscriptions,
            net + tax,
            newcomers=tuple(each for each in self._newcomers if each.resembling),
        )

    def _recipient(self, number: int) -> Resolved:
        """Return the recipient of an item, with the address: the payer, unless another is named."""
        item = self._offers[number].item
        person: Person = item.recipient
        if not person.is_named:
            reader = self._payer.subscriber_id
            if item.subscription_id is not None:
                reader = named(self._books, item.subscription_id, number).subscriber_id
            is_elsewhere = person.address_id is not None or any(person.address.values())
            if reader == self._payer.subscriber_id and not is_elsewhere:
                person = self._people[0][0]
            else:
                person = person._replace(subscriber_id=reader)
        try:
            found = self._resolve(number, person)
            self._lines.check_named(number, self._offers[number], found.subscriber_id)
        except RefusedOrder as error:
            error.item = number
            raise
        return found

    def _resolve(self, number: int, person: Person) -> Resolved:
        for known, resolved in self._people:
            if known == person:
                return resolved
        found = resolve(self._books, person, "recipient_")
        self._people.append((person, found))
        self._newcomers.append(Newcomer(person.name, number, found.resembling))
        return found

    def _is_gift(self, offer: Offer, recipient: Resolved) -> bool:
        """Return whether an item is a gift: the payer is somebody else, and no organisation."""
        if offer.item.is_gift is not None:
            return offer.item.is_gift
        is_other = recipient.subscriber_id != self._payer.subscriber_id
        return is_other and not self._payer.company

    def _place(self, number: int, order_id: int, offer: Offer, recipient: Resolved) -> _Brought:
        """Return the rows of an item and its purchase, and its address; add its terms."""
        books, item = self._books, offer.item
        item_id = books.new_id("order_items")
        purchase_id = None if item.bundle_id is None else books.new_id("purchases")
        first_day = self._lines.first_day(number, offer)
        mailing = [
            self._lines.add_term(number, item_id, purchase_id, offer, line, recipient, first_day)
            for line in offer.lines
        ]
        where = next((each for each in mailing if each is not None), None)
        purchase: Record = {}
        if purchase_id is not None:
            purchase = {
                "purchase_id": purchase_id,
                "payment_type": self._order.payment_type,
                "notes": self._order.notes,
                "subscriber_id": self._payer.subscriber_id,
                "bundle_id": item.bundle_id,
                "shipping_address_id": where,
                "billing_address_id": self._payer.address_id,
                "invoice_id": str(order_id),
                "total": decimal(offer.net + offer.tax),
                "is_gift": int(self._is_gift(offer, recipient)),
                "commit_id": books.commit_id,
            }
        return _Brought(
            where,
            purchase,
            {
                "order_item_id": item_id,
                "order_id": order_id,
                "bundle_id": item.bundle_id,
                "product_id": item.product_id,
                "fulfilled_date": (
                    books.now if self._order.is_fulfilled and not offer.lines else None
                ),
                "sub_total": shortest(offer.net),
                "tax_total": shortest(offer.tax),
                "grand_total": shortest(offer.net + offer.tax),
                "purchase_id": purchase_id,
            },
        )
