"""The colours of the readers' pages, for any colour that a publisher chooses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.circulation.page_colours import (
    DARK,
    LIGHT,
    TEXT,
    colours_of,
    contrast,
    ink_on,
)

COLOURS = st.from_regex(r"#[0-9a-f]{6}", fullmatch=True)


@given(COLOURS)
def test_text_is_read_on_each_colour_that_a_publisher_chooses(brand: str) -> None:
    """decisions, "Colours of the readers' pages": WCAG 2.2, 1.4.3, in both schemes."""
    found = colours_of(brand)
    assert contrast(found.ink, found.brand) >= TEXT
    assert min(contrast(found.link, ground) for ground in LIGHT) >= TEXT
    assert min(contrast(found.link_dark, ground) for ground in DARK) >= TEXT


@given(COLOURS, COLOURS)
def test_a_contrast_is_the_same_both_ways(one: str, other: str) -> None:
    assert contrast(one, other) == contrast(other, one)
    assert 1 <= contrast(one, other) <= 21


def test_contrasts_are_those_of_the_standard() -> None:
    """WCAG 2.2: black on white has 21, and #767676 is the lightest grey that is read on white."""
    assert round(contrast("#000000", "#ffffff"), 2) == 21
    assert contrast("#767676", "#ffffff") >= TEXT > contrast("#777777", "#ffffff")


@pytest.mark.parametrize(("colour", "ink"), [("#ffd400", "#000000"), ("#1f4e79", "#ffffff")])
def test_ink_is_black_on_light_colours_and_white_on_dark_ones(colour: str, ink: str) -> None:
    assert ink_on(colour) == ink


def test_a_colour_that_is_read_stays_as_the_publisher_chose_it() -> None:
    assert colours_of("#1F4E79").link == "#1f4e79"
