"""What follows of subscriptions from their terms and issues, on both kinds of database."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.expiry_dates import Calendar, Range, date_expired
from tests.circulation.desk import Desk, at_desk
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store

CLOSED = [date(2026, month, 1) for month in range(1, 6)]
COMING = [date(2026, month, 1) for month in range(6, 9)]
DAYS = st.dates(date(2026, 1, 1), date(2027, 3, 1))


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """An account, which each test fills again."""
    with at_desk(store) as found:
        yield found


def plan(desk: Desk, per_year: int = 12) -> None:
    """Fill the account with a publication, its issues, and a reader; list 1 is of all closed."""
    desk.empty()
    desk.put("publications", publication_id=1, name="Tide", issues_per_year=per_year)
    desk.put("publications", publication_id=2, name="Harbour")
    desk.put("list_downloads", mailing_list_id=1, name="Tide")
    issues: list[dict[str, Any]] = [
        {
            "issue_id": number,
            "publication_id": 1,
            "date": f"{day}",
            "closed_at": "2026-01-01 00:00:00" if day in CLOSED else None,
            # The first was closed when the books were opened.
            "mailing_list_id": 1 if day in CLOSED[1:] else None,
        }
        for number, day in enumerate(CLOSED + COMING, 1)
    ]
    desk.put_many("issues", issues)
    desk.put("subscribers", subscriber_id=1)


def subscription(number: int, **values: Any) -> dict[str, Any]:
    """Return the row of a subscription."""
    row = {"subscription_id": number, "subscriber_id": 1, "publication_id": 1, "copies": 1}
    return {**row, "type": "Digital", "begins_on": "2026-06-01", **values}


def term(number: int, whose: int, issues: int, left: int, **values: Any) -> dict[str, Any]:
    """Return the row of a term."""
    row = {"term_id": number, "subscription_id": whose, "issues": issues, "issues_left": left}
    return {**row, "price": 0, "paid_on": None, "kind": "free", **values}


def test_balances_follow_from_terms_and_revenue(desk: Desk) -> None:
    """circulation, "What is stored in addition"."""
    plan(desk)
    desk.put_many("subscriptions", [subscription(number) for number in range(1, 7)])
    paid: dict[str, Any] = {"paid_on": "2026-01-01", "kind": "paid"}
    for row in (
        term(1, 1, 3, 1, price=1000, **paid),
        term(2, 1, 4, 4, price=1201, **paid),
        term(3, 1, 2, 2),
        term(4, 2, 12, 11, price=4800, kind="paid"),
        term(5, 3, -1, -1, price=9900, **paid, months=12, starts_on="2026-01-01"),
        term(6, 3, 5, 5, price=500, **paid),
        term(7, 4, 6, 0, price=600, **paid),
        term(8, 6, 1, 1, price=5, **paid),
    ):
        desk.put("terms", **row)
    for number, (kind, cents) in enumerate([("received", 9900), ("earned", 825)], 1):
        desk.put(
            "revenue", revenue_id=number, term_id=5, kind=kind, cents=cents, booked_on="2026-01-01"
        )
    desk.refresh()
    found = {
        row["subscription_id"]: (
            row["issues"],
            row["paid_issues_left"],
            row["unearned_revenue"],
            row["date_expired"],
        )
        for row in desk.table("subscriptions")
    }
    assert found == {
        1: (7, 5, "15.35", "2026-12-31"),  # 1000 - 666 + 1201
        2: (11, 0, "0.00", "2027-04-30"),
        3: (-1, None, "95.75", None),  # 9900 - 825 + 500
        4: (0, 0, "0.00", "2026-05-31"),
        5: (0, 0, "0.00", "2026-05-31"),
        6: (1, 1, "0.05", "2026-06-30"),
    }
    kinds = desk.rows("SELECT DISTINCT issues FROM subscription_kinds WHERE account_id=:account_id")
    assert {issues for (issues,) in kinds} == {7, 11, -1, 0, 1}


def test_only_rows_that_differ_get_the_commit(desk: Desk) -> None:
    """circulation, "What must hold"."""
    plan(desk)
    desk.put_many("subscriptions", [subscription(1), subscription(2)])
    desk.put("terms", **term(1, 1, 3, 3))
    desk.refresh()
    before = desk.rows("SELECT subscription_id, commit_id FROM subscriptions ORDER BY 1")
    newest = "SELECT max(commit_id) FROM commits WHERE account_id = :account_id"
    ((commits,),) = desk.rows(newest)
    desk.refresh()
    assert desk.rows("SELECT subscription_id, commit_id FROM subscriptions ORDER BY 1") == before
    assert desk.rows(newest) == [(commits,)], "a commit that no row got stays"
    desk.put("terms", **term(2, 2, 1, 1))
    desk.refresh()
    after = dict(desk.rows("SELECT subscription_id, commit_id FROM subscriptions ORDER BY 1"))
    assert after == dict(before) | {2: commits + 1}


class Reader:
    """A subscription as Hypothesis makes it up."""

    def __init__(
        self,
        left: int,
        begins_on: date | None,
        received: set[int],
        away: list[tuple[date, int | None]],
    ) -> None:
        self.left = left
        self.begins_on = begins_on
        self.received = sorted(received)
        self.away = [
            Range(start, None if length is None else start + timedelta(length))
            for start, length in away
        ]

    def __repr__(self) -> str:
        return f"Reader({self.left}, {self.begins_on}, {self.received}, {self.away})"


READERS = st.builds(
    Reader,
    st.integers(-1, 8),
    st.none() | DAYS,
    st.sets(st.integers(0, len(CLOSED) - 1)),
    st.lists(st.tuples(DAYS, st.none() | st.integers(0, 100)), max_size=2),
)


@examples(6, 300)
@given(st.lists(READERS, min_size=1, max_size=12), st.sampled_from([12, 4, 52, 26, 10]))
def test_the_database_expects_the_expiry_that_the_rule_says(
    desk: Desk, readers: list[Reader], per_year: int
) -> None:
    """circulation, "Expiry": for any readers at once, what the rule says of each alone."""
    plan(desk, per_year)
    numbered = list(enumerate(readers, 1))
    desk.put_many(
        "subscriptions",
        [
            subscription(number, begins_on=each.begins_on and f"{each.begins_on}")
            for number, each in numbered
        ],
    )
    desk.put_many(
        "terms", [term(number, number, 9, each.left) for number, each in numbered if each.left]
    )
    desk.put_many(
        "subscription_issues",
        [
            {"subscription_id": number, "issue_id": place + 1}
            for number, each in numbered
            for place in each.received
        ],
    )
    away = [(number, days) for number, each in numbered for days in each.away]
    desk.put_many(
        "suspensions",
        [
            {
                "suspension_id": n,
                "subscription_id": number,
                "from_date": f"{days.start}",
                "to_date": f"{days.end}" if days.end else None,
            }
            for n, (number, days) in enumerate(away, 1)
        ],
    )
    desk.refresh()
    calendar = Calendar(CLOSED[1:], COMING, per_year, CLOSED[:1])
    expected = {}
    for number, each in numbered:
        got = [CLOSED[place] for place in each.received]
        found = date_expired(
            calendar, each.left, each.begins_on, received=got, suspensions=each.away
        )
        expected[number] = f"{found}" if found else None
    rows = desk.table("subscriptions")
    assert {row["subscription_id"]: row["date_expired"] for row in rows} == expected
