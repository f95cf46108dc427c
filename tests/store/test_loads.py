"""The record of loads: what is kept of each, and how it ended."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput, MastheadError, NotFound, StoreUnavailable
from masthead.loading.limits import Limit
from masthead.loading.load import Options, load
from masthead.store import erasing, loads, open_store
from masthead.store.audit import Actor
from tests.loading.publisher import SMALL, Publisher
from tests.servers import as_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers import Store

START_US = 1_800_000_000_000_000
PLAIN = Options()
NIGHT = Actor("alice", "import night --account 1")


class Clock:
    """Microseconds since 1970; each reading is a millisecond later."""

    def __init__(self) -> None:
        self.now = START_US

    def __call__(self) -> int:
        self.now += 1_000
        return self.now


PEOPLE = """
[[files]]
name = "*people"
[files.tables.subscribers]
subscriber_id = "id"
last_name = "name"
"""


@pytest.fixture
def clock() -> Clock:
    """The clock of the publisher's database."""
    return Clock()


@pytest.fixture
def publisher(store: Store, clock: Clock, tmp_path: Path) -> Iterator[Publisher]:
    """An account without data."""
    url = store.new_database("loads")
    with closing(open_store(url, clock=clock)) as opened:
        yield Publisher(url, tmp_path, store=opened)
    store.drop_database(url)


def kept(publisher: Publisher) -> list[loads.Load]:
    return loads.loads(publisher.store, publisher.account_id)


def refuse(publisher: Publisher, files: dict[str, str], options: Options = PLAIN) -> str:
    """Load files that are refused; return the recorded reason."""
    with pytest.raises(BadInput):
        load(publisher.store, [publisher.write(files)], account_id=1, options=options, by=NIGHT)
    last = kept(publisher)[-1]
    assert (last.outcome, last.counts) == ("refused", {})
    assert last.ended_at
    return last.reason


def test_a_good_load_is_recorded_with_its_counts(publisher: Publisher, tmp_path: Path) -> None:
    """rules, "The record of loads"."""
    folder = publisher.write(
        {
            "publications.csv": "publication_id\n1\n2\n",
            "subscribers.csv": "subscriber_id\n1\nx\n",
        }
    )
    load(publisher.store, [folder], account_id=1, options=Options(tmp_path / "bad"), by=NIGHT)
    (found,) = kept(publisher)
    assert found.started_at > START_US
    assert found.ended_at
    assert found.ended_at > found.started_at
    assert found[:2] == (1, 1)
    assert found[4:] == (
        "alice",
        "import night --account 1",
        ["publications.csv", "subscribers.csv"],
        "good",
        {
            "publications": {"inserted": 2, "changed": 0, "unchanged": 0, "removed": 0},
            "subscribers": {"inserted": 1, "changed": 0, "unchanged": 0, "removed": 0},
        },
        1,
        "",
    )


def test_a_load_that_changes_nothing_is_a_good_one(publisher: Publisher) -> None:
    for _ in range(2):
        publisher.load(SMALL)
    assert [each.outcome for each in kept(publisher)] == ["good", "good"]


def test_a_refused_load_is_recorded_with_the_first_line_of_its_reason(publisher: Publisher) -> None:
    """rules, "The record of loads"; also one whose folder holds nothing to load."""
    problem = "subscribers.csv:2: subscriber_id: "
    assert refuse(publisher, {"subscribers.csv": "subscriber_id\nx\n"}).startswith(problem)
    assert refuse(publisher, {"notes.txt": ""}).endswith(
        "there is no file to load, such as subscribers.csv"
    )
    assert kept(publisher)[0].files == ["subscribers.csv"]


