"""Requests that two readers of HTTP could understand in two ways are refused (RFC 9110, 9112)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.hostile.wire import Wire

TARGET = b"/2/accounts/"
GOOD = b"GET /2/accounts/ HTTP/1.1\r\nHost: x\r\n"


def status(wire: Wire, request: bytes) -> int:
    """Return the status of the one response to the bytes."""
    response = wire.one(request)
    if response.status != 200:
        response.error()
    return response.status


@pytest.mark.parametrize(
    "lines",
    [
        b"",
        b"Host: x\r\nHost: x\r\n",
        b"Host: x\r\nhost: y\r\n",
        b"Host: a b\r\n",
        b"Host: a/b\r\n",
        b"Host: a@b\r\n",
        b"Host: \xff\r\n",
        b"Host: x:port\r\n",
    ],
)
def test_a_request_names_its_host_once(wire: Wire, lines: bytes) -> None:
    """rules, "Requests that can be read in two ways": RFC 9112 section 3.2."""
    assert status(
        wire, b"GET /2/accounts/ HTTP/1.1\r\n" + lines + wire.authorization + b"\r\n"
    ) == (400)


@pytest.mark.parametrize("host", [b"", b"x", b"x:8000", b"[::1]:8000", b"xn--bcher-kva.example"])
def test_a_host_may_be_any_name(wire: Wire, host: bytes) -> None:
    """rules, "Requests that can be read in two ways"."""
    request = b"GET /2/accounts/ HTTP/1.1\r\nConnection: close\r\nHost: " + host + b"\r\n"
    assert status(wire, request + wire.authorization + b"\r\n") == 200


def test_http_1_0_needs_no_host(wire: Wire) -> None:
    """rules, "Requests that can be read in two ways"."""
    assert status(wire, b"GET /2/accounts/ HTTP/1.0\r\n" + wire.authorization + b"\r\n") == 200


def test_credentials_are_given_once(wire: Wire) -> None:
    """rules, "Requests that can be read in two ways": of two, one would be the wrong ones."""
    assert status(wire, wire.head(TARGET, wire.authorization.rstrip())) == 400
    assert status(wire, wire.head(TARGET, b"Authorization: Basic Og==")) == 400


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        (b"OPTIONS * HTTP/1.1", 405),
        (b"CONNECT x:80 HTTP/1.1", 405),
        (b"GET * HTTP/1.1", 400),
        (b"GET x:80 HTTP/1.1", 400),
        (b"GET ftp://x/2/accounts/ HTTP/1.1", 400),
        (b"GET http://user@x/2/accounts/ HTTP/1.1", 400),
        (b"GET /2/accounts/#x HTTP/1.1", 400),
        (b"GET http://x HTTP/1.1", 404),
        (b"GET http://x?limit=1 HTTP/1.1", 404),
        (b"GET http://x/2/accounts/ HTTP/1.1", 200),
        (b"GET /2/accounts/ HTTP/2.0", 400),
        (b"GET /2/accounts/ HTTP/0.9", 400),
        (b"PRI * HTTP/2.0", 400),
        (b"GET  /2/accounts/ HTTP/1.1", 400),
        (b"GET /2/accounts/  HTTP/1.1", 400),
        (b"DESCRIBE /2/accounts/ RTSP/1.0", 400),
        (b"\r\nGET /2/accounts/ HTTP/1.1", 200),
    ],
)
def test_the_first_line_is_that_of_http_1(wire: Wire, line: bytes, wanted: int) -> None:
    """rules, "Requests that can be read in two ways" and "Methods"."""
    request = line + b"\r\nHost: x\r\nConnection: close\r\n" + wire.authorization + b"\r\n"
    assert status(wire, request) == wanted


@pytest.mark.parametrize(
    "lines",
    [
        b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n",
        b"Content-Length: 3\r\nContent-Length: 3\r\n",
        b"Content-Length: 3, 3\r\n",
        b"Content-Length: +3\r\n",
        b"Content-Length: 3 3\r\n",
        b"Content-Length: 99999999999999999999\r\n",
        b"Content-Length: " + b"0" * 5_000 + b"3\r\n",
        b"Transfer-Encoding: gzip, chunked\r\n",
        b"Transfer-Encoding: identity\r\n",
        b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        b"Transfer-Encoding : chunked\r\n",
        b"X: a\r\n folded\r\n",
    ],
)
def test_a_body_whose_length_is_in_doubt_is_refused(wire: Wire, lines: bytes) -> None:
    """rules, "Requests that can be read in two ways": RFC 9112 sections 5 and 6."""
    request = GOOD + wire.authorization + lines + b"\r\n3\r\n{}\n\r\n0\r\n\r\n"
    assert status(wire, request) == 400


def test_http_1_0_knows_no_chunks(wire: Wire) -> None:
    """rules, "Requests that can be read in two ways": RFC 9112 section 6.1."""
    request = b"GET /2/accounts/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n" + wire.authorization
    assert status(wire, request + b"\r\n0\r\n\r\n") == 400


@pytest.mark.parametrize("expected", [b"other", b"100-continue, other", b""])
def test_any_expectation_but_100_continue_is_refused(wire: Wire, expected: bytes) -> None:
    """rules, "Requests that can be read in two ways": RFC 9110 section 10.1.1."""
    assert status(wire, wire.head(TARGET, b"Expect: " + expected)) == 417


def test_http_1_0_is_not_told_to_go_on(wire: Wire) -> None:
    """RFC 9110 section 10.1.1: its clients know no answers in between."""
    request = b"GET /2/accounts/ HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n"
    assert status(wire, request + wire.authorization + b"\r\n{}") == 200


def test_bytes_after_a_body_are_not_a_header(wire: Wire) -> None:
    """rules, "Requests that can be read in two ways": no credentials behind the request."""
    head = GOOD + b"Connection: close\r\nTransfer-Encoding: chunked\r\n"
    good, bad = wire.authorization, b"Authorization: Basic Og==\r\n"
    assert status(wire, head + b"\r\n0\r\n" + good + b"\r\n") == 401
    assert status(wire, head + good + b"\r\n0\r\n" + bad + b"\r\n") == 200


def test_lines_after_a_body_count_as_headers(wire: Wire) -> None:
    """rules, "Statuses": 431."""
    request = GOOD + b"Transfer-Encoding: chunked\r\n" + wire.authorization + b"\r\n0\r\n"
    assert status(wire, request + b"X: y\r\n" * 10_000 + b"\r\n") == 431


def test_many_short_headers_count(wire: Wire) -> None:
    """rules, "Statuses": 431."""
    assert status(wire, wire.head(TARGET, *[b"a:"] * 1_000)) == 200
    assert status(wire, wire.head(TARGET, *[b"a:"] * 9_000)) == 431


def test_a_request_for_another_protocol_is_the_last_one(wire: Wire) -> None:
    """It is answered, and says so; a client would wait for ever for a response to the next."""
    request = GOOD + b"Connection: upgrade\r\nUpgrade: h2c\r\n" + wire.authorization + b"\r\n"
    (response,) = wire.send(request + wire.head(TARGET))
    assert response.status == 200
    assert response.headers["connection"] == "close"


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        (b"\x00", 400),
        (b"BREW / HTTP/1.1\r\n\r\n", 405),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
    ],
)
def test_what_is_refused_is_answered_after_what_came_before_it(
    wire: Wire, rest: bytes, wanted: int
) -> None:
    """rules, "Requests that can be read in two ways": each response belongs to its request."""
    good = GOOD + wire.authorization + b"\r\n"
    answers = wire.send(good * 3 + rest, is_last=True)
    assert [response.status for response in answers] == [200, 200, 200, wanted]
    answers[-1].error()


def test_answers_come_in_the_order_of_their_requests(wire: Wire) -> None:
    """Those that are ready at once, that a thread makes, that wait for a body, or come in pieces.

    rules, "Responses that are ready"; RFC 9112 section 9.3.2.
    """
    credentials = b"Host: x\r\n" + wire.authorization
    targets = (
        b"/2/accounts/",
        b"/health",
        b"/2/subscribers/?last_name=s*",
        b"/2/orders/1/",
        b"/snapshot?entities=addresses,subscriptions,subscribers",
        b"/nowhere",
        b"/docs",
        b"/2/orders/99999",
        b"/2/downloadmailinglist/1/",
    )
    requests = [b"GET %s HTTP/1.1\r\n%s\r\n" % (target, credentials) for target in targets]
    with_body = b"GET /2/subscriptions/ HTTP/1.1\r\n%sContent-Length: 7\r\n\r\nlimit=1"
    requests.insert(2, with_body % credentials)
    alone = [wire.send(request)[0] for request in requests]
    closes = requests[-1].replace(b"Host: x", b"Connection: close\r\nHost: x")
    answers = wire.send(b"".join([*requests * 3, closes]), is_last=True)
    assert len({response.status for response in alone}) == 2
    assert [(response.status, response.body) for response in answers] == [
        (response.status, response.body) for response in [*alone * 3, alone[-1]]
    ]


def test_a_body_that_breaks_has_one_answer(wire: Wire) -> None:
    """rules, "Requests that can be read in two ways": each request has one response at most."""
    head = b"GET /nowhere HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert len(wire.send(head + b"zz\r\n")) == 1
    good = GOOD + wire.authorization
    chunked = b"Transfer-Encoding: chunked\r\n\r\nzz\r\n"
    for head, wanted in ((good, 400), (GOOD, 401)):
        answers = wire.send(good + b"\r\n" + head + chunked, is_last=True)
        assert [response.status for response in answers] == [200, wanted]
        assert answers[-1].headers["connection"] == "close"


@pytest.mark.parametrize(
    "query", [b"email=%zz", b"email=50%", b"%=1", b"email=%2", b"email=%u0041"]
)
def test_a_percent_sign_that_escapes_nothing_is_refused(wire: Wire, query: bytes) -> None:
    """rules, "Broken percent-encoding", in a query and in a form."""
    assert status(wire, wire.head(b"/2/subscribers/?" + query)) == 400
    length = b"Content-Length: %d" % len(query)
    response = wire.one(wire.head(b"/2/subscribers/", length) + query)
    assert "%25" in response.error()


def test_what_is_escaped_twice_is_unescaped_once(wire: Wire) -> None:
    """rules, "Broken percent-encoding"."""
    assert status(wire, wire.head(b"/2/subscriptions/?type=%50rint")) == 200
    assert status(wire, wire.head(b"/2/subscriptions/?type=%2550rint")) == 400


@pytest.mark.parametrize("line_end", [b"", b"\r\n"])
@pytest.mark.parametrize(
    "target",
    [
        "/2/subscribers/?last_name=Müller&limit=1".encode(),
        "/2/subscribers/?last_name=Müller".encode("latin-1"),
        "/Müller".encode(),
        "http://x/Müller".encode(),
        f"/2/subscribers/?last_name={'x' * 4_200}Müller".encode(),
    ],
    ids=range(5),
)
def test_a_character_as_it_is_in_the_address_is_named(
    wire: Wire, target: bytes, line_end: bytes
) -> None:
    """rules, "Requests that can be read in two ways": RFC 3986 section 2, by its sentence."""
    response = wire.one(line_end + wire.head(target))
    assert response.status == 400
    assert response.error() == (
        "the address has a character that is not ASCII: percent-encode it, such as %C3%BC"
    )
    assert response.headers["connection"] == "close"


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"GET /2/\x01\xc3\xbc HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /2/ \xc3\xbc HTTP/1.1\r\nHost: x\r\n\r\n",
        b"G\xc3\x84T /2/ HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET /2/accounts/ HTTP/1.1\r\nH\xc3\xb6st: x\r\n\r\n",
    ],
)
def test_what_else_is_wrong_is_not_called_a_character_of_the_address(
    wire: Wire, request_bytes: bytes
) -> None:
    assert wire.one(request_bytes).error() == "this is not an HTTP/1.1 request"


@pytest.mark.parametrize(
    "path",
    [
        b"//2/accounts/",
        b"/2//accounts/",
        b"/2/./accounts/",
        b"/2/orders/../accounts/",
        b"/2/orders/%2e%2e/accounts/",
        b"/2%2faccounts/",
        b"/2/orders%2f71",
        b"/2/%61ccounts/",
        b"/2/orders/%37%31",
        b"/2/orders/71%00",
        b"/2/orders/%zz",
        b"/%2e%2e/%2e%2e/etc/passwd",
        b"/docs/../2/accounts/",
        b"/docs/%2e%2e/%2e%2e/app.py",
    ],
)
def test_a_path_has_one_spelling(wire: Wire, path: bytes) -> None:
    """rules, "Ids in paths": nothing is unescaped, joined or taken away."""
    assert status(wire, wire.head(path)) == 404


@pytest.mark.parametrize(
    "body",
    [
        b'{"email":"a","email":"a"}',
        b'{"email":null,"email":"a"}',
        b'{"email":"\xed\xa0\x80"}',
        b'{"email":"\\ud800"}',
        b'{"\\ud800":[1]}',
        b'{"\\ud800":"a","\\ud800":"b"}',
        '{"email":"a"}'.encode("utf-16-le"),
        b'{"limit":NaN}',
        b'{"limit":1e999999999}',
        b'{"limit":1_000}',
        '{"limit":\u0663}'.encode(),
        b'{"email":' + b"[" * 8_000,
    ],
)
def test_json_that_readers_understand_in_different_ways_is_refused(wire: Wire, body: bytes) -> None:
    """rules, "A parameter given twice" and "Body of a GET"."""
    length = b"Content-Length: %d" % len(body)
    assert status(wire, wire.head(b"/2/subscribers/", length) + body) == 400


@pytest.mark.parametrize("lines", [b"Content-Encoding: GZIP", b"Content-Encoding: gzip, identity"])
def test_a_compressed_body_is_refused_for_every_encoding(wire: Wire, lines: bytes) -> None:
    """rules, "Body of a GET"."""
    for more in (lines, lines + b"\r\nContent-Encoding: identity"):
        assert status(wire, wire.head(TARGET, more, b"Content-Length: 2") + b"{}") == 400
