"""Failover by itself: a promoted replica, and a database that was restored.

rules, "A promoted replica or a restored backup". Servers and loads have a URL with both hosts.
No operator runs `masthead feed new-epoch`, and no server is restarted.
"""

# Long because each way to lose a primary is tried with each reader of the feed.

from __future__ import annotations

import re
import threading
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple, Self

import psycopg
import pytest

from tests.api.callers import error_of
from tests.long import ONLY_LONG
from tests.mirror.kept import Kept
from tests.mirror.test_command import mirror, passes
from tests.postgres import POLL_SECONDS, Cluster, name_of, unique
from tests.postgresql.service import (
    ACCOUNT,
    ALL,
    API_KEY,
    API_LOGIN,
    PASSWORD,
    Client,
    empty_database,
    feed_since,
    fill,
    load_files,
    new_database,
    requests,
    session,
    url_on,
    wait_until,
)
from tests.servers import as_server, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import LiteralString

    from tests.servers import Server

THROUGH = "Masthead-Changes-Through"
SNAPSHOT = f"/snapshot?entities={ALL}"
FAILOVER_SECONDS_MAX = 60
"""Seconds in which a server answers again, once there is a primary, on a busy machine."""

ORDER = "order_id,subscriber_id,grand_total\n"
FROZEN = pytest.param("frozen", marks=ONLY_LONG)
STOPPED = pytest.param("stopped", marks=ONLY_LONG)


class Epoch(NamedTuple):
    """The account's epoch in a database."""

    epoch_at: int | None
    history: str


class Site:
    """A publisher's database on a primary and its replica, and the URL of whichever is primary."""

    def __init__(self, primary: Cluster, standby: Cluster, database: str) -> None:
        self.primary = primary
        self.standby = standby
        self.name = name_of(database)
        hosts = ",".join(f"127.0.0.1:{each.port}" for each in (primary, standby))
        self.url = (
            f"postgresql://postgres:{PASSWORD}@{hosts}/{self.name}?target_session_attrs=read-write"
        )

    def load(self, folder: Path, **files: str) -> None:
        """Load the files."""
        load_files(self.url, folder / unique("load"), {f"{k}.csv": v for k, v in files.items()})

    def cut_off(self) -> None:
        """Let nothing reach the replica any more."""
        execute(url_on(self.standby, "postgres"), "ALTER SYSTEM SET primary_conninfo = ''")
        execute(url_on(self.standby, "postgres"), "SELECT pg_reload_conf()")
        wait_until(lambda: not self.standby._ask("SELECT count(*) FROM pg_stat_wal_receiver"))

    def wait_for_beats(self, count: int) -> None:
        """Return once servers have written that many heartbeats to the promoted replica."""
        beats: set[int] = set()

        def has_beaten() -> bool:
            beats.add(connection.execute("SELECT beat_at FROM heartbeat").fetchall()[0][0])
            return len(beats) > count

        with session(url_on(self.standby, self.name)) as connection:
            wait_until(has_beaten)

    def end_primary(self, how: str) -> None:
        """Let the primary be gone; a frozen one keeps its connections open."""
        primary = self.primary
        {"killed": primary.kill, "stopped": primary.stop, "frozen": primary.freeze}[how]()

    def fail_over(self, how: str = "killed") -> None:
        """End the primary, and promote what the replica has."""
        self.end_primary(how)
        self.standby.promote()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """The small publisher's database, all of which the replica has."""
    with closing(Cluster()) as primary:
        database = new_database(primary, "failover")
        fill(database, tmp_path / "small")
        with closing(primary.replica()) as standby:
            standby.wait_until_caught_up(primary)
            yield Site(primary, standby, database)


def execute(database: str, statement: LiteralString) -> None:
    """Run a statement as the tests."""
    with session(database) as connection:
        connection.execute(statement)


def epoch_of(database: str) -> Epoch:
    """Return the account's epoch."""
    with session(database) as connection:
        found = connection.execute(
            "SELECT epoch_at, history FROM epochs WHERE account_id = %s", [ACCOUNT]
        ).fetchone()
    assert found
    return Epoch(*found)


def through_of(client: Client) -> str:
    """Return the time with which a client goes on that has all there is."""
    response = client.ask(SNAPSHOT).response
    assert response.status_code == 200
    return response.headers[THROUGH]


def first_answer(client: Client, target: str) -> int:
    """Ask until the response is not 503; return its status."""
    statuses: list[int] = []

    def is_answered() -> bool:
        statuses.append(client.ask(target).status)
        return statuses[-1] != 503

    wait_until(is_answered, FAILOVER_SECONDS_MAX)
    return statuses[-1]


