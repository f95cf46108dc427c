"""Distributed databases for the tests that are written for one server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tests.postgres import Databases, migrate, unique

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.citus.cluster import CitusCluster, CitusNode


class CitusDatabases(Databases):
    """The databases of a Citus cluster: each is on all nodes, and its tables are distributed.

    They are copies of one, which is a tenth of the work: all nodes copy it under the same name, and
    find each other's copies by that.
    """

    def __init__(self, cluster: CitusCluster) -> None:
        """Work on all nodes of a cluster."""
        super().__init__(cluster.url("postgres"))
        self._cluster = cluster

    def create(self, name: str) -> None:
        """Create an empty database on each node."""
        self._own.add(name)
        self._cluster.create(name)

    def copy_migrated(self, name: str) -> None:
        """Create a database with the tables of Masthead, distributed."""
        if self._migrated is None:
            self._migrated = unique("migrated")
            self.create(self._migrated)
            migrate(self.url(self._migrated), "distribute")
        self.copy(self._migrated, name)

    def copy(self, source: str, name: str, *, rights: bool = True) -> None:
        """Create a database that is the same as the source, whose sessions end for that."""
        self._own.add(name)
        self._on_each_node(lambda node: node.copy(source, name, rights=False))
        if rights:
            self.give_rights(name, of=source)

    def drop(self, name: str) -> None:
        """Drop a database on each node, and the role of its servers; sessions in it end."""
        self._own.discard(name)
        self._cluster.drop(name)

    def _on_each_node(self, act: Callable[[CitusNode], None]) -> None:
        with ThreadPoolExecutor() as each:
            list(each.map(act, self._cluster.nodes))
