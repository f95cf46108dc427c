"""Closing an issue of a free title: who qualifies, who pays first, quotas, and what has lapsed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.books import audit_report, cancelling, issues, qualification_forms, subscribers
from masthead.books.qualification_forms import GivenClass
from tests.circulation.test_closing import balances, close, fill, subscription, term
from tests.long import examples
from tests.qualification.free_readers import Free, put_form, put_qualified, served_free
from tests.qualification.press import (
    CHIEF,
    CLASSES,
    ENGINEER,
    LARGE,
    STUDENT,
    qualify,
    said,
)

if TYPE_CHECKING:
    from masthead.books.issues import MailingList
    from tests.circulation.desk import Desk

DAY = "2026-03-01"
PLAIN = Free(1, 1, "2026-01-10", "2028-12-31", 1, True, 1, "Print", True, True, False)


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account of the tests of closing: issue 3, of 2026-03-01, is the next one to close."""
    fill(shared)
    return shared


def put(desk: Desk, *readers: Free) -> None:
    """Write readers; those who pay have a term with issues left."""
    rows = [
        subscription(
            each.key,
            copies=each.copies,
            type=each.type,
            mailing_address_id=1 if each.has_address else None,
            begins_on="2026-02-02" if each.may else "2026-09-01",
        )
        for each in readers
    ]
    put_qualified(desk, readers, rows)
    pays = [each for each in readers if each.pays]
    desk.put_many("terms", [term(each.key, each.key, 3, 2, copies=each.copies) for each in pays])
    desk.refresh()


def entries(desk: Desk) -> dict[int, tuple[Any, ...]]:
    """Return the entries of all lists: the copies, the class, ``is_paid``, the qualification."""
    return {
        row["subscription_id"]: tuple(row[name] for name in _OF_ENTRY)
        for row in desk.table("mailing_list_entries")
    }


_OF_ENTRY = ("copies", "class", "is_paid", "qualification_id")


def held(made: MailingList) -> dict[int, str]:
    """Return who is held, and why."""
    return {each.subscription_id: each.why for each in made.held}


def by_class(desk: Desk) -> list[tuple[Any, ...]]:
    """Return the class, the request type and the copies of the rows of issue 5's audit report."""
    rows = audit_report.of_issue(desk.books, 5).rows
    return [(*row[1:3], row[5]) for row in rows if row[0] == "audit class"]


def test_a_qualified_copy_goes_out_beside_those_who_pay(desk: Desk) -> None:
    """qualification, "Served": paid and qualified are counted once, paid first."""
    put_form(desk)
    put(
        desk,
        PLAIN,
        PLAIN._replace(key=2, copies=3, type="Digital", has_address=False),
        PLAIN._replace(key=3, pays=True),
        PLAIN._replace(key=4, is_served=False),
        PLAIN._replace(key=5, has_address=False),
        PLAIN._replace(key=6, qualified_on="2026-03-02"),
    )
    made = close(desk)
    assert entries(desk) == {
        1: (1, "qualified", 0, 1),
        2: (3, "qualified", 0, 2),
        3: (1, "paid", 1, None),
    }
    assert [(run.type, run.kind, run.copies) for run in made.press_run] == [
        ("Digital", "qualified", 3),
        ("Print", "qualified", 1),
        ("Print", "paid", 1),
    ]
    assert held(made) == {5: "no address"}


def test_a_reader_whose_order_is_not_paid_gets_a_qualified_copy(desk: Desk) -> None:
    """qualification, "Served": a term beyond its credit delivers nothing, so the reader is free."""
    put_form(desk)
    put(desk, PLAIN)
    desk.put_many("terms", [term(1, 1, 6, 5, paid_on=None)])
    desk.refresh()
    made = close(desk)
    assert (entries(desk), made.held) == ({1: (1, "qualified", 0, 1)}, [])
    assert [row["issues_left"] for row in desk.table("terms")] == [5]


