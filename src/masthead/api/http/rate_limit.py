"""The rate limit: ``--rate-limit`` requests a second for each account, in all workers.

It uses the generic cell rate algorithm (GCRA). Each account has one number, its theoretical arrival
time. Each request adds 1/rate seconds to that time. A request that would move it more than a second
ahead of the clock is refused. The times are in one file, which all workers share and lock. No
library does this for several processes without a separate server (rules, "Limit of requests").
"""

import fcntl
import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic_ns
from typing import NamedTuple

from starlette.exceptions import HTTPException

from masthead.api.http.overload import Overloaded

_SECOND_NS = 1_000_000_000
_ENTRY = struct.Struct("<qq")
"""An account's id, and its theoretical arrival time in nanoseconds of the monotonic clock."""

_NO_SPACE = "there is no space to count the requests of this account: try again later"
_POLICY = b"ratelimit-policy"
_LIMIT = b"ratelimit"


class Taken(NamedTuple):
    """Whether a request is allowed, and how many more the account may make at once."""

    rate: int
    is_allowed: bool
    left: int

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of draft-ietf-httpapi-ratelimit-headers-10, for any response."""
        return [
            (_POLICY, b'"account";q=%d;w=1' % self.rate),
            (_LIMIT, b'"account";r=%d;t=1' % self.left),
        ]

    def check(self) -> None:
        """Raise HTTPException 429 if the request is not allowed."""
        if not self.is_allowed:
            raise HTTPException(
                429,
                f"more than this account may ask, which is {self.rate} a second: wait a second",
                {"Retry-After": "1"},
            )


class RateLimit:
    """The rate limit of each account: ``rate`` requests a second.

    ``folder`` is shared by several workers. ``clock`` returns nanoseconds of a monotonic clock that
    is the same for all of them.
    """

    def __init__(
        self, rate: int, folder: str | None = None, clock: Callable[[], int] = monotonic_ns
    ) -> None:
        self._rate = rate
        self._interval_ns = _SECOND_NS // rate
        self._clock = clock
        self._file = _file(folder)
        self._offsets: dict[int, int] = {}
        self._lock = threading.Lock()

    def take(self, account_id: int) -> Taken:
        """Count a request of the account, unless it is over the limit; return the result.

        Raises Overloaded if there is no space for the entry of a new account.
        """
        with self._locked():
            offset = self._offsets.get(account_id)
            if offset is None:
                try:
                    offset = self._find(account_id)
                except OSError as error:
                    raise Overloaded(_NO_SPACE, "temporary space") from error
            _, arrival = _ENTRY.unpack(os.pread(self._file, _ENTRY.size, offset))
            now = self._clock()
            then = max(arrival, now) + self._interval_ns
            is_allowed = then - now <= _SECOND_NS
            if is_allowed:
                os.pwrite(self._file, _ENTRY.pack(account_id, then), offset)
            else:
                then -= self._interval_ns
        return Taken(self._rate, is_allowed, (_SECOND_NS - (then - now)) // self._interval_ns)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _find(self, account_id: int) -> int:
        """Return the offset of the account's entry; append one if no worker has done so."""
        size = os.fstat(self._file).st_size
        known = len(self._offsets) * _ENTRY.size
        for offset in range(known, size, _ENTRY.size):
            other, _ = _ENTRY.unpack(os.pread(self._file, _ENTRY.size, offset))
            self._offsets[other] = offset
        if account_id not in self._offsets:
            os.pwrite(self._file, _ENTRY.pack(account_id, 0), size)
            self._offsets[account_id] = size
        return self._offsets[account_id]


def _file(folder: str | None) -> int:
    if folder:
        return os.open(Path(folder, "rate-limit"), os.O_RDWR | os.O_CREAT, 0o600)
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rate-limit")
    with TemporaryFile() as unnamed:
        return os.dup(unnamed.fileno())
