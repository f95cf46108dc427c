"""The rate limit: ``--rate-limit`` requests a second for each account, in all workers.

A partner with a limit of its own has it in addition to that of the account.

It uses the generic cell rate algorithm (GCRA). Each account has one number, its theoretical arrival
time, and so has each such partner. Each request adds 1/rate seconds to that time. A request that
would move it more than a second ahead of the clock is refused. The times are in one file, which all
workers share and lock. No library does this for several processes without a separate server
(rules, "Limit of requests").
"""

import fcntl
import os
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic_ns
from typing import NamedTuple

from starlette.exceptions import HTTPException

from masthead.api.http.overload import Overloaded

_SECOND_NS = 1_000_000_000
_ENTRY = struct.Struct("<qqq")
"""The ids of an account and of a partner (0: the whole account), and the theoretical arrival time
in nanoseconds of the monotonic clock."""

_NO_SPACE = "there is no space to count the requests of this account: try again later"
_POLICY = b"ratelimit-policy"
_LIMIT = b"ratelimit"


class Taken(NamedTuple):
    """Whether a request is allowed, and how many more the account may make at once.

    ``of_partner``: the limit is that of a partner.
    """

    rate: int
    is_allowed: bool
    left: int
    of_partner: bool = False

    @property
    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers of draft-ietf-httpapi-ratelimit-headers-10, for any response."""
        whose = b"partner" if self.of_partner else b"account"
        return [
            (_POLICY, b'"%s";q=%d;w=1' % (whose, self.rate)),
            (_LIMIT, b'"%s";r=%d;t=1' % (whose, self.left)),
        ]

    def check(self) -> None:
        """Raise HTTPException 429 if the request is not allowed."""
        if not self.is_allowed:
            who = "these credentials" if self.of_partner else "this account"
            raise HTTPException(
                429,
                f"more than {who} may ask, which is {self.rate} a second: wait a second",
                {"Retry-After": "1"},
            )


class RateLimit:
    """The rate limit of each account: ``rate`` requests a second; 0 for no limit.

    ``folder`` is shared by several workers. ``clock`` returns nanoseconds of a monotonic clock that
    is the same for all of them.
    """

    def __init__(
        self, rate: int, folder: str | None = None, clock: Callable[[], int] = monotonic_ns
    ) -> None:
        self.rate = rate
        self._clock = clock
        self._folder = folder
        self._offsets: dict[tuple[int, int], int] = {}
        self._lock = threading.Lock()

    def take(self, account_id: int, partner_id: int = 0, rate: int = 0) -> Taken:
        """Count a request of the account, unless it is over the limit; return the result.

        With ``partner_id``, the limit is the partner's own, ``rate``. Raises Overloaded if there is
        no space for the entry of a new account or partner.
        """
        rate = rate or self.rate
        interval_ns = _SECOND_NS // rate
        key = account_id, partner_id
        with self._locked():
            offset = self._offsets.get(key)
            if offset is None:
                try:
                    offset = self._find(key)
                except OSError as error:
                    raise Overloaded(_NO_SPACE, "temporary space") from error
            *_, arrival = _ENTRY.unpack(os.pread(self._file, _ENTRY.size, offset))
            now = self._clock()
            then = max(arrival, now) + interval_ns
            is_allowed = then - now <= _SECOND_NS
            if is_allowed:
                os.pwrite(self._file, _ENTRY.pack(*key, then), offset)
            else:
                then -= interval_ns
        left = max(0, (_SECOND_NS - (then - now)) // interval_ns)
        return Taken(rate, is_allowed, left, of_partner=partner_id != 0)

    @cached_property
    def _file(self) -> int:
        return _file(self._folder)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with self._lock:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX)
            except OSError as error:
                raise Overloaded(_NO_SPACE, "temporary space") from error
            try:
                yield
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def _find(self, key: tuple[int, int]) -> int:
        """Return the offset of an account's or a partner's entry; append one if no worker has."""
        size = os.fstat(self._file).st_size
        known = len(self._offsets) * _ENTRY.size
        for offset in range(known, size, _ENTRY.size):
            account_id, partner_id, _ = _ENTRY.unpack(os.pread(self._file, _ENTRY.size, offset))
            self._offsets[account_id, partner_id] = offset
        if key not in self._offsets:
            os.pwrite(self._file, _ENTRY.pack(*key, 0), size)
            self._offsets[key] = size
        return self._offsets[key]


def _file(folder: str | None) -> int:
    if folder:
        return os.open(Path(folder, "rate-limit"), os.O_RDWR | os.O_CREAT, 0o600)
    if hasattr(os, "memfd_create"):
        return os.memfd_create("rate-limit")
    with TemporaryFile() as unnamed:
        return os.dup(unnamed.fileno())
