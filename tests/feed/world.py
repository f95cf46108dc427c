"""A publisher's database under a clock that the schedule sets, and the loads that change it.

A load goes through the store's own functions, one step at a time: opened, then committed or
killed, and stamped some time after that, or never.
"""

from __future__ import annotations

import itertools
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from masthead.api.operation import Service
from masthead.contract.records import TABLES_BY_NAME
from masthead.loading.load import load
from masthead.store import accounts, checking, commits, merging, open_store
from masthead.store.staging import Staging
from tests.feed.model import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.feed.model import Edit
    from tests.servers import Store

__all__ = ["ACCOUNT_IDS", "BASE", "SECOND_US", "Clock", "World", "prepare"]

ACCOUNT_IDS = (1, 2)
BASE = Path(__file__).parents[1] / "api" / "data" / "feed"
SECOND_US = 1_000_000
_START_US = 1_800_000_000 * SECOND_US
_numbers = itertools.count()


class Clock:
    """Microseconds since 1970, as the schedule says.

    What the schedule puts into ``interruptions`` happens right after a reading of the clock, before
    its reader can go on: one at the next reading, another one at the reading after it.
    """

    def __init__(self) -> None:
        self.now = _START_US
        self.latest = _START_US
        self.interruptions: list[Callable[[], None]] = []

    def __call__(self) -> int:
        """Return the time."""
        now = self.now
        if self.interruptions:
            happening, *later = self.interruptions
            self.interruptions = []
            happening()
            self.interruptions = later
        return now

    def step(self, by_us: int) -> None:
        """Go on, or back."""
        self.now += by_us
        self.latest = max(self.latest, self.now)


class KilledError(Exception):
    """Ends a load as a signal would."""


class _Load(NamedTuple):
    account_id: int
    edits: Sequence[Edit]
    stack: ExitStack


class _Backup(NamedTuple):
    url: str
    models: dict[int, Model]


def prepare(kind: Store) -> str:
    """Return the URL of a database with which every schedule begins."""
    url = kind.new_database(f"template-{next(_numbers)}")
    store = open_store(url, clock=Clock())
    for account_id in ACCOUNT_IDS:
        accounts.add_account(store, {"account_id": account_id})
        load(store, [BASE], account_id=account_id)
    return url


class World:
    """A running service: its database, its server's side of it, and what the data ought to be.

    One load at a time has its transaction open, as the store has it; polls go on meanwhile.
    """

    def __init__(self, kind: Store, template: str) -> None:
        self.clock = Clock()
        self.models = dict.fromkeys(ACCOUNT_IDS, Model.of_files(BASE))
        self.load: _Load | None = None
        self.backup: _Backup | None = None
        self._kind = kind
        self._databases: list[str] = []
        self._url = self._copy(template)
        self._start()

    def _copy(self, url: str) -> str:
        copied = self._kind.copy_database(url, f"schedule-{next(_numbers)}")
        self._databases.append(copied)
        return copied

    def _start(self) -> None:
        self.store = open_store(self._url, clock=self.clock)
        self.service = Service(self.store, self.store.open_reader(), feed_overlap_us=0)

    def _stop(self) -> None:
        self.service.database.close()
        self.store.close()

    def open_load(self, account_id: int, edits: Sequence[Edit]) -> None:
        """Begin a load and do all of it but the commit."""
        stack = ExitStack()
        database = stack.enter_context(self.store.writer())
        staging = Staging(database, account_id)
        for line, (table, row) in enumerate(edits):
            staging.add(TABLES_BY_NAME[table], 0, list(row), [(line, *row.values())])
        staging.finish()
        stack.enter_context(database.transaction())
        checking.check(staging, discard=False)
        assert not list(staging.problems())
        merging.merge(staging, lambda _: None)
        self.load = _Load(account_id, edits, stack)

    def commit(self) -> None:
        """Let the open load commit, and die before it stamps what it did."""
        assert self.load
        self.load.stack.close()
        model = self.models[self.load.account_id]
        self.models[self.load.account_id] = model.after(self.load.edits)
        self.load = None

    def roll_back(self) -> None:
        """Kill the open load."""
        assert self.load
        with suppress(KilledError), self.load.stack:
            raise KilledError
        self.load = None

    def stamp(self, account_id: int) -> None:
        """Stamp what is committed, as a load does at its end."""
        commits.stamp_commits(self.store, account_id)

    def stamp_as_server(self) -> None:
        """Stamp what waits, and keep idle accounts in the window, as a running server does."""
        commits.stamp_all(self.store)

    def hide_password_md5(self, account_id: int, *, hide: bool) -> None:
        """Change the setting of an account that its subscribers' records show."""
        accounts.set_account(self.store, account_id, {"hide_password_md5": int(hide)})
        self.models[account_id] = self.models[account_id].hiding(hide=hide)

    def restart(self) -> None:
        """End the server, and start it again."""
        self._stop()
        self._start()

    def back_up(self) -> None:
        """Keep a copy of the database."""
        self.backup = _Backup(self._copy(self._url), dict(self.models))

    def restore(self) -> None:
        """Put the copy in the database's place, and begin a new epoch, as the operator is told.

        It takes a second at the least, and by then the clock is not behind where it has been.
        """
        assert self.backup
        self._stop()
        self._url = self._copy(self.backup.url)
        self.models = dict(self.backup.models)
        self._start()
        self.clock.step(self.clock.latest + SECOND_US - self.clock.now)
        commits.start_epoch(self.store)

    def close(self) -> None:
        """Kill what runs, and remove the databases."""
        if self.load:
            self.roll_back()
        self._stop()
        for url in self._databases:
            self._kind.drop_database(url)
