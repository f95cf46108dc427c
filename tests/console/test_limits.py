"""What the console accepts: as much, and for as long, as ``masthead serve`` does.

decisions, "Limits of the console's server".
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from masthead.http_server import protocol
from tests.console.browser import serving_console
from tests.console.test_responses import HEADERS
from tests.hostile.wire import answers_in
from tests.long import ON_BOTH

if TYPE_CHECKING:
    import pytest

    from tests.api.callers import RawAnswer
    from tests.circulation.desk import Desk
    from tests.console.browser import Console

HEAD = b"GET /sign-in HTTP/1.1\r\nHost: x\r\n"
POST = b"POST /sign-in HTTP/1.1\r\nHost: x\r\nSec-Fetch-Site: same-origin\r\n"
CLOSE = b"Connection: close\r\n\r\n"
WAIT_S = 30


def ask(console: Console, *pieces: bytes) -> list[RawAnswer]:
    """Send the pieces until the console closes the connection; return its answers."""
    place = urlsplit(console.url)
    received = b""
    with socket.create_connection((place.hostname, place.port), WAIT_S) as client:
        with suppress(ConnectionError):
            for piece in pieces:
                client.sendall(piece)
        with suppress(ConnectionError):
            while piece := client.recv(65_536):
                received += piece
    return list(answers_in(received))


def refused(console: Console, *pieces: bytes) -> int:
    """Return the status of the one answer, which is a page that is as safe as any other."""
    (answer,) = ask(console, *pieces)
    assert answer.body.startswith(b"<!doctype html>"), answer
    seen = {name: answer.headers.get(name.lower()) for name in HEADERS}
    assert seen == HEADERS
    return answer.status


def test_a_head_that_is_too_long_is_refused_as_soon_as_it_is(console: Console) -> None:
    """The attack: a line of 120 MB held the console for 22 seconds, without a sign-in."""
    endless = [b"x" * 65_536] * 200
    assert refused(console, HEAD + b"X: ", *endless) == 431
    assert refused(console, HEAD, *[b"X: y\r\n" * 1_000] * 200) == 431
    assert refused(console, b"GET /find?q=", *endless) == 414
    assert refused(console, HEAD + b"\x00: y\r\n" + CLOSE) == 400
    assert refused(console, b"BREW /sign-in HTTP/1.1\r\nHost: x\r\n" + CLOSE) == 405
    assert console.browser().get("/health").status_code == 200


def test_a_body_that_is_too_long_is_refused_as_soon_as_it_is(console: Console) -> None:
    length = b"Content-Length: 300000\r\n\r\n"
    chunks = [b"8000\r\n" + b"x" * 0x8000 + b"\r\n"] * 200
    assert refused(console, POST + length, b"x" * 300_000) == 413
    assert refused(console, POST + b"Transfer-Encoding: chunked\r\n\r\n", *chunks) == 413
    tiny = [b"1\r\nx\r\n" * 10_000] * 20
    assert refused(console, POST + b"Transfer-Encoding: chunked\r\n\r\n", *tiny) == 400
    assert (
        refused(console, POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n") == 400
    )


def test_what_does_not_arrive_in_time_is_given_up(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Requests that come slowly"; here after a second in place of twenty."""
    monkeypatch.setattr(protocol, "REQUEST_S_MAX", 1)
    with serving_console(desk.store) as console:
        assert ask(console, b"") == []
        assert refused(console, HEAD) == 408
        assert refused(console, POST + b"Content-Length: 9\r\n\r\nname=") == 408


def test_pipelined_requests_are_answered_one_after_the_other(console: Console) -> None:
    many = HEAD + b"\r\n"
    answers = ask(console, many * 50 + HEAD + CLOSE)
    assert [answer.status for answer in answers] == [200] * 51


def test_many_silent_connections_keep_nobody_out(console: Console) -> None:
    place = urlsplit(console.url)
    silent = [socket.create_connection((place.hostname, place.port)) for _ in range(300)]
    try:
        for each in silent[::2]:
            each.sendall(HEAD)
        assert console.browser().get("/sign-in").status_code == 200
    finally:
        for each in silent:
            each.close()


@ON_BOTH
def test_a_path_with_a_slash_at_its_end_leads_to_no_other_host(console: Console) -> None:
    """The attack: ``/find/`` redirected to the host that the client named."""
    browser = console.signed_in("manager")
    for path in ("/find/", "/sign-in/", "/subscribers/1/"):
        found = browser.client.get(path, headers={"Host": "evil.example"})
        assert found.status_code == 404
        assert "evil.example" not in str(found.headers) + found.text
    (answer,) = ask(console, b"GET //find HTTP/1.1\r\nHost: evil.example\r\n" + CLOSE)
    assert answer.status == 404
    for path in ("/", "/find"):
        asked = console.browser().client.get(path, headers={"Host": "evil.example"})
        assert asked.headers["Location"].startswith("/sign-in?")


def test_behind_a_proxy_browsers_use_only_tls_for_a_year(desk: Desk, console: Console) -> None:
    """RFC 6797; also in refusals, and never without a proxy."""
    name = "Strict-Transport-Security"
    assert name not in console.browser().get("/sign-in").headers
    with serving_console(desk.store, behind_proxy=True) as proxied:
        for path in ("/sign-in", "/nothing", "/static/nothing"):
            assert proxied.browser().get(path).headers[name] == "max-age=31536000"
        (answer,) = ask(proxied, HEAD + b"X: ", b"x" * 65_536)
        assert answer.headers[name.lower()] == "max-age=31536000"
