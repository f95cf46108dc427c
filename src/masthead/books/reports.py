"""Reports: what the books add up to, each counted in one snapshot (circulation, "Reports").

``day`` is the last day that counts, ``YYYY-MM-DD``; None counts everything so far. Each report
raises BadInput if ``day`` is not a day, or later than today, NotFound if there is no such issue or
publication, and MastheadError if Masthead does not keep the account's books.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.circulation import efforts, expiry_report
from masthead.circulation import liability as liability_report
from masthead.circulation import press_run as issue_reports
from masthead.circulation.tables import Report
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.store.books import expiry_counts, reports
from masthead.store.books.issue import check_publication
from masthead.store.books.operation import Reading, day_of_opening

_MONTH = len("2026-11")


def press_run(books: Books, issue_id: int, day: str | None = None) -> Report:
    """Return the press run of an issue: copies by type and country."""
    with _until(books, day) as (reading, last):
        found, _ = reports.lists_of(reading, issue_id, last)
        served = reports.served(reading, found)
        made = issue_reports.press_run(f"Press run of {found.name}", served, _lists(found))
        return made._replace(day=last)


def circulation(books: Books, issue_id: int, day: str | None = None) -> Report:
    """Return the circulation of an issue, beside that of the issue before."""
    with _until(books, day) as (reading, last):
        found, before = reports.lists_of(reading, issue_id, last)
        served = reports.served(reading, found)
        moves = reports.moves(reading, found, before)
    before_name = before.name if before else "none"
    notes = list(_lists(found))
    if before and not before.lists:
        notes.append(f"{before_name} has no mailing list here: it counts as nothing")
    title = f"Circulation of {found.name}"
    made = issue_reports.circulation(
        title,
        (found.name, before_name),
        served,
        moves,
        notes,
        has_before=before is not None and bool(before.lists),
    )
    return made._replace(day=last)


def liability(
    books: Books, day: str | None = None, *, publication_id: int | None = None, since: str = ""
) -> Report:
    """Return what is owed to readers, by publication and month, from the month ``since`` on.

    Without a day, all bookings count, including those dated later than today.
    """
    with _until(books, day, publication_id) as (reading, last):
        booked = reports.booked(reading, day, publication_id)
    made = liability_report.liability(
        "Liability", booked, month=last[:_MONTH], currency=reading.currency, since=since
    )
    return made._replace(day=day or "")


def expiries(books: Books, day: str | None = None, *, publication_id: int | None = None) -> Report:
    """Return how many subscriptions end with each issue, as of a day.

    Also raises BadInput for a day before the books were opened.
    """
    with _until(books, day, publication_id) as (reading, last):
        account = reading.connection, reading.account_id
        opened_on = day_of_opening(*account)
        if opened_on is not None and last < opened_on:
            raise BadInput(
                f"the books were opened on {opened_on}: how many issues were left on {last} is "
                "not known"
            )
        known = expiry_counts.schedules(*account, day)
        if day is None:
            found = expiry_counts.expiring_now(*account)
        else:
            found = expiry_counts.expiring_then(*account, day, known)
    title = "Expiries"
    if publication_id is not None:
        found = [each for each in found if each.publication_id == publication_id]
        title = f"Expiries of {known[publication_id].publication}"
    return expiry_report.expiries(title, found, known)._replace(day=last)


def renewals(books: Books, day: str | None = None) -> Report:
    """Return the results of the renewal letters, by publication and effort."""
    with _until(books, day) as (reading, last):
        counts = reports.efforts(reading, last)
    return efforts.renewals("Renewals", counts)._replace(day=last)


@contextmanager
def _until(
    books: Books, day: str | None, publication_id: int | None = None
) -> Iterator[tuple[Reading, str]]:
    """Yield what a query needs, and the last day that counts."""
    with books.scan() as reading:
        last = reading.today if day is None else check_past_day(day, reading.today)
        if publication_id is not None:
            check_publication(reading, publication_id)
        yield reading, last


def _lists(issue: reports.IssueLists) -> tuple[str, ...]:
    return tuple(
        f"{'gap list' if is_gap else 'main list'} {list_id}: {counted(count, 'entry', 'entries')}"
        for list_id, is_gap, count in issue.lists
    )
