"""The address of a request's client, for the log.

Without ``--behind-proxy``, it is the address of the connection's other end, and headers are
ignored. With it, the other end is a proxy. The header ``X-Forwarded-For`` names the client, or
``Forwarded`` (RFC 7239) if there is no such header. Each proxy appends the address that it sees,
and a client can send anything before that. So the last address counts, except loopback addresses,
which are proxies on this machine. If it is not valid, the log shows the proxy's address (rules,
"The address of a client").

An element of ``Forwarded`` can quote what the client sent, such as its ``Host``. So the header is
split at each comma, even within quotes, and the last part must be valid by itself. A part that
begins within quotes has an odd number of quotes, so it is invalid.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Address, IPv6Address, ip_address

Peer = tuple[str, int] | None
"""Host and port of the other end of a connection; None if it has none."""

_PAIR = rb'[ \t]*([^ \t",;=]+)[ \t]*=[ \t]*("[^"]*"|[^ \t",;]+)[ \t]*(?:;|$)'
_PAIRS = re.compile(_PAIR)
_ELEMENT = re.compile(rb"(?:%s)+" % _PAIR)
_ADDRESS = re.compile(r"\[([0-9a-f:.]+)\](?::\d+)?|([0-9.]+)(?::\d+)?|([0-9a-f:.]+)", re.IGNORECASE)
_CHARACTERS_MAX = 64
_ELEMENT_BYTES_MAX = 1024


def client_address(
    peer: Peer, headers: Mapping[bytes, bytes], *, behind_proxy: bool = False
) -> str | None:
    """Return the address of the client; None if the connection has none.

    ``headers`` are those of the request, by lower-case name.
    """
    own = peer[0] if peer else None
    if not behind_proxy:
        return own
    forwarded_for = headers.get(b"x-forwarded-for")
    if forwarded_for is not None:
        return _last_of(forwarded_for) or own
    return _last_of(headers.get(b"forwarded", b""), is_standard=True) or own


@lru_cache(maxsize=1024)
def _last_of(value: bytes, *, is_standard: bool = False) -> str | None:
    """Return the last address of a header that is not loopback; None if it is invalid."""
    for hop in reversed(value.split(b",")):
        text = _node(hop) if is_standard else hop.strip()
        address = _address(text.decode("latin-1"))
        if address is None:
            return None
        if not address.is_loopback:
            return str(address)
    return None


def _node(element: bytes) -> bytes:
    """Return the value of ``for``; b"" if the element is invalid or does not have it once."""
    if len(element) > _ELEMENT_BYTES_MAX or not _ELEMENT.fullmatch(element):
        return b""
    found = [value for name, value in _PAIRS.findall(element) if name.lower() == b"for"]
    return found[0].strip(b'"') if len(found) == 1 else b""


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """Return an address, without its port if it has one; None for any other text."""
    found = _ADDRESS.fullmatch(text) if len(text) <= _CHARACTERS_MAX else None
    if found is None:
        return None
    try:
        address = ip_address(found[1] or found[2] or found[3])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
