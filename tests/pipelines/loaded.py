"""What a pipeline of dlt has loaded, and processes that are killed while they load."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, NamedTuple

import dlt

from masthead.dlt import load, masthead
from masthead.mirror.tables import TABLES
from tests.pipelines.expected import check, columns_of, rows_of_a_mirror
from tests.postgres import unique

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.mirror.tables import Table
    from tests.mirror.kept import Row, Source

WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT

_PROCESSES = multiprocessing.get_context("forkserver")
# To import dlt takes longer than most of what a pipeline is killed in.
_PROCESSES.set_forkserver_preload([__name__])


class Keys(NamedTuple):
    """A service and the credentials, for another process."""

    url: str
    key: str
    login: str


class Loaded:
    """A pipeline, which need not have run yet."""

    def __init__(self, folder: Path, destination: str, address: str) -> None:
        self.folder = folder
        self.destination = destination
        self.address = address
        self.name = unique("loaded").replace("-", "_")

    @property
    def working(self) -> Path:
        """Where dlt keeps its state and its packages."""
        return self.folder / "working"

    def another(self) -> Loaded:
        """A pipeline that has not run, to the same database."""
        return Loaded(self.folder, self.destination, self.address)

    def pipeline(self) -> dlt.Pipeline:
        """The pipeline, as a new process has it."""
        kind: Any = getattr(dlt.destinations, self.destination)
        return dlt.pipeline(
            self.name,
            pipelines_dir=str(self.working),
            destination=kind(self.address),
            dataset_name=self.name,
        )

    def update(self, source: Source) -> None:
        """Finish what a run has left, and run."""
        load(self.pipeline(), masthead(source.url, source.key, source.login, patience_s=0))

    def rows(self, table: Table) -> list[Row]:
        """The rows of a table."""
        with self.pipeline().sql_client() as client:
            found = client.execute_sql(f"SELECT {columns_of(table)} FROM {table.name}") or []
        return [tuple(row) for row in found]

    def staged(self, table: str) -> int:
        """How many rows of a table were in the last package that had any."""
        with self.pipeline().sql_client() as client:
            found = client.execute_sql(f"SELECT count(*) FROM {self.name}_staging.{table}")
        return int(found[0][0]) if found else 0

    def everything(self) -> dict[str, list[Row]]:
        """The rows of all tables, in order; none of those that are not there."""
        tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = %s"
        with self.pipeline().sql_client() as client:
            there = {name for (name,) in client.execute_sql(tables, self.name) or []}
        return {
            table.name: sorted(self.rows(table), key=repr) if table.name in there else []
            for table in TABLES
        }

    def check(self, source: Source) -> None:
        """Fail unless it is what a mirror has."""
        check(source, self.folder, self.rows)

    def check_each_table(self, before: dict[str, list[Row]], source: Source) -> None:
        """Fail unless each table is as before, or as it is to be: never between."""
        after = rows_of_a_mirror(source, self.folder)
        for name, rows in self.everything().items():
            assert rows in (before[name], after[name]), (name, rows, before[name], after[name])

    def killed(self, source: Source, at: int | str) -> int:
        """Update it in a process that is killed before it changes a file; 0 lets it end.

        ``at`` is the number of the change, or a pattern that is found in ``from -> to``. Returns 0,
        or how many changes of files there were if it ended before: their number differs a little
        from run to run.
        """
        counted = self.folder / "changes"
        process = _PROCESSES.Process(
            target=_counting,
            args=(self, Keys(source.url, source.key, source.login), at, counted, {**os.environ}),
        )
        process.start()
        process.join()
        if process.exitcode == 0 and isinstance(at, int):
            return int(counted.read_text())
        assert process.exitcode == -signal.SIGKILL
        return 0


def _counting(
    loaded: Loaded, keys: Keys, at: int | str, counted: Path, environment: dict[str, str]
) -> None:
    os.environ.update(environment)
    number = 0
    lock = threading.Lock()
    working = str(loaded.working)

    def note(event: str, values: tuple[Any, ...]) -> None:
        nonlocal number
        if event not in {"open", "os.rename", "os.remove", "os.mkdir"} or not values:
            return
        if not str(values[0]).startswith(working) or (event == "open" and not _writes(values)):
            return
        change = " -> ".join(str(value) for value in values[:2])
        with lock:
            number += 1
            if number == at or (isinstance(at, str) and re.search(at, change)):
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(note)
    loaded.update(keys)
    counted.write_text(str(number))


def _writes(values: tuple[Any, ...]) -> bool:
    return isinstance(values[2], int) and bool(values[2] & WRITING)
