"""Orders: what they bring to subscribers, subscriptions, terms and purchases.

All that an order does is one operation (circulation, "Order"). Every look-up is by an index, so an
order takes as long in a large account as in a small one. The functions run in an operation
(``store.books.operation``); :func:`finish` comes once, after all orders.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.circulation.amounts import CENTS_MAX, decimal, shortest
from masthead.circulation.ordering import Order, Person, RefusedOrder, digest
from masthead.store.books import paying
from masthead.store.books.history import history_until
from masthead.store.books.ids import next_ids
from masthead.store.books.lining import Lines, insert
from masthead.store.books.offering import Offer, offer_of
from masthead.store.books.operation import Operation
from masthead.store.books.people import Resolved, resolve
from masthead.store.books.refreshing import refresh
from masthead.store.database import Connection
from masthead.store.searching import ascii_lower

__all__ = [
    "Placed",
    "finish",
    "newest_order",
    "place",
    "placed_since",
    "refresh_subscriptions",
]

_TOUCHED_MAX = 5_000
"""For so many subscriptions at most, one statement names their ids."""


class Placed(NamedTuple):
    """An order that was placed; ``is_known`` if it was there already.

    ``was_paid``: its payment was booked now; ``was_ended``: it is marked as paid, but nothing is
    left to pay for. ``subscriptions`` are those that it began or extended, ``cents`` its grand
    total.
    """

    order_id: int
    is_known: bool
    was_paid: bool
    subscriber_id: int
    subscriptions: tuple[int, ...]
    cents: int
    was_ended: bool = False


def place(books: Operation, order: Order) -> Placed:
    """Place an order, unless one with its reference is there; see :func:`finish`.

    The same reference with the same content changes nothing, but books the payment that has come
    since. Raises RefusedOrder, also for the same reference with other content.
    """
    known = _known(books, order)
    if known is not None:
        return known
    if not order.items:
        raise RefusedOrder("bundle_id", "an order has at least one bundle or product")
    offers = [offer_of(books, number, item) for number, item in enumerate(order.items)]
    payer = resolve(books, order.payer)
    return _Placing(books, order, payer, offers).run()


def newest_order(connection: Connection, account_id: int) -> int:
    """Return the id of the account's newest order, 0 if it has none."""
    ((newest,),) = connection.rows(
        "SELECT coalesce(max(order_id), 0) FROM orders WHERE account_id = :account_id",
        account_id=account_id,
    )
    return int(newest)


def placed_since(books: Operation, order: Order, newest: int | None) -> int | None:
    """Return the order of the same content that was placed after the order ``newest``, if any.

    So an order that is sent twice is placed once. One with a reference is known by that.
    """
    if newest is None or order.reference is not None:
        return None
    row = books.connection.row(
        """
        SELECT order_id FROM orders WHERE account_id = :account_id AND order_id > :newest
            AND content_digest = :content
        """,
        account_id=books.account_id,
        newest=newest,
        content=digest(order),
    )
    return row[0] if row else None


def finish(books: Operation, placed: Iterable[Placed]) -> None:
    """Compute anew what follows from the orders for their subscriptions, once for all of them."""
    refresh_subscriptions(books, {each for one in placed for each in one.subscriptions})


def refresh_subscriptions(books: Operation, subscriptions: Iterable[int]) -> None:
    """Compute anew what follows from their terms for some subscriptions, by their ids."""
    touched = sorted(subscriptions)
    for first in range(0, len(touched), _TOUCHED_MAX):
        part = touched[first : first + _TOUCHED_MAX]
        refresh(books, _ids_query(part))


def _ids_query(ids: Sequence[int]) -> str:
    listed = ", ".join(f"{each:d}" for each in ids)
    return f"""SELECT s.subscription_id FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id IN ({listed})"""


def _known(books: Operation, order: Order) -> Placed | None:
    if order.reference is None:
        return None
    row = books.connection.row(
        """
        SELECT order_id, subscriber_id, content_digest, paid_on FROM orders
        WHERE account_id = :account_id AND external_reference_lower = :reference
        """,
        account_id=books.account_id,
        reference=ascii_lower(order.reference),
    )
    if row is None:
        return None
    order_id, subscriber_id, content, paid_on = row
    # None: the content was erased with the subscriber, or came from elsewhere.
    if content is not None and content != digest(order):
        raise RefusedOrder(
            "external_reference",
            f"order {order_id} has the reference {order.reference!r} and other content: give the "
            "other order another reference, or refund that one",
        )
    is_history = order_id <= history_until(books.connection, books.account_id)
    if not order.is_paid or paid_on is not None or is_history:
        return Placed(order_id, True, False, subscriber_id, (), 0)
    if paying.has_ended(books, order_id):
        return Placed(order_id, True, False, subscriber_id, (), 0, was_ended=True)
    paid = paying.pay(books, order_id, order.payment_type)
    return Placed(order_id, True, True, subscriber_id, paid.subscriptions, paid.cents)


