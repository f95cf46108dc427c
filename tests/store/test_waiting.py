"""A command that waits for another writer says so, and for whom, on both stores.

That it says so after two seconds is tried without them: it is told to be silent for none, or its
clock is the test's (rules, "A command that waits says for whom").
"""

from __future__ import annotations

import itertools
import os
import re
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import click
import pytest

from masthead.cli import stores
from masthead.databases.urls import sqlite_path
from masthead.errors import MastheadError
from masthead.store import Waiting, accounts, loads, open_store
from masthead.store.audit import Actor
from masthead.store.waiting_writers import SILENT_S, Writer, read_note, write_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Store as OpenStore
    from tests.servers import Store

_numbers = itertools.count()
UNKNOWN = "waiting for another program that writes to the database"


@pytest.fixture(scope="module")
def url(store: Store) -> Iterator[str]:
    """A database with an account."""
    found = store.new_database(f"waiting-{next(_numbers)}")
    with closing(open_store(found)) as opened:
        accounts.add_account(opened, {"account_id": 1})
    yield found
    store.drop_database(found)


@contextmanager
def opened(url: str, waiting: Waiting | None) -> Iterator[OpenStore]:
    """The database, for a command."""
    with closing(open_store(url)) as store:
        store.waiting = waiting
        yield store


def lock(store: OpenStore, then: Callable[[], object]) -> None:
    """Lock the account, as every command that writes to it."""
    with store.writer() as connection, connection.transaction():
        connection.lock_account(1)
        then()


@contextmanager
def writing(url: str, command: str | None) -> Iterator[threading.Event]:
    """Another command that writes within the block, until the event is set."""
    told, begun = threading.Event(), threading.Event()

    def hold() -> None:
        def wait() -> None:
            begun.set()
            told.wait()

        waiting = command and Waiting("ada", command, lambda _said: None)
        with opened(url, waiting or None) as store:
            lock(store, wait)

    holding = threading.Thread(target=hold)
    holding.start()
    begun.wait()
    try:
        yield told
    finally:
        told.set()
        holding.join()


def said_by_one_who_waits(url: str, command: str | None) -> list[str]:
    """Return what a command says that waits twice while another one writes."""
    said: list[str] = []
    with writing(url, command) as told:

        def say(sentence: str) -> None:
            said.append(sentence)
            told.set()

        waiting = Waiting("ben", "masthead order add", say, silent_s=0)
        with opened(url, waiting) as store:
            lock(store, lambda: None)
            lock(store, lambda: None)
    return said


def test_a_waiting_writer_reports_once_what_it_waits_for(url: str) -> None:
    (said,) = said_by_one_who_waits(url, "masthead order import")
    when = r"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"
    assert re.fullmatch(f"waiting for `masthead order import` of ada since {when}", said)


def test_who_waits_for_a_stranger_says_so(url: str) -> None:
    assert said_by_one_who_waits(url, None) == [UNKNOWN]


def test_who_does_not_wait_says_nothing(url: str) -> None:
    said: list[str] = []
    with opened(url, Waiting("ben", "masthead order add", said.append, silent_s=0)) as store:
        lock(store, lambda: None)
    assert not said


def test_a_load_that_waits_for_another_says_for_which(url: str) -> None:
    """Its lock is another one; who has it stands in the record of loads."""
    said: list[str] = []
    begun, told = threading.Event(), threading.Event()

    def hold() -> None:
        with (
            opened(url, None) as store,
            loads.recorded(store, 1, ["a.csv"], Actor("ada", "import a.csv"), waits=False),
        ):
            begun.set()
            told.wait()

    def say(sentence: str) -> None:
        said.append(sentence)
        told.set()

    holding = threading.Thread(target=hold)
    holding.start()
    begun.wait()
    with (
        opened(url, Waiting("ben", "masthead import", say)) as store,
        loads.recorded(store, 1, ["b.csv"], None, waits=True),
    ):
        pass
    holding.join()
    assert said[0].startswith("waiting for `masthead import a.csv` of ada since ")


def test_it_is_silent_for_two_seconds(store: Store, url: str) -> None:
    """On SQLite by its clock; PostgreSQL is told how long to wait."""
    assert SILENT_S == 2
    if store.kind == "postgresql":
        return
    at, ticks = [0.0], []

    def clock() -> float:
        at[0] += 0.5
        ticks.append(at[0])
        return at[0]

    with writing(url, "masthead import") as told:

        def say(_sentence: str) -> None:
            assert at[0] - ticks[0] >= SILENT_S
            told.set()

        with opened(url, Waiting("ben", "masthead order add", say, clock=clock)) as waiting:
            lock(waiting, lambda: None)
    assert told.is_set()


def test_a_file_without_a_writer_says_nothing(store: Store, url: str) -> None:
    """It goes with the writer; one that was killed leaves it, and is not named."""
    if store.kind == "postgresql":
        return
    path = sqlite_path(url)
    assert path
    note = path.with_name(f"{path.name}-writer")
    with opened(url, Waiting("ada", "masthead import", lambda _said: None)) as opened_:
        lock(opened_, lambda: read_note(note) or pytest.fail("nobody is named"))
    assert not note.exists()
    write_note(note, Writer("ada", "masthead import", 0))
    above_all = 2**22 + 1
    note.write_text(note.read_text().replace(str(os.getpid()), str(above_all)))
    assert read_note(note) is None
    note.unlink()


def test_a_command_says_it_on_standard_error(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    with click.Context(click.Command("add"), info_name="masthead order add") as context:
        with pytest.raises(MastheadError, match="no database"):
            stores.opened("sqlite:////nowhere/masthead.db")
        waiting = stores.found(url).waiting
        assert waiting
        assert waiting.command == context.command_path
        waiting.say(Writer("ada", "masthead import", 0))
    assert capsys.readouterr() == (
        "",
        "waiting for `masthead import` of ada since 1970-01-01 00:00:00 UTC\n",
    )
