"""What is posted to the journal, and to which day something is booked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import issues
from masthead.store.billing.closed_months import first_open_day
from masthead.store.billing.journal import post
from masthead.store.books.operation import operation
from tests.billing import ledger
from tests.billing.ledger import TIDE

if TYPE_CHECKING:
    from masthead.billing.journal_entries import Posting
    from tests.circulation.desk import Desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """An account that bills, with nothing posted yet."""
    ledger.begin(shared)
    return shared


def booked_to(desk: Desk, day: str) -> str:
    """Return the day to which something of a day is booked."""
    with desk.books.read() as reading:
        return first_open_day(reading, day)


def test_an_entry_is_posted_with_a_line_for_each_account(desk: Desk) -> None:
    with operation(desk.store, 1, None) as change:
        lines: list[Posting] = [("bank", 300), ("fees", 0), ("prepayments", -500), ("bank", 200)]
        assert post(change, "2026-11-02", "payment 1", lines) == 1
        assert post(change, "2026-11-02", "nothing", [("bank", 5), ("bank", -5)]) is None
        assert post(change, "2026-11-02", "payment 2", [("bank", 1), ("prepayments", -1)]) == 2
    rows = [
        (row["entry_id"], row["line_number"], row["account"], row["cents"])
        for row in desk.table("journal_lines")
    ]
    assert rows == [
        (1, 1, "bank", 500),
        (1, 2, "prepayments", -500),
        (2, 1, "bank", 1),
        (2, 2, "prepayments", -1),
    ]


def test_an_account_that_does_not_bill_books_by_the_calendar(desk: Desk) -> None:
    desk.connection.change("DELETE FROM billing")
    assert booked_to(desk, "2026-10-31") == "2026-11-28"
    assert booked_to(desk, "2026-11-01") == "2026-11-01"
    assert booked_to(desk, "2027-01-01") == "2027-01-01"


@pytest.mark.parametrize(("is_closed", "earned_on"), [(False, "2026-10-20"), (True, "2026-11-01")])
def test_an_issue_of_a_closed_month_earns_on_the_first_open_day(
    shared: Desk, earned_on: str, *, is_closed: bool
) -> None:
    """decisions, "Months of an account that bills": what a reopening takes back, too."""
    desk = shared
    ledger.begin(desk)
    desk.connection.change("UPDATE issues SET date = '2026-10-20' WHERE issue_id = 1")
    desk.put("addresses", address_id=1, subscriber_id=1, address="1 Elm", city="Salem")
    desk.connection.change(
        "UPDATE subscriptions SET type = 'Print', copies = 1, issues = 12, "
        "begins_on = '2026-01-01', mailing_address_id = 1"
    )
    ledger.revenue(desk, (TIDE, "received", 1200, "2026-10-16"))
    ledger.entry(desk, "2026-10-16", "paid", ("bank", 1200), ("deferred", -1200))
    desk.refresh()
    if is_closed:
        desk.put("closed_months", month_id=202610, closed_on="2026-11-02")
    issues.close(desk.books, 1)
    assert earned(desk) == [(100, earned_on)]
    issues.reopen(desk.books, 1)
    assert earned(desk) == [(100, earned_on), (-100, earned_on)]
    issues.close(desk.books, 1)
    desk.connection.change("DELETE FROM closed_months")
    desk.put("closed_months", month_id=202611, closed_on="2026-12-01")
    desk.to("2026-12-05")
    issues.reopen(desk.books, 1)
    assert earned(desk)[-1] == (-100, "2026-12-01")


def earned(desk: Desk) -> list[tuple[int, str]]:
    """Return cents and day of what was earned."""
    rows = desk.table("revenue")
    return [(row["cents"], str(row["booked_on"])) for row in rows if row["kind"] == "earned"]
