"""The first page of a reader: the own subscriptions, gifts, documents, and what may be done.

A reader sees what belongs to the reader, and of others only the name that the reader gave with a
gift. A gift that the reader gets names no price. Amounts are whole cents, with tax.
"""

from collections.abc import Container, Iterable, Mapping
from typing import NamedTuple

from masthead.books import reader
from masthead.books.account import Books
from masthead.circulation.amounts import stored_cents
from masthead.circulation.reader_pages import NOTHING, May, Offered, may
from masthead.circulation.reader_rules import Standing, State, state_of
from masthead.circulation.requalifying import Free, free_until
from masthead.circulation.spans import Span, overlapped
from masthead.contract.subscription_types import UNLIMITED
from masthead.store import page_settings
from masthead.store.billing import open_items
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.settings import is_billing
from masthead.store.books import reader_home, reader_qualifying
from masthead.store.books.operation import Reading, mode_of
from masthead.store.books.order_details import show_order
from masthead.store.books.reader_home import Issue, Reader
from masthead.store.books.reader_page import Ended, SpanLine
from masthead.store.books.reader_qualifying import Newest

__all__ = [
    "Address",
    "Cancelled",
    "Document",
    "Gift",
    "Home",
    "Issue",
    "Next",
    "Owed",
    "Pause",
    "Reader",
    "Renewal",
    "Subscription",
    "Temporary",
    "home",
    "offered_by",
    "standing_of",
]

RECEIVED_MAX = 6
COMING_MAX = 3
ENDED_MAX = 10
"""How many issues that came, issues to come, and ended subscriptions the page shows at most."""


class Address(NamedTuple):
    """An address: its id, its fields that are not empty by name, and all in one line."""

    address_id: int
    fields: Mapping[str, str]
    line: str


class Owed(NamedTuple):
    """What is to be paid: the invoice, if there is one, and the cents that are open.

    ``number`` is the invoice's. ``due_on`` is the day until which it is to be paid.
    """

    order_id: int
    cents: int
    invoice_id: int | None = None
    number: str | None = None
    due_on: str | None = None


class Pause(NamedTuple):
    """A pause, both days included; no ``last`` day: a clerk ends it. ``is_now``: it runs today."""

    first: str
    last: str | None
    is_now: bool


class Temporary(NamedTuple):
    """Another address for a while, both days included."""

    first: str
    last: str | None
    line: str
    is_now: bool


class Cancelled(NamedTuple):
    """How a subscription was cancelled.

    ``ends_with`` is the last issue and ``ends_on`` its day, if it is known. ``at_end``: it ends
    when its issues are used up. ``ended_on``: the day on which it ended; None while it runs.
    """

    made_on: str
    at_end: bool
    ends_with: str | None
    ends_on: str | None
    ended_on: str | None


class Renewal(NamedTuple):
    """The automatic renewal of a subscription: since when, and what it orders.

    ``renews_on`` is the day of the next order and ``cents`` what it costs; both are None until it
    is announced.
    """

    given_on: str
    bundle: str
    renews_on: str | None
    cents: int | None


class Next(NamedTuple):
    """An issue to come; ``is_paused``: it falls into a pause and does not come."""

    issue_id: int
    name: str
    day: str
    is_paused: bool


class Subscription(NamedTuple):
    """A subscription of the reader, and what may be done with it now.

    ``issues_left`` is None if it is unlimited. ``until`` is the last day of what is left.
    ``is_gift``: somebody else pays for it. ``qualified`` is None unless it is free to the reader by
    a qualification. ``next`` is the issue that comes next, None if none does.
    """

    subscription_id: int
    publication_id: int
    publication: str
    type: str
    copies: int
    state: State
    issues_left: int | None
    until: str | None
    begins_on: str | None
    is_gift: bool
    owed: Owed | None
    next: Next | None
    coming: tuple[Next, ...]
    received: tuple[Issue, ...]
    address: Address | None
    pauses: tuple[Pause, ...]
    temporary: tuple[Temporary, ...]
    cancelled: Cancelled | None
    renewal: Renewal | None
    may: May
    qualified: Free | None = None


class Gift(NamedTuple):
    """What the reader gave: to whom, by the name that the reader gave, and its price.

    ``owed`` is None once it is paid. ``has_ended``: it was refunded.
    """

    order_id: int
    recipient: str
    bundle: str
    ordered_on: str
    cents: int
    owed: Owed | None
    has_ended: bool


class Document(NamedTuple):
    """An invoice, a receipt or a credit note of the reader; ``open_cents`` is what is not paid."""

    invoice_id: int
    kind: str
    number: str
    issued_on: str
    due_on: str | None
    cents: int
    open_cents: int


