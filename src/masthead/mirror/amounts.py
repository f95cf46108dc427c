"""Amounts in a copy whose columns are decimals of one scale, as in DuckDB and Parquet.

The interface shows a decimal with the decimal places of the publisher's file, and the service's
digest depends on them. A column of one scale cannot hold their number, so a second column does:
``total_decimals`` for ``total``.

Two decimal places are enough for the amounts of most publishers, and DuckDB can multiply such
columns. A column that gets another amount is made wide, for good.
"""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from masthead.contract.kinds import DecimalText, Number
from masthead.contract.shapes import Field

NARROW = "DECIMAL(18, 2)"
"""The type of a column at first."""

WIDE = "DECIMAL(38, 18)"
"""Holds every amount that Masthead holds: up to 18 digits, and up to 15 decimal places."""

IS_NARROW = """
    SELECT count(*) FROM duckdb_columns() WHERE table_name = :table_name
    AND column_name = :column_name AND NOT internal AND data_type = 'DECIMAL(18,2)'
"""

NARROW_HISTORIES = """
    SELECT h.table_name, h.column_name FROM duckdb_columns() AS h JOIN duckdb_columns() AS t
    ON h.table_name = concat(t.table_name, '_history') AND h.column_name = t.column_name
    WHERE h.data_type = 'DECIMAL(18,2)' AND t.data_type = 'DECIMAL(38,18)'
"""
"""The columns of histories that are narrower than those of their tables."""

_FITS = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,18})?")
_FITS_NARROW = re.compile(r"-?[0-9]{1,16}(\.[0-9]{1,2}0*)?")


def added_columns(columns: Sequence[Field]) -> list[str]:
    """Return the names of a table's additional columns, each a SMALLINT."""
    return [_decimals(field) for field in columns if isinstance(field.kind, DecimalText)]


def with_decimals(columns: Sequence[Field], row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row with the values of the additional columns.

    Raises ValueError if an amount does not fit into its column: the column would round it.
    """
    added = []
    for field, value in zip(columns, row, strict=True):
        if not fits(field, value):
            raise ValueError("an amount has too many digits")
        if isinstance(field.kind, DecimalText):
            added.append(None if value is None else len(value.partition(".")[2]))
    return (*row, *added)


def fits(column: Field, value: Any) -> bool:
    """Return whether a column can hold a value; only columns of amounts have limits."""
    return not _is_amount(column) or value is None or _FITS.fullmatch(value) is not None


def too_wide(columns: Sequence[Field], rows: Iterable[tuple[Any, ...]]) -> set[str]:
    """Return the columns with an amount that does not fit into the type ``NARROW``."""
    found = list(rows)
    return {
        column.name
        for number, column in enumerate(columns)
        if _is_amount(column)
        and not all(row[number] is None or _FITS_NARROW.fullmatch(row[number]) for row in found)
    }


def wire_text(column: Field) -> str:
    """Return the expression for an amount as text, with the decimal places that are shown.

    If an amount has more decimal places than the additional column says, the text has all of them.
    """
    text = f'CAST("{column.name}" AS VARCHAR)'
    if isinstance(column.kind, Number):
        return text
    shown = f"strpos({text}, '.') + coalesce(\"{_decimals(column)}\", 0)"
    length = f"greatest(length(rtrim({text}, '0')), {shown})"
    return f"rtrim(rpad({text}, CAST({length} AS INTEGER), '0'), '.')"


def _is_amount(column: Field) -> bool:
    return isinstance(column.kind, (DecimalText, Number))


def _decimals(column: Field) -> str:
    return f"{column.name}_decimals"
