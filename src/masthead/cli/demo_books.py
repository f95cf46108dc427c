"""The books of the demo: opens them some weeks ago and works in them until this morning.

Afterwards each command of circulation has something to show: paid and unpaid orders, a gift, a
suspension, a temporary address, a lost and a damaged copy, a cancelling with its reason, a note,
letters, lists of closed issues, a refund, and what readers did on their pages (``demo_readers``).
The account bills: of its invoices, some are paid, some open, some overdue and reminded, one is
short, one was credited, the payment of one came back, and one is with the bank (``demo_debits``). A
file of the bank was read, and another one is there to try (``demo_bank``). The work uses the
operations that the commands run, and the same readers on every day. No new reader orders, since a
new renewal code is random.
"""

from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path

from masthead.billing.printed import Goods
from masthead.billing.reminding import Level
from masthead.billing.tax import ShippingPrice, TaxRate
from masthead.books import (
    Books,
    billing_settings,
    cancelling,
    complaints,
    issues,
    notes,
    opening,
    orders,
    payer_details,
    payment_reversals,
    payments,
    refunds,
    reminder_levels,
    reminders,
    renewals,
    subscribers,
    subscriptions,
    tax_rates,
)
from masthead.books.subscribers import Person as Seen
from masthead.books.subscriptions import Subscription
from masthead.circulation.ordering import Item, Order, Person
from masthead.cli import demo_bank, demo_debits, demo_qualification, demo_readers
from masthead.sample_data.demo_history import SAMPLE
from masthead.sample_data.generate_catalogue import REASONS
from masthead.store import open_store, system_clock
from masthead.store.audit import Actor
from masthead.store.interface_queries import subscriptions as subscriptions_of

OPENED_DAYS_AGO = 25
"""Days since the books were opened: what was ordered then is overdue, and reminded of."""

_MINUTE_US = 60 * 1_000_000
_DAY_US = 24 * 60 * _MINUTE_US
_DAYS_AGO = (21, 14, 7)
"""The mornings on which the issues are closed that are due by then."""

_DEBIT_DAYS_AGO = 3
_BEGINS_MINUTES_AGO = 240
_MINUTES_BETWEEN = 4

_HARBOR, _WEEKLY, _GARDEN = 1, 2, 3
_A_YEAR_OF_HARBOR, _HARBOR_UNLIMITED, _HARBOR_TRIAL = 11, 16, 62
_A_YEAR_OF_WEEKLY, _WEEKLY_DIGITAL = 21, 24
_A_YEAR_OF_GARDEN, _HARBOR_AND_GARDEN, _TIDE_TABLES = 31, 61, 501

_ISSUES_MIN = 5
_SUBSCRIPTIONS_MAX = 10_000
_GRACE_DAYS = 60
_SUNNY_DAYS = (20, 110)
_HOLIDAY_DAYS = (30, 75)
_LEVELS = (
    Level(1, 10, 0, "nothing", None),
    Level(2, 24, 500, "nothing", None),
    Level(3, 40, 0, "stop", None),
)
_SELLER = {
    "seller_name": "Harbour Lane Press",
    "seller_street": "12 Pier Street",
    "seller_city": "Cork",
    "seller_postal_code": "T12 AB34",
    "seller_country": "IE",
    "seller_tax_number": "1234567T",
    "mail_from": "subscriptions@harbour-lane.example",
}
_RATES_IN_GERMANY: dict[Goods, int] = {"print": 700, "digital": 1_900}
_SINCE = "2026-01-01"
_SHORT_BY, _BANK_FEE = 1_000, 1_200
_SOUTH = {
    "address": "4 Palm Court",
    "city": "Sarasota",
    "state": "FL",
    "zip_code": "34236",
    "country_name": "United States",
    "country_abbreviation": "US",
}


