"""Opening import files, plain or packed, and unpacking no more of them than is sane.

A few bytes of gzip or zstd can stand for terabytes. Real files shrink to a tenth, rarely to a
fiftieth, so what grows far more than that is no data (decisions, "Packed files that grow too
much").
"""

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from masthead.errors import BadInput

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

__all__ = ["ENDINGS", "FREE_BYTES", "GROWTH_MAX", "opened"]

ENDINGS = (".gz", ".zst")
GROWTH_MAX = 250
FREE_BYTES = 64 * 1024 * 1024
"""So much may come out of any file, however small it is."""

_WINDOW_LOG_MAX = 27
"""128 MiB, what the zstd command itself unpacks without being told to."""

_BUFFER_BYTES = 65_536
_BROKEN = (EOFError, OSError, zlib.error, zstd.ZstdError)


class _Bounded(io.RawIOBase):
    """What comes out of a packed file, counted."""

    def __init__(self, unpacked: IO[bytes], raw: IO[bytes], label: str) -> None:
        self._unpacked = unpacked
        self._raw = raw
        self._label = label
        self._count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._unpacked.read(len(buffer))
        self._count += len(data)
        if self._count > FREE_BYTES and self._count > GROWTH_MAX * self._raw.tell():
            raise BadInput(
                f"{self._label}: unpacks to more than {GROWTH_MAX} times its size, which no file "
                "of records does: nothing of it is read any further"
            )
        buffer[: len(data)] = data
        return len(data)


@contextmanager
def opened(path: Path, label: str) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file; give its unpacked bytes, and the file itself for its position.

    Raises BadInput, which begins with ``label``, where the packing is broken, and where it unpacks
    to more than 64 MiB and more than 250 times what of it was read.
    """
    try:
        with path.open("rb") as raw:
            unpacked: IO[bytes] = raw
            if path.suffix in ENDINGS:
                inside = _gzip(raw) if path.suffix == ".gz" else _zstd(raw)
                bounded = _Bounded(inside, raw, label)
                unpacked = io.BufferedReader(bounded, _BUFFER_BYTES)
            yield unpacked, raw
    except _BROKEN as error:
        raise BadInput(f"{label}: cannot be read to its end: {error}") from error


def _gzip(raw: IO[bytes]) -> IO[bytes]:
    return cast("IO[bytes]", gzip.open(raw))


def _zstd(raw: IO[bytes]) -> IO[bytes]:
    options: dict[int, int] = {zstd.DecompressionParameter.window_log_max: _WINDOW_LOG_MAX}
    return cast("IO[bytes]", zstd.open(raw, options=options))
