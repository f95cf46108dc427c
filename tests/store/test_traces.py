"""A rewrite of an embedded database waits a while for other writers, and does not block them.

That the files hold nothing afterwards is seen in ``tests/loading/test_erasing.py``.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from masthead.errors import StoreUnavailable
from masthead.store import audit, erasing, sqlite
from tests.loading.person import PERSON, WORD
from tests.loading.publisher import Publisher

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SENTENCE = "all is done and kept, but the files of the database still hold traces"


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Publisher]:
    """A database of its own, whose subscriber 1 has a value in each personal column."""
    publisher = Publisher(f"sqlite:///{tmp_path}/x.db", tmp_path)
    publisher.load(PERSON)
    yield publisher
    publisher.store.close()


def holds_traces(person: Publisher) -> bool:
    return any(WORD.encode() in file.read_bytes() for file in person.folder.glob("x.db*"))


def test_an_erasure_during_a_read_is_done_and_reports_that_traces_are_left(
    person: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Personal data: traces"; so is one by a file."""
    monkeypatch.setattr(sqlite, "TRACES_WAIT_S", 0.2)
    with person.store.reader() as reader:
        with reader.snapshot():
            with pytest.raises(StoreUnavailable, match=f"{SENTENCE}.* is reading it"):
                erasing.erase(person.store, 1, 1)
            assert [record["subscriber_id"] for record in person.table("erasures")] == [1]
            assert person.table("subscribers")[0]["email"] is None
            with pytest.raises(StoreUnavailable, match=SENTENCE):
                person.load({"erasures.csv": "subscriber_id\n2\n"})
            assert len(person.table("erasures")) == 2
            assert holds_traces(person)
        assert erasing.erase(person.store, 1, 1) == {}
    assert not holds_traces(person)


def test_an_erasure_beside_a_writer_is_done_and_says_that_traces_are_left(
    person: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Personal data: traces"."""
    monkeypatch.setattr(sqlite, "TRACES_WAIT_S", 0.2)
    erasing.erase(person.store, 1, 1, leave_traces=True)
    with (
        person.store.writer() as other,
        other.transaction(),
        pytest.raises(StoreUnavailable, match=f"{SENTENCE}.* is writing to it"),
    ):
        person.store.vacuum_after_erase()


def test_a_writer_does_not_wait_behind_an_erasure_that_waits_for_a_reader(
    person: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Personal data: traces"."""
    monkeypatch.setattr(sqlite, "TRACES_WAIT_S", 1.0)
    failures: list[StoreUnavailable] = []

    def erase() -> None:
        try:
            erasing.erase(person.store, 1, 1)
        except StoreUnavailable as failure:
            failures.append(failure)

    with person.store.reader() as reader, reader.snapshot():
        thread = threading.Thread(target=erase)
        thread.start()
        written = 0
        while thread.is_alive():
            # Who does not wait fails where somebody holds the lock for seconds.
            with person.store.writer(waits=False) as database, database.transaction():
                audit.record(database, audit.Actor("a", "b"), "c")
            written += 1
        thread.join()
    assert written
    assert len(failures) == 1
    assert SENTENCE in str(failures[0])
