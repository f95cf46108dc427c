"""Charts as SVG, without packages: in a page, opened alone, and in a file.

Colours are attributes, since the console's content security policy allows no style in a file. In a
page, and with a stylesheet, the classes take the colours of the page's scheme (decisions, "How
plots are drawn"). Widths are percentages, so text keeps its size on a phone.
"""

from collections.abc import Sequence
from html import escape
from math import ceil, floor, log10

from masthead.circulation.amounts import in_currency
from masthead.circulation.tables import Chart, Report, Series
from masthead.contract.moments import in_words

_COLOURS = ("#0b5d8c", "#c06a12", "#5c862c", "#a3222a", "#6c5b9c", "#56646f", "#2b8577", "#9c7c00")
"""The fills of the classes ``s0`` to ``s7`` outside a page."""

_LABEL_MAX = 40
_LINE, _BAR, _ROW, _PADDING = 18, 12, 40, 12
_TICKS_MAX = 4
_STEPS = (1, 2, 5, 10)
_HUNDRED = 100


def svg(report: Report, *, width: str = "100%", stylesheet: str = "") -> str:
    """Return the chart of a report as an SVG element: a line for each label, its sum, and its bar.

    ``width`` is that of the picture. With the URL of a ``stylesheet``, the result is a document
    that links to it.
    """
    chart = report.chart
    legend = [] if len(chart.series) == 1 else [each.name for each in chart.series]
    top = _PADDING + len(legend) * _LINE + (_PADDING if legend else 0)
    bottom = top + max(len(chart.labels), 1) * _ROW
    height = bottom + 2 * _LINE + _PADDING
    drawn = [_legend(number, name) for number, name in enumerate(legend)]
    if any(any(series.values) for series in chart.series):
        drawn += _bars(chart, top, bottom)
    else:
        drawn.append(_text("0", top + _LINE, "There is nothing to draw.", "quiet"))
    start = f'<?xml-stylesheet type="text/css" href="{escape(stylesheet)}"?>\n'
    about = " ".join(report.summary) or f"The number of {chart.unit}."
    return (
        f'{start if stylesheet else ""}<svg class="plot" xmlns="http://www.w3.org/2000/svg" '
        f'width="{width}" height="{height}" role="img" aria-labelledby="plot-title plot-about" '
        'font-family="Inter, system-ui, sans-serif" font-size="13">'
        f'<title id="plot-title">{escape(report.heading)}</title>'
        f'<desc id="plot-about">{escape(about)}</desc>'
        '<rect class="ground" width="100%" height="100%" fill="#ffffff"/>'
        f'<svg x="2%" width="96%" height="{height}" overflow="visible">{"".join(drawn)}</svg></svg>'
    )


def _legend(number: int, name: str) -> str:
    y = _PADDING + number * _LINE
    return _rect("0", y + 2, "12", 12, number, "") + _text("20", y + _BAR, name)


def _bars(chart: Chart, top: int, bottom: int) -> list[str]:
    """Return a row for each label, and below them the axis with its unit."""
    ticks = _ticks(chart)
    low, high = ticks[0], ticks[-1]

    def place(value: int) -> str:
        return f"{_HUNDRED * (value - low) / (high - low):.2f}%"

    drawn = []
    for tick in ticks:
        line = f'x1="{place(tick)}" x2="{place(tick)}" y1="{top}" y2="{bottom}"'
        drawn.append(f'<line class="grid" {line} stroke="#dde1e6"/>')
        anchor = "start" if tick == low else "end" if tick == high else "middle"
        text = f"{tick / _HUNDRED:,.0f}" if chart.is_money else f"{tick:,}"
        drawn.append(_text(place(tick), bottom + _LINE, text, "quiet", anchor))
    drawn.append(_text("0", bottom + 2 * _LINE + 2, f"in {chart.unit}", "quiet"))
    ends = [0] * len(chart.labels)
    for number, series in enumerate(chart.series):
        offsets = series.offsets or ends
        for row, (label, value, begin) in enumerate(
            zip(chart.labels, series.values, offsets, strict=True)
        ):
            if value:
                first, last = sorted((begin, begin + value))
                share = f"{_HUNDRED * (last - first) / (high - low):.2f}%"
                said = f"{in_words(label)}, {series.name}: {_said(value, chart)}"
                y = top + row * _ROW + _LINE
                drawn.append(_rect(place(first), y, share, _BAR, number, said))
        ends = [
            max(end, begin + value)
            for end, begin, value in zip(ends, offsets, series.values, strict=True)
        ]
    for row, label in enumerate(chart.labels):
        y = top + row * _ROW + _BAR
        whole = sum(series.values[row] for series in chart.series)
        drawn.append(_text("0", y, shortened(in_words(label))))
        drawn.append(_text("100%", y, _said(whole, chart), "value", "end"))
    return drawn


def _ticks(chart: Chart) -> list[int]:
    """Return the numbers at the axis, from 0 or less to at least the end of the longest bar."""
    least, most = _ends(chart.series, len(chart.labels))
    unit = _HUNDRED if chart.is_money else 1
    wide = max((most - least) / _TICKS_MAX, unit)
    power = 10 ** floor(log10(wide / unit)) * unit
    step = next(power * each for each in _STEPS if power * each >= wide)
    return list(range(floor(least / step) * step, ceil(max(most, 1) / step) * step + 1, step))


def _ends(series: Sequence[Series], rows: int) -> tuple[int, int]:
    least, ends = 0, [0] * rows
    for each in series:
        offsets = each.offsets or ends
        reached = [begin + value for begin, value in zip(offsets, each.values, strict=True)]
        least = min(least, *reached)
        ends = [max(pair) for pair in zip(ends, reached, strict=True)]
    return least, max(ends)


def _said(value: int, chart: Chart) -> str:
    return in_currency(value, chart.unit) if chart.is_money else f"{value:,}"


def _rect(x: str, y: int, width: str, height: int, number: int, title: str) -> str:
    number %= len(_COLOURS)
    return (
        f'<rect class="s{number}" x="{x}" y="{y}" width="{width}" height="{height}" '
        f'fill="{_COLOURS[number]}">{f"<title>{escape(title)}</title>" if title else ""}</rect>'
    )


def _text(x: str, y: int, text: str, name: str = "label", anchor: str = "start") -> str:
    return (
        f'<text class="{name}" x="{x}" y="{y}" fill="{"#535e6b" if name == "quiet" else "#1a2027"}"'
        f' text-anchor="{anchor}">{escape(text)}</text>'
    )


def shortened(label: str) -> str:
    """Return a label in at most 40 characters."""
    return label if len(label) <= _LABEL_MAX else f"{label[: _LABEL_MAX - 1]}…"
