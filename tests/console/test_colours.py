"""The colours of the stylesheet have the contrast that people need, in both schemes."""

from __future__ import annotations

import re

import pytest

from masthead.console.static_files import FILES
from tests.servers import ROOT

TEXT = 4.5
"""WCAG 2.2, 1.4.3: text on its background."""

CONTROL = 3.0
"""WCAG 2.2, 1.4.11: borders of controls, the focus, and the bars and lines of plots."""

SURFACES = ("page", "card", "accent-soft")
PAIRS = [
    *((colour, surface, TEXT) for colour in ("ink", "quiet", "accent") for surface in SURFACES),
    *((kind, f"{kind}-soft", TEXT) for kind in ("good", "bad", "warn")),
    *(("ink", f"{kind}-soft", TEXT) for kind in ("good", "bad", "warn")),
    *((kind, "card", TEXT) for kind in ("good", "bad", "warn")),
    ("ink", "line", TEXT),
    ("accent-ink", "accent", TEXT),
    ("bad-ink", "bad", TEXT),
    *(("edge", surface, CONTROL) for surface in SURFACES),
    *((f"plot-{number}", "card", CONTROL) for number in range(8)),
]
"""A colour, what it stands on, and the contrast that it needs."""


def colours(scheme: str) -> dict[str, str]:
    """Return the colours of a scheme, ``light`` or ``dark``, by name, as ``#rrggbb``."""
    style = FILES.folder.joinpath("console.css").read_text()
    light, dark = re.findall(r":root \{(.+?)\}", style, re.DOTALL)[:2]
    found: dict[str, str] = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", light))
    if scheme == "dark":
        found |= dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", dark))
    return found


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours: WCAG 2.2, "contrast ratio"."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_each_colour_is_read_on_what_it_stands_on(scheme: str) -> None:
    """rules, "Looks of the console"."""
    named = colours(scheme)
    found = {(one, other): contrast(named[one], named[other]) for one, other, _ in PAIRS}
    assert not [
        (one, other, round(found[one, other], 2))
        for one, other, needed in PAIRS
        if found[one, other] < needed
    ]


def test_the_page_of_the_design_system_has_these_figures() -> None:
    """Each colour by its values, and each pair by its contrast."""
    page = (ROOT / "docs" / "design-system.md").read_text(encoding="utf-8")
    light, dark = colours("light"), colours("dark")
    named = re.findall(r"^\| `([\w-]+)` \| (#\w{6}) \| (#\w{6}) \|", page, re.MULTILINE)
    assert named == [(name, light[name], dark[name]) for name in light]
    told = re.findall(
        r"^\| `([\w-]+)` on `([\w-]+)` \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", page, re.MULTILINE
    )
    assert told == [
        (one, other, str(needed), *(f"{contrast(c[one], c[other]):.1f}" for c in (light, dark)))
        for one, other, needed in PAIRS
    ]


def test_both_schemes_name_the_same_colours() -> None:
    assert colours("light").keys() == colours("dark").keys()
    assert not [name for name, value in colours("dark").items() if value == colours("light")[name]]
