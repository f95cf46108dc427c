"""Staged rows: the rows of a load in temporary tables, and the problems found in them.

Temporary tables need little memory, are invisible to other connections and disappear with the
process. Single values are checked before they are staged. ``checking`` then finds problems between
rows, and ``merging`` writes the rows to the account's tables.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import and_, or_
from typing import Any, NamedTuple

from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.store.database import Connection, Dialect, Value

__all__ = [
    "DERIVED",
    "Problem",
    "Staging",
    "column_names",
    "has_column",
    "mask_of",
    "option_ids_of",
]

_FOLD: Callable[[Any], str | None] = lambda text: text and text.casefold()  # noqa: E731
DERIVED: dict[str, dict[str, tuple[str, Callable[[Any], Value]]]] = {
    "subscribers": {
        "first_name_folded": ("first_name", _FOLD),
        "last_name_folded": ("last_name", _FOLD),
    }
}
"""The columns of a table that are computed from another column."""

_TYPES: dict[Dialect, dict[str, str]] = {
    "sqlite": {"INTEGER": "INTEGER", "TEXT": "TEXT", "NUMBERED": "INTEGER PRIMARY KEY"},
    "postgresql": {
        "INTEGER": "BIGINT",
        "TEXT": 'TEXT COLLATE "C"',
        "NUMBERED": "BIGINT GENERATED ALWAYS AS IDENTITY",
    },
}
"""The types of columns in staging tables: the contract's two, and a serial number."""


class Problem(NamedTuple):
    """A problem of a row: the number of its file, its line, the column, and a message."""

    file: int
    line: int
    column: str
    sentence: str


def mask_of(table: Table, columns: Iterable[str]) -> int:
    """Return the mask of a row that has the ``columns`` of ``table``: bit n for the n-th."""
    position = {column.name: n for n, column in enumerate(table.columns)}
    return sum(1 << position[name] for name in columns)


def column_names(table: Table, present: int) -> list[str]:
    """Return the columns of ``table`` in the mask ``present``, and those derived from them."""
    names = [c.name for n, c in enumerate(table.columns) if present >> n & 1]
    derived = DERIVED.get(table.name, {})
    return names + [name for name, (source, _) in derived.items() if source in names]


def has_column(table: Table, name: str, row: str) -> str:
    """Return the condition that the staged row ``row`` has the column, or its source column."""
    name, _ = DERIVED.get(table.name, {}).get(name, (name, None))
    return f"{row}.present & {mask_of(table, [name])} > 0"


def option_ids_of(row: str, dialect: Dialect) -> str:
    """Return the FROM item ``j``, whose ``value`` is an option id of the answer ``row``."""
    if dialect == "sqlite":
        return f"json_each('[' || replace({row}.option_ids, '|', ',') || ']') AS j"
    return f"unnest(CAST(string_to_array({row}.option_ids, '|') AS BIGINT[])) AS j (value)"


