"""Masthead on several machines: what is distributed, and what a machine's absence costs.

decisions, "A distributed database".
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack, closing, suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.api.callers import Caller
from tests.api.conftest import DATA
from tests.citus.cluster import CitusCluster
from tests.citus.databases import CitusDatabases
from tests.mirror.kept import Kept
from tests.postgres import migrate, name_of, unique
from tests.servers import CommandFailedError, import_files, masthead, serving, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.citus.cluster import CitusNode
    from tests.servers import Server

ACCOUNTS = range(1, 9)
STAMP_SECONDS_MAX = 30
YESTERDAY = datetime.now(UTC) - timedelta(days=1)
FEED = f"/2/cdc?changed_since={YESTERDAY:%Y-%m-%dT%H:%M:%SZ}&entities=subscribers,orders"
ENTITIES = "customfields,subscriptions,subscribers,addresses,purchases,listdownloads,orders"
EVERYTHING = f"/snapshot?entities={ENTITIES}"
OPERATIONS = (
    "/2/accounts/",
    "/2/accounts/{account_id}/",
    "/2/subscribers/authenticate/?login=one@example.org&password=wrong",
    FEED,
    "/2/customfields/1",
    "/2/customfields/",
    "/2/subscriptions/?publication_id=1&min_copies=1",
    "/2/subscribers/?last_name=r*&source=web",
    "/2/orders/1",
    "/2/downloadmailinglist/1/",
    EVERYTHING,
    EVERYTHING.replace("snapshot", "digest"),
    FEED.replace("2/cdc", "deletions"),
)


@pytest.fixture(scope="module")
def databases(citus: CitusCluster) -> Iterator[CitusDatabases]:
    """Makes databases of all nodes, whose tables are distributed."""
    with closing(CitusDatabases(citus)) as found:
        yield found


@pytest.fixture
def database(databases: CitusDatabases, tmp_path: Path) -> str:
    """A database with some records of each kind in each account."""
    name = unique("distributed")
    databases.copy_migrated(name)
    fill(databases.url(name), tmp_path)
    return databases.url(name)


class Source(NamedTuple):
    """A service and the credentials for it."""

    url: str
    key: str
    login: str


def fill(url: str, folder: Path) -> None:
    """Add the accounts and their records."""
    accounts = [
        {"account_id": n, "api_key": f"key-{n}", "api_login": f"login-{n}", "api_active": "1"}
        for n in ACCOUNTS
    ]
    files = write_ndjson(folder / "accounts", {"accounts": accounts})
    import_files(*files, account_id=None, database=url)
    for account_id in ACCOUNTS:
        import_files(DATA / "feed", account_id=str(account_id), database=url)


def ask(server: Server, account_id: int, path: str) -> tuple[int, str]:
    """Return the status and the body of a response to the account."""
    with closing(Caller(server, f"key-{account_id}", f"login-{account_id}")) as caller:
        response = caller.ask(path)
    return response.status_code, response.text


def exported(url: str, account_id: int, folder: Path) -> dict[str, bytes]:
    """Return the files of an account's export."""
    masthead("export", folder, "--account", account_id, database=url)
    return {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def status(url: str) -> list[str]:
    """Return what is said of the machines, line by line."""
    lines = masthead("database", "status", database=url).stdout.splitlines()
    return lines[lines.index("up to date") + 1 :]


def accounts_by_node(citus: CitusCluster, url: str) -> dict[CitusNode, list[int]]:
    """Return the accounts of each node."""
    found: dict[CitusNode, list[int]] = {}
    for account_id in ACCOUNTS:
        node = citus.node_of(name_of(url), "account_locks", account_id)
        found.setdefault(node, []).append(account_id)
    return found


def is_stamped_in_time(citus: CitusCluster, url: str, account_id: int) -> bool:
    """Leave a commit without a stamp, as a killed load does; return whether a server stamps it."""
    name = name_of(url)
    citus.coordinator.ask(
        name, "INSERT INTO commits (account_id, commit_id) VALUES (%s, 99)", account_id
    )
    deadline = time.monotonic() + STAMP_SECONDS_MAX
    stamped = None
    while stamped is None and time.monotonic() < deadline:
        stamped = citus.coordinator.ask(
            name,
            "SELECT visible_at FROM commits WHERE account_id = %s AND commit_id = 99",
            account_id,
        )
    return stamped is not None


def test_a_database_with_data_is_distributed_in_one_go_and_again(
    citus: CitusCluster, databases: CitusDatabases, tmp_path: Path
) -> None:
    """Nothing is changed by --dry-run, and by doing it again; the data stay as they are."""
    name = unique("plain")
    databases.create(name)
    url = databases.url(name)
    masthead("database", "migrate", database=url)
    fill(url, tmp_path)
    before = [exported(url, n, tmp_path / f"before-{n}") for n in ACCOUNTS]
    dry = masthead("database", "distribute", "--dry-run", database=url).stdout
    assert "create_reference_table('accounts')" in dry
    assert "create_distributed_table('orders', 'account_id'" in dry
    assert "not distributed: account_locks, accounts, addresses" in status(url)[-1]
    for _ in range(2):
        assert masthead("database", "distribute", database=url).stdout == "distributed\n"
        *nodes, last = status(url)
        assert not last.startswith("not distributed")
        counts = [int(line.split()[-2]) for line in (*nodes, last)]
        assert sum(counts) == len(ACCOUNTS)
        assert min(counts) == 0, "the coordinator has none"
    assert [exported(url, n, tmp_path / f"after-{n}") for n in ACCOUNTS] == before


def test_only_the_coordinator_distributes(citus: CitusCluster, database: str) -> None:
    worker = citus.url(name_of(database), citus.workers[0])
    done = masthead("database", "distribute", database=worker, exit_status=2)
    assert "this is a worker: give the URL of the coordinator" in done.stderr


def test_without_citus_it_is_said_how_to_get_it(citus: CitusCluster, database: str) -> None:
    plain = citus.url("postgres")
    done = masthead("database", "distribute", database=plain, exit_status=2)
    assert "CREATE EXTENSION citus" in done.stderr


def test_servers_and_loads_may_connect_to_any_node(
    citus: CitusCluster, database: str, tmp_path: Path
) -> None:
    """Each says the same of all accounts."""
    answers = []
    for number, node in enumerate(citus.nodes):
        url = citus.url(name_of(database), node)
        changed = write_ndjson(
            tmp_path / str(number), {"addresses": [{"address_id": 1, "city": f"City {number}"}]}
        )
        for account_id in ACCOUNTS:
            import_files(*changed, account_id=str(account_id), database=url)
        with serving(url) as server:
            for account_id in ACCOUNTS:
                assert f"City {number}" in ask(server, account_id, EVERYTHING)[1]
            paths = ("/2/orders/1", FEED)
            answers.append([ask(server, n, path) for n in ACCOUNTS for path in paths])
    assert answers[0] == answers[1] == answers[2]


def test_a_killed_worker_takes_its_accounts_away_and_no_other(
    citus: CitusCluster, database: str, tmp_path: Path
) -> None:
    """Others are read, loaded and stamped meanwhile. When it is back, nothing is lost."""
    killed, other = citus.workers[:2]
    places = accounts_by_node(citus, database)
    before = {n: exported(database, n, tmp_path / f"before-{n}") for n in places[killed]}
    changed = write_ndjson(tmp_path / "new", {"addresses": [{"address_id": 1, "city": "Newly"}]})
    with serving(database) as server:
        for account_id in ACCOUNTS:
            assert ask(server, account_id, "/2/orders/1")[0] == 200
        killed.kill()
        try:
            for account_id in places[killed]:
                for path in OPERATIONS[2:]:
                    assert ask(server, account_id, path)[0] == 503, path
                refused = masthead(
                    *("import", *changed, "--account", account_id), database=database, exit_status=1
                )
                assert "the database does not answer" in refused.stderr
            for account_id in places[other]:
                import_files(*changed, account_id=str(account_id), database=database)
                for path in OPERATIONS:
                    code = ask(server, account_id, path.format(account_id=account_id))[0]
                    assert code == 200, path
                assert "Newly" in ask(server, account_id, EVERYTHING)[1]
            assert is_stamped_in_time(citus, database, places[other][0])
        finally:
            killed.start()
        for account_id in ACCOUNTS:
            assert ask(server, account_id, FEED)[0] == 200
    assert {n: exported(database, n, tmp_path / f"after-{n}") for n in places[killed]} == before


def test_every_copy_is_whole_while_shards_move_to_a_new_machine(tmp_path: Path) -> None:
    """Loads and polls go on; no copy has to start again; a large account gets its own shard."""
    with ExitStack() as stack:
        cluster = stack.enter_context(closing(CitusCluster()))
        databases = stack.enter_context(closing(CitusDatabases(cluster)))
        name = unique("growing")
        databases.create(name)
        url = databases.url(name)
        migrate(url, "distribute")
        fill(url, tmp_path)
        server = stack.enter_context(serving(url))
        copies = {n: Kept(f"sqlite:///{tmp_path}/copy-{n}.db") for n in ACCOUNTS}
        sources = {n: Source(server.url, f"key-{n}", f"login-{n}") for n in ACCOUNTS}
        is_done = threading.Event()
        failures: list[BaseException] = []

        def load_and_poll(account_ids: list[int]) -> None:
            count = 0
            try:
                while not is_done.is_set() or count < 2:
                    count += 1
                    for account_id in account_ids:
                        rows = [{"address_id": 1, "city": f"City {count}"}]
                        folder = tmp_path / f"load-{account_id}"
                        files = write_ndjson(folder, {"addresses": rows})
                        # A load that meets the move may end, and works at its next try.
                        with suppress(CommandFailedError):
                            import_files(*files, account_id=str(account_id), database=url)
                        assert copies[account_id].update(sources[account_id]).full_load is None
            except BaseException as failure:  # noqa: BLE001 - the test's own thread shows it
                failures.append(failure)

        for account_id in ACCOUNTS:
            copies[account_id].update(sources[account_id])
        halves = ([*ACCOUNTS][::2], [*ACCOUNTS][1::2])
        threads = [threading.Thread(target=load_and_poll, args=(half,)) for half in halves]
        for thread in threads:
            thread.start()
        try:
            cluster.add_worker()
            masthead("database", "distribute", database=url)
            cluster.coordinator.ask(
                name, "SELECT rebalance_table_shards(shard_transfer_mode => 'block_writes')"
            )
            cluster.coordinator.ask(
                name,
                "SELECT isolate_tenant_to_new_shard('account_locks', 3, 'CASCADE', "
                "shard_transfer_mode => 'block_writes')",
            )
        finally:
            is_done.set()
            for thread in threads:
                thread.join()
        assert not failures
        shards = [int(line.split()[2]) for line in status(url)]
        assert len(shards) == 4, "the coordinator, and each worker"
        assert len([count for count in shards if count]) == 3
        for account_id in ACCOUNTS:
            last = write_ndjson(tmp_path / "last", {"addresses": [{"address_id": 1, "city": "X"}]})
            import_files(*last, account_id=str(account_id), database=url)
            assert copies[account_id].update(sources[account_id]).full_load is None
            assert copies[account_id].differences(sources[account_id]) == []