def is_served_anew(client: Client) -> bool:
    """Whether requests of all kinds, asked at once, are answered: an older poll by 410."""
    targets = requests()
    answers = client.ask_at_once(targets.values())
    return [answer.status for answer in answers] == [
        410 if name == "poll" else 200 for name in targets
    ]


class Polling:
    """A client who polls all the time with the same time, in a thread, until the block ends.

    It leaves the server, and the test, some of the processor.
    """

    def __init__(self, server: Server, since: str) -> None:
        self.statuses: list[int] = []
        self._server = server
        self._target = feed_since(since)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join()

    def wait_for(self, status: int, count: int = 1) -> None:
        """Return once that many further answers had that status."""
        wanted = self.statuses.count(status) + count
        wait_until(lambda: self.statuses.count(status) >= wanted)

    def assert_in_order(self, *statuses: int) -> None:
        """Assert that these were the responses, each of them any number of times, in this order."""
        pattern = "".join(f"(?:{status} )*" for status in statuses)
        assert re.fullmatch(pattern, "".join(f"{one} " for one in self.statuses)), self.statuses

    def _run(self) -> None:
        with Client(self._server) as client:
            while not self._is_over.wait(POLL_SECONDS):
                self.statuses.append(client.ask(self._target).status)


class Mirrored(NamedTuple):
    """A copy that the real mirror keeps of the service."""

    url: str
    kept: Kept
    folder: Path
    key: str = API_KEY
    login: str = API_LOGIN

    def update(self) -> str:
        """Make a pass; return why it started again, if it did."""
        done = mirror(self, self.url, "--to", self.kept.url, "--once", folder=self.folder)
        (line,) = passes(done.stderr)
        return str(line["full_load"])

    def moved_to(self, server: Server) -> Mirrored:
        """Return the same copy, of the service at another address."""
        self.kept.run(f"UPDATE mirror SET base_url = '{server.url}'")
        return self._replace(url=server.url)

    def assert_equal(self) -> None:
        """Assert that it holds what the service holds."""
        mirror(self, "verify", self.url, "--to", self.kept.url, folder=self.folder)


def mirrored(server: Server, folder: Path) -> Mirrored:
    """Return a copy that has begun."""
    copy = Mirrored(server.url, Kept(f"sqlite:///{folder / 'copy.db'}"), folder)
    copy.update()
    copy.assert_equal()
    return copy


def logins(database: str) -> set[str]:
    """Return the users of Masthead's sessions with a database."""
    with session(database) as connection:
        found = connection.execute(
            "SELECT usename::TEXT FROM pg_stat_activity "
            "WHERE application_name = 'masthead' AND datname = current_database()"
        ).fetchall()
    return {user for (user,) in found}


# A promoted replica


@pytest.mark.parametrize("how", ["killed", STOPPED, FROZEN])
def test_a_server_goes_on_with_the_promoted_replica(site: Site, tmp_path: Path, how: str) -> None:
    """Nothing is lost, and yet an older time gets 410: that nothing is lost cannot be known."""
    with serving(site.url) as server, Client(server) as client:
        copy = mirrored(server, tmp_path)
        with Polling(server, through_of(client)) as polling:
            polling.wait_for(200)
            site.fail_over(how)
            polling.wait_for(410)
        polling.assert_in_order(200, 503, 410)
        assert first_answer(client, SNAPSHOT) == 200
        wait_until(lambda: is_served_anew(client), FAILOVER_SECONDS_MAX)
        assert "full_load" in copy.update()
        copy.assert_equal()
        assert copy.update() == ""
        role = name_of(as_server(site.url)) + "_server"
        assert logins(url_on(site.standby, site.name)) == {role}


@ONLY_LONG
@pytest.mark.parametrize("how", ["killed", FROZEN])
def test_what_was_lost_is_in_no_copy_after_its_next_pass(
    site: Site, tmp_path: Path, how: str
) -> None:
    """The ids that were lost are used again, too."""
    with serving(site.url) as server, Client(server) as client:
        copy = mirrored(server, tmp_path)
        site.cut_off()
        site.load(tmp_path, orders=f"{ORDER}900,1,1\n901,1,1\n", subscribers=RENAMED)
        copy.update()
        assert copy.kept.column("SELECT order_id FROM orders WHERE order_id >= 900") == [900, 901]
        # Those of the lost rows, and of none.
        with Polling(server, through_of(client)) as polling:
            site.fail_over(how)
            polling.wait_for(410)
        polling.assert_in_order(200, 503, 410)
        assert "full_load" in copy.update()
        copy.assert_equal()
        assert copy.kept.column("SELECT order_id FROM orders WHERE order_id >= 900") == []
        site.load(tmp_path, orders=f"{ORDER}900,2,2\n")
        assert copy.update() == ""
        copy.assert_equal()
        found = copy.kept.ask("SELECT order_id, subscriber_id FROM orders WHERE order_id >= 900")
        assert found == [(900, 2)]


