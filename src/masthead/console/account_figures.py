"""Figures over a whole account: counted in background threads, cached until the data changes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from masthead.errors import MastheadError
from masthead.log import get_logger
from masthead.store import Store, audit, commits

Value = TypeVar("Value")

_WAIT_S = 0.05
"""How long a page waits for a count that it starts: enough for a small publisher."""

_DOWNLOAD_S_MAX = 60
_AGE_US_MAX = 60 * 1_000_000
_RESTS = 10
_KEPT_MAX = 100

_log = get_logger()

_Change = tuple[int, int]
"""The newest stamp of an account and the newest audit log entry: both stay the same only if nothing
changes, including loads and operations of the books."""


class Counted(NamedTuple, Generic[Value]):
    """A value and when it was counted (microseconds); both are None before the first count.

    ``is_current`` is false while a count is running.
    """

    value: Value | None
    at: int | None
    is_current: bool


class _Kept(NamedTuple):
    """A value, the newest change before the count, when the count was made, and its duration."""

    value: Any
    change: _Change
    at: int
    took_us: int


class Counting:
    """The counted figures of all accounts. One thread at a time counts each figure."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._running: dict[Hashable, threading.Thread] = {}

    def of(self, account_id: int, what: Hashable, count: Callable[[], Value]) -> Counted[Value]:
        """Return the last result of ``count`` for the account and ``what``.

        If the result is not current, start ``count`` in a thread and wait for it for a twentieth
        of a second. A change makes a result outdated, but after each count there is a pause of ten
        times its duration.
        """
        newest = self._newest(account_id)

        def is_current(kept: _Kept) -> bool:
            age_us = self._store.clock() - kept.at
            pause_us = 0 if kept.took_us <= _WAIT_S * 1_000_000 else _RESTS * kept.took_us
            return age_us < pause_us or (kept.change == newest and age_us <= _AGE_US_MAX)

        key = (account_id, what)
        kept, thread = self._kept_or_begun(key, is_current, count, newest)
        if thread is not None:
            thread.join(_WAIT_S)
            with self._lock:
                kept = self._kept.get(key)
        is_done = thread is None or not thread.is_alive()
        return Counted(kept.value, kept.at, is_done) if kept else Counted(None, None, is_done)

    def for_download(self, account_id: int, what: Hashable, count: Callable[[], Value]) -> Value:
        """Return the same value with all changes until now, however long the count takes.

        Raises MastheadError if the count takes more than a minute, or fails.
        """
        asked_at, newest = self._store.clock(), self._newest(account_id)

        def is_current(kept: _Kept) -> bool:
            return kept.at >= asked_at or kept.change == newest

        key, ends = (account_id, what), monotonic() + _DOWNLOAD_S_MAX
        kept, thread = self._kept_or_begun(key, is_current, count, newest)
        while thread is not None:
            before = kept
            thread.join(max(ends - monotonic(), 0))
            with self._lock:
                kept = self._kept.get(key)
            if kept is before:
                raise MastheadError("it could not be counted within a minute; try again later")
            # This count may have begun before the newest change; then a second count follows.
            kept, thread = self._kept_or_begun(key, is_current, count, newest)
        assert kept is not None
        value: Value = kept.value
        return value

    def _newest(self, account_id: int) -> _Change:
        with self._store.reader() as connection:
            connection.set_tenant(account_id)
            stamp = commits.position_of(connection, account_id).newest_stamp
            return stamp, audit.newest_entry(connection)

    def _kept_or_begun(
        self,
        key: Hashable,
        is_current: Callable[[_Kept], bool],
        count: Callable[[], Any],
        newest: _Change,
    ) -> tuple[_Kept | None, threading.Thread | None]:
        """Return the cached value and the thread that counts it; None if the value is current."""
        with self._lock:
            kept = self._kept.get(key)
            if kept and is_current(kept):
                self._kept.move_to_end(key)
                return kept, None
            thread = self._running.get(key)
            if thread is None:
                thread = threading.Thread(
                    target=self._count, args=(key, count, newest), daemon=True
                )
                self._running[key] = thread
                thread.start()
            return kept, thread

    def _count(self, key: Hashable, count: Callable[[], Any], newest: _Change) -> None:
        begun, at = monotonic(), self._store.clock()
        try:
            value = count()
            took_us = int((monotonic() - begun) * 1_000_000)
            with self._lock:
                self._kept[key] = _Kept(value, newest, at, took_us)
                self._kept.move_to_end(key)
                if len(self._kept) > _KEPT_MAX:
                    self._kept.popitem(last=False)
        except MastheadError as error:
            _log.warning("what a page shows could not be counted", reason=str(error))
        finally:
            with self._lock:
                del self._running[key]
