"""The emulator's publisher: an account in a temporary file, and its clock.

Records go through ``masthead.loading`` as files do, so the same checks apply: all rows or none.
"""

import re
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.contract.moments import format_moment
from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.emulator.defaults import id_in, with_defaults
from masthead.errors import BadInput, NotFound
from masthead.loading.load import load
from masthead.store import (
    accounts,
    commits,
    emulator_snapshots,
    entitlement_keys,
    epochs,
    system_clock,
)
from masthead.store.entitlement_codes import make_code
from masthead.store.removing import remove_records
from masthead.store.sqlite import SqliteStore

ACCOUNT_ID = 1
API_KEY, API_LOGIN = "emulator-key", "emulator-login"

_MICROSECOND = timedelta(microseconds=1)
_EARLIEST_US, _LATEST_US = 0, 253_000_000_000 * 1_000_000
"""1970 to 9987: the years that all times of the interface can express, with some spare days"""

_PLACE = re.compile(r"^(\w+)\.ndjson:([0-9]+): ", re.MULTILINE)
_OTHER_PLACE = re.compile(r" in line ([0-9]+) too\b")
_KEY = re.compile(r"[0-9]{1,19}(?:/[0-9]{1,19})?")
_ADVICE = "nothing was loaded; "

Records = Mapping[str, Sequence[bytes]]


class MovableClock:
    """A clock that runs like the machine's, with an offset."""

    def __init__(self) -> None:
        self._ahead_us = 0

    def __call__(self) -> int:
        """Return microseconds since 1970."""
        return system_clock() + self._ahead_us

    def move(self, by: timedelta) -> None:
        """Move the clock forwards or backwards. Raises BadInput if its time cannot be written."""
        ahead_us = self._ahead_us + by // _MICROSECOND
        if not _EARLIEST_US <= system_clock() + ahead_us <= _LATEST_US:
            raise BadInput("the clock cannot be moved there: it goes from 1970 to 9987")
        self._ahead_us = ahead_us

    def reset(self) -> None:
        """Return to the machine's time."""
        self._ahead_us = 0


