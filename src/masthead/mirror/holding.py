"""What the database of a copy cannot hold: numbers beyond 64 bits, some texts, some amounts.

It is looked for before rows are inserted, since a failed statement ends a transaction.
"""

import re
from array import array
from collections.abc import Sequence

from masthead.contract import kinds
from masthead.contract.shapes import Field
from masthead.mirror import amounts
from masthead.mirror.dialects import Dialect
from masthead.mirror.tables import Row, Table

_NUL = "\x00"
_HALF = re.compile("[\ud800-\udfff]")


def not_held(table: Table, rows: Sequence[Row], dialect: Dialect) -> list[tuple[Row, Field, str]]:
    """Return the rows that the database cannot hold, each with the field and the reason."""
    if _are_held(table, rows, dialect):
        return []
    found = ((row, _fault_of(table, row, dialect)) for row in rows)
    return [(row, *fault) for row, fault in found if fault]


def _are_held(table: Table, rows: Sequence[Row], dialect: Dialect) -> bool:
    """Return whether the database can hold all rows, column by column, since that is fast."""
    try:
        for field, values in zip(table.columns, zip(*rows, strict=True), strict=False):
            match field.kind:
                case kinds.Integer():
                    array("q", filter(None, values))
                case kinds.Text() | kinds.OneOf() | kinds.Digest():
                    text = "".join(filter(None, values))
                    text.encode()
                    if _NUL in text and not dialect.holds_nul:
                        return False
                case kinds.DecimalText() | kinds.Number() if dialect.has_amounts:
                    if not all(amounts.fits(field, value) for value in values):
                        return False
    except (OverflowError, UnicodeEncodeError):
        return False
    return True


def _fault_of(table: Table, row: Row, dialect: Dialect) -> tuple[Field, str] | None:
    """Return the first field of a row that the database cannot hold, and the reason, or None."""
    for field, value in zip(table.columns, row, strict=True):
        if isinstance(value, str):
            if _HALF.search(value) or (_NUL in value and not dialect.holds_nul):
                return field, "its text has a NUL or half a character"
            if dialect.has_amounts and not amounts.fits(field, value):
                return field, "it has more than 20 digits or 18 decimal places"
        elif value is not None and not -(2**63) <= value < 2**63:
            return field, "it does not fit into 64 bits"
    return None
