"""What readers of a free title do beside qualifying: they pay, pause, move, cancel, and return.

Who gets an issue is worked out from the rows that were added, not from what follows from them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.books import audit_report, cancelling, issues, moving, subscriptions
from masthead.errors import MastheadError
from tests.circulation.test_closing import balances, term
from tests.long import LONG_ON_SQLITE, examples
from tests.qualification.faults import FAULTS_TOGETHER
from tests.qualification.press import (
    CHIEF,
    ENGINEER,
    LARGE,
    STUDENT,
    fill,
    open_form,
    qualify,
    said,
)
from tests.qualification.pumps import check_sums

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.circulation.faults import Plant

Act = tuple[Any, ...]
DAYS = ("2023-04-20", "2023-05-20", "2026-03-02", "")
"""Days of answers; the last one is today."""

FIRST = 5
"""The first issue to close."""

GRACE = issues.Grace(2, "2026-01-01")
_KEPT = ("qualified_subscriptions", "subscriptions", "terms", "mailing_list_entries", "issues")
_KEPT_TOO = ("subscription_issues", "audit_figures")

_READERS, _WHICH = st.integers(1, 3), st.integers(0, 1)
ACTS = st.one_of(
    st.tuples(
        st.just("qualify"),
        _READERS,
        st.sampled_from(DAYS),
        st.sampled_from([(CHIEF,), (CHIEF,), (ENGINEER, LARGE), (ENGINEER,), (STUDENT,)]),
        st.sampled_from([None, None, None, "Digital"]),
    ),
    st.tuples(st.just("pay"), _READERS, _WHICH, st.integers(1, 2)),
    st.tuples(
        st.sampled_from(["pause", "resume", "move", "cancel", "cancel_at_end"]), _READERS, _WHICH
    ),
    st.tuples(st.sampled_from(["close", "close_with_grace", "wait", "reopen", "gap", "file"])),
    st.tuples(st.sampled_from(["close", "close_with_grace"])),
)


def _open(desk: Desk) -> None:
    fill(desk)
    open_form(desk)
    for reader, day in enumerate(DAYS[:3], 1):
        qualify(desk, reader, day, said(CHIEF))


class Title:
    """The title, and what is done to it."""

    def __init__(self, desk: Desk) -> None:
        desk.fill(_open)
        self.desk = desk
        self.latest = FIRST - 1

    def do(self, what: str, *given_: Any) -> None:
        """Do one thing, which may be refused, and check what follows from it."""
        with suppress(MastheadError):
            getattr(self, what)(*given_)
        self.check()

    def qualify(self, reader: int, day: str, options: tuple[int, ...], type_: str | None) -> None:
        qualify(self.desk, reader, day or self._today(), said(*options), type=type_)

    def _today(self) -> str:
        with self.desk.books.read() as reading:
            return reading.today

    def wait(self) -> None:
        """Let the date of the next issue pass."""
        self.desk.to(f"2026-{self.latest + 1:02}-10")

    def pay(self, reader: int, which: int, count: int) -> None:
        keys = [each["term_id"] for each in self.desk.table("terms")]
        key = self._of(reader, which)
        self.desk.put("terms", **term(max(keys, default=0) + 1, key, count, count, copies=1))
        self.desk.refresh()

    def pause(self, reader: int, which: int) -> None:
        subscriptions.suspend(self.desk.books, self._of(reader, which))

    def resume(self, reader: int, which: int) -> None:
        subscriptions.resume(self.desk.books, self._of(reader, which))

    def move(self, reader: int, which: int) -> None:
        where: dict[str, str | None] = {"address": "9 Row", "city": "Hull"}
        moving.move(self.desk.books, reader, moving.Move(where, [self._of(reader, which)]))

    def cancel(self, reader: int, which: int) -> None:
        cancelling.cancel(self.desk.books, self._of(reader, which), refund=False)

    def cancel_at_end(self, reader: int, which: int) -> None:
        cancelling.cancel(self.desk.books, self._of(reader, which), refund=False, at_end=True)

    def to_end(self) -> set[int]:
        """Return the subscriptions that end when what was paid is used up."""
        rows = self.desk.table("cancellations")
        return {e["subscription_id"] for e in rows if e["at_end"] and not e["ended_on"]}

    def close(self, grace: issues.Grace | None = None) -> None:
        """Close the next issue, reopen it, and close it again."""
        desk, issue = self.desk, self.latest + 1
        desk.to(max(self._today(), f"2026-{issue - 1:02}-28"))
        expected = self.expected(issue, 0 if grace is None else grace.issues)
        before = {name: desk.table(name) for name in (*_KEPT, *_KEPT_TOO)}
        preview = issues.preview(desk.books, issue, grace)
        made = issues.close(desk.books, issue, grace)
        assert tuple(preview) == (made.press_run, made.held, made.lapsed)
        assert self.got(issue) == expected
        issues.reopen(desk.books, issue)
        assert {name: desk.table(name) for name in before} == before
        issues.close(desk.books, issue, grace)
        self.latest = issue
        assert self.got(issue) == expected

    def close_with_grace(self) -> None:
        self.close(GRACE)

    def reopen(self) -> None:
        if self.latest >= FIRST:
            issues.reopen(self.desk.books, self.latest)
            self.latest -= 1

    def gap(self) -> None:
        before = self.got(self.latest)
        more = {k: v for k, v in self.expected(self.latest).items() if k not in before}
        issues.make_gap_list(self.desk.books, self.latest)
        assert self.got(self.latest) == before | more

    def file(self) -> None:
        issues.mark_written(self.desk.books, self.latest)

    def _of(self, reader: int, which: int) -> int:
        """Return a subscription of a reader: the newest, or the one before."""
        keys = sorted(
            int(each["subscription_id"])
            for each in self.desk.table("subscriptions")
            if each["subscriber_id"] == reader
        )
        return keys[-1 - min(which, len(keys) - 1)]

    def got(self, issue: int) -> dict[int, tuple[str, int | None]]:
        """Return the class of copies and the qualification of each entry of an issue's lists."""
        lists = {
            row["mailing_list_id"]
            for row in self.desk.table("subscription_issues")
            if row["issue_id"] == issue
        }
        rows = [e for e in self.desk.table("mailing_list_entries") if e["mailing_list_id"] in lists]
        assert len({row["subscription_id"] for row in rows}) == len(rows), "it came twice"
        return {row["subscription_id"]: (row["class"], row["qualification_id"]) for row in rows}

    def expected(self, issue: int, grace: int = 0) -> dict[int, tuple[str, int | None]]:
        """Return who would get an issue now, by which class of copies, and what qualifies."""
        day = f"2026-{issue:02}-01"
        paused = {
            each["subscription_id"]
            for each in self.desk.table("suspensions")
            if each["from_date"] <= day <= (each["to_date"] or "9999")
        }
        found: dict[int, tuple[str, int | None]] = {}
        for each in self.desk.table("subscriptions"):
            key = each["subscription_id"]
            if each["cancelled_on"] or key in paused or each["begins_on"] > day:
                continue
            newest = self.newest_of(key, day)
            if self.paid(key):
                found[key] = "paid", None
            elif newest and day <= newest["valid_until"] and key not in self.to_end():
                found[key] = "qualified", newest["qualification_id"]
            elif each["issues"] == 0 and self.grace_since(key, issue) < grace:
                found[key] = "grace", None
        return found

    def grace_since(self, key: int, issue: int) -> int:
        """Return the number of grace issues since the last paid one; many if it was not paid."""
        came = [self.got(n).get(key, ("", None))[0] for n in range(FIRST, issue)]
        regular = [n for n, kind in enumerate(came) if kind in {"paid", "qualified"}]
        if not regular or came[regular[-1]] != "paid":
            return 99
        return came[regular[-1] :].count("grace")

    def paid(self, key: int) -> int:
        """Return the paid issues that a subscription has left."""
        terms = self.desk.table("terms")
        return sum(int(each["issues_left"]) for each in terms if each["subscription_id"] == key)

    def newest_of(self, key: int, day: str = "9999") -> dict[str, Any] | None:
        """Return the newest qualification until a day, if it is of a class that is served."""
        those = [
            each
            for each in self.desk.table("qualifications")
            if each["subscription_id"] == key and each["qualified_on"] <= day
        ]
        newest = max(those, key=lambda e: (e["qualified_on"], e["qualification_id"]), default=None)
        return newest if newest and self._is_served(newest["answers"]) else None

    @staticmethod
    def _is_served(answers: str) -> bool:
        return f"[{CHIEF}]" in answers or (f"[{ENGINEER}]" in answers and f"[{LARGE}]" in answers)

    def check(self) -> None:
        """Check the issues that are shown, the other balances, and that each report adds up."""
        closed = [f"2026-{issue:02}-01" for issue in range(3, self.latest + 1)]
        to_end = self.to_end()
        for each in self.desk.table("subscriptions"):
            is_out = each["cancelled_on"] or each["subscription_id"] in to_end
            newest = None if is_out else self.newest_of(each["subscription_id"])
            is_valid = newest and not any(day > newest["valid_until"] for day in closed)
            assert each["issues"] == (-1 if is_valid else self.paid(each["subscription_id"]))
        balances(self.desk)
        for issue in range(FIRST, self.latest + 1):
            check_sums(audit_report.of_issue(self.desk.books, issue))


def play(desk: Desk, acts: list[Act]) -> None:
    """Do some things one after the other, and check each."""
    title = Title(desk)
    for act in acts:
        title.do(*act)


@examples(6, 150)
@given(st.lists(ACTS, min_size=6, max_size=12))
def test_who_qualifies_also_pays_pauses_moves_and_cancels(shared: Desk, acts: list[Act]) -> None:
    """qualification, "Served": paid first, each issue once; reopening undoes a closing exactly.

    decisions, "The qualification on the date of an issue".
    """
    play(shared, acts)


@LONG_ON_SQLITE
@pytest.mark.parametrize(
    ("plant", "acts"), [pytest.param(*fault, id=name) for name, fault in FAULTS_TOGETHER.items()]
)
def test_the_machine_finds_each_planted_mistake(
    shared: Desk, plant: Plant, acts: list[Act], monkeypatch: pytest.MonkeyPatch
) -> None:
    """qualification, "What must hold": without the mistake, the same acts go well."""
    play(shared, acts)
    with monkeypatch.context() as patch:
        times = plant(patch)
        with pytest.raises(AssertionError):
            play(shared, acts)
        assert times() > 0
