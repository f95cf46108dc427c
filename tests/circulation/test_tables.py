"""Tables of reports: they add up, their cells are written correctly, and they can be drawn."""

from __future__ import annotations

from datetime import date
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.efforts import EffortResult, renewals
from masthead.circulation.expiry_report import Expiring, Schedule, expiries
from masthead.circulation.liability import Booked, liability, months
from masthead.circulation.press_run import Moves, Served, circulation, press_run
from masthead.circulation.tables import Chart, Kind, Report, Series, lines, written
from masthead.reporting.plots import png
from masthead.reporting.svg_plots import svg
from tests.long import ONLY_LONG

texts = st.sampled_from([None, "", "A", "B", "NY", "$x$"])
counts = st.integers(0, 1000)
served_ones = st.lists(
    st.builds(
        Served,
        type=st.sampled_from(["Print", "Both", "Digital", ""]),
        of_class=st.sampled_from(["paid", "make-good", "grace", "unpaid", "staff", "hotel"]),
        classification=texts,
        request_type=texts,
        country=texts,
        state=texts,
        subscriptions=counts,
        copies=counts,
    )
)
bookings = st.lists(
    st.builds(
        Booked,
        publication_id=st.integers(1, 3),
        publication=st.just("P"),
        month=st.dates(date(2024, 1, 1), date(2027, 12, 31)).map(lambda day: f"{day:%Y-%m}"),
        kind=st.sampled_from(["received", "earned", "refunded"]),
        cents=st.integers(-1000, 100_000),
    )
)


def column(report: Report, name: str) -> list[int]:
    """Return the numbers of a column, without those of the totals."""
    place = [each.name for each in report.columns].index(name)
    return [int(row[place] or 0) for row in report.rows]


@given(served_ones)
def test_every_copy_of_a_press_run_is_in_one_row(served: list[Served]) -> None:
    report = press_run("t", served)
    assert sum(column(report, "copies")) == sum(each.copies for each in served)
    ((_, _, subscriptions, copies, *parts),) = report.totals
    parts, classes = parts[:3], parts[3:]
    assert subscriptions == sum(each.subscriptions for each in served)
    assert copies == sum(int(part or 0) for part in parts)
    good = sum(each.copies for each in served if each.of_class == "make-good")
    assert sum(int(part or 0) for part in classes) == int(parts[2] or 0) + good


@given(served_ones)
def test_every_group_of_a_circulation_adds_up_to_the_issue(served: list[Served]) -> None:
    """circulation, "Reports"."""
    report = circulation("t", ("now", "before"), served, Moves((1, 2), (3, 4), (5, 6)))
    whole = next(row for row in report.rows if row[0] == "this issue")
    for name in ("type", "classification", "request type", "state"):
        rows = [row for row in report.rows if row[0] == name]
        for place in range(2, 6):
            assert sum(int(row[place] or 0) for row in rows) == whole[place]
    assert int(whole[3] or 0) == int(whole[4] or 0) + int(whole[5] or 0)


@given(bookings)
def test_every_month_begins_with_what_the_one_before_left(booked: list[Booked]) -> None:
    """circulation, "Reports": opening + received - earned - refunded = closing."""
    found = months(booked)
    signs = {"received": 1, "earned": -1, "refunded": -1}
    for publication_id in {each.publication_id for each in booked}:
        own = [month for month in found if month.publication_id == publication_id]
        left = 0
        for month in own:
            assert month.opening == left
            left += month.received - month.earned - month.refunded
            assert month.closing == left
        of_it = [each for each in booked if each.publication_id == publication_id]
        assert left == sum(signs[each.kind] * each.cents for each in of_it)


@given(bookings, st.sampled_from(["", "2025-06"]))
def test_all_publications_together_add_up_too(booked: list[Booked], since: str) -> None:
    report = liability("t", booked, month="2026-01", currency="USD", since=since)
    for total in report.totals:
        opening, received, earned, refunded, closing = (int(cell or 0) for cell in total[2:])
        assert opening + received - earned - refunded == closing
        rows = [row for row in report.rows if row[1] == total[1]]
        assert closing == sum(int(row[6] or 0) for row in rows)


@given(
    st.lists(
        st.builds(
            Expiring,
            publication_id=st.integers(1, 2),
            expires=st.none() | st.dates(date(2020, 1, 1), date(2040, 1, 1)),
            subscriptions=counts,
            copies=counts,
            campaign=counts,
        )
    )
)
def test_every_subscription_expires_with_one_issue(expiring: list[Expiring]) -> None:
    names = {date(2026, month, 1): f"No. {month}" for month in range(1, 13)}
    schedules = {1: Schedule("Tide", names, 12, date(2026, 5, 1)), 2: Schedule("Weekly", {}, 52)}
    report = expiries("t", expiring, schedules)
    ((*_, subscriptions, copies, campaign),) = report.totals
    assert subscriptions == sum(each.subscriptions for each in expiring)
    assert copies == sum(column(report, "copies")) == sum(each.copies for each in expiring)
    assert campaign == sum(each.campaign for each in expiring)