def work_some_weeks(database: str, account_id: int, by: Actor, folder: Path) -> None:
    """Open the books of the demo's account and work in them, with a clock behind the real one.

    The clock begins ``OPENED_DAYS_AGO`` days ago, and ends this morning. The audit log names
    ``by``. The file of a bank to try is written into ``folder``. The account has the data of the
    last night and no books.
    """
    clock = _Clock()
    with closing(open_store(database, clock=clock)) as store:
        books = Books(store, account_id, by)
        opening.open_books(books)
        billing_settings.set_values(books, _SELLER)
        demo_readers.begin(books)
        for goods, percent in _RATES_IN_GERMANY.items():
            tax_rates.add_rate(books, TaxRate("DE", None, goods, percent, _SINCE))
        tax_rates.add_shipping_price(books, ShippingPrice("CA", "Print", 1_500, _SINCE))
        collects = demo_debits.begin(books)
        billing_settings.begin(books)
        for level in _LEVELS:
            reminder_levels.set_level(books, level)
        _Weeks(books, clock, collects=collects).work()
        demo_qualification.begin(books)
        demo_bank.write_to_try(books, opening.account_of(books).today, folder)


class _Clock:
    """The clock of the work: behind the real clock, and catching up with each piece of work."""

    def __init__(self) -> None:
        self.begin(OPENED_DAYS_AGO)

    def __call__(self) -> int:
        return system_clock() - self._behind_us

    def begin(self, days_ago: int) -> None:
        """Go to the beginning of a morning."""
        self._behind_us = days_ago * _DAY_US + _BEGINS_MINUTES_AGO * _MINUTE_US

    def go_on(self) -> None:
        """Advance the clock by some minutes."""
        self._behind_us = max(0, self._behind_us - _MINUTES_BETWEEN * _MINUTE_US)


