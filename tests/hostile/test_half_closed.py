"""A client may end its side of the connection behind its requests, as ``nc -N`` does.

With SQLite and PostgreSQL. What takes long is in ``test_slow.py``.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

import pytest

from tests.hostile.wire import HANG_S, answers_in

if TYPE_CHECKING:
    from tests.hostile.wire import Wire

TARGETS = (
    b"/2/accounts/",
    b"/health",
    b"/2/subscribers/?last_name=s*",
    b"/2/orders/71",
    b"/snapshot?entities=addresses,subscriptions,subscribers",
    b"/nowhere",
)


REFUSED_BODIES = ((b"zz\r\n", 400), (b"ffff\r\n", 413), (b"1\r\nxx\r\n", 400))


def kept(wire: Wire, target: bytes, *lines: bytes, method: bytes = b"GET") -> bytes:
    """Return the head of a request after which the connection is kept."""
    return wire.head(target, *lines, method=method).replace(b"Connection: close\r\n", b"")


@pytest.mark.parametrize("target", TARGETS)
def test_who_sends_nothing_more_gets_the_answer(wire: Wire, target: bytes) -> None:
    """rules, "Connections that are half closed"; RFC 9112 section 9.6."""
    (wanted,) = wire.send(wire.head(target))
    (response,) = wire.send(kept(wire, target), half_closed=True)
    assert (response.status, response.body) == (wanted.status, wanted.body)


def test_who_sends_nothing_more_gets_the_responses_to_all_requests(wire: Wire) -> None:
    """rules, "Connections that are half closed"."""
    with_body = kept(wire, b"/2/subscriptions/", b"Content-Length: 7") + b"limit=1"
    requests = [*(kept(wire, target) for target in TARGETS), with_body]
    alone = [wire.send(request)[0] for request in requests]
    for start in range(len(requests)):
        turned = [*range(start, len(requests)), *range(start)]
        sent = b"".join(requests[number] for number in turned)
        answers = wire.send(sent, half_closed=True)
        assert [(response.status, response.body) for response in answers] == [
            (alone[number].status, alone[number].body) for number in turned
        ]


@pytest.mark.parametrize(
    "rest",
    [
        b"GET /2/acc",
        b"Content-Length: 9\r\n\r\nlimit",
        b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}",
    ],
)
def test_a_request_that_is_cut_off_has_no_answer(wire: Wire, rest: bytes) -> None:
    """rules, "Connections that are half closed": those in front of it have theirs."""
    good = kept(wire, b"/2/accounts/")
    cut = rest if rest.startswith(b"GET") else good.removesuffix(b"\r\n") + rest
    assert wire.send(cut, half_closed=True) == []
    for target in (b"/2/accounts/", b"/2/subscribers/?last_name=s*"):
        (response,) = wire.send(kept(wire, target) + cut, half_closed=True)
        assert response.status == 200


def test_what_is_refused_is_answered_all_the_same(wire: Wire) -> None:
    """rules, "Connections that are half closed"."""
    good = kept(wire, b"/2/subscribers/?last_name=s*")
    for refused in (b"\x00", b"GET / HTTP/1.1\r\n\r\n"):
        (response,) = wire.send(refused, half_closed=True)
        assert response.status == 400
        answers = wire.send(good + refused, half_closed=True)
        assert [response.status for response in answers] == [200, 400]


@pytest.mark.parametrize("is_used", [False, True])
def test_a_connection_that_is_half_closed_ends_with_the_last_answer(
    wire: Wire, is_used: bool
) -> None:
    """rules, "Connections that are half closed"."""
    received = b""
    with socket.create_connection(wire.server.address, HANG_S) as connection:
        if is_used:
            connection.sendall(kept(wire, b"/2/accounts/"))
            while not received.endswith(b"]}"):
                received += connection.recv(65_536)
        connection.shutdown(socket.SHUT_WR)
        assert connection.recv(65_536) == b""
    assert len(list(answers_in(received))) == is_used


def test_a_refusal_within_a_body_reaches_who_sends_nothing_more(wire: Wire) -> None:
    """rules, "Connections that are half closed": with any part of the body missing."""
    good = kept(wire, b"/2/subscribers/?last_name=s*")
    chunked = kept(wire, b"/2/accounts/", b"Transfer-Encoding: chunked")
    for ending, status in REFUSED_BODIES:
        for request in (chunked + ending, chunked + b"2\r\n{}\r\n" + ending):
            (response,) = wire.send(request, half_closed=True)
            assert response.status == status, ending
            answers = wire.send(good + request, half_closed=True)
            assert [response.status for response in answers] == [200, status], ending


def test_what_needs_no_body_is_answered_though_the_body_is_cut_off(wire: Wire) -> None:
    """rules, "Connections that are half closed": a refusal, and what takes no body."""
    stranger = b"GET /2/accounts/ HTTP/1.1\r\nHost: x\r\n"
    for head, status in (
        (kept(wire, b"/2/accounts/", b"Content-Length: 99999"), 413),
        (kept(wire, b"/nowhere", b"Content-Length: 9"), 404),
        (kept(wire, b"/2/accounts/", b"Content-Length: 9", method=b"POST"), 405),
        (stranger + b"Content-Length: 9\r\n\r\n", 401),
        (kept(wire, b"/health", b"Transfer-Encoding: chunked"), 200),
    ):
        for body in (b"", b"2"):
            (response,) = wire.send(head + body, half_closed=True)
            assert response.status == status, (head, body)
