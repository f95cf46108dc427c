"""Callers of the interface: one account's credentials, and the ways a request can be made."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import httpx2

from tests.servers import KEPT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.api.other_servers import Served
    from tests.servers import Server

JSON_BODY = {"Content-Type": "application/json"}
FORM_BODY = {"Content-Type": "application/x-www-form-urlencoded"}

ENTITIES = (
    "customfields",
    "subscriptions",
    "subscribers",
    "addresses",
    "purchases",
    "listdownloads",
    "orders",
)
KEYS = {
    "customfields": "custom_fields",
    "subscriptions": "subscriptions",
    "subscribers": "subscribers",
    "addresses": "addresses",
    "purchases": "purchases",
    "listdownloads": "list_downloads",
    "orders": "orders",
}


@dataclass(frozen=True)
class RawAnswer:
    """A response as a socket gave it."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def error(self) -> str:
        """Return the sentence of the error body; fail where the body is anything else."""
        assert self.headers["content-type"] == "application/json"
        content = json.loads(self.body)
        assert list(content) == ["error"]
        assert isinstance(content["error"], str)
        assert content["error"]
        return content["error"]


def send_raw(server: Server | Served, request: bytes, *, method: str = "GET") -> RawAnswer:
    """Send exactly these bytes on a new connection and read one response, to that method."""
    with socket.create_connection(server.address, timeout=30) as connection:
        # Refused before all of it was read, the response is there all the same.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(request)
        answer = http.client.HTTPResponse(connection, method=method)
        answer.begin()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return RawAnswer(answer.status, headers, answer.read())


def basic(user: str, password: str) -> str:
    """Return the value of an Authorization header (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class Caller:
    """A client of one server with one account's credentials."""

    def __init__(self, server: Server | Served, api_key: str, api_login: str) -> None:
        """Open a connection that is kept between requests and never follows a redirect."""
        self.server = server
        self.api_key = api_key
        self.api_login = api_login
        self._client = httpx2.Client(
            base_url=server.url, auth=(api_key, api_login), timeout=30, limits=KEPT
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def ask(
        self,
        path: str,
        *parameters: tuple[str, str],
        method: str = "GET",
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        **named: Any,
    ) -> httpx2.Response:
        """Make a request whose parameters travel in the query string, as pairs or by name."""
        pairs = (*parameters, *((name, str(value)) for name, value in named.items()))
        return self._client.request(
            method, path, params=pairs or None, content=body, headers=dict(headers or {})
        )

    def ask_with_body(self, path: str, content: object) -> httpx2.Response:
        """Make a GET whose parameters travel in a JSON body."""
        return self.ask(path, body=json.dumps(content).encode(), headers=JSON_BODY)

    def ask_with_form(self, path: str, content: str) -> httpx2.Response:
        """Make a GET whose parameters travel in a form body."""
        return self.ask(path, body=content.encode(), headers=FORM_BODY)

    def answer(self, path: str, *parameters: tuple[str, str], **named: Any) -> str:
        """Return the text of a response that must be 200, as JSON in UTF-8, and not stored."""
        response = self.ask(path, *parameters, **named)
        assert response.status_code == 200, (response.status_code, response.text)
        assert response.headers["Content-Type"] == "application/json"
        assert response.headers["Cache-Control"] == "no-store"
        return response.content.decode("utf-8")

    def read(self, path: str, *parameters: tuple[str, str], **named: Any) -> Any:
        """Return what a response that must be 200 says."""
        return json.loads(self.answer(path, *parameters, **named))

    def refusal(self, status: int, path: str, *parameters: tuple[str, str], **named: Any) -> str:
        """Return the sentence of an error that must have this status."""
        return error_of(self.ask(path, *parameters, **named), status)

    def all_pages(self, path: str, **named: Any) -> list[list[Any]]:
        """Follow ``Link: …; rel="next"`` to the end and return the rows of each page."""
        pages: list[list[Any]] = []
        response = self.ask(path, **named)
        while True:
            assert response.status_code == 200, response.text
            ((_, rows),) = response.json().items()
            pages.append(rows)
            if "Link" not in response.headers:
                return pages
            target = next_page(response)
            response = self._client.get(target)

    def raw(self, target: str, *, method: str = "GET", extra: bytes = b"") -> RawAnswer:
        """Ask for the target exactly as written, over a socket of its own."""
        authorization = basic(self.api_key, self.api_login)
        head = (
            f"{method} {target} HTTP/1.1\r\nHost: masthead.test\r\n"
            f"Authorization: {authorization}\r\nConnection: close\r\n"
        )
        return send_raw(self.server, head.encode("utf-8") + extra + b"\r\n", method=method)


class Feed:
    """A client of the change feed that hands back the time that it was given."""

    def __init__(self, caller: Caller, through: str) -> None:
        """Start from a time that the server gave."""
        self.caller = caller
        self.through = through

    def poll(self, entities: Sequence[str] = ENTITIES) -> dict[str, list[dict[str, Any]]]:
        """Return what changed since the last poll, and move on."""
        response = self.caller.ask(
            "/2/cdc", changed_since=self.through, entities=",".join(entities)
        )
        assert response.status_code == 200, response.text
        self.through = response.headers["Masthead-Changes-Through"]
        content: dict[str, list[dict[str, Any]]] = response.json()
        assert set(content) == {KEYS[entity] for entity in entities}
        return content


def error_of(response: httpx2.Response, status: int) -> str:
    """Return the sentence of an error answer; fail where it is not one of this status."""
    assert response.status_code == status, (response.status_code, response.text)
    assert response.headers["Content-Type"] == "application/json"
    content = response.json()
    assert list(content) == ["error"]
    sentence = content["error"]
    assert isinstance(sentence, str)
    assert sentence
    return sentence


def next_page(response: httpx2.Response) -> str:
    """Return the target of ``Link: </…?…>; rel="next"``; fail where the header has another form."""
    link: str = response.headers["Link"]
    assert link.isascii()
    assert link.startswith(f"<{response.url.path}?")
    assert link.endswith('>; rel="next"')
    return link.removeprefix("<").removesuffix('>; rel="next"')


def query_of(target: str) -> dict[str, str]:
    """Return the parameters of a target by name."""
    pairs = parse_qsl(urlsplit(target).query, keep_blank_values=True, strict_parsing=True)
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def ids(rows: Sequence[Mapping[str, Any]], key: str) -> list[int]:
    """Return the ids of rows as numbers."""
    return [int(row[key]) for row in rows]