class _Weeks:
    """The work, step by step; each reader takes part in only one step."""

    def __init__(self, books: Books, clock: _Clock, *, collects: bool) -> None:
        self._books = books
        self._collects = collects
        self._clock = clock
        self._go_on = clock.go_on
        self._used = {SAMPLE.subscriber_id}

    def work(self) -> None:
        """Do all the work; later steps depend on earlier ones."""
        self._letters(_HARBOR)
        for reference in (None, "SHOP-1001"):
            self._order(self._with_letter(), Item(_A_YEAR_OF_HARBOR), reference=reference)
        self._order(self._without(_WEEKLY), Item(_A_YEAR_OF_WEEKLY))
        self._order(self._without(_WEEKLY), Item(_WEEKLY_DIGITAL))
        self._order(self._without(_HARBOR), Item(_HARBOR_UNLIMITED))
        self._order(self._without(_HARBOR), Item(_A_YEAR_OF_HARBOR), is_paid=False)
        gift = Item(_A_YEAR_OF_GARDEN, recipient=Person(self._without(_GARDEN)))
        self._order(self._without(_GARDEN), gift)
        several = Item(_HARBOR_AND_GARDEN), Item(product_id=_TIDE_TABLES)
        payer = self._without(_HARBOR)
        billed = self._order(payer, *several, is_paid=False, reference="SHOP-1002")
        trial = self._order(self._without(_HARBOR), Item(_HARBOR_TRIAL))
        short = self._order(self._without(_WEEKLY), Item(_WEEKLY_DIGITAL), is_paid=False)
        first, second = demo_debits.IBANS
        self._by_debit(first)
        self._mornings()
        self._by_debit(second)
        self._pay_short(short)
        self._hand_in()

        self._telephone()
        weekly = self._next_issue(_WEEKLY)
        self._close(weekly, grace_issues=2)
        late = Item(_A_YEAR_OF_WEEKLY, first_issue=weekly)
        self._order(self._without(_WEEKLY), late)
        self._go_on()
        issues.make_gap_list(self._books, weekly)
        self._close(self._next_issue(_HARBOR), grace_issues=1)
        self._order(self._in_grace(), Item(_A_YEAR_OF_WEEKLY))
        self._pay(billed)
        self._go_on()
        reminders.send(self._books)
        self._refund(trial)
        self._damaged()
        self._letters(_WEEKLY)
        self._by_email()
        for _ in range(demo_bank.INVOICES):
            self._order(self._without(_WEEKLY), Item(_A_YEAR_OF_WEEKLY), is_paid=False)
        self._go_on()
        demo_bank.read_first(self._books, self._today().isoformat())
        for what in demo_readers.ACTS:
            self._go_on()
            demo_readers.act(self._books, what, *self._running(_WEEKLY))

    def _by_debit(self, iban: str) -> None:
        """Let the bank collect from a payer what is ordered next."""
        if self._collects:
            payer = self._without(_GARDEN)
            self._go_on()
            demo_debits.add_mandate(self._books, payer, iban)
            self._order(payer, Item(_A_YEAR_OF_GARDEN), is_paid=False)

    def _mornings(self) -> None:
        """On some mornings, close the issues that are due, and take an order and its payment."""
        for days_ago in _DAYS_AGO:
            self._clock.begin(days_ago)
            today = self._today().isoformat()
            for issue in issues.all_of(self._books):
                if issue.closed_at is None and (issue.closes_on or today) < today:
                    self._close(issue.issue_id, grace_issues=0)
            order = self._order(self._without(_WEEKLY), Item(_A_YEAR_OF_WEEKLY), is_paid=False)
            if days_ago == _DAYS_AGO[-1]:
                self._bounce(order)
            else:
                self._pay(order)

    def _hand_in(self) -> None:
        """Hand in to the bank, and go on to this morning."""
        self._clock.begin(_DEBIT_DAYS_AGO)
        if self._collects:
            demo_debits.hand_in(self._books, self._today())
        self._clock.begin(0)

    def _telephone(self) -> None:
        """Do the telephone work: suspensions, an address, a lost copy, a cancelling."""
        away, holiday = (self._running(_WEEKLY)[1] for _ in range(2))
        moving, lost, leaving = (self._running(_HARBOR)[1] for _ in range(3))
        books, today = self._books, self._today()
        self._go_on()
        subscriptions.suspend(books, away)
        self._go_on()
        subscriptions.suspend(books, holiday, *_days(today, _HOLIDAY_DAYS))
        self._go_on()
        subscriptions.move_for_a_while(books, moving, _SOUTH, *_days(today, _SUNNY_DAYS))
        self._go_on()
        complaints.answer(books, lost, self._newest(lost), "lost", "extended")
        self._go_on()
        cancelling.cancel(books, leaving, refund=True, reason=REASONS[0])

    def _damaged(self) -> None:
        """Send a torn copy again, and note what the caller said."""
        subscriber_id, torn = self._running(_WEEKLY)
        books = self._books
        self._go_on()
        complaints.answer(books, torn, self._newest(torn), "damaged", "sent_again")
        notes.add(books, subscriber_id, "Asks that the copies come in an envelope.")

    def _newest(self, subscription_id: int) -> int:
        """Return the id of the newest issue that a subscription received."""
        return complaints.received(self._books, subscription_id).issues[0].issue_id

    def _order(
        self, subscriber_id: int, *items: Item, is_paid: bool = True, reference: str | None = None
    ) -> int:
        """Take a reader's order; return its id."""
        order = Order(
            Person(subscriber_id),
            items,
            reference=reference,
            is_paid=is_paid,
            payment_type="Credit Card" if is_paid else "Bill Me",
        )
        self._go_on()
        return orders.place(self._books, order).order_id

    def _by_email(self) -> None:
        """Send the documents of a reader by email, and take an order of theirs."""
        reader = self._without(_GARDEN)
        self._go_on()
        subscribers.edit(self._books, reader, {"email": "post@reader.example"})
        payer_details.deliver(self._books, reader, by_email=True)
        several = Item(_A_YEAR_OF_GARDEN), Item(product_id=_TIDE_TABLES)
        self._order(reader, *several, is_paid=False)

    def _pay(self, order_id: int) -> None:
        self._go_on()
        payments.pay(self._books, order_id, payments.Payment("Check"))

    def _pay_short(self, order_id: int) -> None:
        """Book a cheque of less than the order costs."""
        self._go_on()
        due = orders.show(self._books, order_id).due
        paid = payments.Payment("Check", None, "2207", due - _SHORT_BY)
        payments.pay(self._books, order_id, paid)

    def _bounce(self, order_id: int) -> None:
        """Book a cheque that then comes back."""
        self._go_on()
        done = payments.pay(self._books, order_id, payments.Payment("Check", None, "1881"))
        assert done.settled is not None
        self._go_on()
        payment_reversals.reverse(
            self._books, done.settled.payment_id, fee=_BANK_FEE, reason="no funds"
        )

    def _refund(self, order_id: int) -> None:
        self._go_on()
        refunds.refund(self._books, order_id)

    def _letters(self, publication_id: int) -> None:
        self._go_on()
        renewals.send(self._books, lambda _letters: None, publication_id)

    def _close(self, issue_id: int, grace_issues: int) -> None:
        self._go_on()
        since = self._today() - timedelta(_GRACE_DAYS)
        grace = issues.Grace(grace_issues, since.isoformat())
        issues.close(self._books, issue_id, grace)

    def _today(self) -> date:
        return date.fromisoformat(opening.account_of(self._books).today)

    def _next_issue(self, publication_id: int) -> int:
        """Return the id of the next issue to close."""
        found = issues.all_of(self._books, publication_id)
        return next(issue.issue_id for issue in found if not issue.closed_at)

    def _running(self, publication_id: int) -> tuple[int, int]:
        """Return a reader and an own subscription of one printed copy, with issues left."""
        filters: dict[str, int | str] = {
            "publication_id": publication_id,
            "type": "Print",
            "copies": 1,
            "min_issues_left": _ISSUES_MIN,
        }

        def fits(seen: Subscription, _: Seen) -> bool:
            left = seen.fields["paid_issues_left"]
            return isinstance(left, int) and left >= _ISSUES_MIN and seen.mailing == seen.billing

        subscription_id, subscriber_id = self._picked(filters, fits)
        return subscriber_id, subscription_id

    def _with_letter(self) -> int:
        """Return a reader of printed copies of the monthly who was sent a letter."""
        _, subscriber_id = self._picked(
            {"publication_id": _HARBOR, "type": "Print", "max_issues_left": _ISSUES_MIN},
            lambda seen, _: bool(seen.sent),
        )
        return subscriber_id

    def _in_grace(self) -> int:
        """Return a reader of printed copies of the weekly whose last issue was a grace issue."""
        _, subscriber_id = self._picked(
            {"publication_id": _WEEKLY, "type": "Print", "issues_left": 0},
            lambda seen, _: any(is_grace for *_, is_grace in seen.received[:1]),
        )
        return subscriber_id

    def _without(self, publication_id: int) -> int:
        """Return a reader of another publication who never had this one."""
        name = issues.all_of(self._books, publication_id)[0].publication
        _, subscriber_id = self._picked(
            {}, lambda _, person: all(row[1] != name for row in person.subscriptions)
        )
        return subscriber_id

    def _picked(
        self, filters: Mapping[str, int | str], fits: Callable[[Subscription, Seen], bool]
    ) -> tuple[int, int]:
        """Return the first subscription that fits, and its reader.

        The reader is not deleted and was not picked before. ``filters`` are those of operation 7.
        """
        account_id = self._books.account_id
        with self._books.store.reader() as connection:
            connection.set_tenant(account_id)
            found = subscriptions_of(
                connection, account_id, filters, after=0, limit=_SUBSCRIPTIONS_MAX
            )
        with self._books.snapshot() as books:
            for subscription_id, *_ in found:
                seen = subscriptions.show(books, subscription_id)
                subscriber_id = seen.fields["subscriber_id"]
                if not isinstance(subscriber_id, int) or subscriber_id in self._used:
                    continue
                person = subscribers.show(books, subscriber_id)
                if person.fields["delete_date"] is None and fits(seen, person):
                    self._used.add(subscriber_id)
                    return subscription_id, subscriber_id
        raise LookupError(f"no subscription of the demo fits {filters}")


def _days(today: date, ahead: tuple[int, int]) -> tuple[str, str]:
    """Return the first and the last day; ``ahead`` has both as days from today."""
    first, last = ((today + timedelta(days)).isoformat() for days in ahead)
    return first, last
