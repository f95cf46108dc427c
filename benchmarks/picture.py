"""Pictures of what was measured, drawn from the JSON file alone.

``python -m benchmarks.picture FILE FOLDER``, or ``--picture FOLDER`` of the benchmarks themselves.
The same figures give the same bytes. Text stays text, and the ground is left to the page, be it
light or dark.
"""

import json
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, LogLocator, NullFormatter

from benchmarks.databases import STORES

__all__ = ["draw"]

OURS, OTHERS, LINE = "#2f81c7", "#9aa3ad", "#7d8590"
COLOURS = ("#2f81c7", "#d9822b", "#3f9b61", "#a371c9", "#c9515b", "#8a8f2f", "#1f9da8", "#b0688f")
WIDTH, BAR, ROOM = 8.0, 0.27, 0.9
"""Inches: of a picture, of a bar with its title, and of what a panel has around its bars."""

_STYLE: Any = {
    "axes.edgecolor": LINE,
    "axes.labelcolor": LINE,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.size": 9,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "legend.frameon": False,
    "legend.labelcolor": LINE,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "masthead",
    "text.color": LINE,
    "xtick.color": LINE,
    "ytick.color": LINE,
}
_TITLE: Any = {"fontsize": 9, "loc": "left"}
_WORK = {"one order": "9 one order", "list of 100": "7 list of 100 subscriptions"}
_SHARES = {
    "requests": (
        ("one order / static answer", "9 one order / static answer"),
        ("one order / bare loop", "9 one order / bare loop"),
        ("list of 100 / bare loop", "7 list of 100 subscriptions / bare loop"),
    ),
    "feed": (("feed of everything / bare loop", "bare loop / feed"),),
}


def draw(found: Mapping[str, Any], folder: Path) -> None:
    """Draw what there is into the folder: ``rates.svg``, ``shares.svg`` and ``growth.svg``."""
    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(_STYLE):
        if "requests" in found:
            _save(_rates(found["requests"]["compared"]), folder / "rates.svg")
        if shares := dict(_shares(found)):
            _save(_limits(shares), folder / "shares.svg")
        if found.get("growth"):
            _save(_growth(found["growth"]), folder / "growth.svg")


def _save(figure: Figure, file: Path) -> None:
    figure.savefig(file, metadata={"Date": None, "Creator": None})


def _rates(compared: Mapping[str, Mapping[str, Mapping[str, list[float]]]]) -> Figure:
    """Return bars of answers a second: a panel for each kind of work on each store."""
    most = max(len(of_work) for works in compared.values() for of_work in works.values())
    height = len(_WORK) * (most * BAR + ROOM)
    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    panels = figure.subplots(len(_WORK), len(compared), squeeze=False)
    for row, (title, work) in zip(panels, _WORK.items(), strict=True):
        for panel, (store, works) in zip(row, compared.items(), strict=True):
            rates = {who: statistics.median(taken) for who, taken in works[work].items()}
            _bars(panel, rates, "{:,.0f}")
            panel.set_title(f"{STORES[store]}: {title}, answers/s", **_TITLE)
    return figure


def _shares(found: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield each store with its shares of what a limit allows."""
    parts = {part: found[part]["ratios"] for part in _SHARES if part in found}
    for store in STORES:
        shares = {
            title: ratios[store][ratio]
            for part, ratios in parts.items()
            for title, ratio in _SHARES[part]
            if ratio in ratios.get(store, {})
        }
        if shares:
            yield store, shares


def _limits(shares: Mapping[str, Mapping[str, float]]) -> Figure:
    most = max(map(len, shares.values()))
    figure = Figure(figsize=(WIDTH, most * BAR + ROOM), layout="constrained")
    (panels,) = figure.subplots(1, len(shares), squeeze=False)
    for panel, (store, of_store) in zip(panels, shares.items(), strict=True):
        _bars(panel, of_store, "{:.0%}")
        panel.axvline(1, color=LINE, linewidth=0.8, linestyle=(0, (4, 3)), alpha=0.6)
        panel.set_title(f"{STORES[store]}: part of the limit", **_TITLE)
    return figure


def _bars(panel: Axes, figures: Mapping[str, float], form: str) -> None:
    titles = list(figures)
    colours = [OTHERS if "Masthead" in figures and who != "Masthead" else OURS for who in titles]
    bars = panel.barh(titles, list(figures.values()), color=colours, height=0.7)
    panel.bar_label(bars, [form.format(figure) for figure in figures.values()], padding=3)
    panel.invert_yaxis()
    panel.margins(x=0.22)
    panel.spines["bottom"].set_visible(False)
    panel.tick_params(axis="y", length=0)
    panel.set_xticks([])


def _growth(found: Mapping[str, Mapping[str, Mapping[str, Sequence[float]]]]) -> Figure:
    """Return curves of the time by the number of subscriptions, with both axes logarithmic."""
    figure = Figure(figsize=(WIDTH, 4.6), layout="constrained")
    (panels,) = figure.subplots(1, len(found), squeeze=False, sharey=True)
    for panel, (store, curves) in zip(panels, found.items(), strict=True):
        named = {title: times for title, times in curves.items() if "`" not in title}
        for title, times in curves.items():
            if _is_filter(title):
                _curve(panel, times, OTHERS, "each filter and search", linewidth=0.7)
        for colour, (title, times) in zip(cycle(COLOURS), named.items()):
            _curve(panel, times, colour, title, linewidth=1.6, marker="o", markersize=3)
        panel.set_xscale("log")
        panel.set_yscale("log")
        panel.set_xlabel("subscriptions")
        panel.set_title(STORES[store], **_TITLE)
        panel.xaxis.set_major_formatter(EngFormatter(sep=""))
        panel.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        panel.yaxis.set_major_formatter("{x:g}")
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.grid(axis="y", color=LINE, alpha=0.25, linewidth=0.6)
    panels[0].set_ylabel("ms")
    handles, titles = panels[0].get_legend_handles_labels()
    once = dict(zip(titles, handles, strict=True))
    figure.legend(once.values(), once, loc="outside lower center", ncols=3, fontsize=8)
    return figure


def _is_filter(title: str) -> bool:
    return "`" in title and "masthead" not in title


def _curve(
    panel: Axes, times: Mapping[str, Sequence[float]], colour: str, title: str, **style: Any
) -> None:
    sizes = sorted(times, key=int)
    medians = [statistics.median(times[size]) for size in sizes]
    panel.plot([int(size) for size in sizes], medians, color=colour, label=title, **style)


def main() -> None:
    """Draw what the file says into the folder."""
    file, folder = map(Path, sys.argv[1:])
    draw(json.loads(file.read_text()), folder)


if __name__ == "__main__":
    main()