def test_a_reason_is_kept_without_what_it_quotes(publisher: Publisher) -> None:
    """rules, "The record of loads": no erasure would find it here."""
    reason = refuse(publisher, {"subscribers.csv": "subscriber_id,Ada O'Hara\n1,2\n"})
    assert reason == "subscribers.csv:1: there is no column '…' in subscribers; the nearest is '…'"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (
            {"subscribers.csv": "subscriber_id,renewal_code\n1,AB3DE\n2,ab3de\n"},
            "subscribers.csv:3: renewal_code: 1 problem",
        ),
        (
            {"subscribers.ndjson": '{"subscriber_id":1,"first_name":4711}\n[]\n'},
            "subscribers.ndjson:1: first_name: the first of 2 problems",
        ),
    ],
)
def test_of_bad_rows_the_place_is_kept_and_no_value(
    publisher: Publisher, files: dict[str, str], reason: str
) -> None:
    """rules, "The record of loads": a renewal code opens a login."""
    assert refuse(publisher, files) == reason


def test_of_rows_that_differ_no_value_is_kept(publisher: Publisher, tmp_path: Path) -> None:
    mapping = tmp_path / "people.toml"
    mapping.write_text(PEOPLE)
    files = {"people.csv": 'id,name\n1,"O\'Hara"\n1,Smith\n'}
    reason = refuse(publisher, files, Options(mapping=mapping))
    assert reason == "people.csv:3: name (subscribers.last_name): 1 problem"


def test_a_logged_reason_ends_at_a_quote_of_unknown_content(
    publisher: Publisher, tmp_path: Path
) -> None:
    mapping = tmp_path / "people.toml"
    mapping.write_text(PEOPLE)
    files = {"bob's people.csv": "id,name,Ada\n1,Hara,x\n"}
    assert refuse(publisher, files, Options(mapping=mapping)) == "bob…"


def test_names_and_reasons_with_half_a_character_are_kept_escaped(publisher: Publisher) -> None:
    folder = publisher.write({})
    for name, content in (("caf\udce9.txt", ""), ("subscribers.csv", "subscriber_id\nx\n")):
        (folder / name).write_text(content)
    with pytest.raises(BadInput):
        load(publisher.store, [folder / "caf\udce9.txt"], account_id=1)
    (found,) = kept(publisher)
    assert found.files == [f"{folder}/caf\\udce9.txt"]
    assert "caf\\udce9.txt" in found.reason


def test_too_many_rejected_rows_are_a_refusal(publisher: Publisher, tmp_path: Path) -> None:
    options = Options(tmp_path / "bad", Limit.parse("0"))
    reason = refuse(publisher, {"subscribers.csv": "subscriber_id\n1\nx\n"}, options)
    assert reason == "subscribers.csv: 1 of 2 rows are bad, and the limit is 0"


def test_what_fails_after_the_commit_makes_no_good_load_a_refused_one(
    publisher: Publisher,
) -> None:
    """Such as traces of an erasure that cannot be removed now: all is loaded."""
    publisher.load(SMALL)

    def tell(doing: str) -> None:
        if doing == "taking traces away":
            raise StoreUnavailable("all is done and kept")

    folder = publisher.write({"erasures.csv": "subscriber_id\n1\n"})
    with pytest.raises(StoreUnavailable):
        load(publisher.store, [folder], account_id=1, tell=tell)
    assert [each.outcome for each in kept(publisher)] == ["good", "good"]
    assert publisher.table("subscribers")[0]["first_name"] is None


def test_a_load_that_is_interrupted_has_no_end(publisher: Publisher) -> None:
    """rules, "The record of loads"."""

    def interrupt(_doing: str) -> None:
        raise KeyboardInterrupt

    folder = publisher.write(SMALL)
    with pytest.raises(KeyboardInterrupt):
        load(publisher.store, [folder], account_id=1, tell=interrupt)
    publisher.load(SMALL)
    assert [(each.outcome, bool(each.ended_at)) for each in kept(publisher)] == [
        ("interrupted", False),
        ("good", True),
    ]


def test_loads_of_each_account_are_kept_by_themselves(publisher: Publisher, tmp_path: Path) -> None:
    other = Publisher(publisher.url, tmp_path, 2, store=publisher.store)
    for each in (publisher, other, publisher):
        each.load(SMALL)
    assert [each.load_id for each in kept(other)] == [1]
    everything = loads.loads(publisher.store)
    assert [(each.account_id, each.load_id) for each in everything] == [(1, 1), (2, 1), (1, 2)]


