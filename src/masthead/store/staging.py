"""Staged rows: the rows of a load before they are written, and their problems.

Single values are checked before they are staged. ``staged_checks`` then finds problems between
rows, and ``merging`` writes the rows to the account's tables.
"""

import itertools
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import reduce
from hashlib import sha256
from operator import and_, or_
from typing import Any, NamedTuple

from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.errors import StoreUnavailable
from masthead.store.billing.sealed import MANDATES, sealed_rows
from masthead.store.database import Connection, Dialect, Queries, Row, Value
from masthead.store.key_lists import KeyLists
from masthead.store.name_forms import last_word, plain_of

_FOLD: Callable[[Any], str | None] = lambda text: text and text.casefold()  # noqa: E731


def _sha256(text: Any) -> str | None:
    return text and sha256(text.encode()).hexdigest()


DERIVED: dict[str, dict[str, tuple[str, Callable[[Any], Value]]]] = {
    "subscribers": {
        "first_name_folded": ("first_name", _FOLD),
        "last_name_folded": ("last_name", _FOLD),
        "first_name_plain": ("first_name", plain_of),
        "last_name_plain": ("last_name", plain_of),
        "last_name_end": ("last_name", last_word),
        "password_hash_loaded": ("password_hash", _sha256),
    }
}
"""The columns of a table that are computed from other columns."""

_SQLITE_TABLES = """
    CREATE TEMP TABLE staged_problems (
        number INTEGER, file INTEGER, line INTEGER, "column" TEXT, sentence TEXT);
    CREATE INDEX staged_problems_by_row ON staged_problems (file, line);
    CREATE TEMP TABLE staged_natural_keys (
        table_name TEXT, key_digest TEXT, record_id INTEGER, key_text TEXT);
    """
_LEFT_US = 86_400 * 1_000_000
"""The age, in microseconds, at which another load with staged rows counts as killed."""

_IDS_PER_US = 1_000


NUMBERS_PER_FILE = 128
"""How many numbers a file has. A file of one table uses the first. A mapped file uses one of the
others for each of its tables, and the last for problems of whole rows."""


WITHOUT_KEY_MAX = 100
"""The number of rows without a key that are remembered, for the message that refuses them."""


class Problem(NamedTuple):
    """A row's problem: a number of its file (:data:`NUMBERS_PER_FILE`), line, column, message."""

    file: int
    line: int
    column: str
    sentence: str


def mask_of(table: Table, columns: Iterable[str]) -> int:
    """Return the mask of a row that has the ``columns`` of ``table``: bit n for the n-th."""
    position = {column.name: n for n, column in enumerate(table.columns)}
    return sum(1 << position[name] for name in columns)


def column_names(table: Table, present: int) -> list[str]:
    """Return the columns of ``table`` in the mask ``present`` and the columns derived from them."""
    names = [c.name for n, c in enumerate(table.columns) if present >> n & 1]
    derived = DERIVED.get(table.name, {})
    return names + [name for name, (source, _) in derived.items() if source in names]


def has_column(table: Table, name: str, row: str) -> str:
    """Return the condition that staged row ``row`` has the column or its source column."""
    name, _ = DERIVED.get(table.name, {}).get(name, (name, None))
    return f"{row}.present & {mask_of(table, [name])} > 0"


def refused(table: str) -> str:
    """Return the name of the list with the keys of a table's rows that were not staged."""
    return f"refused_{table}"


def option_ids_of(row: str, dialect: Dialect) -> str:
    """Return the FROM item ``j``, whose ``value`` is an option id of the answer ``row``."""
    if dialect == "sqlite":
        return f"json_each('[' || replace({row}.option_ids, '|', ',') || ']') AS j"
    return f"unnest(CAST(string_to_array({row}.option_ids, '|') AS BIGINT[])) AS j (value)"


@contextmanager
def staging_for(connection: Connection, account_id: int) -> Iterator["Staging"]:
    """Yield the staging of a load; its rows are deleted after the block."""
    staging = Staging(connection, account_id)
    try:
        yield staging
    finally:
        # A later load deletes rows that cannot be deleted now.
        with suppress(StoreUnavailable):
            staging.discard_all()


