"""Figures of whole accounts, counted in threads beside the requests, and kept until they change."""

import threading
from typing import NamedTuple

from masthead.errors import MastheadError
from masthead.log import get_logger
from masthead.store import Store, commits
from masthead.store.console_figures import Figures, figures_of

__all__ = ["Counted", "Counting"]

_WAIT_S = 0.05
"""How long a page waits for figures that it starts to count: enough for a small publisher."""

_AGE_US_MAX = 60 * 1_000_000
_AGE_US_MIN = 2 * 1_000_000

_log = get_logger()


class Counted(NamedTuple):
    """Figures, None before they were counted; ``is_current`` if nothing is being counted."""

    figures: Figures | None
    is_current: bool


class Counting:
    """The figures of each account. One thread at a time counts those of an account."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._kept: dict[int, tuple[int, Figures]] = {}
        self._running: dict[int, threading.Thread] = {}

    def of(self, account_id: int, today: str) -> Counted:
        """Return the figures of an account; count them anew beside if they are not current."""
        with self._store.reader() as connection:
            connection.set_tenant(account_id)
            newest = commits.position_of(connection, account_id).newest_stamp
        with self._lock:
            kept = self._kept.get(account_id)
            if kept and not self._is_old(kept, newest):
                return Counted(kept[1], is_current=True)
            thread = self._running.get(account_id)
            if thread is None:
                thread = threading.Thread(
                    target=self._count, args=(account_id, today, newest), daemon=True
                )
                self._running[account_id] = thread
                thread.start()
        thread.join(_WAIT_S)
        with self._lock:
            kept = self._kept.get(account_id)
            return Counted(kept[1] if kept else None, account_id not in self._running)

    def _is_old(self, kept: tuple[int, Figures], newest: int) -> bool:
        stamp, figures = kept
        age_us = self._store.clock() - figures.counted_at
        return age_us > _AGE_US_MAX or (stamp != newest and age_us > _AGE_US_MIN)

    def _count(self, account_id: int, today: str, newest: int) -> None:
        try:
            found = figures_of(self._store, account_id, today)
            with self._lock:
                self._kept[account_id] = (newest, found)
        except MastheadError as error:
            _log.warning("the figures could not be counted", reason=str(error))
        finally:
            with self._lock:
                del self._running[account_id]
