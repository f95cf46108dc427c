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
    """What the cells of a column are: text, a number, whole cents, or tenths of a per cent."""

    TEXT = "text"
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
    """Stacked bars: their labels, and the series in the order of stacking."""

    title: str
    labels: tuple[str, ...]
    series: tuple[Series, ...]
    unit: str
    is_money: bool = False


class Report(NamedTuple):
    """A report: its title, its table with the totals as the last rows, notes, and a chart."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    totals: tuple[Row, ...]
    chart: Chart
    notes: tuple[str, ...] = ()


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
    """Return the table as lines of text: its title, a header, the rows, totals, and the notes."""
    rows = [
        [
            printable(written(cell, column.kind))
            for cell, column in zip(row, report.columns, strict=True)
        ]
        for row in (*report.rows, *report.totals)
    ]
    names = [column.name for column in report.columns]
    widths = [max(map(len, cells)) for cells in zip(names, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        padded = (
            f"{cell:<{width}}" if column.kind is Kind.TEXT else f"{cell:>{width}}"
            for cell, width, column in zip(cells, widths, report.columns, strict=True)
        )
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    found = [printable(report.title), "", line(names), rule]
    found += map(line, rows[: len(report.rows)])
    if report.totals:
        found += [rule, *map(line, rows[len(report.rows) :])]
    return [*found, *([""] if report.notes else []), *map(printable, report.notes)]