class Staging(KeyLists, Queries):
    """The staged rows of one load into one account, and its lists of keys.

    On SQLite they are in temporary tables. On PostgreSQL they are in permanent tables together with
    other loads' rows, so queries select the account and the load with :meth:`rows_of` and
    :meth:`own`.
    """

    def __init__(self, connection: Connection, account_id: int) -> None:
        load_id = connection.now() * _IDS_PER_US + secrets.randbelow(_IDS_PER_US)
        super().__init__(connection, account_id, load_id)
        self.tables: set[str] = set()
        self.mapped_tables: set[str] = set()
        self._load_ids: dict[str, int] = {}
        self._numbers = itertools.count()
        self.without_key: set[tuple[int, int]] = set()
        """The first rows that were not staged and whose keys cannot be read: file and line."""
        if not self._is_shared:
            connection.script(_SQLITE_TABLES)

    @property
    def values(self) -> dict[str, Value]:
        """The parameters of a query that names the account."""
        return {"account_id": self.account_id}

    def rows_of(self, name: str) -> str:
        """Return the FROM item with this load's rows of a table, named without ``staged_``."""
        table = f"staged_{name}"
        if not self._is_shared:
            return table
        # A subquery replaces the number, as in KeyLists.
        load_id = f"(SELECT {self._load_id_of(name)})"
        return f"(SELECT * FROM {table} WHERE account_id = :account_id AND load_id = {load_id})"

    def own(self, name: str, row: str = "") -> str:
        """Return the condition that ``row`` of a staging table belongs to this load."""
        if not self._is_shared:
            return "TRUE"
        prefix = f"{row}." if row else ""
        return f"{prefix}account_id = :account_id AND {prefix}load_id = {self._load_id_of(name)}"

    def _load_id_of(self, name: str) -> int:
        return self._load_ids.get(name, self._load_id)

    def change(self, sql: str, /, **values: Value) -> int:
        """Run a writing statement with ``:account_id``; return the number of changed rows."""
        return self.connection.change(sql, **self.values, **values)

    def rows(self, sql: str, /, **values: Value) -> list[Row]:
        """Return all rows of a query with ``:account_id``."""
        return self.connection.rows(sql, **self.values, **values)

    def add(
        self,
        table: Table,
        file: int,
        columns: Sequence[str],
        rows: Iterable[Sequence[Value]],
        masks: Iterable[int] | None = None,
    ) -> None:
        """Stage rows of part ``file`` of a file; each has its line and the values of ``columns``.

        ``masks`` has the mask of each row's columns (:func:`mask_of`); None: all columns. The bank
        accounts of mandates are stored sealed.
        """
        if table.name not in self.tables:
            self.tables.add(table.name)
            if not self._is_shared:
                self._create(f"staged_{table.name}", table)
        if file % NUMBERS_PER_FILE:
            self.mapped_tables.add(table.name)
        derived = [
            (name, 1 + columns.index(source), make)
            for name, (source, make) in DERIVED.get(table.name, {}).items()
            if source in columns
        ]
        if derived:
            rows = [(*row, *(make(row[n]) for _, n, make in derived)) for row in rows]
        if table.name == MANDATES:
            rows = sealed_rows(self.connection, self.account_id, ["line", *columns], rows)
        names = ["line", *columns, *(name for name, _, _ in derived)]
        same = {"file": file}
        if masks is None:
            same["present"] = mask_of(table, columns)
        else:
            names = ["present", *names]
            rows = ((mask, *row) for mask, row in zip(masks, rows, strict=True))
        self._insert_many(f"staged_{table.name}", names, rows, **same)

    def _insert_many(
        self, table: str, names: Sequence[str], rows: Iterable[Sequence[Value]], **same: int
    ) -> None:
        self.connection.insert_many(table, names, rows, **self._same, **same)

    def _create(self, name: str, table: Table) -> None:
        columns = [f'"{column.name}" {column.kind.column}' for column in table.columns]
        columns += [f"{name} TEXT" for name in DERIVED.get(table.name, {})]
        self.connection.script(
            f"""
            CREATE TEMP TABLE {name} (
                file INTEGER, line INTEGER, present INTEGER, {", ".join(columns)})
            """
        )

    def refuse(self, problems: Iterable[Problem]) -> None:
        """Store problems of rows that were not staged."""
        rows = ((next(self._numbers), *problem) for problem in problems)
        self._insert_many("staged_problems", ("number", *Problem._fields), rows)

    def refuse_keys(
        self, table: Table, file: int, rows: Iterable[tuple[int, tuple[int, ...] | None]]
    ) -> None:
        """Store the keys of rows that were not staged; each comes with its line number.

        References to these rows are not problems, and a complete load does not remove the records.
        A key is None if it cannot be read.
        """
        rows = list(rows)
        self.add_keys(refused(table.name), [key for _, key in rows if key is not None])
        lines = [line for line, key in rows if key is None]
        room = WITHOUT_KEY_MAX - len(self.without_key)
        self.without_key.update((file // NUMBERS_PER_FILE, line) for line in lines[:room])

    def add_keys(self, name: str, keys: Iterable[tuple[int, ...]]) -> None:
        """Add keys of one or two columns to the list ``name`` (:meth:`keys_in`)."""
        rows = [(name, key[0], key[1] if len(key) > 1 else None) for key in keys]
        if rows:
            self._insert_many("staged_keys", ("list", "key", "other"), rows)

    def add_natural_keys(self, keys: Iterable[tuple[str, str, int, str]]) -> None:
        """Store new natural keys: table, digest, id, and the key for messages."""
        names = ("table_name", "key_digest", "record_id", "key_text")
        self._insert_many("staged_natural_keys", names, keys)

    def prepare_natural_keys(self) -> None:
        """Make look-ups of many natural keys fast; the keys are scattered over their tables."""
        if not self._is_shared:
            self.connection.script(
                """
                PRAGMA main.cache_size = -32768;
                PRAGMA temp.cache_size = -32768;
                CREATE INDEX IF NOT EXISTS temp.staged_natural_keys_by_digest
                ON staged_natural_keys (table_name, key_digest, record_id)
                """
            )

    @contextmanager
    def filling(self) -> Iterator[None]:
        """Stage rows within the block, in one transaction; then prepare them for queries.

        The transaction locks no data tables. Other methods run in the caller's transaction.
        """
        if self._is_shared:
            with self.connection.transaction():
                yield
        else:
            self.connection.script("BEGIN")
            yield
            for name in self.tables:
                key = ", ".join(TABLES_BY_NAME[name].key)
                self.connection.script(
                    f"CREATE INDEX staged_{name}_by_key ON staged_{name} ({key})"
                )
            self.connection.script("COMMIT")
        for name in self.tables:
            self.connection.analyze(f"staged_{name}")

    def discard_all(self) -> None:
        """Delete the rows of this load and of the account's killed loads."""
        if not self._is_shared:
            return
        killed = self._load_id - _LEFT_US * _IDS_PER_US
        own = f"load_id IN ({', '.join(map(str, {self._load_id, *self._load_ids.values()}))})"
        with self.connection.transaction():
            for name in (*TABLES_BY_NAME, "problems", "keys", "natural_keys"):
                self.change(
                    f"""
                    DELETE FROM staged_{name}
                    WHERE account_id = :account_id AND (load_id < {killed} OR {own})
                    """
                )

    def masks(self, table: Table) -> tuple[int, int]:
        """Return two masks: the columns that all staged rows have, and those that any row has."""
        masks = self.column_as(int, f"SELECT DISTINCT present FROM {self.rows_of(table.name)} AS s")
        return reduce(and_, masks, -1), reduce(or_, masks, 0)

    def count(self, table: Table) -> int:
        """Return the number of staged rows of ``table``."""
        return self.value_as(int, f"SELECT count(*) FROM {self.rows_of(table.name)} AS s") or 0

    def problem_count(self) -> int:
        """Return the number of problems."""
        return self.value_as(int, f"SELECT count(*) FROM {self.rows_of('problems')} AS p") or 0

    def problems_without_key(self) -> list[Problem]:
        """Return the problems of the rows in :attr:`without_key`, by file and line."""
        places = " OR ".join(
            f"(file / {NUMBERS_PER_FILE} = {number:d} AND line = {line:d})"
            for number, line in self.without_key
        )
        return [Problem(*row) for row in self.rows(self._problems_where(places))]

    def rejected_rows(self) -> dict[int, int]:
        """Return the number of rows with problems by file; 0 is the first file."""
        return dict(
            self.rows_as(
                tuple[int, int],
                f"""
                SELECT file / {NUMBERS_PER_FILE} AS nth, count(DISTINCT line)
                FROM {self.rows_of("problems")} AS p GROUP BY nth ORDER BY nth
                """,
            )
        )

    def problems(self, limit: int = BIGGEST_INTEGER) -> Iterator[Problem]:
        """Yield the problems by file and line, at most ``limit`` of them."""
        sql = f"{self._problems_where('TRUE')} LIMIT :limit"
        rows = self.connection.stream(sql, limit=limit, **self.values)
        return (Problem(*row) for row in rows)

    def _problems_where(self, condition: str) -> str:
        return f"""
            SELECT file, line, "column", sentence FROM {self.rows_of("problems")} AS p
            WHERE {condition} ORDER BY file / {NUMBERS_PER_FILE}, line, number"""

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

        ``sentence`` is the SQL expression of the message. ``rows`` is a query that replaces the
        staging table as the source of ``s``. All three may use ``:account_id``.
        """
        source = f"({rows})" if rows else self.rows_of(table.name)
        values = {
            **{name: str(value) for name, value in self._same.items()},
            "number": str(next(self._numbers)),
            "file": "s.file",
            "line": "s.line",
            '"column"': f"'{column}'",
            "sentence": sentence,
        }
        self.change(
            f"""
            INSERT INTO staged_problems ({", ".join(values)})
            SELECT {", ".join(values.values())} FROM {source} AS s WHERE {condition}
            """
        )

    def is_in(self, name: str, value: str, condition: str = "TRUE") -> str:
        """Return the condition that the list ``name`` has the key ``value``, in its row ``k``."""
        return self.has("keys", "k", f"k.list = '{name}' AND k.key = {value} AND {condition}")

    def has(self, name: str, row: str, condition: str) -> str:
        """Return the condition that this load has a ``row`` that meets ``condition``.

        OFFSET stops PostgreSQL from using a join, so it looks up the row by an index. With a join,
        it could compare all pairs of rows: its statistics are old or from other loads, so it cannot
        know how many rows this load has.
        """
        found = f"SELECT 1 FROM staged_{name} AS {row} WHERE {self.own(name, row)} AND {condition}"
        return f"EXISTS ({found}{' OFFSET 0' if self._is_shared else ''})"

    def discard(self, table: Table) -> int:
        """Delete the staged rows of ``table`` that have a problem; return their number."""
        return self.change(
            f"""
            DELETE FROM staged_{table.name} AS s WHERE {self.own(table.name, "s")}
                AND {self.has("problems", "p", "p.file = s.file AND p.line = s.line")}
            """
        )

    def renew(self, table: Table) -> None:
        """Copy the staged rows of ``table``, without the deleted rows.

        PostgreSQL keeps deleted rows until the transaction ends, and each look-up of a key reads
        all deleted rows with that key. The copies get another load id, which no deleted row has.
        """
        if not self._is_shared:
            return
        before = self.rows_of(table.name)
        names = ["file", "line", "present", *(column.name for column in table.columns)]
        names += DERIVED.get(table.name, {})
        columns = ", ".join(f'"{name}"' for name in names)
        self._load_ids[table.name] = self._load_id - _IDS_PER_US
        self.change(
            f"""
            INSERT INTO staged_{table.name} (account_id, load_id, {columns})
            SELECT account_id, {self._load_ids[table.name]}, {columns} FROM {before} AS s
            """
        )