class Home(NamedTuple):
    """What a reader sees first. ``addresses`` are the reader's own, by ascending id.

    ``offered`` is what the pages of the account have, to buy and to give only where readers see a
    bundle for that. ``documents`` are the newest first. ``owed`` is the sum of all that is open.
    """

    reader: Reader
    subscriptions: tuple[Subscription, ...]
    gifts: tuple[Gift, ...]
    documents: tuple[Document, ...]
    addresses: tuple[Address, ...]
    offered: Offered
    owed: int
    currency: str
    today: str

    def subscription(self, subscription_id: int) -> Subscription | None:
        """Return one of the reader's subscriptions by its id, None if it is not the reader's."""
        return next(
            (each for each in self.subscriptions if each.subscription_id == subscription_id), None
        )

    def document(self, invoice_id: int) -> Document | None:
        """Return one of the reader's documents by its id, None if it is not the reader's."""
        return next((each for each in self.documents if each.invoice_id == invoice_id), None)


class _Offers(NamedTuple):
    """What the pages offer, and what bundles renew: publications with their types."""

    offered: Offered
    renewed: Container[tuple[int, str | None]]


def home(books: Books, subscriber_id: int) -> Home:
    """Return what a reader sees first, from one snapshot.

    Raises NotFound if there is no such reader, and if the reader was deleted, erased or merged.
    """
    with books.snapshot() as inside, inside.read() as reading:
        return _home(reading, subscriber_id)


def offered_by(reading: Reading) -> Offered:
    """Return what the readers' pages of an account have."""
    if mode_of(reading.direct, reading.account_id) == "elsewhere":
        return NOTHING
    settings = page_settings.settings_of(reading)
    return Offered(**{name: getattr(settings, name) for name in Offered._fields})


def standing_of(served: reader.Served, subscriber_id: int) -> Standing:
    """Return what the rules need to know of a subscription of a reader."""
    line, ended = served.line, served.ended
    paid_by = [each.payer_id for each in served.terms if each.kind == "paid"]
    return Standing(
        line.issues or 0,
        is_over=served.is_over,
        is_cancelled=ended is not None and ended.ended_on is None,
        is_final=ended is not None and bool(ended.is_final),
        is_waiting=served.is_held,
        is_own=not paid_by or subscriber_id in paid_by,
        begins_on=line.begins_on,
        pauses=tuple(Span(0, each.first, each.last) for each in served.suspensions),
        renews=served.renewing is not None,
    )


def _home(reading: Reading, subscriber_id: int) -> Home:
    person = reader_home.reader_of(reading, subscriber_id)
    served = [each for each in reader.served(reading, subscriber_id) if not each.line.merged_into]
    places = {
        key: Address(key, fields, _in_one_line(fields))
        for key, fields in reader_home.addresses_of(reading, subscriber_id).items()
    }
    invoices = open_items.invoices_of(reading, subscriber_id) if is_billing(reading) else []
    by_order = {each.order_id: each for each in invoices if each.order_id is not None}
    offered = offered_by(reading)
    gifts = reader_home.gifts_of(reading, subscriber_id)
    lines = reader_home.shown_lines(reading)
    offers = _Offers(offered, {(each.publication_id, each.type) for each in lines if each.renew})
    free = reader_qualifying.newest_of(reading, subscriber_id)
    shown = [
        _with_free(
            _subscription(reading, subscriber_id, each, places, by_order, offers),
            free.get(each.line.subscription_id),
            reading.today,
            pays=any(term.kind == "paid" for term in each.terms),
            may_answer=offered.questionnaire,
        )
        for each in _newest(served)
    ]
    return Home(
        person,
        tuple(sorted(shown, key=lambda each: (each.state == "ended", each.publication))),
        tuple(_gift(reading, each, by_order) for each in gifts),
        tuple(_document(each) for each in reversed(invoices)) if offered.documents else (),
        tuple(places.values()),
        offered.where_sold(buy=any(x.buy for x in lines), gift=any(x.gift for x in lines)),
        sum(each.open_cents for each in invoices),
        reading.currency,
        reading.today,
    )


def _newest(served: Iterable[reader.Served]) -> list[reader.Served]:
    """Return the subscriptions that run, and the newest ones that ended."""
    runs: list[reader.Served] = []
    over: list[reader.Served] = []
    for each in served:
        (over if each.is_over or not each.line.issues else runs).append(each)
    return runs + over[-ENDED_MAX:]


