"""The page of a reader: what they get, what they paid and owe, and all that happened.

Everything is read from one snapshot, with statements that follow the indexes of one reader, so that
a page takes as long in a large account as in a small one.
"""

from collections.abc import Mapping
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.reader_subscriptions import Served, SubscriptionsAsked
from masthead.circulation.amounts import stored_cents
from masthead.circulation.qualifying import shown
from masthead.circulation.requalifying import Free, free_until
from masthead.contract.printable import full_name
from masthead.contract.shapes import CustomFieldDefinition, fields_of
from masthead.databases.queries import Batch
from masthead.store import audit, interface_queries
from masthead.store.books import reader_events, reader_page, reader_qualifying, replacements
from masthead.store.books.details import Person, Postal, look_at_subscriber, postals
from masthead.store.books.earlier_orders import history_until
from masthead.store.books.names import company_of
from masthead.store.books.operation import Reading, day_of_opening, mode_of
from masthead.store.books.order_details import show_order
from masthead.store.books.reader_events import Complaint, Delivery
from masthead.store.books.reader_notes import Note
from masthead.store.books.reader_page import (
    Ended,
    ItemRow,
    Letter,
    Line,
    OrderRow,
    Renewing,
    SpanLine,
    TermLine,
)

__all__ = [
    "Complaint",
    "Delivery",
    "Ended",
    "Events",
    "Letter",
    "Line",
    "Money",
    "Note",
    "OrderRow",
    "Owed",
    "Reader",
    "Renewing",
    "Served",
    "SpanLine",
    "look",
]

_OWED_MAX = 20
_SERVED_MAX = 50
_FIELD = [field.name for field in fields_of(CustomFieldDefinition)]


class Owed(NamedTuple):
    """An order that is not paid: the cents with tax that are due."""

    order: OrderRow
    cents: int


class Money(NamedTuple):
    """What a reader paid and owes, in cents with tax.

    ``paid`` is known to be paid, in ``payments``, the last one of which is ``last``; ``refunded``
    was given back. ``earlier`` orders, of ``earlier_cents``, came from files that do not say
    whether they were paid. ``opening`` is what was paid before the opening for issues after it.
    ``has_more``: there are older orders, which are not counted.
    """

    paid: int
    payments: int
    last: OrderRow | None
    refunded: int
    owed: list[Owed]
    earlier: int
    earlier_cents: int
    opening: int
    has_more: bool


class Events(NamedTuple):
    """What happened, the newest of each kind; ``logged_since`` is how far back the log was read.

    It is in microseconds since 1970, and None if the whole log was read.
    """

    orders: list[OrderRow]
    items: Mapping[int, list[ItemRow]]
    deliveries: list[Delivery]
    notes: list[Note]
    complaints: list[Complaint]
    replacements: list[replacements.OfReader]
    changes: list[audit.Entry]
    logged_since: int | None


class Reader(NamedTuple):
    """A reader: ``answers`` are questions and answers, ``places`` are addresses by their ids.

    ``free`` says for subscriptions that go by a qualification until when they are free.
    ``time_zone`` is the account's; all times of the books are in it, and those of the log in UTC.
    ``company`` is '' for a reader with a name.
    """

    person: Person
    opened_on: str | None
    subscriptions: list[Served]
    money: Money
    answers: list[tuple[str, str]]
    events: Events
    places: Mapping[int, Postal]
    free: Mapping[int, Free]
    today: str
    time_zone: str
    company: str

    @property
    def key(self) -> int:
        """The id of the subscriber."""
        return int(self.person.fields["subscriber_id"] or 0)

    @property
    def name(self) -> str:
        """First and last name, or else the company or the email address; '' without any."""
        fields = self.person.fields
        return full_name(fields) or self.company or str(fields["email"] or "")

    def may_have_come(self, subscription_id: int) -> bool:
        """Whether an issue of a subscription came; True for the oldest, which were not read."""
        newest = self.subscriptions[-_SERVED_MAX:]
        return all(each.line.subscription_id != subscription_id for each in newest) or any(
            each.subscription_id == subscription_id for each in self.events.deliveries
        )


