"""The journal: its entries for the accountant, its balances, and its proof (billing, "Month end").

The operations post what they move. What issues and months earn follows from the revenue of the
books. All amounts are whole cents.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from masthead.billing import datev, journal_csv
from masthead.billing.journal_accounts import JournalAccount
from masthead.billing.journal_checks import Checked, balances_report, compared
from masthead.billing.journal_entries import Entry, numbers_of
from masthead.billing.months import check_day, check_month, first_day, last_day
from masthead.billing.settings import BillingSettings
from masthead.books.account import Books
from masthead.circulation.tables import Report
from masthead.errors import BadInput
from masthead.store.billing import journal, sums
from masthead.store.billing.closed_months import check_bills
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading

_EVER = "9999-12-31"


class Days(NamedTuple):
    """The days whose entries are exported, both included; ``name`` is their month if it is one."""

    first: str
    last: str
    name: str


def days_of(month: str) -> Days:
    """Return the days of a month. Raises BadInput if it is none."""
    check_month(month)
    return Days(first_day(month), last_day(month), month)


def days_between(first: str, last: str) -> Days:
    """Return the days from one to another. Raises BadInput for what is no day, or no span."""
    for day in (first, last):
        check_day(day)
    if last < first:
        raise BadInput(f"{first} to {last} has no day: the first comes first")
    return Days(first, last, f"{first} to {last}")


class Journal(NamedTuple):
    """The entries of some days, read one day at a time while :func:`export` is open."""

    days: Days
    entries: Iterator[Entry]
    settings: BillingSettings
    numbers: dict[JournalAccount, str]
    currency: str
    made_at: str

    def as_csv(self) -> Iterator[list[str]]:
        """Yield the rows of a CSV file, its head first."""
        yield list(journal_csv.HEAD)
        yield from journal_csv.rows(self.entries, self.numbers, self.currency)

    def as_datev(self) -> Iterator[bytes]:
        """Yield the lines of a file for DATEV.

        Raises BadInput if the numbers of DATEV are not set, for days of two fiscal years, and for
        what the format cannot hold (``billing.datev.lines``).
        """
        yield from datev.lines(self._batch(), self.entries, self.numbers)

    def _batch(self) -> datev.Batch:
        settings = self.settings
        for name in ("datev_consultant", "datev_client"):
            if not getattr(settings, name):
                raise BadInput(
                    f"{name} is not set: DATEV wants the number of the accountant and that of the "
                    "publisher, which the accountant knows",
                    code="datev_numbers",
                )
        return datev.Batch(
            int(settings.datev_consultant),
            int(settings.datev_client),
            fiscal_year_of(self.days.first, settings.fiscal_year_month),
            self.days.first,
            self.days.last,
            f"Masthead {self.days.name}",
            self.currency,
            self.made_at,
            settings.datev_account_length,
        )


def fiscal_year_of(day: str, month: int) -> str:
    """Return the first day of the fiscal year that begins with a month (1 to 12) and has a day."""
    begin = f"{day[:4]}-{month:02}-01"
    return begin if begin <= day else f"{int(day[:4]) - 1:04}{begin[4:]}"


@contextmanager
def export(books: Books, days: Days) -> Iterator[Journal]:
    """Yield the balanced entries of some days, by day: those that were posted, then what is earned.

    Raises NotFound if there is no such account, and MastheadError if it does not bill.
    """
    with books.scan() as reading:
        begun = check_bills(reading)
        settings = settings_of(reading)
        yield Journal(
            days,
            _entries(reading, max(days.first, begun), days.last),
            settings,
            numbers_of(settings),
            reading.currency,
            reading.now,
        )


def _entries(reading: Reading, first: str, last: str) -> Iterator[Entry]:
    for day in journal.days_with_entries(reading, first, last):
        yield from journal.posted(reading, day, day)
        yield from journal.earned(reading, day, day)


def balances(books: Books, day: str | None = None) -> Report:
    """Return the balance of each account at the end of a day; None counts everything.

    Raises BadInput for what is no day, and MastheadError if the account does not bill.
    """
    with books.scan() as reading:
        begun = check_bills(reading)
        found = journal.balances(reading, begun, _last(day))
        numbers = numbers_of(settings_of(reading))
        return balances_report(found, numbers, day or "", reading.currency)


def check(books: Books, day: str | None = None) -> Checked:
    """Compare the journal with the books, as of the end of a day; None counts everything.

    Raises BadInput for what is no day and for one to come, and MastheadError if the account does
    not bill.
    """
    with books.scan() as reading:
        if day is not None and check_day(day) > reading.today:
            raise BadInput(f"{day} is still to come: the books end with {reading.today}")
        return checked(reading, check_bills(reading), day)


def checked(reading: Reading, begun: str, day: str | None) -> Checked:
    """Return what :func:`check` returns, within a snapshot or an operation."""
    last = _last(day)
    balances_now = journal.balances(reading, begun, last)
    found = compared(balances_now, sums.sums_of(reading, last), settings_of(reading).tax_due)
    if day is None:
        found += sums.stored_columns(reading, last)
    return Checked(day or "", found, journal.unbalanced(reading), reading.currency)


def _last(day: str | None) -> str:
    """Return the last day that counts. Raises BadInput for what is no day."""
    return _EVER if day is None else check_day(day)
