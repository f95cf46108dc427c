"""What was measured, as one table of Markdown and as JSON."""

import statistics
from typing import TypedDict

__all__ = ["Rates", "Report", "report", "text"]

Rates = dict[str, list[float]]
"""Answers a second, of each round, by the title ``work, who did it``."""

_STATIC = "static answer"
_WORK = (_STATIC, "one order", "list of 100")
_LIMITS = ("short answer", "long answer")


class Report(TypedDict):
    """All figures of a run; ``ratios`` are those of the medians."""

    about: dict[str, str]
    requests_per_second: Rates
    medians: dict[str, float]
    ratios: dict[str, float]


def report(rates: Rates, about: dict[str, str]) -> Report:
    """Return the report of a run; ``about`` is what its figures depend on."""
    medians = {title: statistics.median(found) for title, found in rates.items()}
    ratios = {}
    for work in _WORK:
        ours = medians[f"{work}, Masthead"]
        ratios[f"{work} / {_STATIC}"] = ours / medians[f"{_STATIC}, Masthead"]
        if f"{work}, peer" in medians:
            ratios[f"{work}, Masthead / peer"] = ours / medians[f"{work}, peer"]
    return {"about": about, "requests_per_second": rates, "medians": medians, "ratios": ratios}


def text(found: Report) -> str:
    """Return the table, and below it the generator's own limits and what a run depends on."""
    lines = [
        "| requests/s: median (least to most) | Masthead | peer | Masthead / peer | / static |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for work in _WORK:
        cells = (
            work,
            _rate(found, f"{work}, Masthead"),
            _rate(found, f"{work}, peer"),
            _ratio(found, f"{work}, Masthead / peer"),
            _ratio(found, f"{work} / {_STATIC}"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    limits = ", ".join(f"{title} {_rate(found, f'{title}, nothing')}" for title in _LIMITS)
    lines += ["", f"generator's own limit: {limits}"]
    lines += [f"{name}: {value}" for name, value in found["about"].items()]
    return "\n".join(lines)


def _rate(found: Report, title: str) -> str:
    if title not in found["medians"]:
        return ""
    rates = found["requests_per_second"][title]
    return f"{found['medians'][title]:,.0f} ({min(rates):,.0f} to {max(rates):,.0f})"


def _ratio(found: Report, title: str) -> str:
    return f"{found['ratios'][title]:.2f}" if title in found["ratios"] else ""
