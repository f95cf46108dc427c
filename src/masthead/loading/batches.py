"""What the readers of all formats share: batches of rows, settings of files, limits."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from masthead.errors import BadInput

BATCH_ROWS = 2_000
ROW_BYTES_MAX = 16 * 1024 * 1024
"""The maximum size of a line of NDJSON and of a row of CSV. A batch is at most about this large."""

CELLS_MAX = 10_000
"""The maximum number of cells in a row: cells take more memory than their bytes."""

QUOTED_MAX = 100
"""The maximum number of characters of a column name or a value that a message quotes."""

REASON = "reason"
"""The last column of a file of rejected rows, ignored when such a file is imported."""

Cells = Sequence[str | None]
"""The cells of a column: "" is a missing value, None a row without the column."""


class Said(NamedTuple):
    """The settings of a file that are known before it is read.

    A setting that is None is detected, or has its default.

    ``format`` is "csv", "tsv", "ndjson" or "xlsx", ``encoding`` a name that Python knows,
    ``separator`` and ``quote`` are one character each, ``sheet`` is the name of a sheet. ``header``
    has the lines of the names, none if they are in the first row, and ``skip_last`` is the number
    of rows at the end that are no records.
    """

    format: str | None = None
    encoding: str | None = None
    separator: str | None = None
    quote: str | None = None
    sheet: str | None = None
    header: tuple[int, ...] = ()
    skip_last: int = 0


class Known(Said):
    """All settings of a file, after detection."""

    __slots__ = ()


NOTHING_SAID = Said()


class UnreadableRow(NamedTuple):
    """A row that gives no record: its line, a column for the message, the problem.

    ``may_be_record``: the row may hold a record whose key is unknown. A header that is repeated
    holds none, for example.
    """

    line: int
    column: str
    sentence: str
    may_be_record: bool = True


class Batch(NamedTuple):
    """Rows of a file, by column.

    ``cells[n]`` holds the values of ``columns[n]``: text, empty for a missing value, None for a row
    without this column. ``lines`` holds the line number on which each row starts. ``done`` is the
    number of bytes of the file that have been read so far.
    """

    columns: Sequence[str]
    lines: Sequence[int]
    cells: Sequence[Cells]
    unreadable: Sequence[UnreadableRow]
    done: int


def first_repeated(names: Iterable[str]) -> str | None:
    """Return the first name that occurs a second time, None if there is none."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            return name
        seen.add(name)
    return None


def too_long(label: str, line: int) -> BadInput:
    """Return the exception for a row of more than 16 MiB."""
    return BadInput(
        f"{label}:{line}: longer than {ROW_BYTES_MAX >> 20} MiB, the most that a row may have"
    )


def too_many_cells(label: str, line: int, count: int) -> BadInput:
    """Return the exception for a row of more than 10,000 cells."""
    return BadInput(f"{label}:{line}: has {count} cells, and a row may have {CELLS_MAX}")


def cut_off(label: str, line: int, sentence: str) -> BadInput:
    """Return the exception for a file that looks cut off; ``sentence`` says why."""
    return BadInput(
        f"{label}:{line}: {sentence}: the file looks cut off; get it again, or allow it if it is "
        "complete",
        code="cut_off",
    )