class Publisher:
    """An account with the records of ``files``, a folder of import files, or an empty account.

    ``folder`` is an empty folder for its database. Raises BadInput for bad files. The methods are
    thread-safe; one thread at a time changes data.
    """

    def __init__(self, folder: Path, files: Path | None = None) -> None:
        self.clock = MovableClock()
        self.store = SqliteStore(folder / "publisher.db", self.clock)
        self._beginning = folder / "beginning.db"
        self._folder = folder
        self._lock = threading.Lock()
        self.store.open()
        accounts.add_account(
            self.store,
            {
                "account_id": ACCOUNT_ID,
                "company_name": "Emulated Press",
                "email": "office@emulated.example",
                "api_active": 1,
                "api_key": API_KEY,
                "api_login": API_LOGIN,
                "plan": "Standard",
            },
        )
        entitlement_keys.rotate(self.store, ACCOUNT_ID)
        if files:
            load(self.store, [files], account_id=ACCOUNT_ID)
        emulator_snapshots.keep(self.store, self._beginning)

    @property
    def database(self) -> str:
        """The URL of the database."""
        return f"sqlite:///{self.store.path}"

    def add(self, records: Records) -> dict[str, int]:
        """Add records of some kinds, JSON objects, all or none; return the number of each kind.

        They get defaults (``defaults.py``). Raises BadInput if a record exists already, or is bad.
        """
        return self._write(records, are_new=True)

    def change(self, records: Records) -> dict[str, int]:
        """Change the given columns of records, all or none; return the number of each kind.

        Raises NotFound if a record does not exist, BadInput if a record is bad.
        """
        return self._write(records, are_new=False)

    def _write(self, records: Records, *, are_new: bool) -> dict[str, int]:
        tables = {name: _table(name) for name in records}
        now = self.clock()
        with self._lock, TemporaryDirectory(dir=self._folder) as folder:
            for name, given in records.items():
                self._check_there(tables[name], given, are_new=are_new)
                lines = [with_defaults(name, each, now) if are_new else each for each in given]
                # White space between the parts of an object may contain line ends; strings cannot.
                flat = [line.replace(b"\n", b" ").replace(b"\r", b" ") for line in lines]
                path = Path(folder, f"{name}.ndjson")
                path.write_bytes(b"".join(line + b"\n" for line in flat))
            if any(records.values()):
                _load(self.store, Path(folder))
        return {name: len(given) for name, given in records.items()}

    def _check_there(self, table: Table, given: Sequence[bytes], *, are_new: bool) -> None:
        """Raise an error for a new record that exists, or a changed record that does not.

        The checks of the import handle a record without a readable key.
        """
        with self.store.reader() as connection:
            for record in given:
                key = _key_in(table, record)
                if key is None or are_new != emulator_snapshots.is_there(
                    connection, ACCOUNT_ID, table, key
                ):
                    continue
                name = f"{table.name} {'/'.join(map(str, key))}"
                if are_new:
                    raise BadInput(f"{name} is there already: change it, or give another id")
                raise NotFound(f"{name} is not there: add it first")

    def remove(self, ids: Mapping[str, Sequence[int | str]]) -> dict[str, int]:
        """Remove records of one kind, all or none.

        Returns the number of removed rows by table, including rows that are part of a record; a
        subscriber who gets a ``delete_date`` counts too. Raises BadInput if another record refers
        to one, or for more than one kind, NotFound if a record does not exist.
        """
        if len(ids) != 1:
            raise BadInput("remove one kind of records at a time")
        ((name, given),) = ids.items()
        keys = [_key_of(name, one) for one in given]
        with self._lock:
            return remove_records(self.store, ACCOUNT_ID, _table(name), keys)

    def entitlement_code(self, subscriber_id: int) -> str:
        """Return a one-time code of a subscriber, as the readers' pages make it.

        Raises NotFound if the subscriber does not exist.
        """
        with self._lock:
            with self.store.reader() as connection:
                if not emulator_snapshots.is_there(
                    connection, ACCOUNT_ID, TABLES_BY_NAME["subscribers"], (subscriber_id,)
                ):
                    raise NotFound(f"subscribers {subscriber_id} is not there: add it first")
            return make_code(self.store, ACCOUNT_ID, subscriber_id)

    def move_clock(self, by: timedelta) -> str:
        """Move the clock; return its new time.

        An idle account gets the stamp that a server gives it every hour, so that the change feed is
        what it would be at that time.
        """
        with self._lock:
            self.clock.move(by)
            commits.stamp_all(self.store)
        return self.now()

    def now(self) -> str:
        """Return the clock's time, ``YYYY-MM-DDThh:mm:ss.ffffff+00:00``."""
        return format_moment(self.clock())

    def begin_epoch(self) -> None:
        """Begin a new epoch of the change feed, as after a restore: earlier times get 410.

        The epoch begins at the next whole second.
        """
        with self._lock:
            epochs.start_epochs(self.store)

    def reset(self) -> None:
        """Restore the initial records, and return to the machine's time."""
        with self._lock:
            self.clock.reset()
            emulator_snapshots.go_back(self.store, self._beginning)
            commits.stamp_all(self.store)

    def close(self) -> None:
        """Close the database."""
        self.store.close()


def _load(store: SqliteStore, folder: Path) -> None:
    try:
        load(store, [folder], account_id=ACCOUNT_ID)
    except BadInput as error:
        text = _PLACE.sub(r"\1, record \2: ", str(error))
        lines = _OTHER_PLACE.sub(r" in record \1 too", text).splitlines()
        kept = [line for line in lines if not line.startswith(_ADVICE)]
        raise BadInput("\n".join([*kept, "nothing was changed"])) from error


def _table(name: str) -> Table:
    """Return the table of this name; raise BadInput, with the closest name, if there is none."""
    if table := TABLES_BY_NAME.get(name):
        return table
    (nearest,) = get_close_matches(name, TABLES_BY_NAME, n=1, cutoff=0)
    raise BadInput(f"there are no records called {name[:100]!r}; the nearest is {nearest!r}")


def _key_in(table: Table, record: bytes) -> tuple[int, ...] | None:
    """Return the key of a record; None if it has no readable key."""
    try:
        given = msgspec.json.decode(record, type=dict[str, msgspec.Raw])
        return tuple(id_in(given[name]) for name in table.key)
    except (msgspec.DecodeError, KeyError, ValueError):
        return None


def _key_of(name: str, given: int | str) -> tuple[int, ...]:
    """Return the key that an id names; raise BadInput if the table cannot have that key."""
    table = _table(name)
    text = str(given)
    key = tuple(map(int, text.split("/"))) if _KEY.fullmatch(text) else ()
    if len(key) != len(table.key) or max(key) > BIGGEST_INTEGER:
        columns = "/".join(table.key)
        example = '"17/3"' if len(table.key) > 1 else "17"
        raise BadInput(f"{name}: {given!r} is no {columns}, such as {example}")
    return key
