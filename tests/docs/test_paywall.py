"""The site of docs/paywall.md lets readers in, and asks Masthead no more often than it says."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from starlette.testclient import TestClient

from masthead.emulator import MastheadServer
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.applications import Starlette

PAGE = (ROOT / "docs" / "paywall.md").read_text()
(SITE,) = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
READER: dict[str, Any] = {"subscriber_id": 1, "email": "ann@reader.example", "password": "secret"}
OTHER: dict[str, Any] = {"subscriber_id": 2, "email": "ben@reader.example", "password": "secret"}
ANN = {"login": READER["email"], "password": "secret"}
BEN = {"login": OTHER["email"], "password": "secret"}


def site_app(emulator: MastheadServer, monkeypatch: pytest.MonkeyPatch) -> Starlette:
    """Return the site of the page, for an emulator."""
    monkeypatch.setenv("MASTHEAD_URL", emulator.base_url)
    monkeypatch.setenv("MASTHEAD_PAIR", ":".join(emulator.credentials))
    monkeypatch.setenv("MASTHEAD_AUDIENCE", "account-1")
    monkeypatch.setenv("MASTHEAD_ISSUER", "masthead")
    scope: dict[str, Any] = {}
    exec(compile(SITE, "paywall.md", "exec"), scope)
    app: Starlette = scope["app"]
    return app


@pytest.fixture(scope="module")
def emulator() -> Iterator[MastheadServer]:
    """A publisher with a reader of the digital paper, and one of the printed paper."""
    with MastheadServer() as server:
        server.add("publications", {"publication_id": 2, "name": "The Northfield Weekly"})
        server.add("subscribers", READER, OTHER)
        for key, type_ in ((1, "Digital"), (2, "Print")):
            ids = {"subscription_id": key, "subscriber_id": key, "publication_id": 2}
            server.add("subscriptions", {**ids, "type": type_})
        yield server


@pytest.fixture
def site(emulator: MastheadServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A browser at the site of the page."""
    emulator.ask("DELETE", "/requests")
    with TestClient(site_app(emulator, monkeypatch)) as client:
        yield client


def asked(emulator: MastheadServer) -> list[str | None]:
    return [made.path for made in emulator.requests]


def test_a_stranger_sees_the_first_lines(site: TestClient, emulator: MastheadServer) -> None:
    response = site.get("/article")
    assert response.status_code == 402
    assert "The first lines." in response.text
    assert asked(emulator) == [], "nobody is asked about a stranger"


def test_a_reader_who_signs_in_is_asked_about_once(
    site: TestClient, emulator: MastheadServer
) -> None:
    assert site.post("/sign-in", data=ANN).text == "The whole article."
    for _ in range(5):
        assert site.get("/article").text == "The whole article."
    assert asked(emulator) == ["/entitlements", "/.well-known/jwks.json"]


def test_the_cookie_ends_with_the_token(site: TestClient) -> None:
    response = site.post("/sign-in", data=ANN, follow_redirects=False)
    cookie = response.headers["Set-Cookie"]
    assert "Max-Age=86400" in cookie
    assert "HttpOnly" in cookie


def test_a_wrong_password_and_a_printed_paper_let_nobody_in(site: TestClient) -> None:
    response = site.post("/sign-in", data={**ANN, "password": "a guess"})
    assert response.status_code == 403
    assert site.post("/sign-in", data=BEN).status_code == 402


def test_a_reader_comes_from_the_readers_pages(site: TestClient, emulator: MastheadServer) -> None:
    code = emulator.entitlement_code(1)
    assert site.get(f"/from-readers-pages?code={code}").text == "The whole article."
    site.cookies.clear()
    assert site.get(f"/from-readers-pages?code={code}").status_code == 403


def test_a_token_that_was_changed_or_is_over_lets_nobody_in(
    site: TestClient, emulator: MastheadServer
) -> None:
    site.post("/sign-in", data=ANN)
    token = site.cookies["entitlements"]
    head, body, signature = token.split(".")
    site.cookies.clear()
    for forged in (f"{head}.{body}.{signature[::-1]}", f"{head}.{body}.", "x", "a.b.c"):
        assert site.get("/article", headers={"Cookie": f"entitlements={forged}"}).status_code == 402
    emulator.clock.move(days=-2)
    code = emulator.entitlement_code(1)
    emulator_now = emulator.clock.now
    response = site.get(f"/from-readers-pages?code={code}", follow_redirects=False)
    over = response.headers["Set-Cookie"].partition(";")[0]
    emulator.clock.move(days=2)
    assert emulator_now < datetime.now(UTC) - timedelta(days=1)
    assert site.get("/article", headers={"Cookie": over}).status_code == 402


def test_while_masthead_is_away_readers_stay_in(site: TestClient, emulator: MastheadServer) -> None:
    site.post("/sign-in", data=ANN)
    emulator.faults.respond(503, requests=20)
    assert site.get("/article").text == "The whole article."
    site.cookies.clear()
    assert site.post("/sign-in", data=ANN).status_code == 503
    emulator.faults.clear()


def test_the_page_says_how_the_small_site_is_started_and_nginx_finds_it_there() -> None:
    """The readers' pages have port 8003 by themselves."""
    ((name, port),) = re.findall(r"`uvicorn (\w+):app --port (\d+)`", PAGE)
    assert f"Save it as `{name}.py`" in PAGE
    assert set(re.findall(r"proxy_pass http://127.0.0.1:(\d+);", PAGE)) == {port}
    assert port not in {"8000", "8003"}
