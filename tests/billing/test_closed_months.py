"""Months are closed in their order, and what is dated in one is booked to the first open day."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import closed_months
from masthead.errors import BadInput, MastheadError
from masthead.store.billing.closed_months import first_open_day
from tests.billing import ledger

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """An account that bills since October, on 28 November."""
    ledger.fill(shared)
    return shared


def booked_to(desk: Desk, day: str) -> str:
    """Return the day to which something of a day is booked."""
    with desk.books.read() as reading:
        return first_open_day(reading, day)


def refused(desk: Desk, month: str) -> str:
    """Close a month, which is refused; return the sentence."""
    before = desk.everything()
    with pytest.raises(MastheadError) as refusal:
        closed_months.close(desk.books, month)
    assert desk.everything() == before
    return str(refusal.value)


def test_a_month_is_closed_with_what_stood_at_its_end(desk: Desk) -> None:
    desk.connection.change("UPDATE issues SET closed_at = '2026-10-01 00:00:00'")
    done = closed_months.close(desk.books, "2026-10", dry_run=True)
    assert desk.table("closed_months") == []
    assert closed_months.close(desk.books, "2026-10") == done
    assert done.sentence == (
        "October 2026 is closed: receivables 0.00 USD, deposits 0.00 USD, credits 2.90 USD, "
        "deferred 46.50 USD"
    )
    assert done.notes == ()
    assert [(row["month_id"], str(row["closed_on"])) for row in desk.table("closed_months")] == [
        (202610, "2026-11-28")
    ]
    desk.to("2026-12-01")
    assert closed_months.close(desk.books, "2026-11").sentence == (
        "November 2026 is closed: receivables 10.70 USD, deposits 5.70 USD, credits 2.00 USD, "
        "deferred 44.50 USD"
    )


def test_months_are_closed_in_their_order_and_once(desk: Desk) -> None:
    assert refused(desk, "2026-09") == (
        "billing began in October 2026: earlier months are closed already"
    )
    assert refused(desk, "2026-11") == (
        "November 2026 has not ended: it can be closed from the first day of December 2026 on"
    )
    assert refused(desk, "November") == "'November' is not a month such as 2026-11"
    desk.to("2026-12-01")
    assert refused(desk, "2026-11") == (
        "October 2026 is not closed yet: months are closed in their order"
    )
    closed_months.close(desk.books, "2026-10")
    assert refused(desk, "2026-10") == (
        "October 2026 was closed on 1 December 2026 already: nothing was changed"
    )
    assert refused(desk, "2026-09") == (
        "billing began in October 2026: earlier months are closed already"
    )
    closed_months.close(desk.books, "2026-11")
    desk.connection.change("DELETE FROM billing")
    assert refused(desk, "2026-12") == "account 1 does not bill its orders"


def test_a_month_stays_open_while_the_books_disagree(desk: Desk) -> None:
    desk.connection.change("UPDATE payments SET booked_on = '2026-11-01' WHERE payment_id = 1")
    said = refused(desk, "2026-10")
    assert said.startswith("the journal does not agree with the books: prepayments: 2.90 USD is")
    assert said.endswith(" at the end of October 2026: October 2026 stays open")
    desk.connection.change("UPDATE payments SET cents = cents + 1 WHERE payment_id = 2")
    assert refused(desk, "2026-10").endswith(": October 2026 stays open")


def test_what_is_dated_in_a_closed_month_is_booked_to_the_first_open_day(desk: Desk) -> None:
    """Before billing began, everything is closed; a month that ended is open until it is closed."""
    assert booked_to(desk, "2026-10-14") == "2026-10-15"
    assert booked_to(desk, "2026-10-20") == "2026-10-20"
    closed_months.close(desk.books, "2026-10")
    assert booked_to(desk, "2026-10-20") == "2026-11-01"
    assert booked_to(desk, "2026-11-02") == "2026-11-02"
    assert booked_to(desk, "2026-10-31") == "2026-11-01"
    assert booked_to(desk, "2026-11-01") == "2026-11-01"


def test_issues_that_are_still_to_be_closed_are_named(desk: Desk) -> None:
    (note,) = closed_months.close(desk.books, "2026-10").notes
    assert note == (
        "2 issues are not closed yet, such as Tide Oct (2026-10-01): what they earn is booked to "
        "November 2026 or later"
    )


def test_no_day_is_refused(desk: Desk) -> None:
    with pytest.raises(BadInput, match="'2026-13' is not a month"):
        closed_months.close(desk.books, "2026-13")
