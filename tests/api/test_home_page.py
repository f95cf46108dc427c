"""The page at / and the user documentation at /manual."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx2
import pytest

from masthead import __version__
from masthead.api.operations.manual import PAGES
from tests.api.callers import error_of
from tests.servers import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.api.conftest import House

# What Chromium and Firefox send, in short.
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
LINKS = re.compile(r'(?:href|src)="([^"]+)"')


@pytest.fixture(scope="module")
def browser(gate: House) -> Iterator[httpx2.Client]:
    """A browser without credentials, as far as the server can tell."""
    with httpx2.Client(base_url=gate.server.url, headers=BROWSER, timeout=30) as client:
        yield client


def test_a_browser_sees_what_this_is_and_which_version(browser: httpx2.Client) -> None:
    """rules, "The page at /"."""
    response = browser.get("/")
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "text/html; charset=utf-8"
    assert response.headers["Vary"] == "Accept"
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert f"<small>{__version__}</small>" in response.text
    assert {"./docs", "./health", "./manual", "./openapi.json"} <= set(LINKS.findall(response.text))
    assert "{" not in response.text
    assert "demo" not in response.text


@pytest.mark.parametrize("accept", ["*/*", "application/json", "", None])
def test_a_program_gets_404_there_as_before(browser: httpx2.Client, accept: str | None) -> None:
    """rules, "The page at /"."""
    request = browser.build_request("GET", "/", headers={"Accept": accept or ""})
    if accept is None:
        del request.headers["Accept"]
    response = browser.send(request)
    sentence = error_of(response, 404)
    assert sentence == error_of(browser.get("/there/is/no/such/path"), 404)
    assert response.headers["Vary"] == "Accept"


def test_head_and_a_page_that_is_known_already(browser: httpx2.Client) -> None:
    got, head = browser.get("/"), browser.head("/")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["Content-Length"] == str(len(got.content))
    again = browser.get("/", headers={"If-None-Match": got.headers["ETag"]})
    assert again.status_code == 304
    assert browser.post("/").status_code == 405


@pytest.mark.parametrize("prefix", ["", "/behind/a/proxy"])
@pytest.mark.parametrize(
    "page",
    [
        *(
            "/",
            "/manual",
            "/manual/",
            "/manual/integrator",
            "/manual/security/",
            "/manual/console-pages",
        ),
        *("/manual/reference", "/manual/reference-settings/", "/manual/search"),
    ],
)
def test_each_link_leads_somewhere_behind_a_prefix_too(
    browser: httpx2.Client, page: str, prefix: str
) -> None:
    """rules, "Trailing slash"; "The user documentation"; test_manual.py has all pages."""
    response = browser.get(page)
    assert response.status_code == 200
    here = f"http://host{prefix}{page}"
    assert len(LINKS.findall(response.text)) >= 4
    for link in LINKS.findall(response.text):
        if urlsplit(link).scheme:
            continue
        target, anchor = urldefrag(urljoin(here, unescape(link)))
        path = urlsplit(target).path
        assert path.startswith(f"{prefix}/")
        found = browser.get(path.removeprefix(prefix))
        assert found.status_code == 200
        assert not anchor or f'id="{anchor}"' in found.text, f"{page} leads to {link}"


def test_all_pages_of_the_documentation_are_served_and_packed() -> None:
    """rules, "The user documentation"."""
    names = {path.stem for path in (ROOT / "docs").glob("*.md")}
    assert set(PAGES) == names
    packed = re.findall(
        r'^"docs/([a-z-]+)\.md" = "masthead/manual/\1\.md"$',
        (ROOT / "pyproject.toml").read_text(),
        re.MULTILINE,
    )
    assert set(packed) == names


def test_a_page_of_the_documentation_shows_code_and_tables(browser: httpx2.Client) -> None:
    """rules, "The user documentation"."""
    text = browser.get("/manual/integrator").text
    assert "<h1" in text
    assert '<div class="code"><pre tabindex="0"><code>' in text
    assert "<table>" in text
    assert "<title>For the integrator · Masthead</title>" in text
    error_of(browser.get("/manual/nothing"), 404)
