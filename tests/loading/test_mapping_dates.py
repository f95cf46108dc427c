"""Dates of mapped files: forms, names of months, times, zones, and why a date is refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.loading.mapping_dates import DayOfMonth, date_reader, forms_of
from tests.long import examples

FORMS = ("M/D/YYYY", "D MMM YYYY", "MMM D, YYYY", "YYYY-MM", "MMM YY", "MMM YYYY")


def read(
    text: str,
    *forms: str,
    day: DayOfMonth | None = None,
    zone: str = "UTC",
    has_time: bool = False,
) -> str:
    return date_reader(forms or ("M/D/YYYY",), day, zone, has_time=has_time)(text)


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("12 janv. 2026", "2026-01-12", "2026-01-12"),
        ("1er août 2026", "2026-08-01", "2026-08-01"),
        ("January 3rd, 2026", "2026-01-03", "2026-01-03"),
        ("2/28/2028", "2028-02-28", "2028-02-28"),
        ("2028-02", "2028-02-01", "2028-02-29"),
        ("Sep 26", "2026-09-01", "2026-09-30"),
        ("Dezember 2026", "2026-12-01", "2026-12-31"),
        ("2026-06-05", "2026-06-05", "2026-06-05"),
    ],
)
def test_a_month_means_its_first_or_last_day(text: str, first: str, last: str) -> None:
    """rules, "Values of mapped files"."""
    assert read(text, *FORMS, day="first") == first
    assert read(text, *FORMS, day="last") == last


def test_in_a_column_of_months_the_first_day_that_a_spreadsheet_made_means_the_month() -> None:
    """rules, "Values of mapped files"."""
    assert read("2026-09-01", "MMM YY", day="last") == "2026-09-30"
    assert read("2026-09-01", "MMM YY", day="first") == "2026-09-01"
    assert read("2026-09-15", "MMM YY", day="last") == "2026-09-15"
    assert read("2026-09-01", "MMM YY", "D.M.YYYY", day="last") == "2026-09-01"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("7/1/2027 9:12 PM", "2027-07-01 21:12:00"),
        ("7/1/2027, 12:05:09 a.m.", "2027-07-01 00:05:09"),
        ("7/1/2027 12:05\u202fPM", "2027-07-01 12:05:00"),
        ("7/1/2027 21:12", "2027-07-01 21:12:00"),
        ("2027-07-01T21:12:00.123Z", "2027-07-01 21:12:00"),
        ("2027-07-01 21:12:00 UTC", "2027-07-01 21:12:00"),
        ("2027-07-01 21:12:00 -0400", "2027-07-02 01:12:00"),
        ("2027-07-01T21:12:00+05:30", "2027-07-01 15:42:00"),
    ],
)
def test_times_have_am_pm_and_zones(text: str, moment: str) -> None:
    assert read(text, has_time=True) == moment


def test_seconds_and_milliseconds_since_1970_are_moments_in_utc() -> None:
    """docs/mapping.md, "Values"."""
    for text in ("1731000000", "1731000000000", "1731000000.5"):
        assert read(text, "unix", has_time=True) == "2024-11-07 17:20:00"
        assert read(text, "D.M.YYYY", "unix", zone="Asia/Tokyo") == "2024-11-08"
    with pytest.raises(ValueError, match=r"^not a date written unix"):
        read("20241107", "unix")


def test_a_moment_is_in_the_zone_of_the_account_and_a_day_is_converted_only_from_utc() -> None:
    """decisions, "Zones in files"."""
    assert read("2026-12-30T23:00:00Z", zone="Europe/Berlin") == "2026-12-31"
    assert read("2026-12-30T23:00:00+00:00", zone="Europe/Berlin") == "2026-12-31"
    assert read("2026-12-31T00:00:00+01:00", zone="UTC") == "2026-12-31"
    assert read("2026-12-31T23:30:00-04:00", zone="Europe/Berlin") == "2026-12-31"
    moment = read("2026-12-31T23:30:00-04:00", zone="Europe/Berlin", has_time=True)
    assert moment == "2027-01-01 04:30:00"
    assert read("2026-12-31 23:30", zone="Europe/Berlin", has_time=True) == "2026-12-31 23:30:00"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("7/1/2027 9:12 CEST", "'CEST' after the time is neither AM, PM nor a zone such as Z or"),
        ("7/1/2027 21:12 PM", "there is no such day or time"),
        ("2/30/2027", "there is no such day or time"),
        ("7/1/2027 noon", "'noon' after the day is no time"),
        ("12 janv. 2026", "a name of a month needs a form with MMM, such as 'D MMM YYYY'"),
        ("lifetime", "if it means that there is none, list it under `empty`"),
        ("46388", "2027-01-01 as a number in a spreadsheet: give the column a format of dates"),
        ("1798761600", "seconds since 1970 need the form 'unix'"),
        ("2026-09", "a month without a day needs a form such as 'YYYY-MM', and day ="),
    ],
)
def test_a_refused_date_says_why(text: str, why: str) -> None:
    """rules, "Values of mapped files"."""
    with pytest.raises(ValueError, match=r"^not a date written M/D/YYYY: ") as refused:
        read(text)
    assert why in str(refused.value)
    with pytest.raises(ValueError, match="'jui' is no name of a month that is known"):
        read("12 jui 2026", "D MMM YYYY")


def test_forms_that_look_the_same_are_refused() -> None:
    """rules, "Values of mapped files": a date that could be read in two ways is not read."""
    for forms in (("D/M/YYYY", "M/D/YYYY"), ("D.M.YY", "YY.MM.DD"), ("MMM YYYY", "MMM YYYY")):
        with pytest.raises(ValueError, match="look the same"):
            forms_of(forms)
    assert len(forms_of(FORMS)) == len(FORMS)


@examples(300, 5_000)
@given(
    text=st.text("0123456789/-., :TZapmAPMejnv+", max_size=30) | st.text(max_size=10),
    has_time=st.booleans(),
)
def test_any_text_is_a_date_or_is_told_why_not(text: str, has_time: bool) -> None:
    try:
        found = read(text, *FORMS, day="last", zone="Pacific/Auckland", has_time=has_time)
    except ValueError as refused:
        assert str(refused).startswith("not a ")  # noqa: PT017
    else:
        assert len(found) == (19 if has_time else 10)
