"""The change feed on a replica that lags: nothing is missed, for all events at any time.

A load's commit, its stamp, the heartbeat, the replay of all that by the replica and the polls of
its clients happen in many orders, under a clock that goes on by two seconds each time (design,
"The store" and "The change feed").
"""

from __future__ import annotations

import itertools
import random
import time
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from masthead.api.http.service import Service
from masthead.api.operations import change_feed
from masthead.errors import StoreUnavailable
from masthead.loading.load import load
from masthead.settings import ServerSettings
from masthead.store import commits, open_store
from tests.feed.client import opened, request_for
from tests.feed.copier import records_of
from tests.long import ONLY_LONG
from tests.postgres import name_of
from tests.postgresql.service import ACCOUNT, ALL, fill, new_database, url_on
from tests.servers import write_ndjson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from masthead.store import Store
    from tests.feed.client import OpenContent
    from tests.feed.copier import Records
    from tests.postgres import Cluster

SECOND_US = 1_000_000
STEP_US = 2 * SECOND_US
HOUR_US = 3_600 * SECOND_US
BY_HEADER, BY_DATE = "Masthead-Changes-Through", "Date"
ORDERS = (
    "commit stamp beat replay poll",
    "commit beat replay poll stamp replay poll",
    "commit replay poll stamp poll replay beat poll",
    "commit beat stamp replay poll commit poll stamp poll replay poll",
    "commit poll stamp poll beat poll replay poll",
    "beat commit stamp replay poll commit stamp replay poll",
    "commit stamp-begins beat replay poll stamp-ends replay poll",
    "commit stamp-begins commit beat replay poll stamp-ends beat replay poll stamp replay poll",
    "commit commit beat replay stamp poll commit replay poll",
    "commit stamp poll-primary poll replay poll",
    "commit poll-primary beat replay poll stamp poll-primary poll replay poll",
    "commit stamp beat poll-primary commit stamp poll poll-primary replay poll",
)
EVENTS = ("commit", "stamp-begins", "stamp-ends", "stamp", "beat", "beat", "replay", "replay")
POLLS = ("poll", "poll", "poll-primary")
_numbers = itertools.count(1_000)


@pytest.fixture(scope="module")
def replica(cluster: Cluster) -> Iterator[Cluster]:
    """A replica of that server."""
    with closing(cluster.replica()) as replica:
        yield replica


class Copy:
    """A client's copy; it goes by one of the times that a response has."""

    def __init__(self, goes_by: str) -> None:
        """Begin with nothing."""
        self.records: Records = {}
        self.polled = 0
        self._goes_by = goes_by
        self._time: str | None = None

    def poll(self, store: Store) -> None:
        """Take what a server of that store answers, if it answers."""
        with suppress(StoreUnavailable):
            answer = asked(store, self._time)
            with answer.source:
                self.records |= records_of(b"".join(answer.pieces))
            found = answer.headers[self._goes_by]
            is_date = self._goes_by == BY_DATE
            self._time = parsedate_to_datetime(found).isoformat() if is_date else found
            self.polled += 1


def asked(store: Store, since: str | None = None) -> OpenContent:
    """Return the response to a poll, or that of the snapshot."""
    service = Service(store, ServerSettings())
    values: dict[str, int | str] = {"entities": ALL}
    if since:
        values["changed_since"] = since
    with store.reader() as database:
        database.set_tenant(ACCOUNT)
        request = request_for(service, database, ACCOUNT, values)
        response = change_feed.changes(request) if since else change_feed.snapshot(request)
    return opened(response)


def answers(store: Store) -> bool:
    """Whether a server of that store answers the feed."""
    try:
        with asked(store).source:
            return True
    except StoreUnavailable:
        return False


