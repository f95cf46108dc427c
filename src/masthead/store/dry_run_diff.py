"""What a load would insert, change and remove, for the operator to review.

Staged rows are compared with stored rows before they are merged.
"""

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from masthead.contract.passwords import FILE_COLUMNS
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.store.database import Value
from masthead.store.merging import TableMerge
from masthead.store.removing import Removal
from masthead.store.staging import NUMBERS_PER_FILE, Staging

HIDDEN = "…"
"""The placeholder for the value of a secret column."""

_NO_COMMIT = 0


class Shown(NamedTuple):
    """A row that a load inserts, changes or removes: its key and its changing columns.

    ``old`` has the stored values of these columns, ``new`` their new values. ``old`` is empty for
    an inserted row, and both are empty for a removed row. ``place`` is the file and line that the
    row comes from, such as ``subscribers.csv:7``; "" for a removed row.
    """

    what: Literal["inserted", "changed", "removed"]
    table: str
    key: dict[str, Value]
    old: dict[str, Value]
    new: dict[str, Value]
    place: str = ""


def rows(
    staging: Staging, labels: Sequence[str], limit: int, removal: Removal | None = None
) -> list[Shown]:
    """Return at most ``limit`` new, changed and removed rows of each table, by their keys.

    ``labels`` are the names of the load's files. Runs before the merge, in its transaction. The
    values of secret columns are :data:`HIDDEN`.
    """
    found: list[Shown] = []
    for table in TABLES_BY_NAME.values():
        if table.name in staging.tables:
            merge = TableMerge(staging, table, _NO_COMMIT)
            names = [column.name for column in table.columns if column.name in merge.columns]
            if names:  # otherwise the file has no rows
                found += _new(staging, labels, merge, names, limit)
                found += _changed(staging, labels, merge, names, limit)
        for key in removal.first_keys(table, limit) if removal else []:
            values: dict[str, Value] = dict(zip(table.key, key, strict=True))
            found.append(Shown("removed", table.name, values, {}, {}))
    return found


def _new(
    staging: Staging, labels: Sequence[str], merge: TableMerge, names: list[str], limit: int
) -> Iterator[Shown]:
    table = merge.table
    for file, line, *row in staging.rows(
        f"""
        SELECT s.file, s.line, {", ".join(map(merge.first_value, names))} FROM {merge.staged} AS s
        WHERE NOT EXISTS (
            SELECT 1 FROM {table.name} AS o
            WHERE o.account_id = :account_id AND {merge.same_key})
        ORDER BY {_order(table)} LIMIT {limit:d}
        """
    ):
        values = dict(zip(names, row, strict=True))
        key = {name: values.pop(name) for name in table.key}
        new = {name: _shown(name, value) for name, value in values.items() if value is not None}
        yield Shown("inserted", table.name, key, {}, new, _place(labels, file, line))


def _changed(
    staging: Staging, labels: Sequence[str], merge: TableMerge, names: list[str], limit: int
) -> Iterator[Shown]:
    table = merge.table
    others = [name for name in names if name not in table.key]
    columns = [f"s.{name}" for name in table.key]
    columns += [f'o."{name}"' for name in others] + [merge.new_value(name) for name in others]
    # CROSS JOIN makes SQLite read the staged rows and look up the stored ones.
    for file, line, *row in staging.rows(
        f"""
        SELECT s.file, s.line, {", ".join(columns)}
        FROM {merge.staged} AS s CROSS JOIN {table.name} AS o
        WHERE o.account_id = :account_id AND {merge.same_key} AND ({merge.differ(others)})
        ORDER BY {_order(table)} LIMIT {limit:d}
        """
    ):
        key = dict(zip(table.key, row, strict=False))
        values = row[len(table.key) :]
        pairs = zip(others, values[: len(others)], values[len(others) :], strict=True)
        differing = [(name, old, new) for name, old, new in pairs if old != new]
        yield Shown(
            "changed",
            table.name,
            key,
            {name: _shown(name, old) for name, old, _ in differing},
            {name: _shown(name, new) for name, _, new in differing},
            _place(labels, file, line),
        )


def _place(labels: Sequence[str], file: int, line: int) -> str:
    return f"{labels[file // NUMBERS_PER_FILE]}:{line}"


def _order(table: Table) -> str:
    return ", ".join(f"s.{name}" for name in table.key)


def _shown(name: str, value: Value) -> Value:
    return HIDDEN if name in FILE_COLUMNS and value is not None else value
