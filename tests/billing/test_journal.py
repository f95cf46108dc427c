"""The journal: what is posted, what is derived from revenue, and that it agrees with the books."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import journal
from masthead.books.journal import days_between, days_of, fiscal_year_of
from masthead.errors import BadInput, MastheadError
from masthead.store.billing.journal import deferred_at_begin
from tests.billing import ledger
from tests.billing.ledger import BEGUN, EBB, TIDE, entry, revenue
from tests.billing.sums import check_sums

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """An account that bills, with nothing posted yet."""
    ledger.begin(shared)
    return shared


@pytest.fixture
def filled(shared: Desk) -> Desk:
    """The same with two months of movements."""
    ledger.fill(shared)
    return shared


def entries(desk: Desk, first: str, last: str) -> list[tuple[str, str, str, dict[str, int]]]:
    """Return name, day, text and lines of the entries of some days."""
    with journal.export(desk.books, days_between(first, last)) as found:
        return [(each.name, each.day, each.text, dict(each.lines)) for each in found.entries]


def balances(desk: Desk, day: str | None = None) -> dict[str, tuple[int, int]]:
    """Return debit and credit of each account."""
    report = journal.balances(desk.books, day)
    return {str(row[1]): (int(row[2] or 0), int(row[3] or 0)) for row in report.rows}


def test_what_is_earned_is_an_entry_for_each_day_and_publication(desk: Desk) -> None:
    """decisions, "What the journal derives"."""
    revenue(desk, (TIDE, "earned", 999, "2026-10-14"), (TIDE, "received", 999, "2026-11-01"))
    revenue(desk, (TIDE, "earned", 100, "2026-11-01"), (TIDE, "earned", 20, "2026-11-01"))
    revenue(desk, (EBB, "earned", -30, "2026-11-01"), (EBB, "earned", 5, "2026-11-02"))
    revenue(desk, (TIDE, "earned", 7, "2026-11-02"), (TIDE, "earned", -7, "2026-11-02"))
    entry(desk, "2026-11-01", "payment 1", ("bank", 1), ("prepayments", -1))
    day, after = "2026-11-01", "2026-11-02"
    back = "earned, taken back: Ebb"
    assert entries(desk, "2026-01-01", "2026-12-31") == [
        ("1", day, "payment 1", {"bank": 1, "prepayments": -1}),
        ("earned-2026-11-01-1", day, "earned: Tide", {"deferred": 120, "revenue": -120}),
        ("earned-2026-11-01-2", day, back, {"deferred": -30, "revenue": 30}),
        ("earned-2026-11-02-2", after, "earned: Ebb", {"deferred": 5, "revenue": -5}),
    ]


def test_revenue_of_an_issue_belongs_to_the_publication_of_the_issue(desk: Desk) -> None:
    """As in the liability report, after a subscription was moved to another publication."""
    day = "2026-11-01"
    desk.put(
        "revenue",
        revenue_id=1,
        term_id=TIDE,
        issue_id=EBB,
        kind="earned",
        cents=100,
        booked_on=day,
    )
    assert [text for _, _, text, _ in entries(desk, day, day)] == ["earned: Ebb"]


def test_billing_begins_with_what_is_owed_to_readers(desk: Desk) -> None:
    revenue(desk, (TIDE, "received", 1000, "2026-10-15"), (TIDE, "refunded", 100, "2026-10-15"))
    revenue(desk, (TIDE, "earned", 200, "2026-10-14"), (TIDE, "earned", 30, "2026-10-15"))
    revenue(desk, (TIDE, "earned", 4, "2026-11-01"))
    with desk.books.read() as reading:
        assert deferred_at_begin(reading, BEGUN) == 700
    entry(desk, BEGUN, "billing begins", ("deferred", -700), ("opening", 700))
    assert balances(desk, BEGUN)["deferred"] == (0, 670)
    assert balances(desk)["deferred"] == (0, 666)
    assert not journal.check(desk.books, BEGUN).wrong
    assert not journal.check(desk.books).wrong


def test_the_journal_agrees_with_the_books_on_each_day(filled: Desk) -> None:
    for day in ("2026-10-15", "2026-10-21", "2026-10-28", "2026-11-03", "2026-11-28", None):
        assert journal.check(filled.books, day).wrong == []
    assert journal.check(filled.books).sentence == "the journal agrees with the books in 12 sums"
    assert balances(filled) == {
        "receivables": (1070, 0),
        "bank": (3450 + 570 - 90, 0),
        "prepayments": (0, 570 + 200),
        "tax": (0, 210),
        "tax_not_due": (0, 70),
        "deferred": (0, 2000 + 3000 - 250 - 100 - 200),
        "unpaid": (0, 1000),
        "revenue": (0, 250 + 100 + 200),
        "fees": (50, 0),
        "opening": (2000, 0),
    }


@pytest.mark.parametrize(
    ("sql", "named"),
    [
        ("UPDATE revenue SET cents = cents + 1 WHERE kind = 'received'", "deferred"),
        ("UPDATE invoices SET total = total + 1 WHERE invoice_id = 2", "receivables"),
        ("UPDATE invoices SET tax = tax + 1 WHERE invoice_id = 2", "tax_not_due"),
        ("UPDATE invoices SET net = net + 1 WHERE invoice_id = 2", "unpaid"),
        ("UPDATE payments SET cents = cents + 1 WHERE payment_id = 2", "prepayments"),
        ("UPDATE payments SET cents = cents + 1 WHERE payment_id = 2", "bank"),
        ("UPDATE payments SET fee = 0 WHERE payment_id = 1", "fees"),
        ("UPDATE allocations SET cents = 1 WHERE kind = 'payment'", "receivables"),
        ("UPDATE invoices SET open_cents = 1 WHERE invoice_id = 2", "open"),
        ("UPDATE payments SET left_cents = 1 WHERE payment_id = 1", "credit"),
        ("UPDATE journal_lines SET cents = cents + 1 WHERE account = 'fees'", "all accounts"),
        ("UPDATE journal_lines SET cents = 0 WHERE account = 'fees'", "1 entry does not balance"),
        (
            "UPDATE journal_lines SET booked_on = '2026-11-20' WHERE account = 'opening'",
            "1 entry does not balance",
        ),
    ],
)
def test_the_check_finds_what_does_not_agree(filled: Desk, sql: str, named: str) -> None:
    filled.connection.change(sql)
    found = journal.check(filled.books)
    assert any(each.startswith(named) for each in found.wrong)
    assert found.sentence.startswith("the journal does not agree with the books: ")


def test_an_account_that_does_not_bill_has_no_journal(desk: Desk) -> None:
    desk.connection.change("DELETE FROM billing")
    with pytest.raises(MastheadError, match="account 1 does not bill its orders"):
        journal.check(desk.books)
    with (
        pytest.raises(MastheadError, match="account 1 does not bill its orders"),
        journal.export(desk.books, days_of("2026-11")),
    ):
        pytest.fail("it was exported")


def test_the_file_for_datev_needs_the_numbers_of_datev(filled: Desk) -> None:
    november = days_of("2026-11")
    with journal.export(filled.books, november) as found, pytest.raises(BadInput, match="not set"):
        list(found.as_datev())
    for number, name in enumerate(("datev_consultant", "datev_client", "fiscal_year_month"), 1):
        filled.put("billing_settings", setting_id=number, name=name, value=f"{number}0001"[:5])
    filled.connection.change("UPDATE billing_settings SET value = '7' WHERE setting_id = 3")
    with journal.export(filled.books, november) as found:
        head, _, *rows = list(found.as_datev())
    assert b";10001;20001;20260701;4;20261101;20261130;" in head
    with journal.export(filled.books, november) as found:
        lines = list(found.as_csv())
    assert len(rows) >= len({line[0] for line in lines[1:]}) == 7
    assert sum(round(float(line[4] or 0) * 100) for line in lines[1:]) == sum(
        round(float(line[5] or 0) * 100) for line in lines[1:]
    )


def test_days_that_are_none_are_refused() -> None:
    assert days_of("2026-02") == ("2026-02-01", "2026-02-28", "2026-02")
    with pytest.raises(BadInput, match="'2026' is not a month"):
        days_of("2026")
    with pytest.raises(BadInput, match="'2026-11-31' is not a day"):
        days_between("2026-11-31", "2026-12-01")
    with pytest.raises(BadInput, match="the first comes first"):
        days_between("2026-12-02", "2026-12-01")


def test_a_day_is_in_the_fiscal_year_that_began_before_it() -> None:
    assert fiscal_year_of("2026-11-01", 1) == "2026-01-01"
    assert fiscal_year_of("2026-06-30", 7) == "2025-07-01"
    assert fiscal_year_of("2026-07-01", 7) == "2026-07-01"


def test_the_sums_of_the_rows_hold(filled: Desk) -> None:
    """The other tests of billing use this check; here it is asked of rows written by hand."""
    check_sums(filled)
