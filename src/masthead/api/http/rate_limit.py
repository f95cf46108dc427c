"""How many requests an account may make: ``--rate-limit`` of them a second, in all workers.

What each account has used is one number, the time at which it will have used nothing again (GCRA):
each request puts it off by its share of a second, and one that would put it off by more than a
second is refused. The numbers of all workers are in one file, which they lock for a moment. No
library does this for several processes without a service of its own beside them (decisions, "Limit
of requests").
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

__all__ = ["RATE_MAX", "Allowances", "Taken"]

RATE_MAX = 1_000_000
_SECOND_NS = 1_000_000_000
_ENTRY = struct.Struct("<qq")
"""An account's id, and when it will have used nothing, in nanoseconds of the machine's clock."""

_POLICY = b"ratelimit-policy"
_LIMIT = b"ratelimit"


class Taken(NamedTuple):
    """What is left to an account after a request; ``is_allowed`` says whether that was one."""

    rate: int
    is_allowed: bool
    left: int

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The fields of draft-ietf-httpapi-ratelimit-headers-10, which any answer has."""
        return [
            (_POLICY, b'"account";q=%d;w=1' % self.rate),
            (_LIMIT, b'"account";r=%d;t=1' % self.left),
        ]

    def check(self) -> None:
        """Raise HTTPException 429 where the request is one too many."""
        if not self.is_allowed:
            raise HTTPException(
                429,
                f"more than this account may ask, which is {self.rate} a second: wait a second",
                {"Retry-After": "1"},
            )


class Allowances:
    """The requests of all accounts; ``folder`` is what several workers share.

    ``clock`` returns nanoseconds, the same for all of them; it is never set back.
    """

    def __init__(
        self, rate: int, folder: str | None = None, clock: Callable[[], int] = monotonic_ns
    ) -> None:
        self._rate = rate
        self._share_ns = _SECOND_NS // rate
        self._clock = clock
        self._file = _file(folder)
        self._places: dict[int, int] = {}
        self._threads = threading.Lock()

    def take(self, account_id: int) -> Taken:
        """Count a request of the account, if it may make one; return what is left to it."""
        with self._locked():
            place = self._places.get(account_id)
            if place is None:
                place = self._find(account_id)
            _, used_until = _ENTRY.unpack(os.pread(self._file, _ENTRY.size, place))
            now = self._clock()
            then = max(used_until, now) + self._share_ns
            is_allowed = then - now <= _SECOND_NS
            if is_allowed:
                os.pwrite(self._file, _ENTRY.pack(account_id, then), place)
            else:
                then -= self._share_ns
        return Taken(self._rate, is_allowed, (_SECOND_NS - (then - now)) // self._share_ns)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._threads:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _find(self, account_id: int) -> int:
        """Return the account's place, where another worker or else this one has put it."""
        size = os.fstat(self._file).st_size
        known = len(self._places) * _ENTRY.size
        for place in range(known, size, _ENTRY.size):
            other, _ = _ENTRY.unpack(os.pread(self._file, _ENTRY.size, place))
            self._places[other] = place
        if account_id not in self._places:
            os.pwrite(self._file, _ENTRY.pack(account_id, 0), size)
            self._places[account_id] = size
        return self._places[account_id]


def _file(folder: str | None) -> int:
    if folder:
        return os.open(Path(folder, "allowances"), os.O_RDWR | os.O_CREAT, 0o600)
    with TemporaryFile() as unnamed:
        return os.dup(unnamed.fileno())
