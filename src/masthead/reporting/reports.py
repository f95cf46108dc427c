"""Each report, asked of an account's books in one snapshot (circulation, "Reports").

``day`` is the last day that is counted, ``YYYY-MM-DD``.
"""

import csv
import datetime as dt
from typing import IO

from masthead.circulation import efforts, expiry_report, liability, press_run
from masthead.circulation.tables import Report, written
from masthead.contract.printable import counted
from masthead.errors import BadInput
from masthead.loading.export import harmless
from masthead.store import Connection
from masthead.store.books import expiry_counts, reports
from masthead.store.books.issue import check_publication
from masthead.store.books.operation import day_of_opening

__all__ = [
    "check_day",
    "circulation_of",
    "expiries_of",
    "liability_of",
    "press_run_of",
    "renewals_of",
    "write_csv",
]


def check_day(day: str, today: str) -> None:
    """Raise BadInput if ``day`` is no day, or is later than today."""
    try:
        is_date = dt.date.fromisoformat(day).isoformat() == day
    except ValueError:
        is_date = False
    if not is_date:
        raise BadInput(f"{day!r} is no date, such as {today}")
    if day > today:
        raise BadInput(f"{day} is still to come; today is {today}")


def press_run_of(connection: Connection, account_id: int, issue_id: int, day: str) -> Report:
    """Return the press run of an issue: copies by type and country. Raises NotFound."""
    found, _ = reports.lists_of(connection, account_id, issue_id, day)
    served = reports.served(connection, account_id, found)
    return press_run.press_run(f"Press run of {found.name}, {day}", served, _lists(found))


def circulation_of(connection: Connection, account_id: int, issue_id: int, day: str) -> Report:
    """Return the circulation of an issue, beside that of the issue before. Raises NotFound."""
    found, before = reports.lists_of(connection, account_id, issue_id, day)
    served = reports.served(connection, account_id, found)
    moves = reports.moves(connection, account_id, found, before)
    before_name = before.name if before else "none"
    notes = list(_lists(found))
    if before and not before.lists:
        notes.append(f"{before_name} has no mailing list here: it counts as nothing")
    title = f"Circulation of {found.name}, {day}"
    return press_run.circulation(title, (found.name, before_name), served, moves, notes)


def liability_of(
    connection: Connection,
    account_id: int,
    day: str | None,
    *,
    publication_id: int | None = None,
    since: str = "",
) -> Report:
    """Return what is owed to readers, by publication and month, from the month ``since`` on.

    ``day`` None counts all that is booked, which can be dated later than today. Raises NotFound if
    there is no such publication.
    """
    _check_publication(connection, account_id, publication_id)
    booked = reports.booked(connection, account_id, day, publication_id)
    return liability.liability(f"Liability, {day or 'all that is booked'}", booked, since=since)


def expiries_of(
    connection: Connection,
    account_id: int,
    day: str,
    *,
    is_today: bool,
    publication_id: int | None = None,
) -> Report:
    """Return how many subscriptions have which issue as their last one, as of a day.

    Raises NotFound if there is no such publication, BadInput for a day before the books were
    opened.
    """
    _check_publication(connection, account_id, publication_id)
    opened_on = day_of_opening(connection, account_id)
    if opened_on is not None and day < opened_on:
        raise BadInput(
            f"the books were opened on {opened_on}: how many issues were left on {day} is not known"
        )
    known = expiry_counts.schedules(connection, account_id, None if is_today else day)
    found = (
        expiry_counts.expiring_now(connection, account_id)
        if is_today
        else expiry_counts.expiring_then(connection, account_id, day, known)
    )
    title = f"Expiries, {day}"
    if publication_id is not None:
        found = [each for each in found if each.publication_id == publication_id]
        title = f"Expiries of {known[publication_id].publication}, {day}"
    return expiry_report.expiries(title, found, known)


def renewals_of(connection: Connection, account_id: int, day: str) -> Report:
    """Return what the letters of renewal brought, by publication and effort."""
    return efforts.renewals(f"Renewals, {day}", reports.efforts(connection, account_id, day))


def _check_publication(connection: Connection, account_id: int, publication_id: int | None) -> None:
    if publication_id is not None:
        check_publication(connection, account_id, publication_id)


def _lists(issue: reports.IssueLists) -> tuple[str, ...]:
    return tuple(
        f"{'gap list' if is_gap else 'main list'} {list_id}: {counted(count, 'entry', 'entries')}"
        for list_id, is_gap, count in issue.lists
    )


def write_csv(report: Report, out: IO[str], *, for_spreadsheets: bool = False) -> None:
    """Write the table of a report, with its totals; ``for_spreadsheets`` without formulas."""
    writer = csv.writer(out)
    writer.writerow(column.name for column in report.columns)
    for row in (*report.rows, *report.totals):
        cells = [written(c, k.kind) for c, k in zip(row, report.columns, strict=True)]
        writer.writerow(harmless(cells) if for_spreadsheets else cells)
