"""Closing an issue: who gets it, out of which term, and what that earns."""

# Long because each rule of closing is seen by itself, and then all of them at once.

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.books import issues
from masthead.books.issues import Grace, MailingList
from masthead.circulation.earned_share import share
from masthead.errors import BadInput, NotFound
from tests.circulation.serving import Closing, Reader, Term, Verdict, next_term, verdict
from tests.long import examples

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

MONTHS = [f"2026-{month:02}-01" for month in range(1, 9)]


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account with a publication, of which issues 1 and 2 were closed before the books."""
    fill(shared)
    return shared


def fill(desk: Desk) -> None:
    """Fill the account: monthly issues, the third of which is the next one to be closed."""
    desk.empty()
    desk.to("2026-03-02")
    desk.put("publications", publication_id=1, name="Tide")
    desk.put_many(
        "issues",
        [
            {
                "issue_id": number,
                "publication_id": 1,
                "name": f"no. {number}",
                "date": day,
                "closed_at": "2026-01-01 00:00:00" if number <= 2 else None,
            }
            for number, day in enumerate(MONTHS, 1)
        ],
    )
    desk.put_many(
        "subscribers",
        [{"subscriber_id": 1, "delete_date": None}, {"subscriber_id": 2, "delete_date": "2026"}],
    )
    streets = [(1, "1 Quay"), (2, None), (3, "3 Pier")]
    desk.put_many(
        "addresses",
        [{"address_id": key, "subscriber_id": 1, "address": street} for key, street in streets],
    )


def subscription(number: int, **values: Any) -> dict[str, Any]:
    """Return the row of a subscription to whom nothing bars the way."""
    return {
        "subscription_id": number,
        "subscriber_id": 1,
        "publication_id": 1,
        "mailing_address_id": 1,
        "copies": 1,
        "type": "Print",
        "begins_on": "2026-02-02",
        "renew_campaign_active": 1,
        "cancelled_on": None,
        **values,
    }


def term(number: int, whose: int, issues: int, left: int, **values: Any) -> dict[str, Any]:
    """Return the row of a term, which is paid and costs 10.00."""
    row = {"term_id": number, "subscription_id": whose, "issues": issues, "issues_left": left}
    more = {"price": 1000, "paid_on": "2026-01-01", "kind": "paid", "months": None}
    return {**row, **more, "starts_on": None, "ended_at": None, **values}


def close(desk: Desk, issue: int = 3, *, dry_run: bool = False, **grace: Any) -> MailingList:
    """Close an issue, as its preview says (rules, "What the console counts")."""
    given_grace = Grace(**grace) if grace else None
    previewed: tuple[object, ...] | None = None
    with suppress(BadInput, NotFound):
        previewed = tuple(issues.preview(desk.books, issue, given_grace))
    made = issues.close(desk.books, issue, given_grace, dry_run=dry_run)
    assert previewed == (made.press_run, made.held, made.lapsed)
    return made


def received(desk: Desk, issue: int = 3) -> dict[int, tuple[int | None, int, int | None]]:
    """Return who got an issue: out of which term, whether as grace, and to which address."""
    return {
        row["subscription_id"]: (row["term_id"], row["is_grace"], row["address_id"])
        for row in desk.table("subscription_issues")
        if row["issue_id"] == issue
    }


def left_of(desk: Desk) -> dict[int, int]:
    """Return the issues left of each term."""
    return {row["term_id"]: row["issues_left"] for row in desk.table("terms")}


def balances(desk: Desk) -> None:
    """Check that all derived values of the subscriptions are those that refreshing computes."""
    before = desk.table("subscriptions")
    desk.refresh()
    assert desk.table("subscriptions") == before


def test_an_issue_is_delivered_out_of_the_oldest_term(desk: Desk) -> None:
    """circulation, "Close": an entry, a delivery, one issue off the term, its revenue earned."""
    desk.put_many("subscriptions", [subscription(1, copies=5), subscription(2, type="Digital")])
    desk.put_many(
        "terms",
        [
            term(1, 1, 3, 0, copies=1, free_copies=0),
            term(2, 1, 3, 3, copies=5, free_copies=2),
            term(3, 1, 6, 6, copies=1, free_copies=0),
            term(4, 2, 2, 1, price=0, paid_on=None, kind="free", copies=1, free_copies=0),
        ],
    )
    desk.refresh()
    made = close(desk)
    assert (made.name, made.entries, made.held) == ("Tide no. 3", 2, [])
    assert [tuple(run) for run in made.press_run] == [
        ("Digital", 0, 0, 1, 1, 0, 0),
        ("Print", 0, 1, 1, 7, 2, 0),
    ]
    assert received(desk) == {1: (2, 0, 1), 2: (4, 0, 1)}
    assert left_of(desk) == {1: 0, 2: 2, 3: 6, 4: 0}
    (earned,) = desk.table("revenue")
    assert (earned["term_id"], earned["issue_id"], earned["cents"]) == (2, 3, 333)
    assert (earned["kind"], earned["booked_on"]) == ("earned", "2026-03-01")
    (made_list,) = desk.table("list_downloads")
    assert made_list == {
        "mailing_list_id": 1,
        "name": "Tide no. 3",
        "status": "Complete",
        "count": 2,
        "is_gap": 0,
        "grace_from_date": None,
        "grace_issues": 0,
        "parent_mailing_list_id": None,
        "date_created": "2026-03-02 12:00:00",
    }
    issue = next(row for row in desk.table("issues") if row["issue_id"] == 3)
    assert (issue["mailing_list_id"], issue["closed_at"]) == (1, "2026-03-02 12:00:00")
    found = desk.subscription(1)
    assert (found["issues"], found["paid_issues_left"], found["unearned_revenue"]) == (
        8,
        8,
        "16.67",
    )
    balances(desk)


def test_an_issue_that_cannot_be_closed_is_named(desk: Desk) -> None:
    """circulation, "Close", and "Issues close in the order of their dates"."""
    with pytest.raises(BadInput, match=r"Tide no. 4 .* before Tide no. 3 \(2026-03-01\)"):
        close(desk, 4)
    with pytest.raises(NotFound, match="no issue 99"):
        close(desk, 99)
    with pytest.raises(BadInput, match="need the date since when"):
        close(desk, issues=2)
    close(desk)
    before = desk.everything()
    with pytest.raises(BadInput, match="is closed already, with list 1: nothing was changed"):
        close(desk)
    assert desk.everything() == before


def test_a_preview_is_what_closing_gives_and_changes_nothing(desk: Desk) -> None:
    """circulation, "What must hold": preview = close."""
    desk.put_many("subscriptions", [subscription(1), subscription(2, mailing_address_id=2)])
    desk.put_many("terms", [term(1, 1, 3, 3), term(2, 2, 3, 3)])
    desk.refresh()
    before = desk.everything()
    commits = desk.rows("SELECT commit_id, visible_at FROM commits ORDER BY 1")
    preview = close(desk, dry_run=True)
    assert desk.everything() == before
    assert desk.rows("SELECT commit_id, visible_at FROM commits ORDER BY 1") == commits
    assert close(desk) == preview
    assert [tuple(each) for each in preview.held] == [(2, 1, "no address")]


def test_each_closing_is_one_commit_and_one_entry_of_the_audit_log(desk: Desk) -> None:
    """circulation, "What must hold"."""
    desk.put_many("subscriptions", [subscription(1), subscription(2, begins_on="2026-05-01")])
    desk.put_many("terms", [term(1, 1, 3, 3), term(2, 2, 3, 3)])
    desk.refresh()
    ((newest,),) = desk.rows("SELECT max(commit_id) FROM commits")
    desk.rows("SELECT 1")
    close(desk)
    assert desk.rows("SELECT max(commit_id), count(visible_at) - count(*) FROM commits") == [
        (newest + 1, 0)
    ]
    marked = "SELECT subscription_id FROM subscriptions WHERE commit_id > :newest"
    assert desk.rows(marked, newest=newest) == [(1,)]
    entries = desk.rows("SELECT user_name, command, summary FROM audit ORDER BY entry_id DESC")
    assert entries[0] == (
        "ada",
        "issue close",
        "issue 3 (Tide no. 3) was closed with list 1: 1 entry, 0 held",
    )


def test_unlimited_terms_are_earned_by_months(desk: Desk) -> None:
    """rules, "Months in which a term is served": from one issue that came to the next."""
    desk.put_many("subscriptions", [subscription(number) for number in (1, 2, 3)])
    by_months = {"price": 1200, "months": 7}
    desk.put_many(
        "terms",
        [
            term(1, 1, -1, -1, **by_months | {"kind": "opening"}, starts_on="2026-01-31"),
            term(2, 2, -1, -1, **by_months, starts_on="2025-01-01"),
            term(3, 3, -1, -1, **by_months),
        ],
    )
    desk.put("suspensions", suspension_id=1, subscription_id=2, from_date="2026-02-15")
    desk.refresh()
    close(desk)
    assert received(desk) == {1: (1, 0, 1), 3: (3, 0, 1)}
    assert left_of(desk) == {1: -1, 2: -1, 3: -1}
    earned = [(row["term_id"], row["cents"]) for row in desk.table("revenue")]
    assert earned == [(1, 171)]
    assert desk.table("terms")[2]["starts_on"] == "2026-03-01"
    assert desk.subscription(2)["unearned_revenue"] == "12.00"
    close(desk, 4)
    earned = [(row["term_id"], row["cents"]) for row in desk.table("revenue")]
    assert sorted(earned) == [(1, 171), (1, 171), (3, 171)]
    balances(desk)


def test_a_gap_list_brings_what_is_missed_and_never_twice(desk: Desk) -> None:
    """circulation, "Gap": no subscription is on both lists."""
    desk.put_many("subscriptions", [subscription(1), subscription(2, mailing_address_id=2)])
    desk.put_many("terms", [term(1, 1, 3, 3), term(2, 2, 3, 3)])
    desk.refresh()
    with pytest.raises(BadInput, match="a gap list needs the main list"):
        issues.make_gap_list(desk.books, 3)
    close(desk)
    before = desk.everything()
    gap = issues.make_gap_list(desk.books, 3)
    assert (gap.mailing_list_id, gap.entries, len(gap.held)) == (None, 0, 1)
    assert desk.everything() == before
    with desk.store.writer() as database:
        database.change("UPDATE addresses SET address = '2 Quay' WHERE address_id = 2")
    gap = issues.make_gap_list(desk.books, 3)
    assert (gap.mailing_list_id, gap.entries, gap.held) == (2, 1, [])
    entries = desk.rows(
        "SELECT mailing_list_id, subscription_id FROM mailing_list_entries ORDER BY 1"
    )
    assert entries == [(1, 1), (2, 2)]
    made = desk.table("list_downloads")[1]
    assert (made["is_gap"], made["parent_mailing_list_id"], made["count"]) == (1, 1, 1)
    assert issues.make_gap_list(desk.books, 3).mailing_list_id is None
    balances(desk)


TERMS = st.tuples(
    st.sampled_from([-1, 1, 2, 5]), st.integers(0, 5), st.sampled_from([0, 1000]), st.booleans()
)
READERS = st.fixed_dictionaries(
    {
        "type": st.sampled_from(["Print", "Digital", "Both"]),
        "subscriber": st.sampled_from([1, 1, 1, 2]),
        "address": st.sampled_from([None, 1, 1, 2]),
        "away": st.sampled_from(
            [None, None, (3, "2026-03-01"), (3, "2026-03-31"), (2, "2026-04-01")]
        ),
        "begins": st.sampled_from([None, "2026-01-01", "2026-03-01", "2026-03-02"]),
        "cancelled": st.sampled_from([None, None, None, "2026-02-01"]),
        "suspended": st.sampled_from(
            [
                None,
                None,
                ("2026-02-01", None),
                ("2026-03-01", "2026-03-01"),
                ("2026-02-01", "2026-02-28"),
                ("2026-03-02", None),
                ("2026-04-01", "2026-05-01"),
            ]
        ),
        "renews": st.booleans(),
        "past": st.tuples(*[st.sampled_from(["", "", "regular", "grace", "covered"])] * 2),
        "terms": st.lists(TERMS, max_size=3),
    }
)


@examples(6, 150)
@given(st.lists(READERS, min_size=1, max_size=10), st.integers(0, 2), st.integers(0, 2))
def test_the_query_and_the_rule_serve_the_same_subscriptions(
    shared: Desk, readers: list[dict[str, Any]], grace_issues: int, credit: int
) -> None:
    """circulation, "Close": for any readers at once, what the rule says of each alone.

    The address is the temporary one of the issue's date, or else the usual one (rules, "The
    address in force"). Reopening leaves everything as it was, and closing again gives the same.
    """
    desk = shared
    fill(desk)
    desk.rows("SELECT 1")
    with desk.store.writer() as database:
        database.change("UPDATE publications SET credit_issues = :credit", credit=credit)
    rows: dict[str, list[dict[str, Any]]] = {
        name: []
        for name in (
            "subscriptions",
            "terms",
            "suspensions",
            "temporary_addresses",
            "subscription_issues",
            "revenue",
        )
    }
    grace_from = "2026-01-15"
    expected: dict[int, tuple[Verdict, Term | None]] = {}
    for number, made in enumerate(readers, 1):
        _write_reader(rows, number, made)
        expected[number] = _expected(number, made, rows, grace_issues, grace_from, credit)
    rows["revenue"] = [
        {
            "revenue_id": row["term_id"],
            "term_id": row["term_id"],
            "kind": "earned",
            "cents": row["price"] * (row["issues"] - row["issues_left"]) // row["issues"],
            "booked_on": "2026-01-01",
        }
        for row in rows["terms"]
        if row["issues"] > 0 and row["paid_on"] and row["price"]
    ]
    for name, found in rows.items():
        desk.put_many(name, found)
    desk.refresh()
    before = desk.everything()
    grace: Any = {"issues": grace_issues, "since": grace_from}
    closed = close(desk, **grace)
    after = desk.everything()
    held = {each.subscription_id: each.why for each in closed.held}
    got = received(desk)
    for number, (what, taken) in expected.items():
        assert (number in got) == (what in {Verdict.SERVED, Verdict.GRACE}), (number, what)
        is_held = what in {Verdict.UNPAID, Verdict.NO_ADDRESS, Verdict.DELETED}
        own = [term for term in before["terms"] if term["subscription_id"] == number]
        older = [term for term in own if taken and term["term_id"] < taken.term_id]
        is_passed = what is Verdict.SERVED and any(term["issues_left"] for term in older)
        needs = what.value if is_held else "passed over" if is_passed else None
        assert held.get(number) == needs
        if number in got:
            away = readers[number - 1]["away"]
            assert got[number] == (
                taken.term_id if taken else None,
                int(what is Verdict.GRACE),
                away[0] if away and away[1] >= "2026-03-01" else readers[number - 1]["address"],
            )
    _check_money(before, after, got)
    assert closed.entries == len(got) == len(after["mailing_list_entries"])
    balances(desk)
    issues.reopen(desk.books, 3)
    reopened = desk.everything()
    for name in before:
        if name not in {"revenue", "terms"}:
            assert reopened[name] == before[name], name
    strip = [{**row, "starts_on": None} for row in reopened["terms"]]
    assert strip == [{**row, "starts_on": None} for row in before["terms"]]
    assert _earned_of(reopened) == _earned_of(before)
    balances(desk)
    again = close(desk, **grace)
    assert again._replace(mailing_list_id=closed.mailing_list_id) == closed
    balances(desk)


def _write_reader(rows: dict[str, list[dict[str, Any]]], number: int, made: dict[str, Any]) -> None:
    """Add the rows of a made-up reader."""
    rows["subscriptions"].append(
        subscription(
            number,
            type=made["type"],
            subscriber_id=made["subscriber"],
            mailing_address_id=made["address"],
            begins_on=made["begins"],
            cancelled_on=made["cancelled"],
            renew_campaign_active=int(made["renews"]),
        )
    )
    for count, left, price, is_paid in made["terms"]:
        rows["terms"].append(
            term(
                len(rows["terms"]) + 1,
                number,
                count,
                -1 if count < 0 else min(left, count),
                price=price,
                paid_on="2026-01-01" if is_paid else None,
                months=12 if count < 0 else None,
            )
        )
    if made["suspended"]:
        start, end = made["suspended"]
        row = {"suspension_id": number, "subscription_id": number}
        rows["suspensions"].append({**row, "from_date": start, "to_date": end})
    if made["away"]:
        address, end = made["away"]
        row = {"temporary_address_id": number, "subscription_id": number, "address_id": address}
        rows["temporary_addresses"].append({**row, "from_date": "2026-02-20", "to_date": end})
    own = [each for each in rows["terms"] if each["subscription_id"] == number]
    # A delivery out of an unlimited term begins it, so a paid one would have earned before.
    can_cover = bool(own) and not (own[0]["issues"] < 0 and own[0]["price"] and own[0]["paid_on"])
    for issue_id, how in enumerate(made["past"], 1):
        if how and (can_cover or how != "covered"):
            rows["subscription_issues"].append(
                {
                    "subscription_id": number,
                    "issue_id": issue_id,
                    "term_id": own[0]["term_id"] if how == "covered" else None,
                    "is_grace": int(how != "regular"),
                }
            )


def _expected(
    number: int,
    made: dict[str, Any],
    rows: dict[str, list[dict[str, Any]]],
    grace_issues: int,
    grace_from: str,
    credit: int,
) -> tuple[Verdict, Term | None]:
    """Return what the rule says of a made-up reader, and the term that it takes."""
    past = [row for row in rows["subscription_issues"] if row["subscription_id"] == number]
    regular = [row["issue_id"] for row in past if not row["is_grace"] or row["term_id"]]
    grace = [
        row
        for row in past
        if row["is_grace"] and not row["term_id"] and row["issue_id"] > max(regular, default=0)
    ]
    terms = [
        Term(
            row["term_id"],
            row["issues"],
            row["issues_left"],
            row["price"],
            row["paid_on"] is not None,
            row["issues"] - row["issues_left"]
            if row["issues"] > 0
            else sum(each["term_id"] == row["term_id"] for each in past),
        )
        for row in rows["terms"]
        if row["subscription_id"] == number
    ]
    day = "2026-03-01"
    start, end = made["suspended"] or ("9", None)
    away = made["away"] if made["away"] and made["away"][1] >= day else None
    reader = Reader(
        type=made["type"],
        begins_on=date.fromisoformat(made["begins"]) if made["begins"] else None,
        is_ended=made["cancelled"] is not None,
        is_deleted=made["subscriber"] == 2,
        is_suspended=start <= day and (end is None or end >= day),
        has_address=(away[0] if away else made["address"]) in {1, 3},
        renews=made["renews"],
        last_regular=date.fromisoformat(MONTHS[max(regular) - 1]) if regular else None,
        grace=len(grace),
        terms=terms,
    )
    closing = Closing(date.fromisoformat(day), grace_issues, date.fromisoformat(grace_from), credit)
    return verdict(reader, closing), next_term(terms, credit)


def _check_money(
    before: dict[str, list[dict[str, Any]]],
    after: dict[str, list[dict[str, Any]]],
    got: dict[int, tuple[int | None, int, int | None]],
) -> None:
    """Check that each delivery took one issue, and earned its share where it was paid."""
    out_of = {taken for taken, _, _ in got.values() if taken}
    earned = _earned_of(after) - _earned_of(before)
    for then, now in zip(before["terms"], after["terms"], strict=True):
        is_taken = then["term_id"] in out_of and then["issues"] > 0
        assert now["issues_left"] == then["issues_left"] - is_taken
        expected = 0
        if is_taken and then["paid_on"]:
            nth = then["issues"] - now["issues_left"]
            expected = share(then["price"], then["issues"], nth)
        assert earned[then["term_id"]] == expected


def _earned_of(found: dict[str, list[dict[str, Any]]]) -> Counter[int]:
    """Return the cents that each term has earned."""
    earned: Counter[int] = Counter()
    for row in found["revenue"]:
        earned[row["term_id"]] += row["cents"]
    return +earned
