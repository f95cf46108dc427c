"""A server that reads from a replica: what it answers from there, and when it does not.

rules, "Replicas". How the change feed stays right on a replica that lags is shown by
``test_lag``.
"""

from __future__ import annotations

import itertools
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.api.callers import error_of
from tests.loading.publisher import SMALL
from tests.long import ONLY_LONG
from tests.postgres import name_of
from tests.postgresql.service import (
    ACCOUNT,
    ALL,
    PASSWORD,
    RETURN_SECONDS_MAX,
    Client,
    feed_since,
    fill,
    load_files,
    new_database,
    outage,
    requests,
    session,
    url_on,
    wait_until,
)
from tests.servers import AS_INSTALLED, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.postgres import Cluster
    from tests.servers import Server

THROUGH = "Masthead-Changes-Through"
FEED = ("empty poll", "poll", "snapshot")
each_outage = pytest.mark.parametrize("kind", ["stopped", pytest.param("frozen", marks=ONLY_LONG)])
_numbers = itertools.count(100)


@pytest.fixture(scope="module")
def replica(cluster: Cluster) -> Iterator[Cluster]:
    """A replica of that server, which follows it when a test begins, and when it ends."""
    with closing(cluster.replica()) as replica:
        yield replica


@pytest.fixture(scope="module")
def database(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database on the primary that holds the small publisher."""
    url = new_database(cluster, "replicas")
    fill(url, tmp_path_factory.mktemp("small"))
    return url


@pytest.fixture(scope="module")
def server(database: str, cluster: Cluster, replica: Cluster) -> Iterator[Server]:
    """A server that reads from the replica."""
    with serving_from(database, cluster, replica) as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A client whom the server has answered all that there is."""
    with Client(server) as client:
        wait_until(client.is_fully_served)
        yield client


@contextmanager
def serving_from(database: str, cluster: Cluster, replica: Cluster) -> Iterator[Server]:
    """Serve the primary's database from a replica that shows it all."""
    replica.wait_until_caught_up(cluster)
    url = url_on(replica, name_of(database))
    with serving(database, "--read-database", url, module=AS_INSTALLED) as server:
        yield server


@contextmanager
def lagging(replica: Cluster) -> Iterator[None]:
    """Let the replica show nothing new for as long as the block lasts."""
    replica.pause_replay()
    try:
        yield
    finally:
        replica.resume_replay()


def change(database: str, folder: Path) -> str:
    """Give an order a new total, and a subscription as many copies; return that number."""
    number = str(next(_numbers))
    files = {
        "orders.csv": f"order_id,grand_total\n1,{number}\n",
        "subscriptions.csv": f"subscription_id,copies\n1,{number}\n",
    }
    load_files(database, folder, files)
    return number


# What it answers


def test_look_ups_and_lists_are_answered_by_the_replica(
    client: Client, database: str, cluster: Cluster, replica: Cluster, tmp_path: Path
) -> None:
    targets = ("/2/orders/1", "/2/subscriptions/?limit=1")
    with lagging(replica):
        before = [client.ask(target).response.text for target in targets]
        number = change(database, tmp_path)
        assert [client.ask(target).response.text for target in targets] == before
    replica.wait_until_caught_up(cluster)
    for target in targets:
        assert number in client.ask(target).response.text


def test_the_feed_is_that_of_the_replica_until_it_has_caught_up(
    client: Client, database: str, cluster: Cluster, replica: Cluster, tmp_path: Path
) -> None:
    with lagging(replica):
        through = client.ask(f"/snapshot?entities={ALL}").response.headers[THROUGH]
        number = change(database, tmp_path)
        answer = client.ask(feed_since(through)).response
        assert answer.headers[THROUGH] == through
        assert set(map(str, answer.json().values())) == {"[]"}
    replica.wait_until_caught_up(cluster)
    answer = client.ask(feed_since(through)).response
    assert answer.headers[THROUGH] > through
    assert [order["grand_total"] for order in answer.json()["orders"]] == [int(number)]
    assert [row["copies"] for row in answer.json()["subscriptions"]] == [number]


# The replica is behind


def test_the_feed_of_a_lagging_replica_is_503_until_it_has_caught_up(
    cluster: Cluster, replica: Cluster, tmp_path: Path
) -> None:
    """It is 40 seconds behind; 30 are allowed."""
    database = new_database(cluster, "behind")
    fill(database, tmp_path)
    beat_at = time.time_ns() // 1_000 - 40_000_000
    with session(database) as connection:
        connection.execute("UPDATE heartbeat SET beat_at = %s", [beat_at])
    replica.wait_until_caught_up(cluster)
    with lagging(replica):
        url = url_on(replica, name_of(database))
        with (
            serving(database, "--read-database", url, module=AS_INSTALLED) as server,
            Client(server) as client,
        ):
            for name, target in requests().items():
                answer = client.ask(target)
                if name in FEED:
                    answer.assert_unavailable()
                else:
                    assert answer.status == 200
            assert "seconds behind" in server.output()
            replica.resume_replay()
            wait_until(client.is_fully_served, RETURN_SECONDS_MAX)


# Outages


@each_outage
def test_without_the_primary_only_the_login_check_fails(
    client: Client, cluster: Cluster, kind: str
) -> None:
    """decisions, "Limits of the login check": no guess while failures cannot be counted.

    Until the server has noticed, the feed may still wait for the primary's history.
    """
    targets = requests()
    login_check = targets.pop("login check")
    feed = [targets[name] for name in FEED]

    def is_feed_answered() -> bool:
        return {answer.status for answer in client.ask_at_once(feed)} == {200}

    with outage(cluster, kind):
        others = [target for target in targets.values() if target not in feed]
        login, *answers = client.ask_at_once([login_check, *others])
        login.assert_unavailable()
        assert {answer.status for answer in answers} == {200}
        wait_until(is_feed_answered, RETURN_SECONDS_MAX)
        for _ in range(5):
            login, *answers = client.ask_at_once([login_check, *targets.values()])
            login.assert_unavailable()
            assert {answer.status for answer in answers} == {200}
    wait_until(client.is_fully_served, RETURN_SECONDS_MAX)


def test_failed_logins_are_counted_on_the_primary(client: Client, database: str) -> None:
    """decisions, "Limits of the login check"."""
    statuses = [
        client.ask(f"/2/subscribers/authenticate/?login=nobody&password={number}").status
        for number in range(12)
    ]
    assert statuses == [200] * 10 + [429] * 2
    with session(database) as connection:
        found = connection.execute("SELECT count(*) FROM login_failures").fetchone()
    assert found == (10,)


@each_outage
def test_without_the_replica_requests_are_503_and_soon_served_when_it_is_back(
    client: Client, replica: Cluster, kind: str
) -> None:
    with outage(replica, kind):
        for answer in client.ask_at_once(requests().values()):
            answer.assert_unavailable()
    wait_until(client.is_fully_served, RETURN_SECONDS_MAX)


@ONLY_LONG
def test_a_server_of_which_both_are_frozen_ends_in_time(
    database: str, cluster: Cluster, replica: Cluster
) -> None:
    with serving_from(database, cluster, replica) as server, Client(server) as client:
        wait_until(client.is_fully_served)
        with outage(cluster, "frozen"), outage(replica, "frozen"):
            client.ask_at_once(requests().values())
            assert server.stop() == 0


# Promotion


def test_after_a_promotion_a_new_epoch_makes_every_client_begin_again(
    cluster: Cluster, tmp_path: Path
) -> None:
    """rules, "Change feed": an older time gets 410."""
    database = new_database(cluster, "promoted")
    fill(database, tmp_path)
    snapshot = f"/snapshot?entities={ALL}"
    with closing(cluster.replica()) as promoted:
        with serving(database) as server, Client(server) as client:
            promoted.wait_until_caught_up(cluster)
            change(database, tmp_path)
            through = client.ask(snapshot).response.headers[THROUGH]
        promoted.promote()
        database = url_on(promoted, name_of(database))
        printed = masthead("feed", "new-epoch", database=database).stdout
        assert printed == "a new epoch began in 1 account\n"
        with serving(database) as server, Client(server) as client:
            assert "/snapshot" in error_of(client.ask(feed_since(through)).response, 410)
            through = client.ask(snapshot).response.headers[THROUGH]
            number = change(database, tmp_path)
            changed = client.ask(feed_since(through)).response.json()
            assert [order["grand_total"] for order in changed["orders"]] == [int(number)]


# Commands


def test_a_writing_command_reports_that_a_replica_is_read_only(
    database: str, cluster: Cluster, replica: Cluster, tmp_path: Path
) -> None:
    replica.wait_until_caught_up(cluster)
    (tmp_path / "subscribers.csv").write_text(SMALL["subscribers.csv"])
    on_replica = url_on(replica, name_of(database))
    for command in (
        ("import", tmp_path, "--account", ACCOUNT),
        ("accounts", "add", 2),
        ("feed", "new-epoch"),
    ):
        done = masthead(*command, database=on_replica, exit_status=1)
        assert done.stderr.startswith("the database cannot be written to: ")
        assert done.stderr.count("\n") == 1
        assert PASSWORD not in done.stderr


@pytest.mark.parametrize(
    ("database", "read_database"),
    [
        ("sqlite:///never.db", f"postgresql://postgres:{PASSWORD}@127.0.0.1/never"),
        ("sqlite:///never.db", "sqlite:///other.db"),
        (f"postgresql://postgres:{PASSWORD}@127.0.0.1/never", "sqlite:///other.db"),
    ],
)
def test_a_replica_is_one_of_postgresql(
    database: str, read_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ("serve", "--port", 0, "--read-database", read_database)
    done = masthead(*arguments, database=database, exit_status=2)
    assert "PostgreSQL database" in done.stderr
    assert PASSWORD not in done.stderr
    assert not list(tmp_path.iterdir())
