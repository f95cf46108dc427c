"""Requests with mistakes, made by Hypothesis."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote_from_bytes

from hypothesis import strategies as st

from masthead.contract.operations import EXTENSIONS, OPERATIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.hostile.wire import Wire

ALL = (*OPERATIONS.values(), *EXTENSIONS)
NAMES = sorted({parameter.name for operation in ALL for parameter in operation.parameters})
NOW = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
IDS = ["1", "71", "81", "0", "01", "-1", "+1", "1_000", "9" * 19, str(2**63 - 1), str(2**63)]
ODD = [
    *("", " ", "*", "%", "_", "**", "a*", "*a", "a*b", "%25", "%2541", "\\", "'", '"', "';--"),
    *("\x00", "a\x00*", "\u0663", "\uff11", "1_000", "1e3", "0x10", "NaN", "Infinity", "-0"),
    *("null", "true", "TRUE", "Print", "Both", "orders", "orders,orders", ",", "nothing"),
    *("0001-01-01T00:00:00+14:00", "0001-01-01T00:00:00-14:00", "9999-12-31T23:59:59.9-14:00"),
    *("2026-02-30T00:00:00Z", "1/1/1 1:00:00 AM", "1/1/9999 12:00:00 AM", NOW, "0000-00-00"),
    *("\ud800", "\ufeff", "\u202e", "e\u0301", "\U0001f600", "ß" * 60, "x" * 300, "(" * 60),
    *("../../etc/passwd", "${jndi:x}", "{{7*7}}", "<script>", "=1+1", "\r\nX: y", *IDS),
]
VALUES = st.sampled_from(ODD) | st.sampled_from(ODD) | st.text(max_size=12)
RAW = VALUES.map(lambda text: text.encode("utf-8", "surrogatepass")) | st.binary(max_size=8)


def _escaped(raw: bytes) -> bytes:
    return quote_from_bytes(raw, safe="").encode()


def _kept(raw: bytes) -> bytes:
    return quote_from_bytes(raw, safe="%+&=;/?:@!$'()*,").encode()


def _twice(raw: bytes) -> bytes:
    return _escaped(_escaped(raw))


def _broken(raw: bytes) -> bytes:
    return _escaped(raw) + b"%"


def _bad_hex(raw: bytes) -> bytes:
    return b"%zz" + _escaped(raw)


ESCAPES: st.SearchStrategy[Callable[[bytes], bytes]] = st.sampled_from(
    [_escaped, _escaped, _escaped, _kept, _twice, _broken, _bad_hex]
)
SEGMENTS = st.sampled_from(
    [*(one.encode() for one in IDS), b"..", b".", b"%2e%2e", b"%2f", b"%2F..%2f", b"", b"%00", b"%"]
) | st.builds(lambda escape, raw: escape(raw), ESCAPES, RAW)


@st.composite
def paths(draw: st.DrawFn) -> bytes:
    """A path of the interface, or what somebody makes of it."""
    path = draw(st.sampled_from(ALL)).path.encode()
    before, brace, after = path.partition(b"{")
    if brace:
        path = before + draw(SEGMENTS) + after.partition(b"}")[2]
    if draw(st.integers(0, 5)) == 0:
        at = draw(st.integers(0, len(path)))
        path = path[:at] + draw(st.sampled_from([b"/", b"//", b"/..", b"%2f", b"/./", b"\\", b";"]))
        path += draw(SEGMENTS)
    return path


PAIRS = st.lists(
    st.tuples(
        st.sampled_from(NAMES) | st.sampled_from(NAMES) | VALUES,
        RAW,
        ESCAPES,
        st.sampled_from([b"=", b"=", b"=", b"=", b"", b"=="]),
    ),
    max_size=4,
)


def _joined(pairs: list[tuple[str, bytes, Callable[[bytes], bytes], bytes]]) -> bytes:
    return b"&".join(
        _kept(name.encode("utf-8", "surrogatepass")) + equals + escape(raw)
        for name, raw, escape, equals in pairs
    )


def _feed(entities: str, time: str) -> bytes:
    return f"changed_since={_escaped(time.encode('utf-8', 'surrogatepass')).decode()}&".encode() + (
        f"entities={entities}".encode()
    )


QUERIES = PAIRS.map(_joined) | st.builds(
    _feed, st.sampled_from(["orders", "orders,subscribers", "x"]), VALUES
)

_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**63, -(2**63), 10**400, 1e308, 5e-324, float("nan"), float("inf")])
    | VALUES
)
_NESTED = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(VALUES, inner, max_size=2),
    max_leaves=3,
)


def _object(members: list[tuple[str, Any]]) -> bytes:
    """Return a JSON object that may have a key more than once."""
    inside = b",".join(
        b"%s:%s" % (_json(name), value if isinstance(value, bytes) else _json(value))
        for name, value in members
    )
    return b"{%s}" % inside


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=isinstance(value, str)).encode("utf-8", "surrogatepass")


JSON = st.lists(st.tuples(st.sampled_from(NAMES) | VALUES, _NESTED), max_size=4).map(_object)
HUGE = st.sampled_from(
    [
        b'{"email":' + b"[" * 8_000 + b"]" * 8_000 + b"}",
        b'{"a":' * 3_000 + b"1" + b"}" * 3_000,
        b"[" * 16_000,
        b'{"email":"' + b"x" * 16_000 + b'"}',
        b'{"limit":' + b"9" * 16_000 + b"}",
        b'{"limit":1e' + b"9" * 5_000 + b"}",
        b"{" + b",".join(b'"k%d":1' % n for n in range(1_500)) + b"}",
        b"&".join(b"k%d=1" % n for n in range(2_000)),
        b"\x1f\x8b\x08\x00" + bytes(100),
        b"\x28\xb5\x2f\xfd" + bytes(100),
    ]
)
BODIES = JSON | JSON.map(lambda text: b"[%s]" % text) | QUERIES | RAW | HUGE
LABELS = st.sampled_from(
    [
        b"Content-Type: application/json",
        b"Content-Type: application/x-www-form-urlencoded; charset=utf-16",
        b"Content-Type: \xff",
        b"Content-Encoding: gzip",
        b"Content-Encoding: identity",
        b"Expect: 100-continue",
        b"Accept-Encoding: gzip;q=9, *;q=x, zstd;q=0.0001",
        b"X-Forwarded-For: 1\xff",
        b"Range: bytes=0-1",
        b"If-None-Match: *",
    ]
)


@st.composite
def asked(draw: st.DrawFn) -> Callable[[Wire], bytes]:
    """Good HTTP that asks for something odd, in its path, its query, a header or its body."""
    target = draw(paths())
    if draw(st.booleans()):
        target += b"?" + draw(QUERIES)
    lines = draw(st.lists(LABELS, max_size=2))
    body = draw(st.just(b"") | BODIES)
    method = draw(st.sampled_from([b"GET"] * 9 + [b"HEAD", b"POST", b"OPTIONS"]))
    if body and draw(st.booleans()):
        middle = len(body) // 2
        parts = [part for part in (body[:middle], body[middle:]) if part]
        body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
        lines.append(b"Transfer-Encoding: chunked")
    elif body:
        lines.append(b"Content-Length: %d" % len(body))
    return lambda wire: wire.head(target, *lines, method=method) + body


LINES = st.sampled_from(
    [
        *(b"", b"Host: x", b"Host: a b", b"Host: [::1]:8", b"Host:", b"Host: \xff", b": x", b"X"),
        *(b"Content-Length: 0", b"Content-Length: 3", b"Content-Length: 9" + b"9" * 20),
        *(b"Content-Length: -1", b"Content-Length: +3", b"Content-Length: 3, 3"),
        *(b"Content-Length: 0x3", b"Content-Length: \xd9\xa3", b"Content-Length: 16385"),
        *(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked"),
        *(b"Transfer-Encoding: identity", b"Transfer-Encoding: xchunked", b"Trailer: X"),
        *(b"Transfer-Encoding : chunked", b"transfer-encoding:\tchunked", b"TE: trailers"),
        *(b"Connection: upgrade", b"Upgrade: h2c", b"Upgrade: websocket", b"Connection: close"),
        *(b"Connection: keep-alive", b"Connection: \xff", b"Expect: 100-continue", b"Expect: x"),
        *(b"Authorization: Basic", b"Authorization: Basic \xff", b"Authorization: Basic Og=="),
        *(b"Authorization: Bearer x", b"Authorization: Basic /////w==", b"Authorization: Basic A"),
        *(b"X: a\rb", b"X: a\x00b", b" folded", b"X : y", b"X\x00: y", b"X: " + b"y" * 33_000),
        b"\r\n".join(b"X-%d: y" % n for n in range(3_000)),
        b"\r\n".join([b"a:"] * 9_000),
    ]
)
REQUEST_LINES = st.sampled_from(
    [
        *(b"GET /2/accounts/ HTTP/1.1", b"GET /2/orders/71 HTTP/1.1", b"GET /2/cdc HTTP/1.1"),
        *(b"GET /2/subscriptions/?limit=3 HTTP/1.1", b"GET /health HTTP/1.1", b"GET /nix HTTP/1.1"),
        *(b"GET /openapi.json HTTP/1.1", b"GET /docs HTTP/1.1", b"GET /2/accounts/ HTTP/1.0"),
        *(b"HEAD /2/accounts/ HTTP/1.1", b"OPTIONS * HTTP/1.1", b"GET * HTTP/1.1"),
        *(b"CONNECT x:80 HTTP/1.1", b"GET http://x HTTP/1.1", b"GET http://x?a=b HTTP/1.1"),
        *(b"GET http://u@x/ HTTP/1.1", b"GET ftp://x/ HTTP/1.1", b"GET x HTTP/1.1"),
        *(b"GET //2/accounts HTTP/1.1", b"GET /2/accounts#x HTTP/1.1", b"GET /\xff HTTP/1.1"),
        *(b"GET / HTTP/2.0", b"GET / HTTP/0.9", b"GET /", b"PRI * HTTP/2.0", b"GET / HTTP/1.10"),
        *(b"get / HTTP/1.1", b"G\x00T / HTTP/1.1", b"GET  / HTTP/1.1", b"GET\t/ HTTP/1.1", b"\x16"),
        *(b"GET /" + b"a" * 9_000 + b" HTTP/1.1", b"GET /?" + b"&" * 8_000 + b" HTTP/1.1"),
        *(b"BREW / HTTP/1.1", b"POST /2/accounts/ HTTP/1.1", b"SOURCE / ICE/1.0", b"\r\n"),
    ]
)
CONTENTS = st.sampled_from(
    [
        *(b"", b"{}\n", b"abc", b"3\r\n{}\n\r\n0\r\n\r\n", b"0\r\n\r\n", b"0\r\nX: y\r\n\r\n"),
        *(b"zz\r\n", b"-1\r\n", b"ffffffffffffffffff\r\n", b"3;a=b\r\n{}\n\r\n0\r\n\r\n"),
        *(b"5\r\n{}\n\r\n0\r\n\r\n", b"0\r\nAuthorization: x\r\n\r\n", b"3\n{}\n\n0\n\n"),
        b"0\r\n" + b"X: y\r\n" * 9_000 + b"\r\n",
    ]
)


@st.composite
def requests(draw: st.DrawFn) -> Callable[[Wire], bytes]:
    """One to three requests in a row, each of which may be no HTTP at all, some bytes of them off.

    What follows them makes the server hang up.
    """
    parts = []
    for _ in range(draw(st.integers(1, 3))):
        lines = [draw(REQUEST_LINES), *draw(st.just([b"Host: x"]) | st.just([]))]
        lines += draw(st.lists(LINES, max_size=3))
        end = draw(st.sampled_from([b"\r\n", b"\r\n", b"\r\n", b"\r\n", b"\n", b"\r"]))
        parts.append((end.join(lines) + end, end + draw(CONTENTS)))
    has_credentials = draw(st.booleans())
    spoiled = draw(st.none() | st.tuples(st.floats(0, 1), st.binary(max_size=4), st.integers(0, 4)))

    def made(wire: Wire) -> bytes:
        credentials = wire.authorization if has_credentials else b""
        request = b"".join(start + credentials + rest for start, rest in parts)
        if spoiled:
            place, new, removed = spoiled
            at = int(place * len(request))
            request = request[:at] + new + request[at + removed :]
        return request

    return made
