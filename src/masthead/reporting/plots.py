"""Charts as PNG, drawn with Matplotlib, which the extra ``plots`` installs.

This module is imported only when a PNG is requested, so that other commands do not need
Matplotlib. It does not use ``pyplot``, which keeps figures in the process. ``svg_plots`` draws
SVG.
"""

import warnings
from io import BytesIO
from threading import Lock

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from masthead.circulation.tables import Chart, Report
from masthead.contract.moments import in_words
from masthead.reporting.svg_plots import shortened

_COLOURS = ("#1f5a7a", "#d98a29", "#8aa63c", "#a33b4a", "#6c5b9c", "#5f6b73", "#3f9c8f", "#c9b03a")
_WIDTH, _LEAST_HEIGHT, _GREATEST_HEIGHT, _LINE = 9.0, 3.2, 60.0, 0.34
_DPI = 120
_LOCK = Lock()
"""Matplotlib's settings and the warning filters are global to the process."""


def png(report: Report) -> bytes:
    """Return the chart of a report as a PNG.

    The bars are horizontal, in the order of the labels, so that long labels stay readable.
    """
    chart = report.chart
    height = min(max(_LEAST_HEIGHT, 1.6 + _LINE * len(chart.labels)), _GREATEST_HEIGHT)
    style = rc_context(
        {
            # Titles are publication names, which may contain any character.
            "text.parse_math": False,
            "font.size": 9,
        }
    )
    out = BytesIO()
    with _LOCK, style, warnings.catch_warnings():
        # The font lacks some letters of names: the picture shows boxes.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=(_WIDTH, height), dpi=_DPI, layout="constrained")
        axes = figure.add_subplot()
        axes.set_title(report.heading, loc="left")
        _bars(axes, chart)
        figure.savefig(out, format="png", metadata={"Software": "Masthead"})
    return out.getvalue()


def _bars(axes: Axes, chart: Chart) -> None:
    places = range(len(chart.labels))
    ends = [0] * len(chart.labels)
    for number, series in enumerate(chart.series):
        offsets = series.offsets or ends
        axes.barh(
            places,
            series.values,
            left=offsets,
            color=_COLOURS[number % len(_COLOURS)],
            label=series.name,
            height=0.7,
        )
        drawn = zip(ends, offsets, series.values, strict=True)
        ends = [max(end, offset + value) for end, offset, value in drawn]
    axes.set_yticks(places, [shortened(in_words(label)) for label in chart.labels])
    axes.invert_yaxis()
    axes.set_xlim(min([*ends, 0]), max([*ends, 1]) * 1.05)
    axes.set_xlabel(chart.unit)
    axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=not chart.is_money))
    axes.xaxis.set_major_formatter(
        FuncFormatter(lambda value, _: _amount(int(value)) if chart.is_money else f"{value:,.0f}")
    )
    axes.grid(axis="x", alpha=0.3)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if not any(any(series.values) for series in chart.series):
        axes.text(0.5, 0.5, "nothing", transform=axes.transAxes, ha="center", color="#777777")
    elif len(chart.series) > 1:
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _amount(cents: int) -> str:
    return f"{cents // 100:,}" if cents % 100 == 0 else f"{cents / 100:,.2f}"
