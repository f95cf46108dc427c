"""Opening import files, plain or compressed, with a limit to how much they expand.

A few bytes of gzip or zstd can expand to terabytes. Real files have a compression ratio of about
10, rarely of 50 (rules, "Packed files that grow too much").
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
from masthead.loading.regular_files import open_regular

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

ENDINGS = (".gz", ".zst")
GROWTH_MAX = 250
FREE_BYTES = 64 * 1024 * 1024
"""Every file may expand to this size, even if it is very small."""

_WINDOW_LOG_MAX = 27
"""128 MiB, the default limit of the zstd command."""

_BUFFER_BYTES = 65_536
_BROKEN = (EOFError, OSError, zlib.error, zstd.ZstdError)


class _Bounded(io.RawIOBase):
    """Decompressed bytes; raises BadInput for a file that expands too much."""

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
    """Yield a file of the decompressed bytes, and the file itself, whose position is the progress.

    Raises BadInput, which starts with ``label``, for broken compression, for a file that expands
    to more than 64 MiB and more than 250 times its size, and as :func:`open_regular` does.
    """
    try:
        with open_regular(path) as raw:
            unpacked: IO[bytes] = raw
            ending = path.suffix.lower()
            if ending in ENDINGS:
                inside = _gzip(raw) if ending == ".gz" else _zstd(raw)
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
