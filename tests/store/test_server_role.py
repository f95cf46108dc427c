"""What a server may write, as the role that it speaks as, or as a user who is nothing else."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import MastheadError, StoreUnavailable
from masthead.store import accounts, commits, keys, open_store
from tests.store.conftest import ON_POSTGRESQL, START_US, new_url, opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Store as OpenStore
    from tests.servers import Store
    from tests.store.conftest import Clock

pytestmark = ON_POSTGRESQL

TENANTS_TABLES = ("commits", *TABLES_BY_NAME)


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[OpenStore]:
    """Two accounts, each with a commit that has no stamp yet."""
    with new_url(store) as url, opening(url) as opened:
        for account_id in (1, 2):
            accounts.add_account(opened, {"account_id": account_id})
            with opened.writer() as database, database.transaction():
                database.lock_account(account_id)
                commits.begin_commit(database, account_id)
        yield opened


def write_as_a_server(shared: OpenStore, statement: str, *, account_id: int | None = None) -> None:
    """Run a statement that must be refused, in a transaction such as stamping has."""
    with shared.counters() as database, database.transaction():
        if account_id is not None:
            database.lock_account(account_id)
        database.change(statement)


def refused() -> pytest.RaisesExc[MastheadError]:
    return pytest.raises(MastheadError, match="the database's user may not do this")


@pytest.mark.parametrize("table", [*TENANTS_TABLES, "accounts", "migrations", "heartbeat"])
@pytest.mark.parametrize("how", ["DELETE FROM {}", "TRUNCATE {}", "DROP TABLE {}"])
def test_a_server_cannot_take_anything_away(shared: OpenStore, table: str, how: str) -> None:
    with refused():
        write_as_a_server(shared, how.format(table), account_id=1)


@pytest.mark.parametrize("table", [*TENANTS_TABLES[1:], "accounts", "migrations"])
@pytest.mark.parametrize("how", ["INSERT INTO {} DEFAULT VALUES", "UPDATE {} SET {} = {}"])
def test_a_server_cannot_write_anything_but_commits(
    shared: OpenStore, table: str, how: str
) -> None:
    column = "number" if table == "migrations" else "account_id"
    with refused():
        write_as_a_server(shared, how.format(table, column, column), account_id=1)


@pytest.mark.parametrize(
    "how",
    [
        "INSERT INTO commits (account_id, commit_id, visible_at) VALUES (1, 99, 1)",
        "UPDATE commits SET commit_id = 99",
        "UPDATE commits SET account_id = 2",
        "UPDATE heartbeat SET is_only_row = FALSE",
        "INSERT INTO heartbeat (beat_at) VALUES (1)",
        # Of another account.
        "INSERT INTO commits (account_id, commit_id) VALUES (2, 99)",
    ],
)
def test_a_server_begins_and_stamps_commits_of_its_account_and_no_more(
    shared: OpenStore, how: str
) -> None:
    with refused():
        write_as_a_server(shared, how, account_id=1)


def test_a_server_cannot_stamp_another_accounts_commits(shared: OpenStore) -> None:
    stamp = f"UPDATE commits SET visible_at = {START_US} WHERE visible_at IS NULL"
    with shared.counters() as database, database.transaction():
        assert database.change(stamp) == 0
        database.lock_stamps(1)
        assert database.change(stamp) == 1


def test_what_is_read_for_an_account_cannot_write_at_all(shared: OpenStore) -> None:
    def write_where_it_reads() -> None:
        with shared.reader() as database:
            database.set_tenant(1)
            database.change("INSERT INTO commits (account_id, commit_id) VALUES (1, 99)")

    with pytest.raises(StoreUnavailable, match="read-only transaction"):
        write_where_it_reads()


# A user who is a server and nothing else.


@pytest.fixture
def web(store: Store) -> Iterator[Callable[[str], str]]:
    """Returns the URL of a database for a user who has only the rights of a server."""
    postgres = store.postgres
    assert postgres is not None
    name, password = f"masthead-web-{secrets.token_hex(6)}", secrets.token_hex(8)

    def ask(statement: str) -> None:
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))

    def url_for(url: str) -> str:
        address = urlsplit(url)
        place = address.netloc.rpartition("@")[2]
        return address._replace(netloc=f"{name}:{password}@{place}").geturl()

    ask(f"CREATE ROLE {{}} LOGIN PASSWORD '{password}'")
    ask("GRANT masthead_server TO {}")
    yield url_for
    ask("DROP ROLE {}")


def test_a_servers_user_opens_a_database_that_is_up_to_date(
    opened: OpenStore, url: str, web: Callable[[str], str]
) -> None:
    """Nothing is written where nothing is missing: it may not."""
    with opening(web(url)) as served:
        with served.reader() as database:
            assert database.rows("SELECT * FROM commits") == []
            database.set_tenant(1)
            assert database.rows("SELECT account_id FROM commits") == [(1,)]
            assert accounts.settings_of(database, 1)["api_login"] == "login-1"
        with served.writer() as database:
            assert database.rows("SELECT * FROM commits") == []
            assert database.rows("SELECT api_login FROM accounts") == []


def test_a_servers_user_cannot_bring_a_database_up_to_date(
    opened: OpenStore, url: str, web: Callable[[str], str]
) -> None:
    with opened.writer() as database:
        database.change("DELETE FROM migrations WHERE number = 3")
    with pytest.raises(MastheadError, match="the database's user may not do this"):
        open_store(web(url))


def test_a_servers_user_stamps_commits_of_all_accounts(
    opened: OpenStore, url: str, clock: Clock, web: Callable[[str], str]
) -> None:
    """What a killed load has left, and idle accounts too."""
    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        commits.begin_commit(database, 1)
    clock.now += commits.IDLE_US + 1
    with opening(web(url), clock) as served:
        commits.stamp_all(served)
        for account_id in (1, 2):
            with served.reader() as database:
                database.set_tenant(account_id)
                position = commits.position_of(database, account_id, 2**62)
                assert position.newest_stamp >= clock.now
                assert position.first_commit is None


def test_a_servers_user_beats(opened: OpenStore, url: str, web: Callable[[str], str]) -> None:
    with opening(web(url)) as served, served.writer() as database:
        assert database.change("UPDATE heartbeat SET beat_at = :now", now=START_US) == 1
    with opened.reader() as database:
        assert database.rows("SELECT beat_at FROM heartbeat") == [(START_US,)]


def test_a_servers_user_finds_an_account_by_its_credentials(
    opened: OpenStore, url: str, web: Callable[[str], str]
) -> None:
    """decisions, "Wrong credentials": one question that is asked before an account speaks."""
    with opening(web(url)) as served, served.reader() as database:
        caller = keys.account_for_credentials(database, "key-2", "login-2")
        assert caller
        assert caller.account_id == 2
        assert keys.account_for_credentials(database, "key-2", "login-1") is None


def test_a_servers_user_can_change_no_account(
    opened: OpenStore, url: str, web: Callable[[str], str]
) -> None:
    with opening(web(url)) as served:
        for change in (
            lambda: accounts.set_account(served, 1, {"plan": "Premium"}),
            lambda: accounts.add_account(served, {"account_id": 3}),
            lambda: commits.start_epoch(served),
        ):
            with pytest.raises(MastheadError, match=r"there is no account 1|may not do this"):
                change()
    with opened.writer() as database:
        assert [row[0] for row in accounts.accounts(database)] == [1, 2]
        assert accounts.settings_of(database, 1)["plan"] is None
