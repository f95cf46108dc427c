"""A spring of a small publisher: months that are closed stay as they were, to the byte."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    closed_months,
    invoices,
    issues,
    journal,
    payer_payments,
    payer_statement,
    payment_reversals,
    refunds,
)
from masthead.books.issues import Grace
from masthead.books.journal import days_of
from masthead.books.payer_payments import Incoming
from masthead.errors import BadInput
from tests.billing.bureau import number_of, order, pay

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


def exported(desk: Desk, month: str) -> list[list[str]]:
    """Return the rows of a month as the accountant gets them."""
    with journal.export(desk.books, days_of(month)) as found:
        return list(found.as_csv())


def close_issue(desk: Desk, number: int) -> None:
    """Close an issue, without grace."""
    issues.close(desk.books, number, Grace(0, None))


def test_a_closed_month_stays_as_it_was(bureau: Desk) -> None:
    """billing, "Month end": what comes later goes to the first open day."""
    one, two, three = order(bureau, 1), order(bureau, 2), order(bureau, 3)
    pay(bureau, one, Incoming(1284))
    bureau.to("2026-05-04")
    close_issue(bureau, 5)
    pay(bureau, two, Incoming(1000, value_date="2026-04-30"))
    closed = closed_months.close(bureau.books, "2026-04")
    assert (closed.receivables, closed.deposits, closed.credits, closed.deferred) == (
        2 * 1284,
        1000,
        0,
        1200,
    )
    april = exported(bureau, "2026-04")
    with pytest.raises(BadInput, match="closed month"):
        pay(bureau, two, Incoming(284, value_date="2026-04-30"))
    bureau.to("2026-05-20")
    issues.reopen(bureau.books, 5)
    close_issue(bureau, 5)
    pay(bureau, two, Incoming(284))
    payment_reversals.reverse(bureau.books, 1, fee=300)
    pay(bureau, three, Incoming(2000))
    invoices.write_off(bureau.books, number_of(bureau, one))
    refunds.refund(bureau.books, three)
    payer_payments.pay_back(bureau.books, 3)
    bureau.to("2026-06-02")
    assert closed_months.close(bureau.books, "2026-05").receivables == 0
    assert exported(bureau, "2026-04") == april
    for day in ("2026-04-30", "2026-05-31", None):
        assert journal.check(bureau.books, day).wrong == []


def test_an_issue_that_is_closed_late_earns_in_its_month_while_it_is_open(bureau: Desk) -> None:
    """decisions, "Months of an account that bills"."""
    one = order(bureau)
    pay(bureau, one, Incoming(1284))
    close_issue(bureau, 5)
    bureau.to("2026-06-20")
    close_issue(bureau, 6)
    closed_months.close(bureau.books, "2026-04")
    closed_months.close(bureau.books, "2026-05")
    bureau.to("2026-07-10")
    close_issue(bureau, 7)
    closed_months.close(bureau.books, "2026-06")
    earned = {str(row["booked_on"]): row["cents"] for row in bureau.table("revenue")[1:]}
    assert earned == {"2026-05-01": 100, "2026-06-01": 100, "2026-07-01": 100}


def test_each_statement_comes_to_what_is_open_less_credit(bureau: Desk) -> None:
    """billing, "What must hold"."""
    one, two = order(bureau, 1), order(bureau, 2)
    pay(bureau, one, Incoming(2000))
    payer_payments.pay_back(bureau.books, 1, cents=16)
    refunds.refund(bureau.books, one, None, 500)
    pay(bureau, two, Incoming(284))
    bureau.to("2026-05-02")
    payment_reversals.reverse(bureau.books, 3)
    for payer in (1, 2, 3):
        made = payer_statement.statement(bureau.books, payer)
        owed = sum(each.open_cents for each in made.open_items)
        assert made.closing == owed - made.credit
        before = payer_statement.statement(bureau.books, payer, last="2026-05-01").closing
        after = payer_statement.statement(bureau.books, payer, "2026-05-02")
        assert (after.opening, after.closing) == (before, made.closing)
