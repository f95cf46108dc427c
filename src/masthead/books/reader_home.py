"""The first page of a reader: the own subscriptions, gifts, documents, and what may be done.

A reader sees what belongs to the reader, and of others only the name that the reader gave with a
gift. A gift that the reader gets names no price. Amounts are whole cents, with tax.
"""

from collections.abc import Collection, Container, Iterable, Mapping
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.reader_documents import Letter, letters_of
from masthead.books.reader_home_records import (
    Address,
    Cancelled,
    Document,
    Gift,
    Home,
    Next,
    Owed,
    Pause,
    Renewal,
    Subscription,
    Temporary,
)
from masthead.books.reader_offers import ask_offered
from masthead.books.reader_subscriptions import (
    Served,
    SubscriptionsAsked,
    left_of,
    standing_of,
    unpaid_order,
)
from masthead.circulation.amounts import stored_cents
from masthead.circulation.reader_pages import Offered, may
from masthead.circulation.reader_rules import state_of
from masthead.circulation.requalifying import free_until
from masthead.circulation.spans import Span, overlapped
from masthead.contract.subscription_types import UNLIMITED
from masthead.databases.queries import Batch
from masthead.store.billing import open_items, reader_letters, reminders
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.mandates import collects, has_active
from masthead.store.billing.reader_letters import SentLetter
from masthead.store.billing.settings import settings as billing_settings
from masthead.store.books import reader_home, reader_qualifying, reader_requests
from masthead.store.books.operation import Reading
from masthead.store.books.order_details import show_order
from masthead.store.books.reader_home import Issue, Reader
from masthead.store.books.reader_page import Ended, SpanLine, TermLine
from masthead.store.books.reader_qualifying import Newest
from masthead.store.books.reader_requests import Request

__all__ = [
    "Address",
    "Cancelled",
    "Document",
    "FirstPage",
    "Gift",
    "Home",
    "Issue",
    "Next",
    "Owed",
    "Pause",
    "Reader",
    "Renewal",
    "SentLetter",
    "Subscription",
    "Temporary",
    "first_page",
    "home",
]

RECEIVED_MAX = 6
COMING_MAX = 3
ENDED_MAX = 10
"""How many issues that came, issues to come, and ended subscriptions the page shows at most."""


class _Offers(NamedTuple):
    """What the pages offer, and what bundles renew: publications with their types."""

    offered: Offered
    renewed: Container[tuple[int, str | None]]


class _Bills(NamedTuple):
    """The reader's invoices by their orders, and whether the bank collects them."""

    by_order: Mapping[int, Invoice]
    is_collected: bool


class FirstPage(NamedTuple):
    """The first page: what the reader has, the newest requests to the desk, and the letters.

    ``letters`` are the reminders, which are kept, and ``sent`` are the others.
    """

    home: Home
    requests: list[Request]
    letters: list[Letter]
    sent: list[SentLetter]


def home(books: Books, subscriber_id: int) -> Home:
    """Return what a reader sees first, from one snapshot.

    Raises NotFound if there is no such reader, and if the reader was deleted, erased or merged.
    """
    with books.snapshot() as inside, inside.read() as reading:
        batch = Batch(reading)
        asked = _HomeAsked(batch, reading, subscriber_id)
        batch.send()
        return asked.home()


def first_page(books: Books, subscriber_id: int, *, requests_max: int) -> FirstPage:
    """Return the first page of a reader, from one snapshot; it raises what :func:`home` does."""
    with books.read() as reading:
        batch = Batch(reading)
        asked = _HomeAsked(batch, reading, subscriber_id)
        requests = batch.add(reader_requests.of_reader(subscriber_id, requests_max))
        letters = batch.add(reminders.kept_letters(subscriber_id))
        sent = batch.add(reader_letters.sent(subscriber_id))
        batch.send()
        found = asked.home()
        if not found.offered.documents:
            return FirstPage(found, requests(), [], [])
        return FirstPage(found, requests(), letters_of(letters()), sent())