class Staging:
    """The staged rows of one load into one account."""

    def __init__(self, connection: Connection, account_id: int) -> None:
        self.connection = connection
        self.account_id = account_id
        self.tables: set[str] = set()
        self._types = _TYPES[connection.dialect]
        integer, text = self._types["INTEGER"], self._types["TEXT"]
        connection.script(
            f"""
            CREATE TEMP TABLE problems (
                number {self._types["NUMBERED"]},
                file {integer}, line {integer}, "column" {text}, sentence {text});
            CREATE INDEX problems_by_row ON problems (file, line);
            CREATE TEMP TABLE refused_keys (name {text}, key {integer});
            CREATE INDEX refused_keys_by_key ON refused_keys (name, key);
            BEGIN;
            """
        )

    def add(
        self,
        table: Table,
        file: int,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        masks: Iterable[int] | None = None,
    ) -> None:
        """Stage rows of a file; each is its line number and the values of ``columns``.

        ``masks`` has for each row the columns that it has (:func:`mask_of`); None: all of them.
        """
        if table.name not in self.tables:
            self._create(table)
        derived = [
            (name, 1 + columns.index(source), make)
            for name, (source, make) in DERIVED.get(table.name, {}).items()
            if source in columns
        ]
        if derived:
            rows = [(*row, *(make(row[n]) for _, n, make in derived)) for row in rows]
        names = ["line", *columns, *(name for name, _, _ in derived)]
        same = {"file": file}
        if masks is None:
            same["present"] = mask_of(table, columns)
        else:
            names = ["present", *names]
            rows = ((mask, *row) for mask, row in zip(masks, rows, strict=True))
        self.connection.insert_many(f"staged_{table.name}", names, rows, **same)

    def _create(self, table: Table) -> None:
        self.tables.add(table.name)
        self._create_named(f"staged_{table.name}", table)

    def _create_named(self, name: str, table: Table) -> None:
        integer = self._types["INTEGER"]
        columns = [f'"{c.name}" {self._types[c.kind.column]}' for c in table.columns]
        columns += [f"{name} {self._types['TEXT']}" for name in DERIVED.get(table.name, {})]
        self.connection.script(
            f"""
            CREATE TEMP TABLE {name} (
                file {integer}, line {integer}, present {integer}, {", ".join(columns)})
            """
        )

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Store problems of rows that were not staged."""
        self.connection.insert_many("problems", Problem._fields, problems)

    def refuse_keys(self, table: Table, keys: Iterable[int]) -> None:
        """Store the keys of rows that were not staged; references to them are no problem."""
        rows = ((table.name, key) for key in keys)
        self.connection.insert_many("refused_keys", ("name", "key"), rows)

    def finish(self) -> None:
        """Index the staged rows. Later methods run in the caller's transaction."""
        for name in self.tables:
            self._index(TABLES_BY_NAME[name])
        self.connection.script("COMMIT")

    def _index(self, table: Table) -> None:
        name, key = f"staged_{table.name}", ", ".join(table.key)
        self.connection.script(f"CREATE INDEX {name}_key ON {name} ({key})")
        self.connection.analyze(name)

    def masks(self, table: Table) -> tuple[int, int]:
        """Return the masks of the columns that all staged rows have, and that any has."""
        found = self.connection.rows(f"SELECT DISTINCT present FROM staged_{table.name}")
        masks = [mask for (mask,) in found]
        return reduce(and_, masks, -1), reduce(or_, masks, 0)

    def count(self, table: Table) -> int:
        """Return the number of staged rows of ``table``."""
        ((count,),) = self.connection.rows(f"SELECT count(*) FROM staged_{table.name}")
        return int(count)

    def problem_count(self) -> int:
        """Return the number of problems."""
        ((count,),) = self.connection.rows("SELECT count(*) FROM problems")
        return int(count)

    def problems(self, limit: int = BIGGEST_INTEGER) -> Iterator[Problem]:
        """Yield the problems by file and line, at most ``limit`` of them."""
        rows = self.connection.stream(
            """
            SELECT file, line, "column", sentence FROM problems
            ORDER BY file, line, number LIMIT :limit
            """,
            limit=limit,
        )
        return (Problem(*row) for row in rows)

    def find(
        self,
        table: Table,
        column: str,
        sentence: str,
        condition: str,
        *,
        rows: str | None = None,
    ) -> None:
        """Store a problem for each staged row ``s`` that meets the SQL ``condition``.

        ``sentence`` is the SQL expression of its message. ``rows`` is a query that replaces the
        staging table as the source of ``s``. All of them may use ``:account_id``.
        """
        found = f"({rows})" if rows else f"staged_{table.name}"
        sql = f"""
            INSERT INTO problems (file, line, "column", sentence)
            SELECT s.file, s.line, '{column}', {sentence} FROM {found} AS s
            WHERE {condition}
            """
        values = {"account_id": self.account_id} if ":account_id" in sql else {}
        self.connection.change(sql, **values)

    def discard(self, table: Table) -> int:
        """Delete the staged rows of ``table`` that have a problem; return their number."""
        return self.connection.change(
            f"""
            DELETE FROM staged_{table.name}
            WHERE (file, line) IN (SELECT file, line FROM problems)
            """
        )

    def renew(self, table: Table) -> None:
        """Copy the staged rows of ``table`` to a new table and index, without the deleted rows.

        PostgreSQL keeps deleted rows until the transaction ends, and each look-up of a key passes
        over all deleted rows that had it.
        """
        name = f"staged_{table.name}"
        self.connection.script(f"ALTER TABLE {name} RENAME TO old_{name}")
        self._create_named(name, table)
        self.connection.change(f"INSERT INTO {name} SELECT * FROM old_{name}")
        self.connection.script(f"DROP TABLE old_{name}")
        self._index(table)
