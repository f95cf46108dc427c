"""A publisher's database under a clock that the schedule sets, and the loads that change it.

A load goes through the store's own functions, one step at a time: opened, then committed or
killed, and stamped some time after that, or never. On SQLite one load at a time has its
transaction open, on PostgreSQL one of each account; polls go on meanwhile. What a killed load
leaves staged is the concern of test_killed: here it leaves nothing, since loads are told apart by
the clock, which stands still.
"""

from __future__ import annotations

from contextlib import ExitStack, closing, contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from masthead.api.http.service import Service
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import StoreUnavailable
from masthead.loading.complete import find_missing
from masthead.loading.load import load
from masthead.settings import ServerSettings
from masthead.store import accounts, commits, epochs, merging, open_store, staged_checks
from masthead.store.staging import staging_for
from tests.feed.model import Model
from tests.servers import as_server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from masthead.store import Connection
    from tests.feed.model import Edit, Files, Key
    from tests.feed.places import Place
    from tests.servers import Store

ACCOUNT_IDS = (1, 2)
BASE = Path(__file__).parents[1] / "api" / "data" / "feed"
SECOND_US = 1_000_000
_START_US = 1_800_000_000 * SECOND_US


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
    files: Files
    now: str
    stack: ExitStack


def prepare(kind: Store) -> str:
    """Return the URL of a new database with which every schedule begins."""
    url = kind.new_database("schedules")
    with closing(open_store(url, clock=Clock())) as store:
        for account_id in ACCOUNT_IDS:
            accounts.add_account(store, {"account_id": account_id})
            load(store, [BASE], account_id=account_id)
    return url


class World:
    """A running service: its database, its server's side of it, and what the data ought to be."""

    def __init__(self, place: Place) -> None:
        self.clock = Clock()
        self.models = dict.fromkeys(ACCOUNT_IDS, Model.of_files(BASE))
        self.loads: dict[int, _Load] = {}
        self.changes = 0
        """How often anything was written that a dump may show."""
        self.backup: dict[int, Model] | None = None
        self._place = place
        self._start(place.begin())

    def _start(self, url: str) -> None:
        self._url = url
        self.store = open_store(url, clock=self.clock)
        served = open_store(as_server(url), clock=self.clock)
        self.service = Service(served, ServerSettings())
        self.connection = served.open_loop_reader(lambda end: end())

    def _stop(self) -> None:
        if self.connection:
            self.connection.close()
        self.service.store.close()
        self.store.close()

    @contextmanager
    def reader(self, account_id: int) -> Iterator[Connection]:
        """Lend what a request for the account reads from."""
        if self.connection:
            yield self.connection
            return
        with self.service.store.reader() as database:
            database.set_tenant(account_id)
            yield database

    @property
    def is_exclusive(self) -> bool:
        """Whether a load is open that keeps all other writers out, not only its account's."""
        return bool(self.loads) and self.store.dialect == "sqlite"

    @property
    def free(self) -> list[int]:
        """The accounts whose data can be written now."""
        return [] if self.is_exclusive else [n for n in ACCOUNT_IDS if n not in self.loads]

    def open_load(
        self,
        account_id: int,
        edits: Sequence[Edit],
        removals: Sequence[Key] = (),
        *,
        waits: bool = True,
    ) -> None:
        """Begin a load and do all of it but the commit: write rows, and remove what is missing."""
        files = self.models[account_id].files(edits, removals)
        now = datetime.fromtimestamp(self.clock.now // SECOND_US, UTC)
        with ExitStack() as stack:
            database = stack.enter_context(self.store.writer(waits=waits))
            staging = stack.enter_context(staging_for(database, account_id))
            with staging.filling():
                for (table, columns), rows in files.by_columns().items():
                    staging.add(TABLES_BY_NAME[table], 0, columns, rows)
            stack.enter_context(database.transaction())
            database.lock_account(account_id)
            removal = find_missing(staging, (), rejects=False) if files.complete else None
            staged_checks.check(staging, discard=False)
            assert not list(staging.problems())
            merging.merge(staging, lambda _: None, removal)
            loading = _Load(files, f"{now:%Y-%m-%d %H:%M:%S}", stack.pop_all())
            self.loads[account_id] = loading

    def try_to_load(
        self, account_id: int, edits: Sequence[Edit], removals: Sequence[Key] = ()
    ) -> None:
        """Begin a load, unless another writer keeps it out."""
        with suppress(StoreUnavailable):
            self.open_load(account_id, edits, removals, waits=False)

    def commit(self, account_id: int) -> None:
        """Let the account's open load commit, and die before it stamps what it did."""
        opened = self.loads.pop(account_id)
        opened.stack.close()
        self.models[account_id] = self.models[account_id].after(opened.files, opened.now)
        self.changes += 1

    def roll_back(self, account_id: int) -> None:
        """Kill the account's open load."""
        with suppress(KilledError), self.loads.pop(account_id).stack:
            raise KilledError

    def stamp(self, account_id: int) -> None:
        """Stamp what is committed, as a load does at its end."""
        self.changes += 1
        commits.stamp_commits(self.store, account_id)

    def try_to_stamp(self, account_id: int) -> None:
        """Stamp what is committed, as another process does, unless somebody is about it."""
        self.changes += 1
        with suppress(StoreUnavailable):
            commits.stamp_commits(self.store, account_id, waits=False)

    def stamp_as_server(self) -> None:
        """Stamp what waits, and keep idle accounts in the window, as a running server does."""
        self.changes += 1
        with suppress(StoreUnavailable) if self.loads else nullcontext():
            commits.stamp_all(self.service.store)

    def hide_password_md5(self, account_id: int, *, hide: bool) -> None:
        """Change the setting of an account that its subscribers' records show."""
        self.changes += 1
        accounts.set_account(self.store, account_id, {"hide_password_md5": int(hide)})
        self.models[account_id] = self.models[account_id].hiding(hide=hide)

    def restart(self) -> None:
        """End the server, and start it again."""
        self._stop()
        self._start(self._url)

    def back_up(self) -> None:
        """Keep a copy of the database."""
        self._place.back_up()
        self.backup = dict(self.models)

    def restore(self) -> None:
        """Put the copy in the database's place, and begin a new epoch, as the operator is told.

        It takes a second at the least, and by then the clock is not behind where it has been.
        """
        assert self.backup
        self.changes += 1
        for account_id in list(self.loads):
            self.roll_back(account_id)
        self._stop()
        self.models = dict(self.backup)
        self._start(self._place.restore())
        self.clock.step(self.clock.latest + SECOND_US - self.clock.now)
        epochs.start_epochs(self.store)

    def close(self) -> None:
        """Kill what runs, and remove the databases."""
        for account_id in list(self.loads):
            self.roll_back(account_id)
        self._stop()
        self._place.end()
