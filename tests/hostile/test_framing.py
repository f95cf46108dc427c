"""All parts of a request but its body have a limit of time and size."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tests.hostile.wire import HANG_S, answers_in

if TYPE_CHECKING:
    from tests.hostile.wire import Wire

LINE = b"GET /2/accounts/ HTTP/1.1\r\n"
CHUNKED = b"Transfer-Encoding: chunked"
MEGABYTE = 1_000_000
ZEROS = b"0" * 100_000


def refused(wire: Wire, request: bytes) -> int:
    """Send a request that never ends; return the status that it is refused with at once."""
    response = wire.one(request)
    assert response.headers["connection"] == "close"
    assert response.error()
    return response.status


@pytest.mark.parametrize(
    ("start", "wanted"),
    [
        (b"\r\n" * MEGABYTE, 400),
        (b"GET " + b" " * MEGABYTE, 400),
        (b"GET /2/accounts/" + b" " * MEGABYTE, 431),
        (b"GET /" + b"a" * MEGABYTE, 414),
        (LINE + b"X: " + b"y" * MEGABYTE, 431),
        (LINE + b"X:" + b" " * MEGABYTE, 431),
        (LINE + b"x" * MEGABYTE, 431),
        (LINE + b"Content-Length: " + ZEROS, 431),
        (LINE + b"Content-Length: " + ZEROS + b"2\r\n\r\n{}", 431),
    ],
)
def test_a_head_that_never_ends_is_refused_at_once(wire: Wire, start: bytes, wanted: int) -> None:
    """rules, "What is around a body"."""
    assert refused(wire, start) == wanted


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        (ZEROS, 400),
        (ZEROS + b"2\r\n{}\r\n0\r\n\r\n", 400),
        (b"2;" + b"a" * MEGABYTE, 400),
        (b"2;a=" + b"b" * MEGABYTE + b"\r\n{}\r\n0\r\n\r\n", 400),
        ((b"1;" + b"a" * 4_000 + b"\r\n{\r\n") * 250, 400),
        (b"2\r\n{}\r\n0\r\nX: " + b"y" * MEGABYTE, 400),
        (b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 200_000, 431),
        (b"4001\r\n", 413),
        (b"ffffffffffffffff\r\n", 413),
        (b"FFFFFFFFFFFFFFFF;a=b\r\n{}", 413),
        (b"10000000000000000\r\n{}", 400),
        (b"0" * 1_000 + b"f" * 17 + b"\r\n", 400),
        (b"3000\r\n" + b" " * 0x3000 + b"\r\n3000\r\n", 413),
    ],
)
def test_chunks_that_never_end_are_refused_at_once(wire: Wire, body: bytes, wanted: int) -> None:
    """rules, "What is around a body" and "Statuses"."""
    assert refused(wire, wire.head(b"/2/accounts/", CHUNKED) + body) == wanted


def test_how_large_a_chunk_is_shows_however_it_comes(wire: Wire) -> None:
    """rules, "What is around a body": the parser is told of it in any pieces."""
    request = wire.head(b"/2/accounts/", CHUNKED) + b"2;a=4001\r\n{}\r\nffffffffffffffff\r\n"
    start = request.index(CHUNKED)
    for cuts in ([at] for at in range(start, len(request))):
        assert refused_in_pieces(wire, request, cuts) == 413
    assert refused_in_pieces(wire, request, [*range(start, len(request))]) == 413


def refused_in_pieces(wire: Wire, request: bytes, cuts: list[int]) -> int:
    received = b""
    with socket.create_connection(wire.server.address, HANG_S) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start, end in zip([0, *cuts], [*cuts, len(request)], strict=True):
            connection.sendall(request[start:end])
        while piece := connection.recv(65_536):
            received += piece
    (response,) = answers_in(received)
    return response.status


@pytest.mark.parametrize(
    "body",
    [
        b"0007\r\nlimit=1\r\n0000\r\n\r\n",
        b'7;name=value;other="a;b"\r\nlimit=1\r\n0;last\r\nX: ffff\r\n\r\n',
        b"".join(b"1\r\n%c\r\n" % byte for byte in b"limit=1") + b"0\r\n\r\n",
        b"".join(b"1\r\n%c\r\n" % byte for byte in b"limit=1" + b" " * 5_000) + b"0\r\n\r\n",
        b"7\r\nlimit=1\r\n" + b"10\r\n" + b"\r\n" * 8 + b"\r\n0\r\n\r\n",
        b"7\r\nlimit=1\r\n" + b"3ff9\r\n" + b"\n" * 0x3FF9 + b"\r\n0\r\n\r\n",
    ],
)
def test_chunks_of_any_form_are_read(wire: Wire, body: bytes) -> None:
    """RFC 9112 section 7.1, up to 16 KiB of body; the next request is read behind them."""
    head = wire.head(b"/2/subscriptions/", CHUNKED).replace(b"Connection: close\r\n", b"")
    answers = wire.send((head + body) * 3, half_closed=True)
    assert [response.status for response in answers] == [200] * 3
    assert {response.body.count(b'"subscription_id"') for response in answers} == {1}