def test_who_lapses_drops_out_until_the_issue_is_reopened(desk: Desk) -> None:
    """qualification, "Served": the last day counts; no grace follows; reopening undoes it all."""
    put_form(desk)
    put(
        desk,
        PLAIN._replace(valid_until=DAY),
        PLAIN._replace(key=2, valid_until="2026-02-28"),
        PLAIN._replace(key=3, valid_until="2026-02-28", pays=True),
    )
    before = desk.everything()
    made = close(desk)
    assert (set(entries(desk)), made.lapsed) == ({1, 3}, 1)
    assert made.sentence.endswith("2 entries, 0 held, 1 qualification lapsed")
    lapsed = {
        row["subscription_id"]: row["lapsed_by"] for row in desk.table("qualified_subscriptions")
    }
    assert lapsed == {1: None, 2: made.mailing_list_id, 3: made.mailing_list_id}
    assert desk.subscription(2)["issues"] == 0
    assert desk.subscription(3)["issues"] == 1
    balances(desk)
    desk.to("2026-04-02")
    second = close(desk, 4, issues=3, since="2026-01-01")
    assert (second.entries, second.lapsed) == (1, 1)
    for issue in (4, 3):
        issues.reopen(desk.books, issue)
    after = desk.everything()
    for name in ("qualified_subscriptions", "qualifications", "subscriptions", "issues"):
        assert after[name] == before[name], name
    balances(desk)


def test_only_readers_whose_copies_end_are_counted_as_lapsed(press: Desk) -> None:
    """qualification, "Served": not those who cancelled, were merged, or go on by a term."""
    for reader in (1, 2, 3):
        qualify(press, reader, "2023-05-20", said(CHIEF))
    subscribers.merge(press.books, 1, 2)
    cancelling.cancel(press.books, 3, refund=False)
    press.to("2026-05-31")
    assert [close(press, issue).lapsed for issue in (5, 6)] == [0, 1]
    issues.reopen(press.books, 6)
    press.put("terms", **term(1, 1, 12, 5, copies=1, price=0, paid_on=None))
    press.refresh()
    assert close(press, 6).lapsed == 0


def test_a_gap_list_brings_who_qualified_in_time_within_the_quota(desk: Desk) -> None:
    """decisions, "Who gets the copies of a quota": it is of the issue, not of a list."""
    put_form(desk, a=3)
    put(desk, PLAIN, PLAIN._replace(key=2))
    assert close(desk).entries == 2
    late = PLAIN._replace(qualified_on="2026-02-20")
    put(desk, late._replace(key=3), late._replace(key=4), late._replace(key=5, audit_class=2))
    made = issues.make_gap_list(desk.books, 3)
    assert (made.entries, held(made)) == (2, {4: "over the quota of class A"})
    assert set(entries(desk)) == {1, 2, 3, 5}
    assert issues.make_gap_list(desk.books, 3).entries == 0
    assert made.held[0].reason == "it is over the quota of class A"


def test_the_qualification_of_the_date_counts_whatever_came_later(press: Desk) -> None:
    """decisions, "The qualification on the date of an issue": the list, its gap list, the report.

    Ada and Ben were chief executives on the date of the issue, and are something else when it is
    closed. Cora qualified first after its date.
    """
    for reader, day in ((1, "2026-03-02"), (2, "2026-03-02"), (3, "2026-05-02")):
        press.to("2026-05-05")
        qualify(press, reader, day, said(CHIEF))
    qualify(press, 1, "2026-05-02", said(ENGINEER, LARGE), "telephone")
    qualify(press, 2, "2026-05-02", said(STUDENT))
    preview = issues.preview(press.books, 5)
    made = issues.close(press.books, 5)
    assert tuple(preview) == (made.press_run, made.held, made.lapsed)
    assert entries(press) == {1: (1, "qualified", 0, 1), 2: (1, "qualified", 0, 2)}
    assert by_class(press) == [("chief", "web", 2)]
    assert issues.make_gap_list(press.books, 5).entries == 0
    before = entries(press)
    issues.reopen(press.books, 5)
    issues.close(press.books, 5)
    assert entries(press) == before
    # A late card of Cora is of a day before the issue: the gap list brings it, with that day.
    qualify(press, 3, "2026-04-30", said(CHIEF))
    assert issues.make_gap_list(press.books, 5).entries == 1
    assert entries(press)[3] == (1, "qualified", 0, 6)
    issues.close(press.books, 6)
    june = press.table("mailing_list_entries")[3:]
    assert {row["subscription_id"]: row["qualification_id"] for row in june} == {1: 4, 3: 3}


