"""Scales, figures and tables."""

from collections.abc import Mapping, Sequence
from statistics import median
from typing import NamedTuple

Figures = dict[str, list[float]]
"""The figures of all rounds, by title."""


class Scale(NamedTuple):
    """The size of a measurement; each benchmark uses the fields that apply to it."""

    stores: list[str]
    subscribers: int
    rounds: int
    seconds: float
    keep: str | None = None
    readers: int = 200


class Budget(NamedTuple):
    """The range in which docs/performance.md expects a figure."""

    at_least: float | None = None
    at_most: float | None = None

    def check(self, figure: float) -> str:
        """Return the budget in words, and whether the figure meets it."""
        if self.at_least is not None:
            met, words = figure >= self.at_least, f"at least {self.at_least:g}"
        elif self.at_most is not None:
            met, words = figure <= self.at_most, f"at most {self.at_most:g}"
        else:
            return ""
        return f" ({words}: {'met' if met else 'MISSED'})"


def add(figures: Figures, found: Mapping[str, float]) -> None:
    """Add the figures of one round."""
    for title, figure in found.items():
        figures.setdefault(title, []).append(figure)


def shown(figures: Sequence[float], digits: int = 0, budget: Budget | None = None) -> str:
    """Return the median, with the minimum and maximum if there are several figures."""
    text = f"{median(figures):,.{digits}f}"
    if len(figures) > 1:
        text += f" ({min(figures):,.{digits}f} to {max(figures):,.{digits}f})"
    return text + (budget.check(median(figures)) if budget else "")


def ratio(over: Sequence[float], under: Sequence[float], budget: Budget | None = None) -> str:
    """Return the ratio of two medians."""
    quotient = median(over) / median(under)
    return f"{quotient:.2f}" + (budget.check(quotient) if budget else "")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the first column holds the titles of the rows."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"