class Lagging:
    """A primary, a replica that follows when it is told to, and clients that poll."""

    def __init__(self, cluster: Cluster, replica: Cluster, folder: Path) -> None:
        """Begin in an hour, from when on the clock goes by the schedule."""
        database = new_database(cluster, "lag")
        fill(database, folder / "small")
        self.now = (int(time.time()) + 3_600) * SECOND_US
        self._cluster = cluster
        self._replica = replica
        self._folder = folder
        self.primary = open_store(database, clock=lambda: self.now)
        read_url = url_on(replica, name_of(database))
        self.front = open_store(database, clock=lambda: self.now, read_url=read_url)
        self._stamping = ExitStack()
        self.copies: list[Copy] = []
        self._events: dict[str, Callable[[], None]] = {
            "commit": self.commit,
            "stamp": self.stamp,
            "stamp-begins": self.begin_stamp,
            "stamp-ends": self._stamping.close,
            "beat": self.front.write_heartbeat,
            "replay": self.replay,
            "poll": lambda: self.poll(self.front),
            "poll-primary": lambda: self.poll(self.primary),
        }

    def begin(self) -> None:
        """Let new clients begin, on a replica that has caught up."""
        self.copies = [Copy(BY_HEADER), Copy(BY_DATE)]
        self.play("stamp beat replay poll")

    def close(self) -> None:
        """Let the replica follow by itself again."""
        self._stamping.close()
        self._replica.resume_replay()
        self.front.close()
        self.primary.close()

    def play(self, events: str) -> None:
        """Let the events happen, some time apart."""
        for event in events.split():
            self.now += STEP_US
            self._events[event]()

    def commit(self) -> None:
        """Load something new, and die before it is stamped."""
        number = next(_numbers)
        files = {
            "subscribers": [{"subscriber_id": 1, "first_name": f"Ada {number}"}],
            "orders": [{"order_id": number, "subscriber_id": 2, "grand_total": str(number)}],
        }
        paths = write_ndjson(self._folder / str(number), files)
        with patch.object(commits, "stamp_commits"):
            load(self.primary, paths, account_id=ACCOUNT)

    def stamp(self) -> None:
        """Stamp what is committed, once no other process does."""
        self._stamping.close()
        commits.stamp_commits(self.primary, ACCOUNT)

    def begin_stamp(self) -> None:
        """Read the clock for the stamps, but do not commit them yet."""
        self._stamping.close()
        database = self._stamping.enter_context(self.primary.writer())
        self._stamping.enter_context(database.transaction())
        commits.stamp_waiting(database, ACCOUNT)

    def beat_and_replay(self) -> None:
        """Let the replica show the time that it is."""
        self.front.write_heartbeat()
        self.replay()

    def replay(self) -> None:
        """Let the replica show all that the primary has, and nothing later."""
        self._replica.resume_replay()
        self._replica.wait_until_caught_up(self._cluster)
        self._replica.pause_replay()

    def poll(self, store: Store) -> None:
        """Let every client poll a server of that store."""
        for copy in self.copies:
            copy.poll(store)

    def assert_nothing_was_missed(self) -> None:
        """Let the replica catch up; then each copy has to be what a dump of the primary shows."""
        self.play("stamp beat replay poll")
        dump = asked(self.primary)
        with dump.source:
            wanted = records_of(b"".join(dump.pieces))
        for copy in self.copies:
            assert copy.records == wanted


@pytest.fixture(scope="module")
def any_lagging(
    cluster: Cluster, replica: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lagging]:
    """A database on both."""
    with closing(Lagging(cluster, replica, tmp_path_factory.mktemp("lag"))) as lagging:
        yield lagging


@pytest.fixture
def lagging(any_lagging: Lagging) -> Lagging:
    """That database, with clients that have just begun."""
    any_lagging.begin()
    return any_lagging


@ONLY_LONG
@pytest.mark.parametrize("events", ORDERS)
def test_a_client_misses_nothing_in_this_order(lagging: Lagging, events: str) -> None:
    lagging.play(events)
    lagging.assert_nothing_was_missed()


@ONLY_LONG
@pytest.mark.parametrize("seed", range(3))
def test_a_client_misses_nothing_in_any_order(lagging: Lagging, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(8):
        lagging.play(" ".join(chance.choices(EVENTS + POLLS, k=10)))
        lagging.assert_nothing_was_missed()
    assert all(copy.polled > 16 for copy in lagging.copies)


def test_a_replica_of_an_idle_publisher_does_not_lag_while_heartbeats_arrive(
    lagging: Lagging,
) -> None:
    for _ in range(3):
        lagging.now += HOUR_US
        lagging.beat_and_replay()
        assert answers(lagging.front)


def test_a_replica_lags_when_its_last_heartbeat_is_older_than_30_seconds(
    lagging: Lagging,
) -> None:
    lagging.beat_and_replay()
    lagging.now += 30 * SECOND_US
    assert answers(lagging.front)
    lagging.now += 1
    lagging.front.write_heartbeat()
    assert not answers(lagging.front)
    assert answers(lagging.primary)
    lagging.replay()
    assert answers(lagging.front)


def test_the_date_is_that_of_the_last_beat_which_the_replica_shows(lagging: Lagging) -> None:
    """A client that goes by it asks too early rather than too late."""
    lagging.beat_and_replay()
    beat_at = datetime.fromtimestamp(lagging.now // SECOND_US, UTC)
    lagging.play("commit stamp beat")
    answer = asked(lagging.front)
    with answer.source:
        assert parsedate_to_datetime(answer.headers[BY_DATE]) == beat_at
