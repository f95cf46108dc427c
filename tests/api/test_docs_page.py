"""The description at /openapi.json, the page at /docs, and the files that they need.

A browser tries the page itself in ``tests/system``.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

import httpx2
import pytest

from tests.api.callers import error_of
from tests.servers import masthead

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.api.conftest import House

PAGES = ("/docs", "/docs/")
FILES = (
    ("/openapi.json", "application/json"),
    ("/docs", "text/html; charset=utf-8"),
    ("/docs/docs.js", "text/javascript; charset=utf-8"),
    ("/docs/assets/swagger-ui-bundle.js", "text/javascript; charset=utf-8"),
    ("/docs/assets/swagger-ui.css", "text/css; charset=utf-8"),
    ("/pages.css", "text/css; charset=utf-8"),
    ("/favicon.svg", "image/svg+xml"),
    ("/favicon.ico", "image/svg+xml"),
    ("/docs/assets/LICENSE", "text/plain; charset=utf-8"),
    ("/docs/assets/NOTICES", "text/plain; charset=utf-8"),
)


@pytest.fixture(scope="module")
def visitor(gate: House) -> Iterator[httpx2.Client]:
    """A client without credentials."""
    with httpx2.Client(base_url=gate.server.url, timeout=30) as client:
        yield client


@pytest.mark.parametrize(("path", "media_type"), FILES)
def test_anybody_may_read_the_description_and_the_page(
    visitor: httpx2.Client, path: str, media_type: str
) -> None:
    """rules, "What needs no credentials"."""
    for answered in (path, path + "/"):
        answer = visitor.get(answered)
        assert answer.status_code == 200
        assert answer.headers["Content-Type"] == media_type
        assert answer.content


@pytest.mark.parametrize(("path", "media_type"), FILES)
def test_head_has_the_headers_of_get(visitor: httpx2.Client, path: str, media_type: str) -> None:
    got, head = visitor.get(path), visitor.head(path)
    assert head.status_code == 200
    assert head.content == b""
    for name in ("Content-Type", "Content-Length", "ETag", "Cache-Control"):
        assert head.headers[name] == got.headers[name]


@pytest.mark.parametrize("path", [path for path, _ in FILES])
def test_who_has_a_file_already_is_not_sent_it_again(visitor: httpx2.Client, path: str) -> None:
    tag = visitor.get(path).headers["ETag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = visitor.get(path, headers={"If-None-Match": known})
        assert again.status_code == 304
        assert again.content == b""
        assert again.headers["ETag"] == tag
    assert visitor.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_the_server_and_the_command_give_the_same_description(
    visitor: httpx2.Client, gate: House
) -> None:
    printed = masthead("openapi", database=gate.database).stdout
    assert visitor.get("/openapi.json").json() == json.loads(printed)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("prefix", ["", "/behind/a/proxy"])
def test_all_links_of_the_page_work_behind_a_prefix_too(
    visitor: httpx2.Client, page: str, prefix: str
) -> None:
    """rules, "Trailing slash": the page answers under both paths, and its links fit both."""
    html = visitor.get(page).text
    links = re.findall(r'(?:href|src)="([^"]+)"', html)
    assert len(links) >= 6
    for link in links:
        assert not urlsplit(link).scheme
        path = urlsplit(urljoin(f"http://host{prefix}{page}", link)).path
        assert path.startswith(f"{prefix}/")
        browser = {"Accept": "text/html"}
        assert visitor.get(path.removeprefix(prefix), headers=browser).status_code == 200


@pytest.mark.parametrize("page", PAGES)
def test_the_page_allows_only_what_this_server_sends(visitor: httpx2.Client, page: str) -> None:
    answer = visitor.get(page)
    policy = dict(
        part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";")
    )
    assert policy["default-src"] == "'self'"
    assert "script-src" not in policy
    assert policy["frame-ancestors"] == "'none'"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", answer.text, re.DOTALL)
    assert scripts == ["", ""], "a script in the page itself would not run"


def test_the_licence_of_the_page_s_files_is_served(visitor: httpx2.Client) -> None:
    """rules, "The page at /docs"."""
    assert "Apache License" in visitor.get("/docs/assets/LICENSE").text
    assert "MIT" in visitor.get("/docs/assets/NOTICES").text


@pytest.mark.parametrize("page", PAGES)
def test_only_a_demo_shows_credentials(visitor: httpx2.Client, page: str) -> None:
    """rules, "The page at /docs"."""
    for word in ("demo-key", "use-demo", "{"):
        assert word not in re.sub(r"<code>.*?</code>", "", visitor.get(page).text)


def test_no_other_file_is_served(visitor: httpx2.Client, subtests: pytest.Subtests) -> None:
    for name in (
        *("swagger-ui.js", "oauth2-redirect.html", "..%2f__init__.py", "%2e%2e/__init__.py"),
        "",
    ):
        with subtests.test(name=name):
            error_of(visitor.get(f"/docs/assets/{name}"), 404)


def test_these_paths_too_only_read(visitor: httpx2.Client, subtests: pytest.Subtests) -> None:
    """rules, "Methods"."""
    for path, _ in FILES:
        with subtests.test(path=path):
            answer = visitor.post(path)
            error_of(answer, 405)
            assert answer.headers["Allow"] == "GET, HEAD"
