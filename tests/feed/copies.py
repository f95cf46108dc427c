"""The copies for which ``killing.py`` kills: that of the test's own client, and the mirror's.

A copy tells by which program it is kept, how far it has come, and what it has.
"""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import duckdb
import psycopg
from psycopg import errors

from masthead.contract.encoding import encode, wire_of
from masthead.contract.shapes import ChangedSubscriber, MailingListEntry
from masthead.mirror import open_copy
from masthead.mirror.records import ids_of, records_of
from masthead.mirror.tables import ENTITIES, ENTRIES
from tests.feed.copier import Copy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.feed.copier import Records

_PATH = "sqlite:///"
DUCKDB_TRIES, DUCKDB_PAUSE_S = 200, 0.005


class KeptCopy(Protocol):
    """A copy, and the program that keeps it; ``has_entries`` tells of those of mailing lists.

    A round takes ``pace`` times as long as one of a program that starts at once.
    """

    has_entries: bool
    pace: float

    def command(self, base_url: str, seed: float) -> list[object]:
        """Return the module and the arguments of the program."""

    def through(self) -> str | None:
        """Return the time that it asks for next, or None where it has not begun."""

    def records(self) -> Records:
        """Return all records."""


class CopierCopy:
    """The copy that ``copier.py`` keeps; with ``forget`` that goes wrong."""

    has_entries = False
    pace = 1.0

    def __init__(self, path: Path, *, forget: bool = False) -> None:
        self._path = path
        self._options = ["--forget"] if forget else []

    def command(self, base_url: str, seed: float) -> list[object]:
        return ["tests.feed.copier", base_url, self._path, "--seed", seed, *self._options]

    def through(self) -> str | None:
        with closing(Copy(self._path)) as copy:
            return copy.through()

    def records(self) -> Records:
        with closing(Copy(self._path)) as copy:
            return copy.records()


class MirrorCopy:
    """The copy that ``masthead mirror`` keeps, pass after pass (``restless.py``).

    With ``forget`` the program is ``forgetful.py``.
    """

    has_entries = True
    pace = 2.0

    def __init__(self, url: str, *, forget: bool = False) -> None:
        self._url = url
        self._program = "tests.feed.forgetful" if forget else "tests.feed.restless"

    def command(self, base_url: str, seed: float) -> list[object]:  # noqa: ARG002
        return [self._program, "mirror", base_url, "--to", self._url, "--every", "1s"]

    def through(self) -> str | None:
        """Ask without a word to the mirror, which may be writing."""
        sql = "SELECT changed_since FROM mirror"
        if self._url.startswith(("duckdb:", "parquet:")):
            return _in_duckdb(self._url)
        if self._url.startswith(_PATH):
            with closing(sqlite3.connect(self._url.removeprefix(_PATH))) as file:
                try:
                    row = file.execute(sql).fetchone()
                except sqlite3.OperationalError:
                    row = None
        else:
            with psycopg.connect(self._url) as connection:
                try:
                    row = connection.execute(sql).fetchone()
                except errors.UndefinedTable:
                    row = None
        return row and str(row[0])

    def records(self) -> Records:
        """Return them as the service writes them, put together from the tables."""
        found: Records = {}
        with closing(open_copy(self._url)) as copy:
            for entity in ENTITIES:
                table = entity.tables[0]
                own: Iterable[tuple[int, bytes]]
                if entity.shape is ChangedSubscriber:
                    own = ((row[0], _subscriber(*row)) for row in copy.rows(table, None))
                else:
                    own = records_of(copy, entity, ids_of(copy, entity))
                found |= {(table.name, str(key)): record for key, record in own}
            for list_id, *entry in copy.rows(ENTRIES, None):
                found[ENTRIES.name, f"{list_id}/{entry[0]}"] = encode(_make_entry(*entry))
        return found


def _in_duckdb(url: str) -> str | None:
    """Return the time of a copy; None if it has none, or if the mirror has it open for long."""
    path = Path(url.removeprefix("duckdb:///").removeprefix("parquet://"))
    is_folder = url.startswith("parquet:")
    state = f"'{path}/current/mirror.parquet'" if is_folder else "mirror"
    for _ in range(DUCKDB_TRIES):
        try:
            if not (path / "current" if is_folder else path).exists():
                return None
            with closing(duckdb.connect(*(() if is_folder else (path, True)))) as connection:
                row = connection.execute(f"SELECT changed_since FROM {state}").fetchone()
                return str(row[0]) if row else None
        except duckdb.CatalogException:
            return None
        except duckdb.IOException:
            time.sleep(DUCKDB_PAUSE_S)
    return None


_make_entry = wire_of(MailingListEntry)
_make_subscriber = wire_of(ChangedSubscriber)


def _subscriber(*row: Any) -> bytes:
    return encode(_make_subscriber(*row))
