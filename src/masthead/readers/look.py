"""The publisher's part of the look: the stylesheet with the colours, the logo, and the icon."""

import base64
import re
from html import escape
from typing import NamedTuple

from masthead.circulation.page_colours import colours_of

_DATA_URL = re.compile(r"data:(image/(?:png|jpeg|svg\+xml|webp|gif));base64,([A-Za-z0-9+/=\s]+)")


class Picture(NamedTuple):
    """An image: its media type and its bytes."""

    media_type: str
    content: bytes


def stylesheet(colour: str) -> str:
    """Return the stylesheet with the colours of a publisher, from one as ``#rrggbb``."""
    found = colours_of(colour)
    return (
        f":root {{ --brand: {found.brand}; --brand-ink: {found.ink}; --link: {found.link}; }}\n"
        f"@media (prefers-color-scheme: dark) {{ :root {{ --link: {found.link_dark}; }} }}\n"
    )


def logo(data_url: str) -> Picture | None:
    """Return the picture of a data URL; None if the text is none of an image in base64."""
    found = _DATA_URL.fullmatch(data_url.strip())
    if found is None:
        return None
    return Picture(found[1], base64.b64decode(found[2]))


def icon(name: str, colour: str) -> str:
    """Return the icon of a site as SVG: the first letter of the publisher's name."""
    found = colours_of(colour)
    letter = escape(name.strip()[:1].upper())
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">'
        f'<rect width="32" height="32" rx="6" fill="{found.brand}"/>'
        f'<text x="16" y="23" font-family="Georgia, serif" font-size="20" font-weight="700" '
        f'text-anchor="middle" fill="{found.ink}">{letter}</text></svg>'
    )
