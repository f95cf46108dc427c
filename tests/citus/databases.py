"""Distributed databases for the tests that are written for one server."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import psycopg

from tests.citus import content
from tests.postgres import ROLES, SECONDS_MAX, Databases, migrate, unique

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.citus.cluster import CitusCluster, CitusNode

Result = TypeVar("Result")

SQL = Path(__file__).parents[2] / "src/masthead/store/sql"
RIGHTS = (SQL / "rights_postgresql.sql", SQL / "rights_of_readers.sql")
"""What gives a database its roles."""

FREE_MAX = 3
"""How many databases of each source wait for their next use: each takes 100 MB of memory."""


class _Copy(NamedTuple):
    """Of what a database is a copy, and its schema when it was made (``content.schema_of``)."""

    source: str
    schema: str


class CitusDatabases(Databases):
    """The databases of a Citus cluster: each is on all nodes, and its tables are distributed.

    They are copies of one, which is a tenth of the work: all nodes copy it under the same name, and
    find each other's copies by that. A copy still takes two seconds of a processor, mostly for the
    rights in each shard. So a test that drops one leaves it to the next test: it then gets the rows
    of its source again, on each node, unless its schema was changed.
    """

    def __init__(self, cluster: CitusCluster) -> None:
        """Work on all nodes of a cluster."""
        super().__init__(cluster.url("postgres"))
        self._cluster = cluster
        self._copies: dict[str, _Copy] = {}
        self._free: dict[str, list[str]] = defaultdict(list)

    def create(self, name: str) -> None:
        """Create an empty database on each node."""
        self._own.add(name)
        self._cluster.create(name)

    def copy_migrated(self, name: str) -> None:
        """Create a database with the tables of Masthead, distributed."""
        self.copy(self._of_masthead(), name)

    def new_migrated(self, name: str) -> str:
        """Return a database with the tables of Masthead, distributed."""
        return self.new_copy(self._of_masthead(), name)

    def new_copy(self, source: str, name: str) -> str:
        """Return a database that is the same as the source: of that name, or one used before."""
        if self._free[source]:
            used = self._free[source].pop()
            try:
                self._write_over(used, source)
            except (psycopg.Error, content.NotCleanError):
                self._drop(used)
            else:
                return used
        self.copy(source, name)
        self._copies[name] = _Copy(source, self._schema_of(name))
        return name

    def copy(self, source: str, name: str, *, rights: bool = True) -> None:
        """Create a database that is the same as the source, whose sessions end for that."""
        self._own.add(name)
        self._on_each_node(lambda node: node.copy(source, name, rights=False))
        if rights:
            self.give_rights(name, of=source)

    def give_rights(self, name: str, *, of: str) -> None:
        """Grant the rights again, as `masthead database migrate` does, in each shard too."""
        with psycopg.connect(self.url(name), autocommit=True) as connection:
            for file in RIGHTS:
                connection.execute(file.read_bytes())
            for role in ROLES:
                self._execute(connection, "DROP OWNED BY {}", f"{of}_{role}")

    def drop(self, name: str) -> None:
        """Drop a database, or keep it for the next use of its source; its sessions end."""
        for copy in self._free.pop(name, ()):
            self._drop(copy)
        made = self._copies.get(name)
        if made and len(self._free[made.source]) < FREE_MAX and made.source in self._own:
            self._end_sessions(name)
            if self._schema_of(name) == made.schema:
                self._free[made.source].append(name)
                return
        self._drop(name)

    def close(self) -> None:
        """Drop every database that was made here."""
        self._copies.clear()
        super().close()

    def _of_masthead(self) -> str:
        if self._migrated is None:
            self._migrated = unique("migrated")
            self.create(self._migrated)
            migrate(self.url(self._migrated), "distribute")
        return self._migrated

    def _drop(self, name: str) -> None:
        self._own.discard(name)
        self._copies.pop(name, None)
        self._cluster.drop(name)

    def _write_over(self, name: str, source: str) -> None:
        """Let a copy of the source have its rows again."""

        def write(node: CitusNode) -> None:
            content.write(node, name, content.read(node, source))

        self._on_each_node(write)

    def _schema_of(self, name: str) -> str:
        return content.schema_of(self._cluster.coordinator, name)

    def _end_sessions(self, name: str) -> None:
        self._cluster.coordinator.ask(
            "postgres",
            "SELECT count(pg_terminate_backend(pid, %s)) FROM pg_stat_activity "
            "WHERE datname = %s AND backend_type = 'client backend'",
            SECONDS_MAX * 1000,
            name,
        )

    def _on_each_node(self, act: Callable[[CitusNode], Result]) -> list[Result]:
        with ThreadPoolExecutor() as each:
            return list(each.map(act, self._cluster.nodes))
