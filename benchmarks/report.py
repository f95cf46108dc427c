"""What was measured, as tables of Markdown and as JSON."""

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.databases import STORES

__all__ = [
    "Aim",
    "Figures",
    "Found",
    "Measured",
    "Ratio",
    "Row",
    "Scale",
    "both",
    "data",
    "grid",
    "shown",
    "table",
]

Figures = dict[str, list[float]]
"""The figures of each round, by what was measured."""


class Scale(NamedTuple):
    """How much is measured; a part takes of it what it needs."""

    stores: list[str]
    subscribers: int
    rounds: int
    seconds: float
    folder: Path | None = None


class Found(NamedTuple):
    """What a part of the benchmarks found.

    ``tables`` are Markdown, ``data`` is for the JSON file, ``about`` is what the figures depend on
    beside the machine.
    """

    tables: list[str]
    data: Mapping[str, Any]
    about: dict[str, str]


class Aim(NamedTuple):
    """What a figure should be: the budget that the design sets."""

    at_least: float = 0
    at_most: float = math.inf

    def is_met(self, figure: float) -> bool:
        """Return whether the figure is as it should be."""
        return self.at_least <= figure <= self.at_most

    def __str__(self) -> str:
        """Say it in words."""
        if self.at_least:
            return f"at least {self.at_least:g}"
        return f"at most {self.at_most:g}"


def both(**limits: float) -> dict[str, Aim]:
    """Return an aim that is the same on each store."""
    return dict.fromkeys(STORES, Aim(**limits))


class Measured(NamedTuple):
    """A row of the table: the figures of this title; and the aims by store, where there are any."""

    title: str
    digits: int = 0
    aims: Mapping[str, Aim] = {}


class Ratio(NamedTuple):
    """A row of the table: how many times one median is the other."""

    title: str
    of: str
    to: str
    aims: Mapping[str, Aim] = {}


Row = Measured | Ratio


def value(row: Row, figures: Figures) -> float | None:
    """Return the median or the ratio of a row; None where it was not measured."""
    if isinstance(row, Measured):
        return statistics.median(figures[row.title]) if row.title in figures else None
    if row.of in figures and row.to in figures:
        return statistics.median(figures[row.of]) / statistics.median(figures[row.to])
    return None


def data(found: Mapping[str, Figures], rows: Sequence[Row]) -> dict[str, Any]:
    """Return all figures by store, their medians, the ratios of these, and which aims are met."""
    values = {
        store: [(row, of_row) for row in rows if (of_row := value(row, figures)) is not None]
        for store, figures in found.items()
    }
    return {
        "figures": dict(found),
        "medians": {
            store: {title: statistics.median(taken) for title, taken in figures.items()}
            for store, figures in found.items()
        },
        "ratios": {
            store: {row.title: of_row for row, of_row in of if isinstance(row, Ratio)}
            for store, of in values.items()
        },
        "aims": {
            store: {
                row.title: {"aim": str(aim), "figure": of_row, "is_met": aim.is_met(of_row)}
                for row, of_row in of
                if (aim := row.aims.get(store))
            }
            for store, of in values.items()
        },
    }


def table(head: str, rows: Sequence[Row], found: Mapping[str, Figures]) -> str:
    """Return a table with a column for each store; a row that no store has is left out."""
    cells = {row.title: [_cell(row, store, found[store]) for store in found] for row in rows}
    shown_rows = {title: each for title, each in cells.items() if any(each)}
    return grid(head, [STORES[store] for store in found], shown_rows)


def grid(head: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]) -> str:
    """Return a table of Markdown; the first column has the titles of the rows."""
    lines = [
        f"| {' | '.join([head, *columns])} |",
        f"| {' | '.join(['---', *('---:' for _ in columns)])} |",
        *(f"| {' | '.join([title, *cells])} |" for title, cells in rows.items()),
    ]
    return "\n".join(lines)


def _cell(row: Row, store: str, figures: Figures) -> str:
    figure = value(row, figures)
    if figure is None:
        return ""
    told = f"{figure:.2f}" if isinstance(row, Ratio) else shown(figures[row.title], row.digits)
    if aim := row.aims.get(store):
        told += f" ({aim}: {'met' if aim.is_met(figure) else 'missed'})"
    return told


def shown(figures: Sequence[float], digits: int = 0) -> str:
    """Return the median of figures, and the least and the most of them, if there are several."""
    median, least, most = (
        f"{figure:,.{digits}f}"
        for figure in (statistics.median(figures), min(figures), max(figures))
    )
    return median if len(figures) == 1 else f"{median} ({least} to {most})"
