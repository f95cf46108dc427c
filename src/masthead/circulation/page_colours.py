"""The colours of the readers' pages, from the one that a publisher chose.

Text has a contrast of at least 4.5 with what it stands on (WCAG 2.2, 1.4.3), in the light and in
the dark scheme.
"""

from collections.abc import Iterable
from typing import NamedTuple

TEXT = 4.5
"""The contrast of text with its background that WCAG 2.2, 1.4.3, asks for."""

LIGHT = ("#ffffff", "#f6f5f2", "#eeece6")
"""What links stand on in the light scheme: cards, the page, and soft grounds."""

DARK = ("#201f1d", "#161614", "#2a2926")
"""The same in the dark scheme."""

_STEPS = 20


class Colours(NamedTuple):
    """The colours of a site, each as ``#rrggbb``.

    ``ink`` is the colour of text on ``brand``; ``link`` and ``link_dark`` are those of links.
    """

    brand: str
    ink: str
    link: str
    link_dark: str


def colours_of(brand: str) -> Colours:
    """Return the colours of a site from its ``#rrggbb``.

    Links have the publisher's colour, made darker (or lighter, in the dark scheme) until they can
    be read.
    """
    brand = brand.lower()
    return Colours(brand, ink_on(brand), _readable(brand, LIGHT, 0), _readable(brand, DARK, 255))


def ink_on(colour: str) -> str:
    """Return the colour of text that is read best on a colour: white or black."""
    return max("#ffffff", "#000000", key=lambda ink: contrast(ink, colour))


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours, from 1 to 21 (WCAG 2.2, "contrast ratio")."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _readable(colour: str, grounds: Iterable[str], end: int) -> str:
    """Return the colour, mixed with black (``end`` 0) or white (255) until it can be read."""
    grounds = tuple(grounds)
    for step in range(_STEPS):
        mixed = _mixed(colour, end, step / _STEPS)
        if all(contrast(mixed, ground) >= TEXT for ground in grounds):
            return mixed
    return _mixed(colour, end, 1)


def _mixed(colour: str, end: int, share: float) -> str:
    parts = (round(part + (end - part) * share) for part in _parts(colour))
    return "#" + "".join(f"{part:02x}" for part in parts)


def _parts(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def _luminance(colour: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (part / 255 for part in _parts(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
