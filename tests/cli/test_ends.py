"""Each command closes the database that it has opened, and leaves no thread.

Python 3.13 waits for such threads, 5 seconds for each of the four of a pool of PostgreSQL.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from masthead.cli import cli
from tests.cli.books_commands import REFUSED, books_commands, write_orders
from tests.cli.test_usage import COMMANDS
from tests.conftest import KINDS
from tests.loading.publisher import write_small
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers import Store

ON_FILES = {
    "backup": ("copy.db",),
    "restore": ("copy.db", "--replace"),
}
"""What is refused on PostgreSQL, which has tools of its own for that."""

ON_CITUS = {"database distribute"}
"""What is refused where there is no Citus."""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "accounts add": ("2",),
    "accounts list": (),
    "accounts show": ("1",),
    "accounts pages": ("1",),
    "accounts shop-key": ("1",),
    "accounts set": ("1", "--plan=Gold"),
    "accounts rotate-credentials": ("1",),
    "entitlements rotate": ("1", "--issuer=https://example.org"),
    "entitlements keys": ("1",),
    "entitlements stop": ("1",),
    "accounts rekey": ("--lost",),
    "accounts export": (),
    "import": ("in", "--account=1"),
    "export": ("out", "--account=1"),
    **books_commands("."),
    "erase": ("--account=1", "--subscriber=1", "--yes"),
    "subscriber-data": ("--account=1", "--subscriber=2"),
    "audit": (),
    "loads": (),
    "remove": ("publications", "2", "--account=1"),
    "accounts remove": ("2", "--yes"),
    "feed new-epoch": (),
    "operators add": ("ada", "--account=1", "--role=viewer", "--generate"),
    "operators list": (),
    "operators set": ("ada", "--account=1", "--role=clerk"),
    "operators remove": ("ada", "--account=1"),
    "partners add": ("Shop", "--account=1"),
    "partners list": ("--account=1",),
    "partners requests": ("--account=1", "--day=today"),
    "partners rotate": ("Shop", "--account=1"),
    "partners set": ("Shop", "--account=1", "--rate=5"),
    "partners remove": ("Shop", "--account=1"),
    "database distribute": (),
    "database migrate": (),
    "database status": (),
    **ON_FILES,
}
SERVING = {"serve", "demo", "console", "readers"}
"""What does not end by itself."""


def test_each_command_that_opens_a_database_is_tried() -> None:
    opening = {
        " ".join(words)
        for words, command in COMMANDS.items()
        if any(parameter.name == "database" for parameter in command.params)
    }
    assert opening == {*ARGUMENTS, *SERVING}


@ONLY_LONG
@pytest.mark.parametrize("store", KINDS, indirect=True)
def test_no_thread_lives_on_when_a_command_has_ended(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_small(tmp_path / "in")
    write_orders(tmp_path)
    database = store.new_database("ends")
    run("accounts", "add", "1", database=database)
    for name, arguments in ARGUMENTS.items():
        is_refused = name in ON_CITUS or (name in ON_FILES and store.kind == "postgresql")
        status = 2 if is_refused else int(name in REFUSED)
        before = threading.enumerate()
        assert run(*name.split(), *arguments, database=database) == status
        assert [thread for thread in threading.enumerate() if thread not in before] == [], name
    before = threading.enumerate()
    assert run("subscriber-data", "--account=1", "--subscriber=99", database=database) == 1
    assert [thread for thread in threading.enumerate() if thread not in before] == []


def run(*words: str, database: str) -> int:
    """Run a command in this process; return its exit status."""
    status = cli.main([*words, f"--database={database}"], standalone_mode=False)
    return int(status or 0)
