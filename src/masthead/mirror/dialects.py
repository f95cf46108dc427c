"""The differences between the databases of copies: types of columns, and a few texts.

Rows are the same in all: ints, texts and None. SQLite stores them as they are, except for numbers,
which are doubles. PostgreSQL and DuckDB, which also writes Parquet, have types of their own for
dates, times, numbers and booleans.
"""

import json
from collections.abc import Callable, Iterable
from typing import NamedTuple

from masthead.contract import kinds
from masthead.contract.kinds import Kind
from masthead.contract.shapes import Field
from masthead.mirror import amounts

LOCK_TIMEOUT_S = 10
"""How long to wait for another process that writes to the copy."""


class Dialect(NamedTuple):
    """The SQL of one database.

    ``column_type`` is the type of a column, ``wire_text`` the expression for its wire form as text
    or int, ``table_options`` the end of CREATE TABLE. ``is_among`` is a condition on ``{column}``
    with the parameter ``:keys``, whose value ``keys`` makes. ``columns`` selects the tables and
    their columns, in order, for tables among ``{names}``. ``lock`` locks out other writers until
    the transaction ends. ``has_indexes`` says whether tables have indexes, including that of their
    key, ``has_comments`` whether it stores comments, ``has_amounts`` whether amounts are as in
    ``masthead.mirror.amounts``, and ``holds_nul`` whether a text may have a NUL. ``create_view``
    begins a view that may exist.
    """

    column_type: Callable[[Kind], str]
    wire_text: Callable[[Field], str]
    table_options: str
    is_among: str
    keys: Callable[[Iterable[int]], str]
    columns: str
    lock: str
    time_type: str = "TIMESTAMP"
    create_view: str = "CREATE OR REPLACE VIEW"
    has_indexes: bool = True
    has_comments: bool = True
    has_amounts: bool = False
    holds_nul: bool = True


def _sqlite_type(kind: Kind) -> str:
    return "REAL" if isinstance(kind, kinds.Number) else kind.column


def _postgresql_type(kind: Kind) -> str:
    match kind:
        case kinds.Bool() | kinds.Flag() | kinds.Bit():
            return "BOOLEAN"
        case kinds.Integer():
            return "BIGINT"
        case kinds.Number() | kinds.DecimalText():
            return "NUMERIC"
        case kinds.Date():
            return "DATE"
        case kinds.DateTime():
            return "TIMESTAMP"
        case _:
            return "TEXT"


def _postgresql_text(column: Field) -> str:
    return _POSTGRESQL_TEXT.get(_postgresql_type(column.kind), "{}").format(f'"{column.name}"')


def _duckdb_type(kind: Kind) -> str:
    found = _postgresql_type(kind)
    return amounts.NARROW if found == "NUMERIC" else found


def _duckdb_text(column: Field) -> str:
    match _duckdb_type(column.kind):
        case amounts.NARROW:
            return amounts.wire_text(column)
        case "BOOLEAN":
            return f'CAST("{column.name}" AS INTEGER)'
        case "DATE" | "TIMESTAMP":
            return f'CAST("{column.name}" AS VARCHAR)'
        case _:
            return f'"{column.name}"'


_POSTGRESQL_TEXT = {
    "BOOLEAN": "{}::INT",
    "TIMESTAMP": "to_char({}, 'YYYY-MM-DD HH24:MI:SS')",
    "DATE": "to_char({}, 'YYYY-MM-DD')",
    "NUMERIC": "{}::TEXT",
}

DIALECTS = {
    "sqlite": Dialect(
        column_type=_sqlite_type,
        wire_text=lambda column: f'"{column.name}"',
        table_options=" STRICT, WITHOUT ROWID",
        is_among="{column} IN (SELECT value FROM json_each(:keys))",
        keys=lambda keys: json.dumps(list(keys)),
        columns="""
            SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
            WHERE m.name IN ({names}) ORDER BY m.name, c.cid
            """,
        lock="",
        time_type="TEXT",
        create_view="CREATE VIEW IF NOT EXISTS",
        has_comments=False,
    ),
    "postgresql": Dialect(
        column_type=_postgresql_type,
        wire_text=_postgresql_text,
        table_options="",
        is_among="{column} = ANY(CAST(:keys AS BIGINT[]))",
        keys=lambda keys: f"{{{','.join(map(str, keys))}}}",
        columns="""
            SELECT c.relname::TEXT, a.attname::TEXT
            FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
            WHERE c.relname IN ({names}) AND pg_table_is_visible(c.oid)
            AND a.attnum > 0 AND NOT a.attisdropped ORDER BY c.relname, a.attnum
            """,
        lock=f"""
            SET LOCAL lock_timeout = '{LOCK_TIMEOUT_S}s';
            SELECT pg_advisory_xact_lock(hashtext(concat('masthead.mirror ', current_schema())))
            """,
        holds_nul=False,
    ),
    "duckdb": Dialect(
        column_type=_duckdb_type,
        wire_text=_duckdb_text,
        table_options="",
        is_among="{column} IN (SELECT unnest(CAST(:keys AS BIGINT[])))",
        keys=lambda keys: json.dumps(list(keys)),
        columns="""
            SELECT table_name, column_name FROM duckdb_columns()
            WHERE table_name IN ({names}) AND schema_name = current_schema()
            AND database_name = current_database() ORDER BY table_name, column_index
            """,
        lock="",
        has_indexes=False,
        has_amounts=True,
    ),
}
