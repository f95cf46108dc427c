"""Whose a database on a server may be: its user need not be the server's master.

Each database has a role of its own for its servers, which its owner makes, or finds made.
"""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from masthead.errors import BadUsage, MastheadError
from masthead.store import accounts, credentials, find_store
from tests.postgres import Cluster, Databases
from tests.servers import as_server
from tests.store.conftest import opening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import LiteralString

NOT_ALLOWED = "the database's user may not do this: permission denied to create role"


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    """A server of its own: roles are the server's, and outlive a database."""
    with closing(Cluster()) as found:
        yield found


@pytest.fixture
def cluster(running: Cluster) -> Iterator[Cluster]:
    """A server that has never seen Masthead, or has forgotten it."""
    yield running
    Databases.close(running)
    ask(running, "DROP ROLE IF EXISTS owner, other, plain")


def ask(cluster: Cluster, statement: LiteralString, *names: str) -> None:
    """Run a statement as the server's master."""
    with psycopg.connect(cluster.url("postgres"), autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def database_of(cluster: Cluster, user: str, database: str) -> str:
    """Return the URL of a new database that belongs to the user."""
    cluster.create(database)
    ask(cluster, "ALTER DATABASE {} OWNER TO {}", database, user)
    return cluster.url(database).replace("//postgres@", f"//{user}@")


def works(url: str) -> None:
    """Make the database's tables and an account, and see it as a server does."""
    find_store(url).migrate()
    with opening(url) as opened:
        accounts.add_account(opened, {"account_id": 1, "api_key": "key", "api_login": "login"})
        with pytest.raises(BadUsage, match="a server must not log in as"):
            opened.check_server_role()
    with opening(as_server(url)) as served:
        served.check_server_role()
        with served.reader() as database:
            caller = credentials.account_for_credentials(database, "key", "login", now=0)
            assert caller
            assert caller.account_id == 1
            database.set_tenant(1)
            assert [row[0] for row in accounts.accounts(database)] == [1]


def test_users_who_may_make_roles_make_databases_of_one_server_at_once(cluster: Cluster) -> None:
    ask(cluster, "CREATE ROLE owner LOGIN CREATEROLE")
    urls = [database_of(cluster, "owner", f"at-once-{number}") for number in range(4)]
    failures: list[BaseException] = []
    barrier = threading.Barrier(len(urls))

    def start(url: str) -> None:
        try:
            barrier.wait()
            works(url)
        except BaseException as failure:  # noqa: BLE001 - the test's own thread shows it
            failures.append(failure)

    threads = [threading.Thread(target=start, args=(url,)) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_two_owners_have_each_their_own_database_and_its_role(cluster: Cluster) -> None:
    """What one has made keeps the other from nothing, and leads to nothing of the other's."""
    ask(cluster, "CREATE ROLE owner LOGIN CREATEROLE")
    ask(cluster, "CREATE ROLE other LOGIN CREATEROLE")
    mine, others = database_of(cluster, "owner", "mine"), database_of(cluster, "other", "others")
    for url in (mine, others):
        works(url)
    for url in (mine, others):
        assert find_store(url).migrate() == []
    for stranger in ("owner", "mine_server"):
        with pytest.raises(MastheadError, match="permission denied for table migrations"):
            find_store(others.replace("//other@", f"//{stranger}@")).open()


def test_a_user_who_may_not_make_roles_is_refused_until_there_are_both(cluster: Cluster) -> None:
    """An administrator may make them beforehand; their rights come from the tables' owner."""
    ask(cluster, "CREATE ROLE plain LOGIN")
    url = database_of(cluster, "plain", "plain-database")
    with pytest.raises(MastheadError, match=NOT_ALLOWED):
        works(url)
    ask(cluster, "CREATE ROLE {} LOGIN", "plain-database_server")
    with pytest.raises(MastheadError, match=NOT_ALLOWED):
        works(url)
    ask(cluster, "CREATE ROLE {} LOGIN", "plain-database_readers")
    works(url)
