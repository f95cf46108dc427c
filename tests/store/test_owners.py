"""Whose a database on a server may be: its user need not be the server's master."""

from __future__ import annotations

import threading
from contextlib import closing
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from masthead.errors import MastheadError
from masthead.store import accounts, keys
from tests.postgres import Cluster, Databases
from tests.store.conftest import opening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import LiteralString


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
    ask(running, "DROP ROLE IF EXISTS masthead_server, owner, plain")


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
    with opening(url) as opened:
        accounts.add_account(opened, {"account_id": 1, "api_key": "key", "api_login": "login"})
        with opened.reader() as database:
            caller = keys.account_for_credentials(database, "key", "login")
            assert caller
            assert caller.account_id == 1
            database.set_tenant(1)
            assert [row[0] for row in accounts.accounts(database)] == [1]


def test_users_who_may_make_roles_make_databases_of_one_server_at_once(cluster: Cluster) -> None:
    """The first makes the role that all servers speak as, and all others find it."""
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


def test_a_user_who_may_not_make_roles_is_refused_until_it_is_given_the_servers(
    cluster: Cluster,
) -> None:
    ask(cluster, "CREATE ROLE plain LOGIN")
    url = database_of(cluster, "plain", "plain")
    with pytest.raises(MastheadError, match="the database's user may not do this: permission"):
        works(url)
    ask(cluster, "CREATE ROLE masthead_server NOLOGIN")
    with pytest.raises(MastheadError, match="the database's user may not do this: permission"):
        works(url)
    ask(cluster, "GRANT masthead_server TO plain")
    works(url)
