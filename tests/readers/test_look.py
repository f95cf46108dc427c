"""The stylesheet of the readers' pages: its colours can be read, in both schemes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from masthead import readers
from masthead.circulation.page_colours import DARK, LIGHT, TEXT, contrast
from masthead.readers import look

CONTROL = 3.0
"""WCAG 2.2, 1.4.11: borders of controls."""

GROUNDS = ("page", "card", "soft")
PAIRS = [
    *((colour, ground, TEXT) for colour in ("ink", "quiet", "link") for ground in GROUNDS),
    *((kind, f"{kind}-soft", TEXT) for kind in ("good", "bad", "warn")),
    *(("ink", f"{kind}-soft", TEXT) for kind in ("good", "bad", "warn")),
    ("bad", "card", TEXT),
    ("danger-ink", "bad", TEXT),
    ("brand-ink", "brand", TEXT),
    *(("edge", ground, CONTROL) for ground in GROUNDS),
]


def stylesheet() -> str:
    """Return the stylesheet that all publishers share."""
    return Path(readers.__file__).with_name("static").joinpath("readers.css").read_text()


def colours(scheme: str) -> dict[str, str]:
    """Return the colours of a scheme, ``light`` or ``dark``, by name, as ``#rrggbb``."""
    light, dark = re.findall(r":root \{(.+?)\}", stylesheet(), re.DOTALL)[:2]
    found: dict[str, str] = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    if scheme == "dark":
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark))
    return found


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_colour_is_read_on_what_it_stands_on(scheme: str) -> None:
    """decisions, "Colours of the readers' pages"."""
    named = colours(scheme)
    found = {(one, other): contrast(named[one], named[other]) for one, other, _ in PAIRS}
    assert not [
        (one, other, round(found[one, other], 2))
        for one, other, needed in PAIRS
        if found[one, other] < needed
    ]


def test_links_of_a_publisher_stand_on_the_grounds_of_the_stylesheet() -> None:
    """The rule of the colours knows what the stylesheet has."""
    for scheme, grounds in (("light", LIGHT), ("dark", DARK)):
        named = colours(scheme)
        assert {named["card"], named["page"], named["soft"]} == set(grounds)


def test_the_stylesheet_loads_nothing() -> None:
    """decisions, "Looks of the readers' pages": no fonts, and no pictures."""
    assert "url(" not in stylesheet()
    assert "@import" not in stylesheet()
    assert "@font-face" not in stylesheet()


def test_the_colours_of_a_publisher_are_a_stylesheet() -> None:
    made = look.stylesheet("#FFD400")
    assert "--brand: #ffd400; --brand-ink: #000000;" in made
    assert made.count("--link:") == 2


def test_a_logo_is_a_picture_of_a_data_url() -> None:
    found = look.logo("data:image/png;base64,aGVsbG8=")
    assert found == look.Picture("image/png", b"hello")


@pytest.mark.parametrize(
    "text", ["", "https://example.org/logo.png", "data:text/html;base64,aGVsbG8=", "data:image/png"]
)
def test_other_texts_are_no_logo(text: str) -> None:
    assert look.logo(text) is None


def test_the_icon_has_the_first_letter_of_the_publisher() -> None:
    assert ">H</text>" in look.icon("Harbor Press", "#1f4e79")
    assert ">&lt;</text>" in look.icon("<Press>", "#1f4e79")
