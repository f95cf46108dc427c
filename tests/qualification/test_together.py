"""What readers of a free title do beside qualifying: they pay, pause, move, cancel, and return.

Who gets an issue is worked out from the rows that were added, not from what follows from them.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from masthead.books import audit_report, cancelling, issues, moving, subscriptions
from masthead.errors import MastheadError
from tests.circulation.test_closing import balances, close, term
from tests.long import examples
from tests.qualification.press import CHIEF, ENGINEER, STUDENT, fill, open_form, qualify, said
from tests.qualification.pumps import check_sums

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

DAYS = ("2023-04-20", "2023-05-20", "2026-03-02", "")
FIRST = 5
"""The first issue to close."""

_KEPT = ("qualified_subscriptions", "subscriptions", "terms", "mailing_list_entries", "issues")
_KEPT_TOO = ("subscription_issues", "audit_figures")

ACTS = st.one_of(
    st.tuples(
        st.just("qualify"),
        st.integers(1, 3),
        st.sampled_from(DAYS),
        st.sampled_from([CHIEF, CHIEF, ENGINEER, STUDENT]),
    ),
    st.tuples(st.just("pay"), st.integers(1, 3), st.integers(1, 2)),
    st.tuples(st.sampled_from(["pause", "resume", "move", "cancel"]), st.integers(1, 3)),
    st.tuples(st.sampled_from(["close", "close", "reopen", "gap", "file"])),
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

    def qualify(self, reader: int, day: str, option: int) -> None:
        qualify(self.desk, reader, day or self._today(), said(option))

    def _today(self) -> str:
        with self.desk.books.read() as reading:
            return reading.today

    def pay(self, reader: int, count: int) -> None:
        keys = [each["term_id"] for each in self.desk.table("terms")]
        key = self._newest(reader)
        self.desk.put("terms", **term(max(keys, default=0) + 1, key, count, count, copies=1))
        self.desk.refresh()

    def pause(self, reader: int) -> None:
        subscriptions.suspend(self.desk.books, self._newest(reader))

    def resume(self, reader: int) -> None:
        subscriptions.resume(self.desk.books, self._newest(reader))

    def move(self, reader: int) -> None:
        where: dict[str, str | None] = {"address": "9 Row", "city": "Hull"}
        moving.move(self.desk.books, reader, moving.Move(where, [self._newest(reader)]))

    def cancel(self, reader: int) -> None:
        cancelling.cancel(self.desk.books, self._newest(reader), refund=False)

    def close(self) -> None:
        """Close the next issue, reopen it, and close it again."""
        desk, issue = self.desk, self.latest + 1
        desk.to(f"2026-{issue - 1:02}-28")
        expected = self.expected(issue)
        before = {name: desk.table(name) for name in (*_KEPT, *_KEPT_TOO)}
        close(desk, issue)
        assert self.got(issue) == expected
        issues.reopen(desk.books, issue)
        assert {name: desk.table(name) for name in before} == before
        close(desk, issue)
        self.latest = issue
        assert self.got(issue) == expected

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

    def _newest(self, reader: int) -> int:
        return max(
            int(each["subscription_id"])
            for each in self.desk.table("subscriptions")
            if each["subscriber_id"] == reader
        )

    def got(self, issue: int) -> dict[int, str]:
        """Return the class of copies of each subscription on the lists of an issue."""
        lists = {
            row["mailing_list_id"]
            for row in self.desk.table("subscription_issues")
            if row["issue_id"] == issue
        }
        rows = [e for e in self.desk.table("mailing_list_entries") if e["mailing_list_id"] in lists]
        assert len({row["subscription_id"] for row in rows}) == len(rows), "it came twice"
        return {row["subscription_id"]: row["class"] for row in rows}

    def expected(self, issue: int) -> dict[int, str]:
        """Return who would get an issue now, and by which class of copies."""
        day = f"2026-{issue:02}-01"
        paused = {
            each["subscription_id"]
            for each in self.desk.table("suspensions")
            if each["from_date"] <= day <= (each["to_date"] or "9999")
        }
        found = {}
        for each in self.desk.table("subscriptions"):
            key = each["subscription_id"]
            if each["cancelled_on"] or key in paused or each["begins_on"] > day:
                continue
            newest = self.newest_of(key)
            if self.paid(key):
                found[key] = "paid"
            elif newest and newest["qualified_on"] <= day <= newest["valid_until"]:
                found[key] = "qualified"
        return found

    def paid(self, key: int) -> int:
        """Return the paid issues that a subscription has left."""
        terms = self.desk.table("terms")
        return sum(int(each["issues_left"]) for each in terms if each["subscription_id"] == key)

    def newest_of(self, key: int) -> dict[str, Any] | None:
        """Return the newest qualification of a subscription, if it is of the class ``chief``."""
        those = [e for e in self.desk.table("qualifications") if e["subscription_id"] == key]
        newest = max(those, key=lambda e: (e["qualified_on"], e["qualification_id"]), default=None)
        return newest if newest and f"{CHIEF}" in newest["answers"] else None

    def check(self) -> None:
        """Check the issues that are shown, the other balances, and that each report adds up."""
        closed = [f"2026-{issue:02}-01" for issue in range(3, self.latest + 1)]
        for each in self.desk.table("subscriptions"):
            newest = None if each["cancelled_on"] else self.newest_of(each["subscription_id"])
            is_valid = newest and not any(day > newest["valid_until"] for day in closed)
            assert each["issues"] == (-1 if is_valid else self.paid(each["subscription_id"]))
        balances(self.desk)
        for issue in range(FIRST, self.latest + 1):
            check_sums(audit_report.of_issue(self.desk.books, issue))


@examples(6, 150)
@given(st.lists(ACTS, min_size=6, max_size=12))
def test_who_qualifies_also_pays_pauses_moves_and_cancels(
    shared: Desk, acts: list[tuple[Any, ...]]
) -> None:
    """qualification, "Served": paid first, each issue once; reopening undoes a closing exactly."""
    title = Title(shared)
    for act in acts:
        title.do(*act)