def test_an_account_that_is_not_there_has_no_loads(publisher: Publisher) -> None:
    folder = publisher.write(SMALL)
    with pytest.raises(NotFound):
        load(publisher.store, [folder], account_id=404)
    assert loads.loads(publisher.store) == []


def test_the_last_hundred_are_kept_and_the_last_good_one(publisher: Publisher) -> None:
    """rules, "The record of loads": so its age is known however long nothing loads."""
    publisher.load(SMALL)
    publisher.load(SMALL)
    with publisher.store.writer() as database, database.transaction():
        fields = ("load_id", "started_at", "user_name", "command", "files", "outcome")
        rows = [(number, START_US, "", "", "[]", "refused") for number in range(3, 150)]
        database.insert_many("loads", fields, rows, account_id=1)
    refuse(publisher, {"subscribers.csv": "subscriber_id\nx\n"})
    assert sorted(each.load_id for each in kept(publisher)) == [2, *range(51, 151)]
    (last,) = [each for each in kept(publisher) if each.outcome == "good"]
    assert loads.last_good(publisher.store) == {1: last.ended_at}


def test_a_server_learns_when_the_last_good_load_of_each_account_ended_and_no_more(
    publisher: Publisher, clock: Clock, tmp_path: Path
) -> None:
    """rules, "Metrics"; its role may not read the record itself (test_tenants)."""
    other = Publisher(publisher.url, tmp_path, 2, store=publisher.store)
    with closing(open_store(as_server(publisher.url), clock=clock)) as served:
        assert loads.last_good(served) == {}
        publisher.load(SMALL)
        other.load(SMALL)
        publisher.load(SMALL)
        refuse(publisher, {"subscribers.csv": "subscriber_id\nx\n"})
        ended = [each.ended_at for each in loads.loads(publisher.store) if each.outcome == "good"]
        assert loads.last_good(served) == {1: ended[2], 2: ended[1]}


def test_the_time_of_the_last_marker_is_kept_of_a_good_load_or_a_refused_one(
    publisher: Publisher,
) -> None:
    """rules, "Folders of folders"."""
    assert loads.last_marker(publisher.store, 1) is None
    folder = publisher.write(SMALL)
    load(publisher.store, [folder], account_id=1, options=Options(marker_at=50))
    publisher.load(SMALL)
    assert loads.last_marker(publisher.store, 1) == 50
    refuse(publisher, {"subscribers.csv": "subscriber_id\nx\n"}, Options(marker_at=70))
    refuse(publisher, {"notes.txt": ""}, Options(marker_at=80))
    assert loads.last_marker(publisher.store, 1) == 80
    refuse(publisher, {"notes.txt": ""}, Options(marker_at=60))
    assert loads.last_marker(publisher.store, 1) == 60, "the last one, not the latest"
    assert loads.last_marker(publisher.store, 2) is None


def test_an_interrupted_load_has_not_used_its_marker_up(publisher: Publisher) -> None:
    """rules, "Folders of folders": it is run again, without a new marker."""

    def interrupt(_doing: str) -> None:
        raise KeyboardInterrupt

    again = Options(marker_at=50)
    with pytest.raises(KeyboardInterrupt):
        load(publisher.store, [publisher.write(SMALL)], account_id=1, options=again, tell=interrupt)
    assert loads.last_marker(publisher.store, 1) is None


def test_a_load_that_finds_another_one_running_is_not_recorded(publisher: Publisher) -> None:
    """rules, "Two loads of one account"."""
    publisher.load(SMALL)
    with publisher.store.load_lock(1, waits=False):
        assert publisher.store.is_loading(1)
        with pytest.raises(MastheadError, match=r"^account 1: another load is running; nothing"):
            publisher.load(SMALL)
    assert not publisher.store.is_loading(1)
    assert len(kept(publisher)) == 1


def test_who_is_erased_is_not_in_the_record(publisher: Publisher) -> None:
    publisher.load(SMALL)
    erasing.erase(publisher.store, 1, 1)
    with publisher.store.writer() as database:
        assert "ada" not in repr(database.rows("SELECT * FROM loads")).lower()
