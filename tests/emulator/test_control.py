"""The control port: what it refuses, and how it says so."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx2
import pytest

from masthead.emulator.control import BODY_BYTES_MAX, OPERATIONS, Control, control_app
from masthead.emulator.faults import Faults
from masthead.errors import BadInput, MastheadError
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from masthead.emulator import MastheadServer

TWICE = b'{"subscribers": [{"subscriber_id": 1}], "subscribers": [{"subscriber_id": 2}]}'
PAGE = (ROOT / "docs" / "testing.md").read_text()


def send(
    server: MastheadServer, method: str, path: str, body: bytes = b"", **headers: Any
) -> tuple[int, str]:
    """Return the status and the sentence of a response; ``Host`` is given as it is sent."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    url = server._control + path
    response = httpx2.request(method, url, content=body, headers=named)
    return response.status_code, str(response.json().get("error", ""))


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://pages.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:8001"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-origin"},
        {"Host": "pages.example"},
        {"Host": "127.0.0.1.pages.example"},
        {"Host": "localhost.pages.example:8001"},
    ],
    ids=str,
)
@pytest.mark.parametrize(("method", "path"), [("POST", "/reset"), ("GET", "/requests")])
def test_a_web_page_cannot_use_it(
    server: MastheadServer, method: str, path: str, headers: dict[str, Any]
) -> None:
    """rules, "The control port": neither a form, nor a script, nor a name that was rebound."""
    server.add("subscribers", {"subscriber_id": 1})
    status, sentence = send(server, method, path, **headers)
    assert status == 403
    assert "not for web pages" in sentence
    response = httpx2.get(f"{server.base_url}/2/subscribers/", auth=server.credentials)
    assert len(response.json()["subscribers"]) == 1


@pytest.mark.parametrize("host", ["localhost:1", "127.0.0.1", "[::1]:8001", "LOCALHOST"])
def test_a_program_calls_it_by_any_name_of_loopback(server: MastheadServer, host: str) -> None:
    assert send(server, "GET", "/clock", Host=host)[0] == 200


def test_it_listens_on_loopback_alone(server: MastheadServer) -> None:
    """rules, "The control port"."""
    assert urlsplit(server._control).hostname == "127.0.0.1"
    port = urlsplit(server._control).port
    assert port
    with socket.socket() as other:
        other.settimeout(5)
        assert other.connect_ex(("127.0.0.2", port)) != 0


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "sentence"),
    [
        ("GET", "/record", b"", 404, "there is no such path; there are /, /records, /clock"),
        ("PUT", "/records", b"{}", 405, "/records has POST, PATCH, DELETE"),
        ("GET", "/reset", b"", 405, "/reset has POST"),
        ("POST", "/records", b"{", 400, "the body is not valid JSON"),
        ("POST", "/records", b"[]", 400, "the body: Expected object, got array"),
        ("POST", "/records", b'{"subscribers": {}}', 400, "subscribers: Expected array, got"),
        ("POST", "/records", b"", 400, 'a body is missing, such as {"subscribers": ['),
        ("PATCH", "/records", b"", 400, "a body is missing"),
        ("DELETE", "/records", b"", 400, "a body is missing"),
        ("POST", "/records", b'{"subscribers": [7]}', 400, "not a JSON object"),
        (
            "POST",
            "/records",
            b'{"subscribers": [{"subscriber_id": 1, "email": "a", "email": "b"}]}',
            400,
            "the key email occurs twice",
        ),
        ("POST", "/records", TWICE, 400, "the key subscribers occurs twice; once is enough"),
        ("PATCH", "/records", TWICE, 400, "the key subscribers occurs twice"),
        ("DELETE", "/records", b'{"orders": [1], "orders": [2]}', 400, "the key orders occurs"),
        (
            "POST",
            "/records",
            b'{"subscribers": [{"subscriber_id": 1}], "\\u0073ubscribers": []}',
            400,
            "the key subscribers occurs twice",
        ),
        ("POST", "/clock", b'{"days": 1, "days": 2}', 400, "the key days occurs twice"),
        ("POST", "/records", b'{"subscribers": %s' % (b"[" * 100_000), 400, "nested too deeply"),
        ("POST", "/records/", b"{}", 404, "there is no such path; there are /, /records, /clock"),
        ("GET", "/clock/", b"", 404, "there is no such path"),
        ("POST", "/faults/slow/", b"{}", 404, "there is no such path"),
        ("POST", "/clock", b'{"weeks": 1}', 400, "unknown field weeks"),
        ("POST", "/clock", b'{"days": "1"}', 400, "days: Expected float, got str"),
        (
            "DELETE",
            "/records",
            b'{"subscribers": [1, 1.5]}',
            400,
            "subscribers[1]: Expected int | str, got float",
        ),
        ("DELETE", "/records", b'{"subscribers": [%s]}' % (b"9" * 5_000), 400, "subscribers[0]: "),
        ("DELETE", "/records", b'{"../subscribers": [1]}', 400, "no records called"),
        ("POST", "/records", b'{"../subscribers": [{}]}', 400, "no records called"),
        ("POST", "/records", b" " * (BODY_BYTES_MAX + 1), 413, "at most 64 MiB"),
    ],
    ids=lambda value: value[:20] if isinstance(value, bytes) else None,
)
def test_what_it_does_not_understand_gets_a_sentence(
    server: MastheadServer, method: str, path: str, body: bytes, status: int, sentence: str
) -> None:
    found = send(server, method, path, body)
    assert found[0] == status
    assert sentence in found[1]


