"""A frozen audit report never changes, whatever happens later (qualification, "What must hold")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    Books,
    audit_report,
    cancelling,
    erasure,
    issues,
    qualification_forms,
    subscribers,
)
from masthead.books.qualification_forms import Asked, FormValues, GivenClass
from masthead.cli import cli
from masthead.errors import MastheadError
from masthead.store import open_store
from tests.circulation.desk import ACTOR
from tests.cli.books_commands import books_commands, write_orders
from tests.loading.publisher import write_small
from tests.long import LONG_ON_SQLITE, ONLY_LONG
from tests.qualification.press import CHIEF, ENGINEER, LARGE, STUDENT, qualify, said

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from masthead.circulation.tables import Report
    from tests.circulation.desk import Desk
    from tests.servers import Store

MAY, JUNE = 5, 6


def _rename(desk: Desk) -> None:
    """Give fields, options and classes other names, as a load does."""
    with desk.connection.transaction():
        desk.connection.lock_account(1)
        for table, column in (
            ("custom_fields", "name"),
            ("custom_field_options", "value"),
            ("audit_classes", "code"),
            ("request_types", "code"),
            ("publications", "name"),
        ):
            desk.connection.change(f"UPDATE {table} SET {column} = {column} || ' (old)'")


LATER: dict[str, Callable[[Desk], object]] = {
    "a reader qualifies again": lambda desk: qualify(desk, 1, "2026-04-30", said(ENGINEER, LARGE)),
    "an older answer comes late": lambda desk: qualify(desk, 2, "2024-02-01", said(ENGINEER)),
    "a reader is disqualified": lambda desk: qualify(desk, 2, "2026-04-30", said(STUDENT)),
    "the classes change": lambda desk: qualification_forms.set_classes(
        desk.books,
        1,
        [
            GivenClass("one", "One", quota=1, conditions={"job": ["chief"]}),
            GivenClass("unclassified", "-"),
        ],
    ),
    "the form changes": lambda desk: qualification_forms.set_form(
        desk.books, 1, FormValues((Asked("job"),), months=6)
    ),
    "a reader cancels": lambda desk: cancelling.cancel(desk.books, 2, refund=False),
    "readers are merged": lambda desk: subscribers.merge(desk.books, 1, 2),
    "a gap list is made": lambda desk: issues.make_gap_list(desk.books, MAY),
    "the next issue is closed": lambda desk: issues.close(desk.books, JUNE),
    "the next issue is reopened": lambda desk: issues.reopen(desk.books, JUNE),
    "a reader is erased": lambda desk: erasure.erase(desk.books, 1, "earn"),
    "names change": _rename,
}


def test_a_frozen_report_stays(press: Desk, subtests: pytest.Subtests) -> None:
    """decisions, "When an audit report is frozen"."""
    for reader in (1, 2):
        qualify(press, reader, "2026-03-02", said(CHIEF))
    press.to("2026-04-30")
    issues.close(press.books, MAY)
    issues.mark_written(press.books, MAY)
    report = audit_report.of_issue(press.books, MAY)
    assert ("audit class", "chief", "web", "up to 1 year", 2, 2, 2, 0) in report.rows
    for what, happen in LATER.items():
        with subtests.test(what):
            before = press.everything()
            happen(press)
            assert what.startswith("a gap list") or press.everything() != before
            assert audit_report.of_issue(press.books, MAY).rows == report.rows
    with pytest.raises(MastheadError, match="stays closed"):
        issues.reopen(press.books, MAY)


def _run(*words: str, database: str) -> int:
    """Run a command in this process; return its exit status."""
    try:
        return int(cli.main([*words, f"--database={database}"], standalone_mode=False) or 0)
    except MastheadError:
        return 1


@ONLY_LONG
@LONG_ON_SQLITE
def test_no_command_changes_a_frozen_report(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """qualification, "What must hold": each command of the books is tried, also new ones.

    They are called twice: what was refused because another one came first may work then.
    """
    monkeypatch.chdir(tmp_path)
    write_small(tmp_path / "in")
    write_orders(tmp_path)
    database = store.new_database("reports-stay")
    commands = books_commands(".")
    assert _run("accounts", "add", "1", database=database) == 0
    assert _run("import", "in", "--account=1", database=database) == 0
    for name in (
        "books open",
        *(f"qualification {each}" for each in ("form", "classes", "import")),
    ):
        assert _run(*name.split(), *commands[name], database=database) == 0, name
    opened = open_store(database)
    books = Books(opened, 1, ACTOR)
    frozen: Report | None = None
    done = 0
    more = {
        "erase": ("--account=1", "--subscriber=1", "--yes", "--earn"),
        "remove": ("publications", "2", "--account=1"),
        "import": ("in", "--account=1"),
    }
    for name, arguments in [*commands.items(), *commands.items(), *more.items()]:
        done += _run(*name.split(), *arguments, database=database) == 0
        if name == "issue file" and frozen is None:
            frozen = audit_report.of_issue(books, 2)
            assert frozen.notes[0].startswith("frozen at")
        elif frozen is not None:
            assert audit_report.of_issue(books, 2).rows == frozen.rows, name
    assert frozen is not None
    assert done > len(commands)
    opened.close()
    store.drop_database(database)
