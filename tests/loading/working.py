"""Counts the database work of a load, to measure its growth without a clock."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import apsw
import pytest

from masthead.store.postgresql_connection import PostgresStoreConnection

if TYPE_CHECKING:
    from collections.abc import Iterator

_EXPLAIN = "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)"


class Work:
    """``steps`` of SQLite's machine, or rows and pages that PostgreSQL's plans passed."""

    def __init__(self) -> None:
        self.steps = 0

    def _count_profile(self, ran: dict[str, Any]) -> None:
        self.steps += ran["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]

    def _count_plan(self, node: dict[str, Any]) -> None:
        self.steps += sum(count for name, count in node.items() if name.endswith("Blocks"))
        self._count_rows(node)

    def _count_rows(self, node: dict[str, Any]) -> None:
        removed = [count for name, count in node.items() if name.startswith("Rows Removed by")]
        self.steps += int((node["Actual Rows"] + sum(removed)) * node["Actual Loops"])
        for below in node.get("Plans", ()):
            self._count_rows(below)


@contextmanager
def counting() -> Iterator[Work]:
    """Count the work of the connections that are opened in the block.

    PostgreSQL is asked what it did: a statement that writes is run by the question itself.
    """
    work = Work()
    rows = PostgresStoreConnection.rows

    def explained(
        database: PostgresStoreConnection, sql: str, values: dict[str, Any]
    ) -> dict[str, Any]:
        ((((found,),),),) = [rows(database, f"{_EXPLAIN} {sql}", **values)]
        plan: dict[str, Any] = found["Plan"]
        work._count_plan(plan)
        return plan

    def counted_rows(database: PostgresStoreConnection, sql: str, /, **values: Any) -> list[Any]:
        if sql.split(maxsplit=1)[0] == "SELECT":
            explained(database, sql, values)
        return rows(database, sql, **values)

    def counted_change(database: PostgresStoreConnection, sql: str, /, **values: Any) -> int:
        plans = explained(database, sql, values)["Plans"]
        (source,) = (plan for plan in plans if plan["Parent Relationship"] == "Outer")
        return int(source["Actual Rows"] * source["Actual Loops"])

    def open_(connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, work._count_profile)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PostgresStoreConnection, "rows", counted_rows)
        patch.setattr(PostgresStoreConnection, "change", counted_change)
        patch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, open_])
        yield work