def test_an_issue_is_the_last_one_of_what_expires_before_the_next() -> None:
    names = {date(2026, 1, 1): "January", date(2026, 2, 1): "February"}
    schedules = {1: Schedule("Tide", names, 12, date(2026, 1, 1))}
    days = ("2025-12-31", "2026-01-31", "2026-02-28", "2026-04-30", "2026-05-01")
    expiring = [Expiring(1, date.fromisoformat(day), 1, 1, 0) for day in days]
    report = expiries("t", expiring, schedules)
    assert [row[1:4] for row in report.rows] == [
        ("earlier issues", "", 1),
        ("January", "2026-01-01", 1),
        ("February", "2026-02-01", 1),
        ("(not planned)", "2026-04-01", 1),
        ("(not planned)", "2026-05-01", 1),
    ]


def test_the_letters_of_an_effort_renewed_went_on_or_wait() -> None:
    report = renewals(
        "t", [EffortResult("Tide", 1, 3, 3, 1, 1), EffortResult("Tide", 2, None, 0, 0, 0)]
    )
    assert report.rows == (("Tide", 1, 3, 3, 1, 1, 1, 333), ("Tide", 2, None, 0, 0, 0, 0, None))
    assert lines(report)[7].endswith("33.3")


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1250, Kind.MONEY, "12.50"),
        (-5, Kind.MONEY, "-0.05"),
        (-125, Kind.MONEY, "-1.25"),
        (0, Kind.MONEY, "0.00"),
        (1000, Kind.SHARE, "100.0"),
        (5, Kind.SHARE, "0.5"),
        (-1, Kind.COUNT, "-1"),
        (None, Kind.MONEY, ""),
        ("NY", Kind.TEXT, "NY"),
    ],
)
def test_how_a_cell_is_written(value: str | int | None, kind: Kind, text: str) -> None:
    assert written(value, kind) == text


ODD = Series("<s>", (0, 3), (2, 0))
CHARTS = {
    "nothing": Chart((), (), "copies"),
    "odd names": Chart(("a" * 60, "<b>"), (ODD,), "copies"),
    "money": Chart(("2026-03",), (Series("a", (-100,)), Series("b", (250,))), "EUR", is_money=True),
    "many": Chart(tuple(map(str, range(120))), (Series("a", tuple(range(120))),), "copies"),
}


def report_of(name: str) -> Report:
    return Report("日本 & Coast, $5 a copy$", (), (), (), CHARTS[name], ("Three <copies>.",))


@ONLY_LONG
@pytest.mark.parametrize("name", CHARTS)
def test_a_png_is_the_same_picture_every_time(name: str) -> None:
    assert png(report_of(name)) == png(report_of(name))


@pytest.mark.parametrize("name", CHARTS)
def test_an_svg_says_its_values_and_has_no_style_of_its_own(name: str) -> None:
    """decisions, "How plots are drawn": a browser's policy allows attributes, and no styles."""
    drawn = svg(report_of(name), stylesheet="/static/console.css")
    root = ET.fromstring(drawn)
    assert root.attrib["role"] == "img"
    named = {each.attrib.get("id"): each.text for each in root}
    assert (named["plot-title"], named["plot-about"]) == (
        "日本 & Coast, $5 a copy$, all that is booked",
        "Three <copies>.",
    )
    assert "style=" not in drawn
    assert "<style" not in drawn
    assert drawn.startswith('<?xml-stylesheet type="text/css" href="/static/console.css"?>')
    said = [each.text for each in root.iter("{http://www.w3.org/2000/svg}title")][1:]
    if name == "money":
        assert said == ["March 2026, a: -1.00 EUR", "March 2026, b: 2.50 EUR"]
    if name == "odd names":
        assert said == ["<b>, <s>: 3"]
    if name == "nothing":
        assert "There is nothing to draw." in drawn


@given(
    st.lists(st.tuples(st.integers(-(10**9), 10**9), st.integers(0, 10**9)), max_size=4),
    st.booleans(),
)
def test_each_bar_is_within_the_axis(pairs: list[tuple[int, int]], is_money: bool) -> None:
    one, two = zip(*pairs, strict=True) if pairs else ((), ())
    chart = Chart(
        tuple(map(str, range(len(pairs)))),
        (Series("a", one), Series("b", two)),
        "USD",
        is_money=is_money,
    )
    root = ET.fromstring(svg(Report("t", (), (), (), chart)))
    for bar in root.iter("{http://www.w3.org/2000/svg}rect"):
        if bar.attrib.get("x", "").endswith("%") and bar.attrib["width"].endswith("%"):
            first, width = (float(bar.attrib[name][:-1]) for name in ("x", "width"))
            assert -0.01 <= first <= first + width <= 100.02


def test_copies_are_counted_by_their_class() -> None:
    """decisions, "What counts as paid": a make-good does, other free copies do not."""
    classes = {"paid": 5, "make-good": 2, "grace": 3, "unpaid": 1, "staff": 4, "hotel": 7}
    served = [
        Served("Print", name, None, None, None, None, 1, copies) for name, copies in classes.items()
    ]
    report = press_run("A run", served)
    names = [column.name for column in report.columns]
    found = dict(zip(names, report.totals[0], strict=True))
    assert (found["copies"], found["paid"], found["grace"], found["other"]) == (22, 7, 3, 12)
    assert names[7:] == ["staff", "make-good", "unpaid", "hotel"]
    assert [found[name] for name in names[7:]] == [4, 2, 1, 7]
    rows = circulation("One", ("One", "None"), served, Moves((0, 0), (6, 22), (0, 0))).rows
    by_class = {row[1]: row[3:6] for row in rows if row[0] == "class"}
    assert by_class["make-good"] == (2, 2, 0)
    assert by_class["staff"] == (4, 0, 4)