def look(books: Books, subscriber_id: int, *, most: int) -> Reader:
    """Return a reader with at most ``most`` events of each kind.

    Raises NotFound if there is no such subscriber.
    """
    with books.snapshot() as inside, inside.read() as reading:
        return _reader(reading, subscriber_id, most)


def _reader(reading: Reading, subscriber_id: int, most: int) -> Reader:
    where = reading.connection, reading.account_id
    person = look_at_subscriber(*where, subscriber_id)
    batch = Batch(reading)
    asked = SubscriptionsAsked(batch, subscriber_id)
    batch.send()
    lines, terms = asked.lines(), asked.terms()
    orders = reader_page.orders(reading, subscriber_id)
    items: dict[int, list[ItemRow]] = {}
    if orders:
        for item in reader_page.items(reading, subscriber_id, orders[-1].order_id):
            items.setdefault(item.order_id, []).append(item)
    newest = [line.subscription_id for line in lines][-_SERVED_MAX:]
    deliveries = [each for key in newest for each in reader_events.deliveries(reading, key, most)]
    places = asked.places() | {each.address_id: each for each in person.addresses}
    others = {each.address_id for each in deliveries if each.address_id is not None}
    places |= postals(*where, others - places.keys())
    mentioned = {
        "subscriber": {subscriber_id},
        "subscription": {line.subscription_id for line in lines},
        "order": {order.order_id for order in orders},
    }
    changes, since = audit.changes_of(*where, mentioned, limit=most)
    until = history_until(*where)
    return Reader(
        person,
        day_of_opening(*where),
        asked.served(),
        _money(reading, orders, items, terms, until),
        _answers(interface_queries.answers_of(*where, subscriber_id) or []),
        Events(
            orders,
            items,
            deliveries,
            reader_events.notes(reading, subscriber_id, most),
            reader_events.complaints(reading, subscriber_id, most),
            replacements.of_reader(reading, subscriber_id),
            changes,
            since,
        ),
        places,
        {
            key: free_until(each.valid_until, reading.today, is_served=bool(each.served))
            for key, each in reading.ask(reader_qualifying.newest(subscriber_id)).items()
        },
        reading.today,
        reading.time_zone,
        "" if full_name(person.fields) else company_of(reading, subscriber_id),
    )


def _answers(found: list[interface_queries.Answer]) -> list[tuple[str, str]]:
    """Return the questions that the reader answered, with the answers."""
    answers = []
    for each in found:
        words = [shown(display_as, value) for _, value, display_as, *_ in each.chosen]
        words += [each.text_value] if each.text_value else []
        if words:
            field = dict(zip(_FIELD, each.field, strict=False))
            answers.append((shown(field["display_as"], field["name"]), ", ".join(words)))
    return answers


def _money(
    reading: Reading,
    orders: list[OrderRow],
    items: Mapping[int, list[ItemRow]],
    terms: list[TermLine],
    until: int,
) -> Money:
    paid = [order for order in orders if order.paid_on]
    open_ones = [order for order in orders if not order.paid_on and _cents(order)]
    booked = [order for order in open_ones if order.order_id > until][:_OWED_MAX]
    earlier = [order for order in open_ones if order.order_id <= until]
    dues = [
        Owed(order, show_order(reading.connection, reading.account_id, order.order_id).due)
        for order in booked
    ]
    is_here = mode_of(reading.connection, reading.account_id) == "here"
    return Money(
        sum(_cents(order) for order in paid),
        len(paid),
        max(paid, key=lambda order: (order.paid_on or "", order.order_id), default=None),
        sum(item.refunded for each in items.values() for item in each),
        [each for each in dues if each.cents > 0],
        len(earlier),
        sum(_cents(order) for order in earlier),
        sum(term.price for term in terms if term.kind == "opening") if is_here else 0,
        len(orders) == reader_page.ORDERS_MAX,
    )


def _cents(order: OrderRow) -> int:
    return stored_cents(order.total) if order.total else 0