RENAMED = "subscriber_id,first_name\n1,Lost\n"


@ONLY_LONG
def test_reusing_lost_ids_before_the_next_poll_spoils_no_copy(site: Site, tmp_path: Path) -> None:
    with serving(site.url) as server, Client(server) as client:
        copy = mirrored(server, tmp_path)
        site.cut_off()
        site.load(tmp_path, orders=f"{ORDER}900,1,1\n901,1,1\n", subscribers=RENAMED)
        copy.update()
        through = through_of(client)
        site.fail_over()
        site.load(tmp_path, orders=f"{ORDER}900,2,2\n")
        assert first_answer(client, feed_since(through)) == 410
        assert "full_load" in copy.update()
        copy.assert_equal()
        assert copy.kept.column("SELECT order_id FROM orders WHERE order_id >= 900") == [900]


@ONLY_LONG
def test_a_load_that_is_the_first_starts_the_epoch_itself(site: Site, tmp_path: Path) -> None:
    with serving(site.url) as server, Client(server) as client:
        through = through_of(client)
    site.fail_over()
    before = epoch_of(site.url)
    (tmp_path / "orders.csv").write_text(f"{ORDER}902,1,1\n")
    masthead("import", tmp_path / "orders.csv", "--account", ACCOUNT, database=site.url)
    after = epoch_of(site.url)
    assert after.history != before.history
    assert after.epoch_at is not None
    with session(site.url) as connection:
        of_load = connection.execute(
            "SELECT visible_at FROM commits WHERE account_id = %s ORDER BY commit_id DESC",
            [ACCOUNT],
        ).fetchone()
    assert of_load
    assert of_load[0] > after.epoch_at
    with serving(site.url) as server, Client(server) as client:
        assert client.ask(feed_since(through)).status == 410
        assert client.ask(feed_since(through_of(client))).status == 200
    assert epoch_of(site.url) == after


def test_each_failover_begins_an_epoch_and_nothing_else_does(site: Site, tmp_path: Path) -> None:
    """The first primary comes back as the replica of the second, and is promoted then."""
    with closing(site.primary.replica()) as third:
        third.wait_until_caught_up(site.primary)
        with serving(site.url) as server, Client(server) as client:
            seen = [epoch_of(site.url)]
            site.fail_over()
            wait_until(lambda: epoch_of(site.url) != seen[0])
            seen.append(epoch_of(site.url))
            through = through_of(client)
            site.load(tmp_path, orders=f"{ORDER}903,1,1\n")
            answer = client.ask(feed_since(through)).response
            assert [order["order_id"] for order in answer.json()["orders"]] == ["903"]
            assert epoch_of(site.url) == seen[1]
        follow(third, site.standby)
        third.wait_until_caught_up(site.standby)
        again = Site(site.standby, third, site.url)
        with serving(again.url) as server, Client(server) as client:
            through = through_of(client)
            again.fail_over()
            assert first_answer(client, feed_since(through)) == 410
        assert len({history for _, history in [*seen, epoch_of(again.url)]}) == 3


# A server that reads from another replica


def follow(replica: Cluster, primary: Cluster) -> None:
    """Let a replica stream from another server than before."""
    database = url_on(replica, "postgres")
    conninfo = f"host=127.0.0.1 port={primary.port} user=postgres"
    with session(database) as connection:
        connection.execute("ALTER SYSTEM SET primary_slot_name = ''")
        connection.execute(
            psycopg.sql.SQL("ALTER SYSTEM SET primary_conninfo = {}").format(
                psycopg.sql.Literal(conninfo)
            )
        )
        connection.execute("SELECT pg_reload_conf()")


@ONLY_LONG
@pytest.mark.parametrize("how", ["killed", FROZEN])
def test_the_feed_of_a_replica_waits_for_the_epoch_of_the_promoted_primary(
    site: Site, tmp_path: Path, how: str
) -> None:
    with closing(site.primary.replica()) as other, ExitStack() as stack:
        other.wait_until_caught_up(site.primary)
        read = url_on(other, site.name)
        server = stack.enter_context(serving(site.url, "--read-database", read))
        client = stack.enter_context(Client(server))
        assert first_answer(client, SNAPSHOT) == 200
        with Polling(server, through_of(client)) as polling:
            site.end_primary(how)
            # Without a primary, the feed goes on.
            polling.wait_for(200, 20)
            site.standby.promote()
            polling.wait_for(503)
            # None comes through when the server looks at the primary's history, every 3 seconds.
            site.wait_for_beats(3)
            assert client.ask("/2/orders/1").status == 200
            follow(other, site.standby)
            polling.wait_for(410)
        polling.assert_in_order(200, 503, 410)
        wait_until(lambda: is_served_anew(client), FAILOVER_SECONDS_MAX)