class _Placing:
    """The placing of one order."""

    def __init__(
        self, books: Operation, order: Order, payer: Resolved, offers: Sequence[Offer]
    ) -> None:
        self._books = books
        self._order = order
        self._payer = payer
        self._offers = offers
        self._account = books.account_id
        self._lines = Lines(books, payer)

    def run(self) -> Placed:
        """Write the order and all that it brings."""
        order_id = self._next("orders")
        recipients = [self._recipient(number) for number in range(len(self._offers))]
        is_gift = any(each.subscriber_id != self._payer.subscriber_id for each in recipients)
        net = sum(offer.net for offer in self._offers)
        tax = sum(offer.tax for offer in self._offers)
        if net + tax > CENTS_MAX:
            raise RefusedOrder("price", f"the order is over {decimal(CENTS_MAX)} in all")
        insert(
            self._books,
            "orders",
            order_id=order_id,
            subscriber_id=self._payer.subscriber_id,
            mailing_address_id=None,
            billing_address_id=self._payer.address_id,
            import_name=self._order.import_name,
            channel_id=self._order.channel_id,
            order_date=self._books.local_now,
            is_gift=int(is_gift),
            sub_total=shortest(net),
            tax_total=shortest(tax),
            grand_total=shortest(net + tax),
            external_reference=self._order.reference,
            content_digest=digest(self._order),
            payment_type=self._order.payment_type,
            commit_id=self._books.commit_id,
        )
        mailing = [
            self._place(number, order_id, offer, recipient)
            for number, (offer, recipient) in enumerate(zip(self._offers, recipients, strict=True))
        ]
        self._books.connection.change(
            """
            UPDATE orders SET mailing_address_id = :mailing
            WHERE account_id = :account_id AND order_id = :order_id
            """,
            account_id=self._account,
            order_id=order_id,
            mailing=next((each for each in mailing if each is not None), self._payer.address_id),
        )
        if self._order.is_paid:
            paying.book(self._books, order_id, self._order.payment_type)
        subscriptions = self._lines.subscriptions
        return Placed(
            order_id,
            False,
            self._order.is_paid,
            self._payer.subscriber_id,
            subscriptions,
            net + tax,
        )

    def _recipient(self, number: int) -> Resolved:
        """Return who gets an item, and where: the one who pays, unless somebody is named."""
        person: Person = self._offers[number].item.recipient
        if not person.is_named:
            if person.address_id is None and not any(person.address.values()):
                return self._payer
            person = person._replace(subscriber_id=self._payer.subscriber_id)
        try:
            return resolve(self._books, person, "recipient_")
        except RefusedOrder as error:
            error.item = number
            raise

    def _place(self, number: int, order_id: int, offer: Offer, recipient: Resolved) -> int | None:
        """Write an item and what it brings; return the address to which it goes."""
        item = offer.item
        item_id = self._next("order_items")
        purchase_id = None
        if item.bundle_id is not None:
            purchase_id = self._next("purchases")
            insert(
                self._books,
                "purchases",
                purchase_id=purchase_id,
                payment_type=self._order.payment_type,
                notes=self._order.notes,
                subscriber_id=self._payer.subscriber_id,
                bundle_id=item.bundle_id,
                billing_address_id=self._payer.address_id,
                invoice_id=str(order_id),
                total=decimal(offer.net + offer.tax),
                is_gift=int(recipient.subscriber_id != self._payer.subscriber_id),
                commit_id=self._books.commit_id,
            )
        insert(
            self._books,
            "order_items",
            order_item_id=item_id,
            order_id=order_id,
            bundle_id=item.bundle_id,
            product_id=item.product_id,
            fulfilled_date=(
                self._books.local_now if self._order.is_fulfilled and not offer.lines else None
            ),
            sub_total=shortest(offer.net),
            tax_total=shortest(offer.tax),
            grand_total=shortest(offer.net + offer.tax),
            purchase_id=purchase_id,
        )
        first_day = self._lines.first_day(number, offer)
        mailing = [
            self._lines.add_term(number, item_id, purchase_id, offer, line, recipient, first_day)
            for line in offer.lines
        ]
        where = next((each for each in mailing if each is not None), None)
        if purchase_id is not None and where is not None:
            self._books.connection.change(
                """
                UPDATE purchases SET shipping_address_id = :address_id
                WHERE account_id = :account_id AND purchase_id = :purchase_id
                """,
                account_id=self._account,
                purchase_id=purchase_id,
                address_id=where,
            )
        return where

    def _next(self, table: str) -> int:
        return next_ids(self._books.connection, self._account, table)
