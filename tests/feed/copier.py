"""A client as a program that polls without a pause and can be killed.

``python -m tests.feed.copier BASE_URL COPY.sqlite``, with the credentials in COPIER_USER and
COPIER_PASSWORD. It begins with the snapshot, and begins again on 410. Then it asks for the changes
and after them for the deletions, and goes on from the earlier one of their headers. What both say
and the time are written in one transaction once both answers are whole; a broken response is thrown
away, and the same is asked again.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import os
import random
import sqlite3
import sys
import time
from http.client import HTTPConnection, HTTPException, IncompleteRead
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Iterable

ALL = "customfields,subscriptions,subscribers,addresses,purchases,listdownloads,orders"
THROUGH = "Masthead-Changes-Through"
CODINGS = ("gzip", "zstd", "identity")
PAUSE_S = 0.005
GONE = 410
ALONE_SECONDS_MAX = 120
"""Without an answer for so long, the test that started this is gone, and this ends too."""

_CLOSE_CHANCE = 1 / 4
_TIMEOUT_S = 30
_BROKEN = (OSError, HTTPException)

Key = tuple[str, str]
"""A record's entity and its id."""

Records = dict[Key, bytes]
"""The bytes of each record."""


class Copy:
    """The copy and its position, in one SQLite file."""

    def __init__(self, path: Path) -> None:
        self._file = sqlite3.connect(path, timeout=_TIMEOUT_S, isolation_level=None)
        # What a killed process has written is safe without waiting for the disk.
        self._file.execute("PRAGMA synchronous = OFF")
        self._file.execute(
            "CREATE TABLE IF NOT EXISTS records "
            "(entity TEXT, id TEXT, record BLOB, PRIMARY KEY (entity, id)) WITHOUT ROWID"
        )
        self._file.execute("CREATE TABLE IF NOT EXISTS position (through TEXT)")

    def through(self) -> str | None:
        """Return the time to ask for next, or None where the copy has not begun."""
        found = self._file.execute("SELECT through FROM position").fetchone()
        return found and str(found[0])

    def records(self) -> Records:
        """Return all records."""
        found = self._file.execute("SELECT entity, id, record FROM records")
        return {(entity, key): record for entity, key, record in found}

    def apply(
        self, records: Records, through: str, gone: Iterable[Key] = (), *, anew: bool = False
    ) -> None:
        """Write records by their keys, take away those that are gone, and note the time."""
        with self._file:
            self._file.execute("BEGIN IMMEDIATE")
            if anew:
                self._file.execute("DELETE FROM records")
            rows = ((*key, record) for key, record in records.items())
            self._file.executemany("REPLACE INTO records VALUES (?, ?, ?)", rows)
            self._file.executemany("DELETE FROM records WHERE (entity, id) = (?, ?)", gone)
            self._file.execute("DELETE FROM position")
            self._file.execute("INSERT INTO position VALUES (?)", (through,))

    def close(self) -> None:
        """Give the file back."""
        self._file.close()


def authorization(user: str, password: str) -> str:
    """Return the value of an Authorization header (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def records_of(body: bytes) -> Records:
    """Return the records of an answer; the first field of each is its id."""
    found = msgspec.json.decode(body, type=dict[str, list[msgspec.Raw]])
    return {
        (entity, _id_of(record)): bytes(record)
        for entity, records in found.items()
        for record in records
    }


def _id_of(record: msgspec.Raw) -> str:
    return str(next(iter(msgspec.json.decode(record, type=dict[str, object]).values())))


class _Answer(NamedTuple):
    status: int
    through: str
    coding: str
    body: bytes

    def text(self) -> bytes:
        match self.coding:
            case "gzip":
                return gzip.decompress(self.body)
            case "zstd":
                return zstd.decompress(self.body)
            case _:
                return self.body

    def records(self) -> Records:
        return records_of(self.text())

    def keys(self) -> list[Key]:
        found = msgspec.json.decode(self.text(), type=dict[str, list[str]])
        return [(entity, key) for entity, keys in found.items() for key in keys]


class _Copier:
    def __init__(self, base_url: str, copy: Copy, seed: str, *, forget: bool) -> None:
        self._copy = copy
        self._through = copy.through()
        self._anew = self._through is None
        self._forget = forget
        self._random = random.Random(seed)
        self._connection = HTTPConnection(urlsplit(base_url).netloc, timeout=_TIMEOUT_S)

    def run(self) -> None:
        """Poll until the server has not answered for long."""
        answered = time.monotonic()
        while time.monotonic() < answered + ALONE_SECONDS_MAX:
            try:
                if self._anew:
                    self._begin()
                else:
                    self._follow()
            except _BROKEN:
                self._connection.close()
                time.sleep(PAUSE_S)
            else:
                answered = time.monotonic()

    def _begin(self) -> None:
        answer = self._ask(f"/snapshot?entities={ALL}")
        self._copy.apply(answer.records(), answer.through, anew=True)
        self._through = answer.through
        self._anew = False

    def _follow(self) -> None:
        since = urlencode({"changed_since": self._through, "entities": ALL})
        changes, gone = (self._ask(f"{path}?{since}") for path in ("/2/cdc", "/deletions"))
        if GONE in {changes.status, gone.status}:
            self._anew = True
            return
        records, keys = changes.records(), gone.keys()
        # Their times have one form, and so the order of their texts.
        through = min(changes.through, gone.through)
        if records or keys or through != self._through:
            self._copy.apply(records, through, keys)
        self._through = through

    def _ask(self, path: str) -> _Answer:
        """Return a whole answer; raise one of :data:`_BROKEN`.

        Any other than 200 and 410 ends the program.
        """
        credentials = os.environ["COPIER_USER"], os.environ["COPIER_PASSWORD"]
        headers = {
            "Authorization": authorization(*credentials),
            "Accept-Encoding": self._random.choice(CODINGS),
        }
        if self._random.random() < _CLOSE_CHANCE:
            self._connection.close()
        self._connection.request("GET", path, headers=headers)
        response = self._connection.getresponse()
        if not response.chunked and response.length is None:
            # http.client takes an end within the headers for the end of the headers.
            raise IncompleteRead(b"")
        through = response.getheader(THROUGH, "")
        if self._forget and response.status == 200 and not self._anew:
            self._copy.apply({}, through)
            self._through = through
        coding = response.getheader("Content-Encoding", "identity")
        answer = _Answer(response.status, through, coding, response.read())
        if answer.status >= 500:
            raise HTTPException(answer.status)
        if answer.status not in {200, GONE}:
            sys.exit(f"the answer to {path} was {answer.status}: {answer.body.decode()}")
        return answer


def main() -> None:
    """Keep the copy that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base_url")
    parser.add_argument("copy", type=Path)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--forget", action="store_true", help="wrong: write the time first")
    given = parser.parse_args()
    _Copier(given.base_url, Copy(given.copy), given.seed, forget=given.forget).run()


if __name__ == "__main__":
    main()
