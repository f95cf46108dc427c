"""What was measured on each store, as one table of Markdown and as JSON."""

import statistics
from collections.abc import Sequence
from typing import NamedTuple, TypedDict

from benchmarks.databases import STORES

__all__ = ["Figures", "Measured", "Ratio", "Report", "Row", "report", "shown", "text"]

Figures = dict[str, list[float]]
"""The figures of each round, by what was measured."""


class Measured(NamedTuple):
    """A row of the table: the figures of this title."""

    title: str
    digits: int = 0


class Ratio(NamedTuple):
    """A row of the table: how many times one median is the other."""

    title: str
    of: str
    to: str


Row = Measured | Ratio


class Report(TypedDict):
    """All that a run found, by store; ``ratios`` are those of the medians."""

    about: dict[str, str]
    figures: dict[str, Figures]
    medians: dict[str, dict[str, float]]
    ratios: dict[str, dict[str, float]]


def report(found: dict[str, Figures], rows: Sequence[Row], about: dict[str, str]) -> Report:
    """Return the report of a run; ``about`` is what its figures depend on."""
    medians = {
        store: {title: statistics.median(taken) for title, taken in figures.items()}
        for store, figures in found.items()
    }
    ratios = {
        store: {
            row.title: of_store[row.of] / of_store[row.to]
            for row in rows
            if isinstance(row, Ratio) and row.of in of_store and row.to in of_store
        }
        for store, of_store in medians.items()
    }
    return {"about": about, "figures": found, "medians": medians, "ratios": ratios}


def text(head: str, rows: Sequence[Row], found: Report) -> str:
    """Return the table, with a column for each store, and below it what its figures depend on."""
    stores = list(found["figures"])
    lines = [
        f"| {' | '.join([head, *(STORES[store] for store in stores)])} |",
        f"| {' | '.join(['---', *('---:' for _ in stores)])} |",
    ]
    for row in rows:
        cells = (_cell(row, store, found) for store in stores)
        lines.append(f"| {' | '.join([row.title, *cells])} |")
    lines += ["", *(f"{name}: {value}" for name, value in found["about"].items())]
    return "\n".join(lines)


def _cell(row: Row, store: str, found: Report) -> str:
    if isinstance(row, Ratio):
        ratio = found["ratios"][store].get(row.title)
        return "" if ratio is None else f"{ratio:.2f}"
    figures = found["figures"][store].get(row.title)
    return shown(figures, row.digits) if figures else ""


def shown(figures: list[float], digits: int = 0) -> str:
    """Return the median of figures, and the least and the most of them."""
    median, least, most = (
        f"{figure:,.{digits}f}"
        for figure in (statistics.median(figures), min(figures), max(figures))
    )
    return f"{median} ({least} to {most})"