def _subscription(
    reading: Reading,
    subscriber_id: int,
    served: reader.Served,
    places: Mapping[int, Address],
    by_order: Mapping[int, Invoice],
    offers: _Offers,
) -> Subscription:
    line, today = served.line, reading.today
    standing = standing_of(served, subscriber_id)
    came = tuple(reader_home.received(reading, line.subscription_id, RECEIVED_MAX))
    coming = _coming(served)
    left = line.issues or 0
    return Subscription(
        line.subscription_id,
        line.publication_id,
        line.publication or "",
        line.type or "Print",
        line.copies or 1,
        state_of(standing, today),
        None if left == UNLIMITED else left,
        line.last_day,
        line.begins_on,
        not standing.is_own,
        _owed(reading, served.unpaid, by_order) if standing.is_own else None,
        next((each for each in coming if not each.is_paused), None),
        coming[:COMING_MAX],
        came,
        places.get(line.mailing_address_id or -1),
        tuple(
            Pause(each.first, each.last, _is_now(each, today))
            for each in served.suspensions
            if (each.last or today) >= today
        ),
        tuple(
            Temporary(span.first, span.last, postal.line, _is_now(span, today))
            for span, postal in served.temporary
            if (span.last or today) >= today
        ),
        None if served.ended is None else _cancelled(served.ended),
        None
        if served.renewing is None
        else Renewal(
            served.renewing.given_on,
            served.renewing.bundle or "",
            served.renewing.renews_on,
            served.renewing.cents,
        ),
        may(
            offers.offered,
            standing,
            today,
            has_issues=bool(came),
            has_bundles=(line.publication_id, line.type) in offers.renewed,
        ),
    )


def _with_free(
    shown: Subscription, free: Newest | None, today: str, *, pays: bool, may_answer: bool
) -> Subscription:
    """Return a subscription with how its qualification stands; what is paid comes first."""
    if free is None:
        return shown
    found = free_until(free.valid_until, today, is_served=bool(free.served))
    return shown._replace(
        qualified=None if pays else found,
        may=shown.may._replace(qualify=may_answer and shown.cancelled is None),
    )


def _coming(served: reader.Served) -> tuple[Next, ...]:
    """Return the planned issues that come, and those in a pause; empty if none comes."""
    if served.coming is None:
        return ()
    last = served.ended.issue_day if served.ended else None
    spans = [Span(0, each.first, each.last) for each in served.suspensions]
    left = served.line.issues or 0
    found: list[Next] = []
    for each in served.planned:
        if each.day < (served.line.begins_on or ""):
            continue
        if left == 0 or (last is not None and each.day > last):
            break
        is_paused = overlapped(spans, each.day, each.day) is not None
        left -= 0 if is_paused else 1
        found.append(Next(each.issue_id, each.name or each.day, each.day, is_paused))
    return tuple(found)


def _cancelled(ended: Ended) -> Cancelled:
    return Cancelled(
        ended.made_on, bool(ended.at_end), ended.issue, ended.issue_day, ended.ended_on
    )


def _is_now(span: SpanLine, today: str) -> bool:
    return overlapped([Span(0, span.first, span.last)], today, today) is not None


def _owed(reading: Reading, order_id: int | None, by_order: Mapping[int, Invoice]) -> Owed | None:
    """Return what is open of an order; None if nothing is."""
    if order_id is None:
        return None
    invoice = by_order.get(order_id)
    if invoice is None:
        cents = show_order(reading.connection, reading.account_id, order_id).due
        return Owed(order_id, cents) if cents else None
    if not invoice.open_cents:
        return None
    return Owed(
        order_id, invoice.open_cents, invoice.invoice_id, invoice.number_text, invoice.due_on
    )


def _gift(reading: Reading, row: reader_home.GiftRow, by_order: Mapping[int, Invoice]) -> Gift:
    has_ended = row.refund_date is not None
    is_open = row.paid_on is None and not has_ended
    name = " ".join(part for part in (row.first_name, row.last_name) if part)
    return Gift(
        row.order_id,
        name or row.company or "",
        row.bundle or "",
        (row.ordered or "")[:10],
        stored_cents(row.total) if row.total else 0,
        _owed(reading, row.order_id, by_order) if is_open else None,
        has_ended,
    )


def _document(invoice: Invoice) -> Document:
    return Document(
        invoice.invoice_id,
        invoice.kind,
        invoice.number_text,
        invoice.issued_on,
        invoice.due_on,
        invoice.total,
        invoice.open_cents,
    )


def _in_one_line(fields: Mapping[str, str]) -> str:
    texts = dict(fields)
    name = " ".join(
        part for part in (texts.pop("first_name", ""), texts.pop("last_name", "")) if part
    )
    if texts.get("country_name"):
        texts.pop("country_abbreviation", None)
    return ", ".join(part for part in (name, *texts.values()) if part)
