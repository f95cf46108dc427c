"""Amounts in a copy whose columns are decimals of one scale, as in DuckDB and Parquet.

The interface shows a decimal with the decimal places of the publisher's file, and the service's
digest depends on them. A column of one scale cannot hold their number, so a second column does:
``total_decimals`` for ``total``.
"""

import re
from collections.abc import Sequence
from typing import Any

from masthead.contract.kinds import DecimalText, Number
from masthead.contract.shapes import Field

TYPE = "DECIMAL(38, 18)"
"""Holds every amount that Masthead holds: up to 18 digits, and up to 15 decimal places."""

_PLACES = 18
_FITS = re.compile(r"-?[0-9]{1,20}(\.[0-9]{1,18})?")


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
    is_amount = isinstance(column.kind, (DecimalText, Number)) and value is not None
    return not is_amount or _FITS.fullmatch(value) is not None


def wire_text(column: Field) -> str:
    """Return the expression for an amount as text, with the decimal places that are shown.

    If an amount has more decimal places than the additional column says, the text has all of them.
    """
    text = f'CAST("{column.name}" AS VARCHAR)'
    if isinstance(column.kind, Number):
        return text
    places = f'length({text}) - {_PLACES} + coalesce("{_decimals(column)}", 0)'
    return f"rtrim(left({text}, greatest(length(rtrim({text}, '0')), {places})), '.')"


def _decimals(column: Field) -> str:
    return f"{column.name}_decimals"
