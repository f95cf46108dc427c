"""As whom commands and servers log in: the owner of the database, and the role of its servers."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import sql

from masthead.api.app import create_app
from masthead.errors import BadUsage
from masthead.settings import ServerSettings
from tests.postgresql.service import (
    Client,
    empty_database,
    fill,
    new_database,
    requests,
    session,
)
from tests.servers import as_server, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from typing import LiteralString

    from tests.postgres import Cluster

NAME_BYTES_MAX = 55


@pytest.fixture
def owner(cluster: Cluster) -> Iterator[str]:
    """A user who may make roles, and nothing else."""
    name = f"owner-{secrets.token_hex(4)}"
    ask(cluster, "CREATE ROLE {} LOGIN CREATEROLE", name)
    yield name
    ask(cluster, "ALTER ROLE {} NOLOGIN", name)


def ask(cluster: Cluster, statement: LiteralString, *names: str) -> None:
    """Run a statement as the server's superuser."""
    with session(cluster.url("postgres")) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def refused(database: str, *options: str) -> str:
    """Return why no server starts."""
    done = masthead("serve", "--port=0", *options, database=database, exit_status=2)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_who_owns_a_database_makes_it_and_gives_its_servers_a_password(
    cluster: Cluster, owner: str, tmp_path: Path
) -> None:
    """decisions, "The role of servers"; as docs/postgresql.md says."""
    database = empty_database(cluster, "owned").replace("postgres:", f"{owner}:")
    name = database.rpartition("/")[2]
    ask(cluster, "ALTER DATABASE {} OWNER TO {}", name, owner)
    masthead("database", "migrate", database=database)
    with session(database) as connection:
        role = sql.Identifier(f"{name}_server")
        connection.execute(sql.SQL("ALTER ROLE {} PASSWORD 'secret'").format(role))
    fill(database, tmp_path)
    with serving(database) as server, Client(server) as client:
        assert {response.status for response in client.ask_at_once(requests().values())} == {200}
    assert f"must not log in as {owner}, for whom" in refused(database)


def test_a_server_that_could_see_all_accounts_does_not_start(cluster: Cluster) -> None:
    """decisions, "The role of servers": neither for what it reads nor for what it counts."""
    database = new_database(cluster, "refused")
    role = f"{database.rpartition('/')[2]}_server"
    sentence = (
        "a server must not log in as postgres, for whom the walls between accounts do not hold: "
        f"use the role {role} of this database\n"
    )
    assert refused(database) == sentence
    assert refused(database, "--read-database", as_server(database)) == sentence
    assert refused(as_server(database), "--read-database", database) == sentence
    with pytest.raises(BadUsage, match="a server must not log in as postgres"):
        create_app(ServerSettings(database=database))


def test_a_server_whose_queries_postgresql_would_refuse_does_not_start(cluster: Cluster) -> None:
    """decisions, "The role of servers": else each request would be 500."""
    database = new_database(cluster, "off")
    role = f"{database.rpartition('/')[2]}_server"
    ask(cluster, "ALTER ROLE {} SET row_security = off", role)
    assert refused(as_server(database)) == (
        f"row_security is off for {role}, so that PostgreSQL refuses all queries of a server: "
        "switch it on for this role and this database\n"
    )
    ask(cluster, "ALTER ROLE {} RESET row_security", role)
    with serving(database):
        pass


def test_the_role_of_a_database_sees_nothing_of_another(cluster: Cluster, tmp_path: Path) -> None:
    """decisions, "The role of servers"; nor is it one that a copy was made from."""
    mine, others = (new_database(cluster, name) for name in ("mine", "others"))
    fill(others, tmp_path)
    role, _ = as_server(mine).rsplit("/", 1)
    with session(f"{role}/{others.rpartition('/')[2]}") as connection:
        connection.execute("SET masthead.account_id = 1")
        for table in ("accounts", "subscribers", "secret_key", "audit"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql.SQL("SELECT 1 FROM {}").format(sql.Identifier(table)))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT * FROM accounts_for_credentials('a', 'b')")


def test_a_query_of_a_server_without_an_account_is_an_error(
    cluster: Cluster, tmp_path: Path
) -> None:
    """rules, "The account of a query on PostgreSQL": it is set for one transaction."""
    database = new_database(cluster, "unset")
    fill(database, tmp_path)
    count = "SELECT count(*) FROM subscribers"
    with session(as_server(database)) as connection:
        with pytest.raises(psycopg.errors.UndefinedObject, match=r"masthead\.account_id"):
            connection.execute(count)
        for account_id, found in ((1, 2), (2, 0)):
            with connection.transaction():
                connection.execute(f"SET LOCAL masthead.account_id = {account_id}")
                assert connection.execute(count).fetchone() == (found,)
            with pytest.raises(psycopg.errors.InvalidTextRepresentation):
                connection.execute(count)


def test_a_name_that_leaves_no_room_for_that_of_the_role_is_refused(cluster: Cluster) -> None:
    """decisions, "The role of servers": PostgreSQL would cut it off, and two might share it."""
    names = ["n" * NAME_BYTES_MAX, "n" * (NAME_BYTES_MAX + 1), "é" * (NAME_BYTES_MAX // 2 + 1)]
    for name in names:
        cluster.create(name)
    fits, *too_long = (cluster.url(name) for name in names)
    masthead("database", "migrate", database=fits)
    for url in too_long:
        done = masthead("database", "migrate", database=url, exit_status=2)
        assert "is too long for its roles" in done.stderr
        with session(url) as connection:
            found = connection.execute("SELECT to_regclass('migrations')").fetchone()
        assert found == (None,)
