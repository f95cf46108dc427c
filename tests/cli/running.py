"""Commands with an environment of their own, and servers that a test talks to while they end."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg

from tests.servers import COMMAND_SECONDS_MAX, STOP_SECONDS_MAX, environment

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.servers import Store

MASTHEAD = [sys.executable, "-m", "masthead"]


def run(
    *arguments: object, database: str, settings: Mapping[str, str] | None = None, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, with settings in its environment."""
    return subprocess.run(
        [*MASTHEAD, *map(str, arguments)],
        env={**environment(database), **(settings or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )


@contextmanager
def running(
    *arguments: object, database: str, settings: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    """Run a command that goes on until it is told to end."""
    with subprocess.Popen(
        [*MASTHEAD, *map(str, arguments)],
        env={**environment(database), **(settings or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
    ) as process:
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.communicate(timeout=STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                process.kill()
                raise


def lines_until(process: subprocess.Popen[str], wanted: str, count: int = 1) -> list[str]:
    """Read what a process prints until ``count`` lines hold ``wanted``; return all lines."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        count -= wanted in line
        if count == 0:
            return lines
    raise AssertionError("\n".join(["ended too early:", *lines]))


def holds_nothing(database: str) -> bool:
    """Return whether a new database is as it was: a file that is not there, or no table."""
    if database.startswith("sqlite:///"):
        return not Path(database.removeprefix("sqlite:///")).exists()
    with closing(psycopg.connect(database)) as connection:
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        return connection.execute(tables).fetchone() == (0,)


def spoil(store: Store, database: str) -> None:
    """Make a database useless while it is served: its files hold rubbish, or it is dropped."""
    if store.kind == "postgresql":
        store.drop_database(database)
        return
    path = Path(database.removeprefix("sqlite:///"))
    # The shared index last: whoever reads in between would mend it from what is still whole.
    for ending in ("", "-wal", "-shm"):
        file = Path(f"{path}{ending}")
        with file.open("r+b") as spoilt:
            spoilt.write(b"\xaa" * file.stat().st_size)