def test_the_class_of_the_date_follows_the_rules_of_now(press: Desk) -> None:
    """decisions, "Classes that change": also of a qualification that a newer one has followed."""
    press.to("2026-05-05")
    qualify(press, 1, "2026-03-02", said(CHIEF))
    leaders = GivenClass("leader", "Leaders", quota=1, conditions={"job": ["chief"]})
    qualification_forms.set_classes(press.books, 1, [leaders, CLASSES[-1]])
    for reader in (1, 2):
        qualify(press, reader, "2026-05-02", said(STUDENT))
    assert issues.close(press.books, 5).entries == 1
    assert by_class(press) == [("leader", "web", 1)]
    qualify(press, 2, "2026-03-02", said(CHIEF))
    held_now = issues.make_gap_list(press.books, 5).held
    assert [each.why for each in held_now] == ["over the quota of class Leaders"]


@st.composite
def free_readers(draw: st.DrawFn, first: int = 1) -> list[Free]:
    """Return a few readers, whose keys begin with ``first``."""
    days = st.sampled_from(["2026-01-10", "2026-02-20", DAY, "2026-03-02"])
    ends = st.sampled_from(["2026-02-28", DAY, "2028-12-31"])
    mostly = st.sampled_from([True, True, True, False])
    values: Any = st.tuples(
        *(st.integers(1, 2), days, ends, st.integers(1, 3), mostly, st.integers(1, 3)),
        *(st.sampled_from(["Print", "Digital", "Both"]), mostly, mostly),
        st.sampled_from([False, False, True]),
    )
    found = draw(st.lists(values, min_size=1, max_size=8))
    return [Free(first + number, *each) for number, each in enumerate(found)]


@examples(8, 200)
@given(
    free_readers(),
    free_readers(first=101),
    st.sampled_from(["newest", "class", "request"]),
    st.none() | st.integers(0, 5),
    st.none() | st.integers(0, 5),
)
def test_the_query_and_the_rule_serve_the_same_free_readers(
    shared: Desk,
    readers: list[Free],
    late: list[Free],
    fills: str,
    a: int | None,
    b: int | None,
) -> None:
    """qualification, "Served": main list and gap list, whatever the quotas; preview = close."""
    desk = shared
    fill(desk)
    put_form(desk, fills=fills, a=a, b=b)
    put(desk, *readers)
    quotas = {key: quota for key, quota in ((1, a), (2, b)) if quota is not None}
    before = desk.everything()
    gone = dict[int, int]()
    lists = [(readers, close(desk))]
    _check(lists[0], served_free(readers, DAY, quotas, fills, gone), entries(desk), gone)
    got = set(entries(desk))
    balances(desk)
    issues.reopen(desk.books, 3)
    after = desk.everything()
    for name in ("qualified_subscriptions", "mailing_list_entries", "subscription_issues"):
        assert after[name] == before[name], name
    assert close(desk).entries == lists[0][1].entries
    put(desk, *late)
    waiting = [each for each in readers if each.key not in got] + late
    expected = served_free(waiting, DAY, quotas, fills, gone)
    made = issues.make_gap_list(desk.books, 3)
    found = {key: row for key, row in entries(desk).items() if key not in got}
    _check((waiting, made), expected, found, gone)
    assert all(gone.get(key, 0) <= quota for key, quota in quotas.items())


def _check(
    listed: tuple[list[Free], MailingList],
    expected: dict[int, str],
    found: dict[int, tuple[Any, ...]],
    gone: dict[int, int],
) -> None:
    """Compare a list with the rule, and count its qualified copies by class into ``gone``."""
    readers, made = listed
    by_key = {each.key: each for each in readers}
    qualified = {key for key, row in found.items() if row[1] == "qualified"}
    assert qualified == {key for key, why in expected.items() if not why}
    unable = {k: w for k, w in held(made).items() if not by_key[k].pays}
    assert unable == {key: why for key, why in expected.items() if why}
    for key in qualified:
        assert found[key] == (by_key[key].copies, "qualified", 0, key)
        gone[by_key[key].audit_class] = gone.get(by_key[key].audit_class, 0) + by_key[key].copies