# The same server, or the same timeline


@contextmanager
def asked_before_and_after(database: str, change: Callable[[], None]) -> Iterator[None]:
    """Assert that a server answers the feed as before, after a change to its database."""
    before = epoch_of(database)
    with serving(database) as server, Client(server) as client:
        through = through_of(client)
        change()
        assert first_answer(client, feed_since(through)) == 200
        yield
    assert epoch_of(database) == before


@pytest.mark.parametrize("how", ["restarted", "killed"])
def test_a_restart_and_a_crash_begin_no_epoch(cluster: Cluster, tmp_path: Path, how: str) -> None:
    database = new_database(cluster, "restarts")
    fill(database, tmp_path)
    end = cluster.stop if how == "restarted" else cluster.kill

    def restart() -> None:
        end()
        cluster.start()

    with asked_before_and_after(database, restart):
        pass


# A restored backup


def recover(site: Site, point: str) -> str:
    """Recover the stopped replica, as a base backup, up to a named point of the primary's log.

    Returns the URL of the database there.
    """
    data = site.standby._data
    (data / "standby.signal").rename(data / "recovery.signal")
    with (data / "postgresql.auto.conf").open("a") as settings:
        settings.write(
            "primary_conninfo = ''\nprimary_slot_name = ''\n"
            f"restore_command = 'cp {site.primary._data}/pg_wal/%f %p'\n"
            f"recovery_target_name = '{point}'\n"
            "recovery_target_action = 'promote'\n"
        )
    site.standby.start()
    wait_until(lambda: not site.standby._ask("SELECT pg_is_in_recovery()"))
    return url_on(site.standby, site.name)


@ONLY_LONG
def test_a_recovery_to_a_point_in_time_begins_an_epoch(site: Site, tmp_path: Path) -> None:
    with serving(site.url) as server, Client(server) as client:
        copy = mirrored(server, tmp_path)
        site.standby.stop()
        site.load(tmp_path, orders=f"{ORDER}900,1,1\n")
        primary = url_on(site.primary, site.name)
        execute(primary, "SELECT pg_create_restore_point('night')")
        site.load(tmp_path, orders=f"{ORDER}901,1,1\n")
        execute(primary, "SELECT pg_switch_wal()")
        copy.update()
        through = through_of(client)
    restored = recover(site, "night")
    with serving(restored) as server, Client(server) as client:
        error = error_of(client.ask(feed_since(through)).response, 410)
        assert "/snapshot" in error
        copy = copy.moved_to(server)
        assert "full_load" in copy.update()
        copy.assert_equal()
        assert copy.kept.column("SELECT order_id FROM orders WHERE order_id >= 900") == [900]


def test_a_dump_restored_into_a_new_database_begins_an_epoch(
    cluster: Cluster, tmp_path: Path
) -> None:
    database, restored = new_database(cluster, "dumped"), empty_database(cluster, "restored")
    fill(database, tmp_path / "small")
    cluster.run_client("pg_dump", "--format=custom", f"--file={tmp_path / 'dump'}", database)
    load_files(database, tmp_path / "lost", {"orders.csv": f"{ORDER}900,1,1\n"})
    with serving(database) as server, Client(server) as client:
        copy = mirrored(server, tmp_path)
        through = through_of(client)
    cluster.run_client("pg_restore", "--no-privileges", f"--dbname={restored}", tmp_path / "dump")
    masthead("database", "migrate", database=restored)
    with serving(restored) as server, Client(server) as client:
        assert client.ask(feed_since(through)).status == 410
        copy = copy.moved_to(server)
        assert "full_load" in copy.update()
        copy.assert_equal()
        assert copy.kept.column("SELECT order_id FROM orders WHERE order_id >= 900") == []


def test_what_nobody_can_notice_needs_the_command(cluster: Cluster, tmp_path: Path) -> None:
    """A dump that is restored into the database that it was made of."""
    database = new_database(cluster, "same")
    fill(database, tmp_path / "small")
    before = epoch_of(database)
    cluster.run_client("pg_dump", "--format=custom", f"--file={tmp_path / 'dump'}", database)
    load_files(database, tmp_path / "lost", {"orders.csv": f"{ORDER}900,1,1\n"})
    with serving(database) as server, Client(server) as client:
        through = through_of(client)
    cluster.run_client("pg_restore", "--clean", f"--dbname={database}", tmp_path / "dump")
    masthead("database", "migrate", database=database)
    assert epoch_of(database) == before
    masthead("feed", "new-epoch", database=database)
    with serving(database) as server, Client(server) as client:
        assert client.ask(feed_since(through)).status == 410
