"""The page of a reader: what they get, what they paid and owe, and all that happened.

Everything is read from one snapshot, with statements that follow the indexes of one reader, so that
a page takes as long in a large account as in a small one.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from masthead.books.account import Books
from masthead.circulation.amounts import stored_cents
from masthead.circulation.qualifying import shown
from masthead.circulation.requalifying import Free, free_until
from masthead.contract.printable import full_name
from masthead.contract.shapes import CustomFieldDefinition, fields_of
from masthead.contract.subscription_types import UNLIMITED
from masthead.store import audit, interface_queries
from masthead.store.books import reader_events, reader_page, replacements
from masthead.store.books.details import Person, Postal, look_at_subscriber, postals
from masthead.store.books.earlier_orders import history_until
from masthead.store.books.operation import Reading, mode_of
from masthead.store.books.order_details import show_order
from masthead.store.books.reader_events import Complaint, Delivery
from masthead.store.books.reader_notes import Note
from masthead.store.books.reader_page import (
    Coming,
    Ended,
    ItemRow,
    Letter,
    Line,
    OrderRow,
    Renewing,
    SpanLine,
    TermLine,
)
from masthead.store.books.reader_qualifying import newest_of

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
    "served",
]

_OWED_MAX = 20
_SERVED_MAX = 50
_FIELD = [field.name for field in fields_of(CustomFieldDefinition)]


class Served(NamedTuple):
    """A subscription and what belongs to it now.

    ``terms`` are those with issues left. ``payers`` are the ids and names of others who paid for
    them. ``next_to`` is the address of the issue ``coming``, which is None if none comes.
    ``planned`` are the issues of its publication that are not closed. ``unpaid`` is the order
    that is not paid, ``is_held`` says that nothing comes until it is. ``renewing`` is None if
    it does not renew automatically.
    """

    line: Line
    terms: list[TermLine]
    payers: Mapping[int, str]
    suspensions: list[SpanLine]
    temporary: list[tuple[SpanLine, Postal]]
    ended: Ended | None
    mailing: Postal | None
    billing: Postal | None
    coming: Coming | None
    planned: list[Coming]
    next_to: Postal | None
    unpaid: int | None
    is_held: bool
    letters: list[Letter]
    renewing: Renewing | None

    @property
    def is_over(self) -> bool:
        """Whether it was cancelled or merged, so that an order begins another one."""
        return self.line.cancelled_on is not None or self.line.merged_into is not None


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

    @property
    def key(self) -> int:
        """The id of the subscriber."""
        return int(self.person.fields["subscriber_id"] or 0)

    @property
    def name(self) -> str:
        """First and last name, or else the email address; '' if there is neither."""
        fields = self.person.fields
        return full_name(fields) or str(fields["email"] or "")


def look(books: Books, subscriber_id: int, *, most: int) -> Reader:
    """Return a reader with at most ``most`` events of each kind.

    Raises NotFound if there is no such subscriber.
    """
    with books.snapshot() as inside, inside.read() as reading:
        return _reader(reading, subscriber_id, most)


def _reader(reading: Reading, subscriber_id: int, most: int) -> Reader:
    where = reading.connection, reading.account_id
    person = look_at_subscriber(*where, subscriber_id)
    lines = reader_page.lines(reading, subscriber_id)
    orders = reader_page.orders(reading, subscriber_id)
    items: dict[int, list[ItemRow]] = {}
    if orders:
        for item in reader_page.items(reading, subscriber_id, orders[-1].order_id):
            items.setdefault(item.order_id, []).append(item)
    newest = [line.subscription_id for line in lines][-_SERVED_MAX:]
    deliveries = [each for key in newest for each in reader_events.deliveries(reading, key, most)]
    temporary = reader_page.temporary_addresses(reading, subscriber_id)
    places = _places(reading, lines, temporary, {each.address_id for each in deliveries})
    places |= {each.address_id: each for each in person.addresses}
    terms = reader_page.terms(reading, subscriber_id)
    mentioned = {
        "subscriber": {subscriber_id},
        "subscription": {line.subscription_id for line in lines},
        "order": {order.order_id for order in orders},
    }
    changes, since = audit.changes_of(*where, mentioned, limit=most)
    until = history_until(*where)
    return Reader(
        person,
        reading.value_as(str, "SELECT opened_on FROM books WHERE account_id = :account_id"),
        _served(reading, subscriber_id, lines, terms, temporary, places),
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
            for key, each in newest_of(reading, subscriber_id).items()
        },
        reading.today,
        reading.time_zone,
    )


def served(reading: Reading, subscriber_id: int) -> list[Served]:
    """Return the subscriptions of a reader and what belongs to them now, by ascending id."""
    lines = reader_page.lines(reading, subscriber_id)
    terms = reader_page.terms(reading, subscriber_id)
    temporary = reader_page.temporary_addresses(reading, subscriber_id)
    places = _places(reading, lines, temporary)
    return _served(reading, subscriber_id, lines, terms, temporary, places)


def _places(
    reading: Reading,
    lines: Collection[Line],
    temporary: Collection[SpanLine],
    others: Collection[int | None] = (),
) -> dict[int, Postal]:
    """Return the addresses of subscriptions, those that they have for a while, and others."""
    ids = {line.mailing_address_id for line in lines} | {line.billing_address_id for line in lines}
    ids |= {each.address_id for each in temporary} | {*others}
    return postals(
        reading.connection, reading.account_id, [each for each in ids if each is not None]
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


def _served(
    reading: Reading,
    subscriber_id: int,
    lines: list[Line],
    terms: list[TermLine],
    temporary: list[SpanLine],
    places: Mapping[int, Postal],
) -> list[Served]:
    suspensions = reader_page.suspensions(reading, subscriber_id)
    ended = {
        each.subscription_id: each for each in reader_page.cancellations(reading, subscriber_id)
    }
    letters = reader_page.letters(reading, subscriber_id)
    renewing = {each.subscription_id: each for each in reader_page.renewing(reading, subscriber_id)}
    planned = reader_page.coming(reading, {line.publication_id for line in lines})
    found = []
    for line in lines:
        own = [
            term
            for term in terms
            if term.subscription_id == line.subscription_id and term.issues_left != 0
        ]
        spans = [each for each in suspensions if each.subscription_id == line.subscription_id]
        aways = [each for each in temporary if each.subscription_id == line.subscription_id]
        unpaid, is_held = _unpaid(line, own)
        coming = None if is_held else _coming(line, planned, spans, ended.get(line.subscription_id))
        away = next(
            (each.address_id for each in aways if coming and _is_in(each, coming.day)), None
        )
        found.append(
            Served(
                line,
                own,
                {
                    term.payer_id: " ".join(
                        part for part in (term.payer_first_name, term.payer_last_name) if part
                    )
                    for term in own
                    if term.payer_id is not None and term.payer_id != subscriber_id
                },
                spans,
                # The readers' pages are not shown an address that is another reader's.
                [(each, at) for each in aways if (at := places.get(each.address_id or -1))],
                ended.get(line.subscription_id),
                places.get(line.mailing_address_id or -1),
                places.get(line.billing_address_id or -1),
                coming,
                [each for each in planned if each.publication_id == line.publication_id],
                places.get(away or line.mailing_address_id or -1) if coming else None,
                unpaid,
                is_held,
                [each for each in letters if each.subscription_id == line.subscription_id],
                renewing.get(line.subscription_id),
            )
        )
    return found


def _unpaid(line: Line, terms: list[TermLine]) -> tuple[int | None, bool]:
    """Return the unpaid order of a subscription, and whether nothing comes until it is paid.

    An unpaid term is served for the publication's credit, unless another one is paid (circulation,
    "Closing").
    """
    due = [term for term in terms if term.price > 0 and term.paid_on is None and not term.ended_at]
    if not due:
        return None, False
    waits = [
        term
        for term in due
        if term.issues != UNLIMITED and term.issues - term.issues_left >= line.credit
    ]
    return due[0].order_id, len(waits) == len(terms)


def _coming(
    line: Line, planned: Collection[Coming], spans: list[SpanLine], ended: Ended | None
) -> Coming | None:
    """Return the planned issue that a subscription gets next."""
    if line.cancelled_on or line.merged_into or not line.issues:
        return None
    last = ended.issue_day if ended else None
    for each in planned:
        if each.publication_id != line.publication_id or each.day < (line.begins_on or ""):
            continue
        if last is not None and each.day > last:
            return None
        if not any(_is_in(span, each.day) for span in spans):
            return each
    return None


def _is_in(span: SpanLine, day: str) -> bool:
    return span.first <= day and (span.last is None or day <= span.last)


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