def test_a_kind_that_is_given_twice_adds_nothing(server: MastheadServer) -> None:
    """rules, "The records of the emulator": all of a call or none."""
    assert send(server, "POST", "/records", TWICE)[0] == 400
    response = httpx2.get(f"{server.base_url}/2/subscribers/", auth=server.credentials)
    assert response.json() == {"subscribers": []}


@pytest.mark.parametrize("path", sorted({each.path for each in OPERATIONS} - {"/"}))
def test_no_spelling_of_a_path_is_a_redirect(server: MastheadServer, path: str) -> None:
    """Every response is JSON, an error one with a sentence."""
    for method in ("GET", "POST", "DELETE"):
        assert send(server, method, f"{path}/")[0] == 404


def test_its_own_mistakes_get_a_sentence_too() -> None:
    """No publisher stands behind this one, so each operation on it is such a mistake."""
    missing: Any = None
    app = control_app(Control(missing, Faults(), missing, ""), is_loopback=True)

    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(app, raise_app_exceptions=False)
        async with httpx2.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get("/clock")

    response = asyncio.run(ask())
    assert response.status_code == 500
    assert "the emulator made a mistake" in response.json()["error"]


def test_a_response_that_is_none_of_an_emulator_is_said_to_be_so(
    server: MastheadServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.faults.respond(503)
    monkeypatch.setattr(server, "_control", server.base_url)
    with pytest.raises(MastheadError, match="responds with 503") as refused:
        server.ask("GET", "/health")
    assert not isinstance(refused.value, BadInput)
    with pytest.raises(MastheadError, match="this is no response of an emulator: b'"):
        server.ask("GET", "/docs")


def test_a_record_may_be_written_in_several_lines(server: MastheadServer) -> None:
    body = b'{"subscribers": [{\r\n  "subscriber_id": 1,\n  "first_name": "A\\nB"\n}\n]}'
    assert send(server, "POST", "/records", body)[0] == 200
    response = httpx2.get(f"{server.base_url}/2/subscribers/", auth=server.credentials)
    assert response.json()["subscribers"][0]["first_name"] == "A\nB"


def test_nothing_is_added_by_an_empty_list(server: MastheadServer) -> None:
    assert send(server, "POST", "/records", b'{"subscribers": []}') == (200, "")
    assert send(server, "POST", "/records", b"{}") == (200, "")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: f"{each.method} {each.path}")
def test_each_operation_is_on_the_page_and_accepts_its_example(
    server: MastheadServer, operation: tuple[str, ...]
) -> None:
    method, path, _, meaning, example = operation
    shown = f"| `{method} {path}` | {f'`{example}`' if example else ''} | {meaning} |"
    assert shown.replace("|  |", "| |") in PAGE
    if (method in {"PATCH", "DELETE"} and path == "/records") or path == "/entitlement-codes":
        server.add("subscribers", {"subscriber_id": 1})
    assert send(server, method, path, example.encode())[0] == 200


def test_it_names_its_operations_and_where_the_publisher_is_served(server: MastheadServer) -> None:
    shown = server.ask("GET", "/")
    assert shown["base_url"] == server.base_url
    assert (shown["api_key"], shown["api_login"]) == server.credentials
    assert len(shown["operations"]) == len(OPERATIONS)
