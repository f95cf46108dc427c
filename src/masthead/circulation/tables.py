"""A report as values: a table, and a chart of it. The commands print them."""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from masthead.circulation.amounts import decimal
from masthead.contract.printable import printable

Cell = str | int | None
Row = tuple[Cell, ...]

_PER_MILLE = 10


class Kind(Enum):
    """What the cells of a column are.

    DATE is a day or a month (``YYYY-MM-DD``, ``YYYY-MM``), MONEY whole cents, SHARE tenths of a per
    cent.
    """

    TEXT = "text"
    DATE = "date"
    COUNT = "count"
    MONEY = "money"
    SHARE = "share"


class Column(NamedTuple):
    """A column of a report."""

    name: str
    kind: Kind = Kind.COUNT


class Series(NamedTuple):
    """A row of bars, one for each label of the chart; a bar begins at its ``offset``."""

    name: str
    values: tuple[int, ...]
    offsets: tuple[int, ...] = ()


class Chart(NamedTuple):
    """Stacked bars: their labels, the series in the order of stacking, and what they count.

    Amounts (``is_money``) are in cents, and ``unit`` is then their currency.
    """

    labels: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str
    is_money: bool = False


class Part(NamedTuple):
    """A table of a report: its title of at most 31 characters, its columns, rows and totals."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    totals: tuple[Row, ...] = ()


class Report(NamedTuple):
    """A report: its title, its table with the totals as the last rows, a chart, and sentences.

    ``summary`` says what the figures add up to, and what was zero; ``notes`` say what they count.
    ``day`` is the last day that counts, '' if everything booked does. ``currency`` is that of all
    amounts. ``parts`` have the same figures in several tables, if the report counts the same copies
    in several ways.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    totals: tuple[Row, ...]
    chart: Chart
    summary: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    day: str = ""
    currency: str = ""
    parts: tuple[Part, ...] = ()

    @property
    def heading(self) -> str:
        """The title with the day."""
        return f"{self.title}, {self.day or 'all that is booked'}"

    @property
    def head(self) -> list[str]:
        """The names of the columns, with the currency at amounts."""
        return self.head_of(self.columns)

    def head_of(self, columns: Sequence[Column]) -> list[str]:
        """Return the names of some columns, with the currency at amounts."""
        return [
            f"{column.name} {self.currency}" if column.kind is Kind.MONEY else column.name
            for column in columns
        ]


def number_of(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun, for a sentence: ``1,234 letters``."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def written(value: Cell, kind: Kind) -> str:
    """Return a cell as the table and the CSV file have it: 1250 cents are ``12.50``.

    An empty cell is the empty string; tenths of a per cent are written as ``12.5``.
    """
    if value is None:
        return ""
    if kind is Kind.MONEY:
        return decimal(int(value))
    if kind is Kind.SHARE:
        return f"{int(value) // _PER_MILLE}.{int(value) % _PER_MILLE}"
    return str(value)


def lines(report: Report) -> list[str]:
    """Return the report as lines of text: its heading, summary, table, and notes."""
    rows = [
        [
            printable(written(cell, column.kind))
            for cell, column in zip(row, report.columns, strict=True)
        ]
        for row in (*report.rows, *report.totals)
    ]
    names = report.head
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            f"{cell:<{width}}" if column.kind in {Kind.TEXT, Kind.DATE} else f"{cell:>{width}}"
            for cell, width, column in zip(cells, widths, report.columns, strict=True)
        )
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    found = [printable(report.heading), "", *map(printable, report.summary)]
    found += [*([""] if report.summary else []), line(names), rule]
    found += map(line, rows[: len(report.rows)])
    if report.totals:
        found += [rule, *map(line, rows[len(report.rows) :])]
    return [*found, *([""] if report.notes else []), *map(printable, report.notes)]
