"""A free title costs the same number of statements, however many readers it has.

A benchmark over little data does not show a statement for each reader; counting does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import audit_report, issues, qualification_files
from masthead.books.qualification_files import AnswerCell, FileRow
from masthead.circulation.ordering import Person
from masthead.store.books.closing import deliver
from masthead.store.books.issue import find_issue
from masthead.store.books.served_subscriptions import Grace, Serving
from tests.circulation.statements import counting
from tests.qualification.press import CHIEF, fill, open_form, qualify, said

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.circulation.desk import Desk

FEW, MANY = 3, 40
ISSUE = 5
_JOINED = ("SEARCH q ", "SEARCH s ")


def _rows(count: int) -> list[FileRow]:
    """Return rows of a file: of each reader, and of as many new ones."""
    known = [Person(n) for n in range(1, count + 1)]
    new = [Person(None, f"new{n}@example.org", last_name=f"New {n}") for n in range(count)]
    return [
        FileRow(
            line,
            who,
            "2026-04-02",
            "web",
            [AnswerCell("job", "chief", ["chief"])],
            None,
            {},
            None,
            None,
        )
        for line, who in enumerate([*known, *new], 2)
    ]


OPERATIONS: dict[str, tuple[Callable[[Desk, int], object], int]] = {
    "importing a file": (
        lambda desk, count: qualification_files.import_rows(
            desk.books, 1, _rows(count), described_max=1
        ),
        110,
    ),
    "the preview": (lambda desk, _: issues.preview(desk.books, ISSUE), 45),
    "closing": (lambda desk, _: issues.close(desk.books, ISSUE), 130),
    "the audit report": (lambda desk, _: audit_report.of_issue(desk.books, ISSUE), 45),
    "the sample": (lambda desk, _: audit_report.sample(desk.books, ISSUE, 2, 1), 35),
    "the file, which freezes the report": (
        lambda desk, _: issues.mark_written(desk.books, ISSUE),
        75,
    ),
    "reopening another one": (lambda desk, _: _close_and_reopen(desk), 260),
}
"""What is done one after the other, and the most statements that it sends."""


def _close_and_reopen(desk: Desk) -> None:
    issues.close(desk.books, ISSUE + 1)
    issues.reopen(desk.books, ISSUE + 1)


def _title_of(desk: Desk, count: int) -> None:
    """Let a title have so many qualified readers."""
    fill(desk)
    more = range(4, count + 1)
    desk.put_many("subscribers", [{"subscriber_id": n, "last_name": f"Reader {n}"} for n in more])
    places: list[dict[str, int | str | None]] = [
        {"address_id": n, "subscriber_id": n, "address": f"{n} Oak"} for n in more
    ]
    desk.put_many("addresses", places)
    open_form(desk)
    for reader in range(1, count + 1):
        qualify(desk, reader, "2026-03-02", said(CHIEF))


def test_no_operation_sends_a_statement_for_each_reader(shared: Desk) -> None:
    """qualification, "What must hold": also that of many."""
    found: dict[str, list[int]] = {name: [] for name in OPERATIONS}
    for count in (FEW, MANY):
        _title_of(shared, count)
        for name, (run, _) in OPERATIONS.items():
            with counting() as counts:
                run(shared, count)
            found[name].append(counts.sent)
    grew = {name: sent for name, sent in found.items() if sent[0] != sent[1]}
    assert grew == {}
    most = {name: most for name, (_, most) in OPERATIONS.items()}
    assert {name: sent for name, sent in found.items() if sent[0] > most[name]} == {}


def _plan(desk: Desk, explain: str) -> list[str]:
    """Return the lines of the plan of who is held, in the transaction that closes an issue."""
    _title_of(desk, FEW)
    with desk.books.change(dry_run=True) as change:
        issue = find_issue(change, ISSUE)
        serving = Serving(change, issue, Grace())
        assert deliver(change, issue, Grace()).entries == FEW
        copies = serving._qualified
        who = copies._qualified(copies._not_delivered())
        plan = change.rows(f"{explain} SELECT c.* FROM {who} AS c", **serving._values)
    return [str(line[-1]) for line in plan]


@pytest.mark.parametrize("store", ["postgresql"], indirect=True, scope="session")
def test_who_is_held_is_found_by_one_pass_over_the_new_list(shared: Desk) -> None:
    """decisions, "Who gets the copies of a quota": also before there are statistics of the list.

    A nested loop over the entries took hours at 1,000,000 readers.
    """
    lines = _plan(shared, "EXPLAIN")
    assert any("hashed SubPlan" in line for line in lines), lines


@pytest.mark.parametrize("store", ["sqlite"], indirect=True, scope="session")
def test_sqlite_reads_both_tables_of_the_qualified_by_their_keys(shared: Desk) -> None:
    """decisions, "Who gets the copies of a quota": in the order in which the rows are stored.

    By an index of another order, each reader is a read from another place of the file.
    """
    joined = [line for line in _plan(shared, "EXPLAIN QUERY PLAN") if line[:9] in _JOINED]
    assert len(joined) == len(_JOINED), joined
    assert all("USING PRIMARY KEY" in line for line in joined), joined
