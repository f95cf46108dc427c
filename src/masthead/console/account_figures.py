"""Figures over a whole account: counted in background threads, cached until the data changes."""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from time import monotonic
from typing import Any, Generic, NamedTuple, TypeVar

from masthead.errors import MastheadError
from masthead.log import get_logger
from masthead.store import Store, audit, commits
from masthead.web.turns import BusyError

Value = TypeVar("Value")

_WAIT_S = 0.05
"""How long a page waits for a count that it starts: enough for a small publisher."""

_DOWNLOAD_S_MAX = 60
_AGE_US_MAX = 60 * 1_000_000
_RESTS = 10
_KEPT_MAX = 50
_AT_ONCE = 2
_WAITING_MAX = 5
_DOWNLOADS_MAX = 8
"""Files that wait for a count: each has a thread, of which the other pages need some."""

_TOO_MANY = "Too many figures are being counted. Try again in a moment."

_log = get_logger()

_Change = tuple[int, int]
"""The newest stamp of an account and the newest audit log entry: both stay the same only if nothing
changes, including loads and operations of the books."""


class Counted(NamedTuple, Generic[Value]):
    """A value and when it was counted (microseconds); both are None before the first count.

    ``is_current`` is false while a count is running, or waits for its turn (``is_waiting``).
    """

    value: Value | None
    at: int | None
    is_current: bool
    is_waiting: bool = False


class Asker(NamedTuple):
    """The operator for whom something is counted."""

    account_id: int
    operator_id: int


class _Kept(NamedTuple):
    """A value, the newest change before the count, when the count was made, and its duration."""

    value: Any
    change: _Change
    at: int
    took_us: int


class _Task:
    """A count that runs or waits for its turn."""

    def __init__(
        self, key: Hashable, asker: Asker, count: Callable[[], Any], newest: _Change
    ) -> None:
        self.key = key
        self.asker = asker
        self.count = count
        self.newest = newest
        self.has_begun = False
        self.is_done = threading.Event()


class Counting:
    """The counted figures of all accounts. One thread at a time counts each figure.

    Two counts run at a time, and one for each operator, since a count of a large account takes a
    processor and memory. Others wait for their turn, five for each operator (decisions, "Turns of
    the console").
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self._tasks: dict[Hashable, _Task] = {}
        self._waiting: OrderedDict[Asker, deque[_Task]] = OrderedDict()
        self._running: set[Asker] = set()
        self._downloads = threading.Semaphore(_DOWNLOADS_MAX)

    def of(self, asker: Asker, what: Hashable, count: Callable[[], Value]) -> Counted[Value]:
        """Return the last result of ``count`` for the operator's account and ``what``.

        If the result is not current, start ``count`` in a thread and wait for it for a twentieth
        of a second. A change makes a result outdated, but after each count there is a pause of ten
        times its duration.
        """
        newest = self._newest(asker.account_id)

        def is_current(kept: _Kept) -> bool:
            age_us = self._store.clock() - kept.at
            pause_us = 0 if kept.took_us <= _WAIT_S * 1_000_000 else _RESTS * kept.took_us
            if age_us < 0:
                return False  # the clock was ahead
            return age_us < pause_us or (kept.change == newest and age_us <= _AGE_US_MAX)

        key = (asker.account_id, what)
        try:
            kept, task = self._kept_or_begun(key, is_current, asker, count, newest)
        except BusyError:
            with self._lock:
                kept = self._kept.get(key)
            value, at = (kept.value, kept.at) if kept else (None, None)
            return Counted(value, at, is_current=False, is_waiting=True)
        if task is None:
            assert kept is not None
            return Counted(kept.value, kept.at, is_current=True)
        is_done = task.is_done.wait(_WAIT_S)
        with self._lock:
            kept = self._kept.get(key)
            is_waiting = not (is_done or task.has_begun)
        value, at = (kept.value, kept.at) if kept else (None, None)
        return Counted(value, at, is_done, is_waiting)

    def for_download(self, asker: Asker, what: Hashable, count: Callable[[], Value]) -> Value:
        """Return the same value with all changes until now, however long the count takes.

        Raises MastheadError if the count takes more than a minute, or fails, and BusyError if too
        many counts wait for their turn.
        """
        asked_at, newest = self._store.clock(), self._newest(asker.account_id)

        def is_current(kept: _Kept) -> bool:
            return asked_at <= kept.at <= self._store.clock() or kept.change == newest

        key, ends = (asker.account_id, what), monotonic() + _DOWNLOAD_S_MAX
        if not self._downloads.acquire(blocking=False):
            raise BusyError(_TOO_MANY)
        try:
            kept, task = self._kept_or_begun(key, is_current, asker, count, newest)
            while task is not None:
                before = kept
                task.is_done.wait(max(ends - monotonic(), 0))
                with self._lock:
                    kept = self._kept.get(key)
                if kept is before:
                    raise MastheadError("it could not be counted within a minute; try again later")
                # This count may have begun before the newest change; then a second count follows.
                kept, task = self._kept_or_begun(key, is_current, asker, count, newest)
        finally:
            self._downloads.release()
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
        asker: Asker,
        count: Callable[[], Any],
        newest: _Change,
    ) -> tuple[_Kept | None, _Task | None]:
        """Return the cached value and the task that counts it; None if the value is current.

        Raises BusyError if the operator has too many counts that wait.
        """
        with self._lock:
            kept = self._kept.get(key)
            if kept and is_current(kept):
                self._kept.move_to_end(key)
                return kept, None
            task = self._tasks.get(key)
            if task is None:
                own = self._waiting.get(asker, ())
                if len(own) >= _WAITING_MAX:
                    raise BusyError(_TOO_MANY)
                task = self._tasks[key] = _Task(key, asker, count, newest)
                self._waiting.setdefault(asker, deque()).append(task)
                self._begin_next()
            return kept, task

    def _begin_next(self) -> None:
        """Begin the counts whose turn it is; the caller holds the lock."""
        for asker in list(self._waiting):
            if len(self._running) == _AT_ONCE:
                return
            if asker in self._running:
                continue
            own = self._waiting.pop(asker)
            task = own.popleft()
            if own:
                self._waiting[asker] = own  # the other operators come first
            self._running.add(asker)
            task.has_begun = True
            threading.Thread(target=self._count, args=(task,), daemon=True).start()

    def _count(self, task: _Task) -> None:
        begun, at, kept = monotonic(), self._store.clock(), None
        try:
            value = task.count()
            kept = _Kept(value, task.newest, at, int((monotonic() - begun) * 1_000_000))
        except MastheadError as error:
            _log.warning("what a page shows could not be counted", reason=str(error))
        finally:
            with self._lock:
                if kept:
                    self._kept[task.key] = kept
                    self._kept.move_to_end(task.key)
                    if len(self._kept) > _KEPT_MAX:
                        self._kept.popitem(last=False)
                del self._tasks[task.key]
                self._running.remove(task.asker)
                self._begin_next()
            task.is_done.set()
