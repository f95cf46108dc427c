"""Compression of long responses: the content coding that a client prefers, and its compressor.

Both codings are chosen for speed rather than size, to keep up with the database: ISA-L's gzip at
its level 1, and zstd at its level 1.
"""

import re
import sys
from collections.abc import Callable
from typing import Protocol

from isal import isal_zlib

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_FASTEST = 1
_GZIP_BITS = 31
QUALITY = re.compile(r"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")
"""A quality value (RFC 9110 section 12.4.2)."""


class Compressor(Protocol):
    """Compresses one body, piece by piece."""

    def compress(self, data: bytes, /) -> bytes:
        """Compress the next piece; return the output so far, possibly nothing."""

    def flush(self) -> bytes:
        """End the body; return the rest of the output."""


_CODINGS: dict[str, Callable[[], Compressor]] = {
    "zstd": lambda: zstd.ZstdCompressor(level=_FASTEST),
    "gzip": lambda: isal_zlib.compressobj(_FASTEST, isal_zlib.DEFLATED, _GZIP_BITS),
}


class _Plain:
    def compress(self, data: bytes, /) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


def coding_for(accept_encoding: str) -> str:
    """Return the coding that the client prefers: ``zstd``, ``gzip`` or ``identity``.

    It is zstd if both have the same quality. A header that names neither means ``identity`` (RFC
    9110 section 12.5.3).
    """
    qualities: dict[str, float] = {}
    for part in accept_encoding.lower().split(","):
        name, _, parameter = (word.strip() for word in part.partition(";"))
        quality = QUALITY.fullmatch(parameter)
        qualities[name] = float(quality[1]) if quality else float(not parameter)
    others = qualities.get("*", 0.0)
    found = {name: qualities.get(name, others) for name in _CODINGS}
    best = max(found, key=lambda name: found[name])
    return best if found[best] > qualities.get("identity", 0.0) else "identity"


def compressor(coding: str) -> Compressor:
    """Return a new compressor for a coding that :func:`coding_for` returned."""
    return _CODINGS.get(coding, _Plain)()
