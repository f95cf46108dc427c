"""Killed at any statement, an operation of a free title happened or it did not."""

from __future__ import annotations

from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from masthead.books import audit_report, issues
from masthead.errors import BadInput
from tests.circulation.dying import Dying
from tests.circulation.following import Follower
from tests.circulation.statements import counting
from tests.circulation.test_closing import balances
from tests.long import MORE_WITH_EVERY, ONLY_LONG
from tests.qualification.dying import ISSUE, OPERATIONS, run
from tests.qualification.press import CHIEF, fill, open_form, qualify, said
from tests.qualification.pumps import check_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.circulation.desk import Desk

_SECONDS = 1_000_000
AFTER_THE_LAST = 40
"""More statements than an operation sends after those of its dry run."""


@pytest.fixture(scope="module")
def dying() -> Iterator[Dying]:
    with Dying("tests.qualification.dying") as running:
        yield running


def _open(desk: Desk) -> None:
    """Fill the account; of two qualifications, one ends before the issue."""
    fill(desk)
    open_form(desk)
    qualify(desk, 1, "2026-03-02", said(CHIEF))
    qualify(desk, 2, "2023-04-20", said(CHIEF))
    desk.to("2026-04-30")


def _closed(desk: Desk) -> None:
    """Fill the account, and close the issue."""
    _open(desk)
    issues.close(desk.books, ISSUE)


BEGINNINGS = {"import_file": _open, "close": _open, "write_file": _closed}


def _check(desk: Desk, operation: str) -> None:
    """Check that the operation happened as a whole, and what follows from it."""
    balances(desk)
    if operation == "import_file":
        assert len(desk.table("qualifications")) == 5
        assert len(desk.table("qualified_subscriptions")) == 4
        assert [each["issues"] for each in desk.table("subscriptions")] == [-1, -1, -1, 0]
        return
    report = audit_report.of_issue(desk.books, ISSUE)
    check_sums(report)
    assert report.rows[0][5] == 1
    assert report.notes[0].startswith("frozen" if operation == "write_file" else "not frozen yet")


def _again(desk: Desk, operation: str) -> None:
    """Do what happened once more: nothing changes, or it is refused."""
    before = desk.everything()
    if operation == "close":
        with pytest.raises(BadInput, match="is closed already"):
            issues.close(desk.books, ISSUE)
    elif operation == "import_file":
        assert OPERATIONS[operation](desk.books) == 0
    else:
        OPERATIONS[operation](desk.books)
    assert desk.everything() == before


def _kill(desk: Desk, dying: Dying, operation: str, points: Sequence[int]) -> None:
    """Kill the operation before the statements, then before the last ones until it happened."""
    desk.fill(BEGINNINGS[operation])
    follower = Follower(1)
    follower.poll(desk.store)
    before = desk.everything()
    with counting() as counts:
        run(desk.url, desk.now, operation, dry_run=True)
    last = counts.sent
    spread = sorted({1 + (last - 1) * each // points[-1] for each in points})
    for at in [*spread, *range(last + 1, last + AFTER_THE_LAST)]:
        desk.now += _SECONDS
        status = dying.do(desk.url, desk.now, operation, at)
        assert status == -SIGKILL or at > last
        desk.now += _SECONDS
        follower.poll(desk.store)
        if desk.everything() != before:
            break
        assert status == -SIGKILL, "it ended, and did not happen"
    assert at > last // 2, "it happened before most of its statements"
    _check(desk, operation)
    _again(desk, operation)
    follower.poll(desk.store)
    # What was killed before it happened is done by the next try.
    desk.fill(BEGINNINGS[operation])
    assert dying.do(desk.url, desk.now + _SECONDS, operation, max(2, last // 2)) == -SIGKILL
    desk.now += 2 * _SECONDS
    OPERATIONS[operation](desk.books)
    _check(desk, operation)
    Follower(1).poll(desk.store)


@pytest.mark.parametrize("operation", OPERATIONS)
def test_what_is_killed_happened_as_a_whole_or_not_at_all(
    shared: Desk, dying: Dying, operation: str
) -> None:
    """qualification, "What must hold": a second try does it, and nothing is done twice."""
    _kill(shared, dying, operation, [1, 2])


@ONLY_LONG
@MORE_WITH_EVERY
@pytest.mark.parametrize("operation", OPERATIONS)
def test_it_is_so_at_many_statements(
    shared: Desk, dying: Dying, operation: str, request: pytest.FixtureRequest
) -> None:
    """qualification, "What must hold"."""
    _kill(shared, dying, operation, range(1, 100 if request.config.option.every else 16))
