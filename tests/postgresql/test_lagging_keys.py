"""Credentials on a replica that lags: after 30 seconds the primary is asked for them.

rules, "Keys on a replica that lags".
"""

from __future__ import annotations

import time
from contextlib import closing, contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from masthead.store import credentials, open_store
from masthead.store import postgresql as store_of_postgresql
from tests.cli.test_metrics import read
from tests.long import ONLY_LONG
from tests.postgres import name_of
from tests.postgresql.service import (
    ACCOUNT,
    API_KEY,
    API_LOGIN,
    RETURN_SECONDS_MAX,
    Client,
    fill,
    new_database,
    outage,
    session,
    url_on,
    wait_until,
)
from tests.servers import AS_INSTALLED, as_server, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from masthead.store import Store
    from tests.postgres import Cluster

LOOK_UP = "/2/orders/1"
SECOND_US = 1_000_000


@pytest.fixture(scope="module")
def replica(cluster: Cluster) -> Iterator[Cluster]:
    """A replica of that server, which follows it when a test begins, and when it ends."""
    with closing(cluster.replica()) as replica:
        yield replica


@pytest.fixture
def database(cluster: Cluster, tmp_path: Path) -> str:
    """The small publisher's database, which has one key."""
    url = new_database(cluster, "keys")
    fill(url, tmp_path)
    return url


@contextmanager
def behind(database: str, cluster: Cluster, replica: Cluster, seconds: int) -> Iterator[str]:
    """Let the replica stay that far behind; yield the URL of the database there."""
    with session(database) as connection:
        beat_at = time.time_ns() // 1_000 - seconds * SECOND_US
        connection.execute("UPDATE heartbeat SET beat_at = %s", [beat_at])
    replica.wait_until_caught_up(cluster)
    replica.pause_replay()
    try:
        yield url_on(replica, name_of(database))
    finally:
        replica.resume_replay()


def revoke(database: str) -> None:
    """Give the account another key, and the old one no time."""
    masthead("accounts", "rotate-credentials", ACCOUNT, database=database)


def test_a_key_revoked_on_the_primary_opens_no_replica_that_is_far_behind(
    database: str, cluster: Cluster, replica: Cluster
) -> None:
    """A valid one goes on."""
    with (
        behind(database, cluster, replica, 40) as read_url,
        serving(database, "--read-database", read_url) as server,
        Client(server) as client,
    ):
        assert client.ask(LOOK_UP).status == 200
        revoke(database)
        assert client.ask(LOOK_UP).status == 403
        replica.resume_replay()
        replica.wait_until_caught_up(cluster)
        assert client.ask(LOOK_UP).status == 403


@pytest.mark.parametrize("kind", ["stopped", pytest.param("frozen", marks=ONLY_LONG)])
def test_without_the_primary_a_lagging_replica_accepts_no_credentials(
    database: str, cluster: Cluster, replica: Cluster, kind: str
) -> None:
    with (
        behind(database, cluster, replica, 40) as read_url,
        serving(database, "--read-database", read_url, module=AS_INSTALLED) as server,
        Client(server) as client,
    ):
        assert client.ask(LOOK_UP).status == 200
        with outage(cluster, kind):
            client.ask(LOOK_UP).assert_unavailable()
        wait_until(lambda: client.ask(LOOK_UP).status == 200, RETURN_SECONDS_MAX)


def opens(store: Store) -> bool:
    """Whether the key opens the account, as a server of that store finds."""
    with store.reader() as reader, store.fresh(reader) as connection:
        return (
            credentials.account_for_credentials(connection, API_KEY, API_LOGIN, now=store.clock())
            is not None
        )


def test_a_revoked_key_ends_when_what_the_replica_has_is_30_seconds_old(
    database: str, cluster: Cluster, replica: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No request asks how far it lags meanwhile."""
    begun = time.monotonic()
    later = 0.0
    clock_of_store = SimpleNamespace(monotonic=lambda: begun + later)
    monkeypatch.setattr(store_of_postgresql, "time", clock_of_store)
    now = time.time_ns() // 1_000
    with behind(database, cluster, replica, 0) as read_url:
        store = open_store(
            as_server(database),
            clock=lambda: now + int(later * SECOND_US),
            read_url=as_server(read_url),
        )
        with closing(store):
            assert opens(store)
            revoke(database)
            later = 29.0
            assert opens(store)
            later = 31.0
            assert not opens(store)


def test_the_metrics_say_how_far_the_replica_is_behind(
    database: str, cluster: Cluster, replica: Cluster
) -> None:
    with (
        behind(database, cluster, replica, 100) as read_url,
        serving(database, "--read-database", read_url, "--metrics-port=0") as server,
    ):
        assert 100 <= read(server)["masthead_replica_lag_seconds",] < 1_000
        replica.resume_replay()
        wait_until(lambda: read(server)["masthead_replica_lag_seconds",] < 30)
    with serving(database, "--metrics-port=0") as server:
        assert ("masthead_replica_lag_seconds",) not in read(server)
