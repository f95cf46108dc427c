"""Checks that refuse a request with an ambiguous head.

Otherwise a proxy could read one request and this server another (RFC 9112 sections 3, 5, 6 and
11.2; rules, "Requests that can be read in two ways").
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

LENGTH_DIGITS_MAX = 19
"""The maximum number of digits in the length of a body; 2^63 has as many."""

_ABSOLUTE = re.compile(rb"https?://[^/?#@]+([/?].*)?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(rb"(?:[\w.~!$&'()*+,;=%-]*|\[[0-9A-Fa-fvV:.]+\])(?::[0-9]*)?", re.ASCII)
_TARGET_NOT_ASCII = re.compile(rb"\s*\S+ [!-~]*[\x80-\xff]")
_VERSIONS = ("1.1", "1.0")


class Refusal(NamedTuple):
    """A response that the server sends without the app: status, error sentence and headers."""

    status: int
    sentence: str
    headers: Mapping[str, str] = {}


class Limits(NamedTuple):
    """What a server accepts: the size of a body, and refusals of what it does not accept."""

    body_bytes_max: int
    too_large: Refusal
    unknown_method: Refusal


NOT_HTTP = Refusal(400, "this is not an HTTP/1.1 request")
BAD_LENGTH = Refusal(400, f"the length of a body has at most {LENGTH_DIGITS_MAX} digits")
_NOT_ASCII = Refusal(
    400, "the address has a character that is not ASCII: percent-encode it, such as %C3%BC"
)
_BAD_TARGET = Refusal(400, "the address of a request begins with / and has no #")
_BAD_HOST = Refusal(400, "a request needs one Host header, which names a host")
_CREDENTIALS_TWICE = Refusal(400, "Authorization is given twice: once is enough")
_BAD_CODING = Refusal(
    400, "a body needs its length, or in HTTP/1.1 the transfer encoding chunked and no other"
)
_BAD_EXPECTATION = Refusal(417, "this server meets no expectation but 100-continue")


def bad_target(head: bytes) -> Refusal:
    """Return the refusal of a head with a target that the parser rejects.

    A target is ASCII (RFC 3986 section 2), but many clients send names without encoding them.
    """
    return _NOT_ASCII if _TARGET_NOT_ASCII.match(head) else NOT_HTTP


def origin_form(target: bytes) -> bytes:
    """Return the path and query of a request target (RFC 9112 section 3.2.2)."""
    if target.startswith(b"/") or not (absolute := _ABSOLUTE.fullmatch(target)):
        return target
    rest = absolute[1] or b""
    return rest if rest.startswith(b"/") else b"/" + rest


def wrong_line(
    head: bytes | bytearray,
    method: bytes,
    sent: bytes,
    target: bytes,
    version: str,
    unknown_method: Refusal,
) -> Refusal | None:
    """Return the refusal of an invalid request line, the start of ``head``; None if it is valid.

    ``sent`` is the target in that line, ``target`` the same in origin form. The line has to have
    exactly two spaces; the parser accepts more (RFC 9112 section 3).
    """
    line = b"%s %s HTTP/" % (method, sent)
    if not (head.startswith(line) or head.lstrip(b"\r\n").startswith(line)):
        return NOT_HTTP
    if version not in _VERSIONS:
        return NOT_HTTP
    if method == b"CONNECT" or (method == b"OPTIONS" and target == b"*"):
        return unknown_method
    if not target.startswith(b"/") or b"#" in target:
        return _BAD_TARGET
    return None


def wrong_fields(version: str, fields: Iterable[tuple[bytes, bytes]]) -> Refusal | None:
    """Return the refusal of invalid headers, with names in lower case; None if they are valid."""
    hosts = credentials = 0
    for name, value in fields:
        if name == b"host":
            hosts += 1 if _HOST.fullmatch(value) else 2
        elif name == b"authorization":
            credentials += 1
        elif name == b"transfer-encoding" and (version == "1.0" or value.lower() != b"chunked"):
            return _BAD_CODING
        elif name == b"expect" and value.lower() != b"100-continue":
            return _BAD_EXPECTATION
    if hosts > 1 or (not hosts and version == "1.1"):
        return _BAD_HOST
    return _CREDENTIALS_TWICE if credentials > 1 else None