class _HomeAsked:
    """What a batch reads for the first page of a reader; :meth:`home` returns it afterwards."""

    def __init__(self, batch: Batch, reading: Reading, subscriber_id: int) -> None:
        self._reading = reading
        self._subscriber_id = subscriber_id
        is_asking = reading.direct.reader_id is not None
        self._reader = batch.add(reader_home.reader(reading.account_id, subscriber_id))
        self._subscriptions = SubscriptionsAsked(batch, subscriber_id)
        self._addresses = batch.add(reader_home.addresses(subscriber_id))
        self._received = batch.add(reader_home.received(subscriber_id, RECEIVED_MAX))
        self._documents = batch.add(open_items.documents(subscriber_id))
        self._settings = batch.add(billing_settings())
        self._has_mandate = batch.add(has_active(subscriber_id))
        self._offered = ask_offered(batch)
        self._gifts = batch.add(reader_home.gifts(subscriber_id, is_asking=is_asking))
        self._lines = batch.add(reader_home.shown_lines())
        self._qualified = batch.add(reader_qualifying.newest(subscriber_id))

    def home(self) -> Home:
        """Return what the reader sees. Raises NotFound as :func:`home`."""
        reader, reading = self._reader(), self._reading
        documents, offered, free = self._documents(), self._offered(), self._qualified()
        invoices = [each for each in documents if each.kind != "credit_note"]
        received = self._received()
        served = [each for each in self._subscriptions.served() if not each.line.merged_into]
        places = {
            key: Address(key, fields, _in_one_line(fields))
            for key, fields in self._addresses().items()
        }
        by_order = {each.order_id: each for each in invoices if each.order_id is not None}
        is_collected = self._has_mandate() and collects(reading, self._settings())
        bills = _Bills(by_order, is_collected)
        lines = self._lines()
        renewed = {(each.publication_id, each.type) for each in lines if each.renew}
        offers = _Offers(offered, renewed)
        shown = [
            _with_free(
                _subscription(
                    reading,
                    self._subscriber_id,
                    each,
                    places,
                    bills,
                    offers,
                    tuple(received.get(each.line.subscription_id, ())),
                ),
                free.get(each.line.subscription_id),
                reading.today,
                each.terms,
                may_answer=offered.questionnaire,
            )
            for each in _newest(served)
        ]
        return Home(
            reader,
            tuple(sorted(shown, key=lambda each: (each.state == "ended", each.publication))),
            tuple(_gift(reading, each, bills) for each in self._gifts()),
            tuple(_document(each) for each in reversed(documents)) if offered.documents else (),
            tuple(places.values()),
            offered.where_sold(buy=any(x.buy for x in lines), gift=any(x.gift for x in lines)),
            sum(each.open_cents for each in invoices),
            reading.currency,
            reading.today,
        )


def _newest(served: Iterable[Served]) -> list[Served]:
    """Return the subscriptions that run, and the newest ones that ended."""
    runs: list[Served] = []
    over: list[Served] = []
    for each in served:
        (over if each.is_over or not each.line.issues else runs).append(each)
    return runs + over[-ENDED_MAX:]


def _subscription(
    reading: Reading,
    subscriber_id: int,
    served: Served,
    places: Mapping[int, Address],
    bills: _Bills,
    offers: _Offers,
    came: tuple[Issue, ...],
) -> Subscription:
    line, today = served.line, reading.today
    standing = standing_of(served, subscriber_id)
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
        _owed(reading, unpaid_order(served.terms, subscriber_id), bills),
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
    shown: Subscription,
    free: Newest | None,
    today: str,
    terms: Collection[TermLine],
    *,
    may_answer: bool,
) -> Subscription:
    """Return a subscription with how its qualification stands; what is paid comes first.

    Of who pays, the issues of the ``terms`` are left. Their last day is not known if the
    qualification lasts longer.
    """
    if free is None:
        return shown
    shown = shown._replace(may=shown.may._replace(qualify=may_answer and shown.cancelled is None))
    if not any(map(_pays, terms)):
        found = free_until(free.valid_until, today, is_served=bool(free.served))
        return shown._replace(qualified=found)
    left = left_of(terms)
    if shown.issues_left is not None or left == UNLIMITED:
        return shown
    until = None if shown.until == free.valid_until else shown.until
    return shown._replace(issues_left=left, until=until)


def _pays(term: TermLine) -> bool:
    """Return whether issues are left of a term that was paid for, before the opening or since.

    ``store.books.requalifying`` leaves out the readers of such terms.
    """
    return (
        term.price > 0
        and term.paid_on is not None
        and term.ended_at is None
        and term.issues_left != 0
    )


def _coming(served: Served) -> tuple[Next, ...]:
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


def _owed(reading: Reading, order_id: int | None, bills: _Bills) -> Owed | None:
    """Return what is open of an order; None if nothing is."""
    if order_id is None:
        return None
    invoice = bills.by_order.get(order_id)
    if invoice is None:
        cents = show_order(reading.connection, reading.account_id, order_id).due
        return Owed(order_id, cents) if cents else None
    if not invoice.open_cents:
        return None
    return Owed(
        order_id,
        invoice.open_cents,
        invoice.invoice_id,
        invoice.number_text,
        invoice.due_on,
        is_collected=bills.is_collected and invoice.kind == "invoice",
    )


def _gift(reading: Reading, row: reader_home.GiftRow, bills: _Bills) -> Gift:
    has_ended = row.refund_date is not None
    is_open = row.paid_on is None and not has_ended
    name = " ".join(part for part in (row.first_name, row.last_name) if part)
    return Gift(
        row.order_id,
        name or row.company or "",
        row.bundle or "",
        (row.ordered or "")[:10],
        stored_cents(row.total) if row.total else 0,
        _owed(reading, row.order_id, bills) if is_open else None,
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
