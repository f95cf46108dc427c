"""What differs between a copy in SQLite and one in PostgreSQL: types of columns, and a few texts.

Rows are the same in both: ints, texts and None. SQLite keeps them so, except for numbers, which
are doubles. PostgreSQL has types of its own for dates, times, numbers and booleans.
"""

import json
from collections.abc import Callable, Iterable
from typing import NamedTuple

from masthead.contract import kinds
from masthead.contract.kinds import Kind

__all__ = ["DIALECTS", "LOCK_TIMEOUT_S", "Dialect"]

LOCK_TIMEOUT_S = 10
"""How long to wait for another process that writes to the copy."""


class Dialect(NamedTuple):
    """The SQL of one database.

    ``column_type`` is the type of a column, ``wire_text`` the expression for its wire form as text
    or int, ``table_options`` the end of CREATE TABLE. ``is_among`` is a condition on ``{column}``
    with the parameter ``:keys``, whose value ``keys`` makes. ``columns`` selects the tables and
    their columns, in order, for tables among ``{names}``. ``lock`` locks out other writers until
    the transaction ends.
    """

    column_type: Callable[[Kind], str]
    wire_text: Callable[[Kind], str]
    table_options: str
    is_among: str
    keys: Callable[[Iterable[int]], str]
    columns: str
    lock: str


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


_POSTGRESQL_TEXT = {
    "BOOLEAN": "{}::INT",
    "TIMESTAMP": "to_char({}, 'YYYY-MM-DD HH24:MI:SS')",
    "DATE": "to_char({}, 'YYYY-MM-DD')",
    "NUMERIC": "{}::TEXT",
}

DIALECTS = {
    "sqlite": Dialect(
        column_type=_sqlite_type,
        wire_text=lambda _kind: "{}",
        table_options=" STRICT, WITHOUT ROWID",
        is_among="{column} IN (SELECT value FROM json_each(:keys))",
        keys=lambda keys: json.dumps(list(keys)),
        columns="""
            SELECT m.name, c.name FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
            WHERE m.name IN ({names}) ORDER BY m.name, c.cid
            """,
        lock="",
    ),
    "postgresql": Dialect(
        column_type=_postgresql_type,
        wire_text=lambda kind: _POSTGRESQL_TEXT.get(_postgresql_type(kind), "{}"),
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
            SELECT pg_advisory_xact_lock(hashtext(concat('masthead mirror ', current_schema())))
            """,
    ),
}
