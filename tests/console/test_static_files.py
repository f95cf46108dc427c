"""Static files have a digest in their names, and are kept by browsers for a year."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

from masthead.console.static_files import static
from tests.console.browser import SIGN_IN

if TYPE_CHECKING:
    from tests.console.browser import Console

KEPT = "public, max-age=31536000, immutable"
_NAMED = re.compile(r'(?:href|src)="(/static/[^"]+)"')
_DIGEST = re.compile(r"\.([0-9a-f]{12})\.")


def test_what_pages_and_stylesheets_name_has_the_digest_of_its_content_and_is_kept(
    console: Console,
) -> None:
    """decisions, "Names of static files" and "The typeface of the console"."""
    browser = console.signed_in("viewer")
    named = set(_NAMED.findall(browser.get("/").text + browser.get(SIGN_IN).text))
    stylesheet = browser.get(static("console.css")).text
    fonts = re.findall(r'url\("([^"]+)"\)', stylesheet)
    assert len(fonts) == 2
    for path in (*named, *(f"/static/{font}" for font in fonts)):
        response = browser.get(path)
        assert response.status_code == 200, path
        assert response.headers["Cache-Control"] == KEPT
        (digest,) = _DIGEST.findall(path)
        assert hashlib.sha256(response.content).hexdigest().startswith(digest)
        assert browser.client.head(path).headers["Content-Length"] == str(len(response.content))
    types = {browser.get(path).headers["Content-Type"] for path in named}
    assert types == {
        "text/css; charset=utf-8",
        "text/javascript; charset=utf-8",
        "image/svg+xml",
    }


def test_a_name_without_its_digest_is_not_found_and_not_kept(console: Console) -> None:
    browser = console.browser()
    for name in ("console.css", "console.000000000000.css", "inter-LICENSE.txt", "..%2fapp.py"):
        response = browser.get(f"/static/{name}")
        assert response.status_code == 404
        assert response.headers["Cache-Control"] == "no-store"
