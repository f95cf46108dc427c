"""The database itself keeps tenants apart: a query that forgets the account shows nothing more.

decisions, "Tenants in the database". Two accounts hold the same ids here, so that a statement that
forgets the account has something to show. The policies are PostgreSQL's. SQLite has only the
conditions of each query, which the tests of loads and of the HTTP interface check.

What is asked here is asked by the role of servers. The owner of the tables is bound by no policy.
"""

# Long because each way of reading is tried as each tenant.

from __future__ import annotations

import re
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import MastheadError
from masthead.store import (
    accounts,
    changes,
    commits,
    credentials,
    deletions,
    entitlement_codes,
    entitlement_keys,
    entitlements,
    epochs,
    exporting,
    interface_queries,
    login_candidates,
    logins,
    request_counts,
)
from masthead.store.postgresql import PostgresStore
from masthead.store.postgresql_connection import PostgresStoreConnection
from tests.loading.publisher import SMALL, Publisher
from tests.long import ONE_SERVER
from tests.servers import as_server
from tests.store.catalogue import (
    OF_ENTITLEMENTS,
    OF_THE_BOOKS,
    OF_THE_CONSOLE,
    STAGING_TABLES,
    TENANTS_TABLES_OF_A_SERVER,
)
from tests.store.conftest import ON_POSTGRESQL, new_url, opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from masthead.contract.records import Table
    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from tests.servers import Store

    Query = Callable[[Connection], Any]

pytestmark = ON_POSTGRESQL

READ_BY_SERVERS = [
    name for name in TENANTS_TABLES_OF_A_SERVER if name not in OF_THE_BOOKS | OF_THE_CONSOLE
] + ["entitlement_keys"]
each_tenants_table = pytest.mark.parametrize("table", READ_BY_SERVERS)
SPEAKS_FOR = "SELECT current_setting('masthead.account_id', TRUE)"
# In a session where no transaction has spoken for anybody, and in one where some have.
NOBODY = ([(None,)], [("",)])
DIGEST = "5f4dcc3b5aa765d61d8327deb882cf99"
SUBSCRIBERS = "subscriber_id,renewal_code,email,first_name,last_name,source,password_md5\n"
OF_ONE = {
    **SMALL,
    "subscribers.csv": (
        f"{SUBSCRIBERS}1,AAAAA,ada@example.org,Ada,Ames,Web,{DIGEST}\n"
        f"2,BBBBB,ben@example.org,Ben,Birch,Web,{DIGEST}\n"
        "3,,,,,,\n"
    ),
    "erasures.csv": "subscriber_id,erased_at\n3,2025-03-01 10:00:00\n",
}
# Ids, codes and logins are the same; what they lead to is not.
OTHERS = {
    "Ada": "Eve",
    "Ben": "Bob",
    "Tide": "Ebb",
    "Spring": "Easter",
    "Salem": "Boise",
    "Print": "Digital",
    "Your trade": "Your craft",
    "Farming": "Farms",
    "10|11": "10",
    "10.5": "11.5",
    "March": "April",
    "2026": "2027",
}
OF_TWO = dict(OF_ONE)
for mine, theirs in OTHERS.items():
    OF_TWO = {name: content.replace(mine, theirs) for name, content in OF_TWO.items()}


@pytest.fixture(scope="module")
def owned(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenStore]:
    """Two accounts with the same ids; the other one has changed last, and a commit more."""
    folder = tmp_path_factory.mktemp("tenants")
    with new_url(store) as url:
        one, two = (Publisher(url, folder, account_id) for account_id in (1, 2))
        one.load(OF_ONE)
        two.load(OF_ONE)
        epochs.start_epochs(one.store)
        two.load(OF_TWO)
        for publisher in (one, two):
            publisher.load({"purchases.csv": "purchase_id,subscriber_id\n9,1\n"})
            publisher.remove("purchases", (9,))
        one.store.close()
        two.store.close()
        with opening(url) as opened:
            yield opened


@pytest.fixture(scope="module")
def shared(owned: OpenStore) -> Iterator[OpenStore]:
    """The same as servers see it, who have counted a wrong guess and a use in each account."""
    assert isinstance(owned, PostgresStore)
    with opening(as_server(owned._url)) as opened:
        for account_id in (1, 2):
            uses = credentials.Uses()
            uses.note(credentials.Caller(account_id, 0, 0, key_hash=f"pair of {account_id}"), 1)
            uses.write(opened)
            counts = request_counts.RequestCounts()
            counts.note(account_id, "orders", 200, opened.clock())
            counts.write(opened)
            attempt = logins.attempt_of(opened.secret, account_id, "ada", "wrong")
            with opened.counters() as counters:
                counters.set_tenant(account_id)
                logins.count_failure(counters, logins.Limits(), attempt, 1)
            attempt = logins.attempt_of(opened.secret, account_id, "ada@example.org", "right")
            logins.note_success(opened, logins.Limits(), attempt, logins.Standing())
            entitlement_codes.make_code(opened, account_id, 1)
            entitlement_keys.rotate(owned, account_id)
        yield opened


@contextmanager
def refused_for_lack_of_an_account() -> Iterator[None]:
    """What happens within is an error: the setting is not there, or was that of a transaction."""
    with pytest.raises(psycopg.Error) as refusal:
        yield
    missing = errors.UndefinedObject, "masthead.account_id"
    over = errors.InvalidTextRepresentation, "bigint"
    kind, named = missing if isinstance(refusal.value, errors.UndefinedObject) else over
    assert isinstance(refusal.value, kind)
    assert named in str(refusal.value)


def test_before_it_speaks_for_an_account_a_connection_is_refused_and_not_told_there_is_nothing(
    shared: OpenStore, subtests: pytest.Subtests
) -> None:
    """design, "The store"."""
    for table in READ_BY_SERVERS:
        with subtests.test(table=table):
            assert_refused_for_lack_of_an_account(shared, f"SELECT * FROM {table}")


def assert_refused_for_lack_of_an_account(shared: OpenStore, everything: str) -> None:
    with shared.reader() as database:
        with refused_for_lack_of_an_account():
            database.rows(everything)
        with refused_for_lack_of_an_account():
            list(database.stream(everything))
        with refused_for_lack_of_an_account(), database.snapshot():
            database.rows(everything)
        with refused_for_lack_of_an_account(), database.read_snapshot():
            list(database.stream(everything))
    with shared.writer() as database, refused_for_lack_of_an_account():
        database.rows(everything)
    with shared.counters() as database, refused_for_lack_of_an_account(), database.transaction():
        database.rows(everything)


def test_before_it_speaks_for_an_account_a_connection_sees_no_credentials(
    shared: OpenStore,
) -> None:
    with shared.reader() as database:
        with refused_for_lack_of_an_account():
            database.rows("SELECT api_key, api_login FROM accounts")
        with refused_for_lack_of_an_account():
            accounts.accounts(database)


WRITING = {
    "a commit": "INSERT INTO commits (account_id, commit_id) VALUES (1, 99)",
    "a stamp": "UPDATE commits SET visible_at = 1",
    "a failure": "INSERT INTO login_failures VALUES (1, 'login', 'guess', 1, 'code')",
    "a later failure": "UPDATE login_failures SET failed_at = 1",
    "no failure": "DELETE FROM login_failures",
    "a success": "INSERT INTO login_successes VALUES (1, 'login', 1)",
    "no success": "DELETE FROM login_successes",
    "a use": "INSERT INTO credential_uses VALUES (1, 'hash', 1)",
    "a later use": "UPDATE credential_uses SET used_at = 1",
    "a request": "INSERT INTO request_counts VALUES (1, '2026-01-01', '', 'orders', 1, 0, 0, 1)",
    "no request": "DELETE FROM request_counts",
    "a code": "INSERT INTO entitlement_codes VALUES (1, 'hash', 1, 1)",
    "no code": "DELETE FROM entitlement_codes",
    "a lock": "SELECT 1 FROM account_locks WHERE account_id = 1 FOR UPDATE",
}


def test_before_it_speaks_for_an_account_a_connection_writes_nothing(
    shared: OpenStore, subtests: pytest.Subtests
) -> None:
    for what, statement in WRITING.items():
        with subtests.test(what), shared.counters() as database:
            with refused_for_lack_of_an_account():
                database.rows(statement)
            with refused_for_lack_of_an_account(), database.transaction():
                database.rows(statement)


@each_tenants_table
def test_without_any_filter_a_connection_sees_the_rows_of_its_account_alone(
    owned: OpenStore, shared: OpenStore, table: str
) -> None:
    """design, "The store"."""
    everything = f"SELECT * FROM {table} AS t ORDER BY t"
    with owned.writer() as database:
        rows = database.rows(everything)
    assert {row[0] for row in rows} == {1, 2}
    for account_id in (1, 2):
        own = [row for row in rows if row[0] == account_id]
        with shared.reader() as database:
            database.set_tenant(account_id)
            assert database.rows(everything) == own
            assert list(database.stream(everything)) == own
            with database.snapshot():
                assert list(database.stream(everything)) == own


def test_servers_cannot_read_tables_that_they_do_not_need(
    shared: OpenStore, subtests: pytest.Subtests
) -> None:
    """Nor what an account's load has staged, whichever account it speaks for."""
    others = ("credentials", "audit", "loads", "natural_keys")
    denied = "may not do this: permission denied for table"
    unread = (OF_THE_BOOKS | OF_THE_CONSOLE) - OF_ENTITLEMENTS
    for table in (*STAGING_TABLES, *sorted(unread), *others):
        with subtests.test(table=table), shared.reader() as database:
            database.set_tenant(1, is_master=True)
            with pytest.raises(MastheadError, match=denied):
                database.rows(f"SELECT * FROM {table}")


def test_only_a_master_sees_another_account_and_never_its_data(shared: OpenStore) -> None:
    """rules, "/2/accounts/"; who is one, the pair of the request has told."""

    def seen(*, is_master: bool) -> list[int]:
        with shared.reader() as database:
            database.set_tenant(2, is_master=is_master)
            for table in READ_BY_SERVERS:
                assert {row[0] for row in database.rows(f"SELECT * FROM {table}")} == {2}
            with database.snapshot():
                assert {row[0] for row in database.rows("SELECT * FROM orders")} == {2}
            return [row[0] for row in accounts.accounts(database)]

    assert seen(is_master=False) == [2]
    assert seen(is_master=True) == [1, 2]
    assert seen(is_master=False) == [2]


def test_a_master_is_one_until_another_account_is_named(shared: OpenStore) -> None:
    """Within a transaction too, whose settings hold to its end."""

    def seen(database: Connection) -> list[int]:
        return [row[0] for row in accounts.accounts(database)]

    with shared.reader() as database:
        database.set_tenant(2, is_master=True)
        assert seen(database) == [1, 2]
        with database.snapshot():
            assert seen(database) == [1, 2]
            database.set_tenant(1)
            assert seen(database) == [1]
        assert seen(database) == [1]
        with database.snapshot():
            database.set_tenant(2, is_master=True)
            assert seen(database) == [1, 2]


# What becomes of the account that a connection has spoken for.


def read(database: Connection) -> None:
    database.rows("SELECT 1")


def read_a_snapshot(database: Connection) -> None:
    with database.snapshot():
        read(database)


def leave_a_stream(database: Connection) -> None:
    next(database.stream("SELECT * FROM subscribers"))


def leave_a_snapshot(database: Connection) -> None:
    with database.snapshot():
        leave_a_stream(database)
        raise ZeroDivisionError


def fail(database: Connection) -> None:
    read(database)
    raise ZeroDivisionError


def fail_in_the_database(database: Connection) -> None:
    database.rows("SELECT 1 / 0 FROM subscribers")


def write(database: Connection) -> None:
    database.change("DELETE FROM subscribers")


@pytest.mark.parametrize(
    "use",
    [
        read,
        read_a_snapshot,
        leave_a_stream,
        leave_a_snapshot,
        fail,
        fail_in_the_database,
        write,
    ],
)
def test_an_account_is_spoken_for_until_the_connection_is_given_back(
    shared: OpenStore, use: Callable[[Connection], None]
) -> None:
    """The next user of a connection is refused until it names an account."""
    failures = (ZeroDivisionError, psycopg.DataError, MastheadError)
    with suppress(*failures), shared.reader() as database:
        database.set_tenant(1)
        assert {row[0] for row in database.rows("SELECT account_id FROM subscribers")} == {1}
        use(database)
    with shared.reader() as database:
        with refused_for_lack_of_an_account():
            database.rows("SELECT * FROM subscribers")
        assert database.rows(SPEAKS_FOR) in NOBODY
        database.set_tenant(2)
        assert {row[0] for row in database.rows("SELECT account_id FROM subscribers")} == {2}


@pytest.mark.parametrize("fails", [fail, fail_in_the_database, write])
def test_a_transaction_that_fails_leaves_no_account_to_the_next_one(
    shared: OpenStore, fails: Callable[[Connection], None]
) -> None:
    """In the same session of the server, the next transaction sees no account."""
    with shared.reader() as database:
        database.set_tenant(1, is_master=True)
        with suppress(ZeroDivisionError, psycopg.DataError, MastheadError), database.snapshot():
            assert database.rows(SPEAKS_FOR) == [("1",)]
            fails(database)
        assert isinstance(database, PostgresStoreConnection)
        session = database._connection
        assert session.execute(SPEAKS_FOR).fetchall() in NOBODY
        with pytest.raises(errors.InvalidTextRepresentation):
            session.execute("SELECT * FROM subscribers")
        # Also of the rest of a transaction, which this connection's next statement does not share.
        assert {row[0] for row in database.rows("SELECT account_id FROM subscribers")} == {1}


def test_a_reused_connection_has_no_account(shared: OpenStore) -> None:
    """rules, "Whose rows a session sees"."""
    for _ in range(2):
        with shared.reader() as database:
            assert database.rows(SPEAKS_FOR) in NOBODY
            database.set_tenant(1)
            assert database.rows(SPEAKS_FOR) == [("1",)]
            with database.snapshot():
                assert database.rows(SPEAKS_FOR) == [("1",)]


@pytest.mark.parametrize("login", ["login-2", "wrong"])
def test_a_connection_has_no_account_before_the_credentials_are_checked(
    shared: OpenStore, login: str
) -> None:
    """rules, "Whose rows a session sees": before their second half is compared."""
    with shared.reader() as database:
        credentials.account_for_credentials(database, "key-2", login, now=0)
        assert database.rows(SPEAKS_FOR) in NOBODY
        database.set_tenant(2)
        assert database.rows(SPEAKS_FOR) == [("2",)]


def test_a_connection_that_is_borrowed_again_is_the_same_one(shared: OpenStore) -> None:
    """Else the tests above would show nothing."""
    pids = set()
    for account_id in (1, 2, 1):
        with shared.reader() as database:
            database.set_tenant(account_id)
            pids |= set(database.rows("SELECT pg_backend_pid()"))
    assert len(pids) == 1


def test_a_connection_speaks_for_the_account_that_was_named_last(shared: OpenStore) -> None:
    with shared.reader() as database:
        for account_id in (1, 2):
            database.set_tenant(account_id)
            assert accounts.accounts(database)[0][0] == account_id
        with database.snapshot():
            assert accounts.accounts(database)[0][0] == 2


# The queries of the store, had they forgotten the account.

ACCOUNT_FILTER = re.compile(r"(\w+\.)?account_id = :account_id")

QUERIES: dict[str, Query] = {
    "subscriptions": lambda database: interface_queries.subscriptions(
        database, 1, {}, after=0, limit=9
    ),
    "subscriptions by type": lambda database: interface_queries.subscriptions(
        database, 1, {"copies": 2}, after=0, limit=9
    ),
    "subscribers": lambda database: interface_queries.search_subscribers(
        database, 1, {}, after=0, limit=9
    ),
    "subscribers by email": lambda database: interface_queries.search_subscribers(
        database, 1, {"email": "ada*", "source": "web"}, after=0, limit=9
    ),
    "login by code": lambda database: login_candidates.login_candidates(
        database, 1, "aaaaa", password_md5=DIGEST, today="2026-11-20"
    ),
    "received issues": lambda database: list(
        interface_queries.received_subscriptions(database, 1, 1)
    ),
    "custom fields": lambda database: interface_queries.custom_fields(database, 1),
    "answers": lambda database: interface_queries.answers_of(database, 1, 1),
    "entitlements": lambda database: entitlements.entitlements_of(
        database, 1, 1, today="2026-11-20"
    ),
    "order": lambda database: interface_queries.order(database, 1, 1),
    "mailing list": lambda database: list(
        interface_queries.mailing_list_entries(database, 1, 1) or ()
    ),
    "removed": lambda database: list(deletions.removed(database, "purchases", 1, 0)),
    "has noted": lambda database: deletions.has_noted(database, "purchases", 1, 6),
    "accounts": accounts.accounts,
}


def changed(entity: str) -> Query:
    return lambda database: list(changes.CHANGED[entity](database, 1, 0))


def has_changed(entity: str) -> Query:
    return lambda database: changes.has_changed(database, entity, 1, 3)


def export(table: Table) -> Query:
    return lambda database: list(exporting.batches(database, 1, table))


QUERIES |= {f"changed {entity}": changed(entity) for entity in changes.CHANGED}
QUERIES |= {f"has changed {entity}": has_changed(entity) for entity in changes.CHANGED}
QUERIES |= {
    f"export of {table.name}": export(table)
    for table in TABLES_BY_NAME.values()
    if table.name not in OF_THE_BOOKS
}


REFUSED_BY_CITUS = {"entitlements", "login by code", "removed", "subscriptions by type"}
"""Queries that Citus cannot plan without the account."""


@contextmanager
def forgetful(lent: AbstractContextManager[Connection]) -> Iterator[Connection]:
    """A connection whose queries have lost the account out of their conditions."""

    def forgetting(ask: Callable[..., Any]) -> Callable[..., Any]:
        return lambda sql, /, **values: ask(ACCOUNT_FILTER.sub("TRUE", sql), **values)

    with lent as database, pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "rows", forgetting(database.rows))
        patch.setattr(database, "rows_planned", forgetting(database.rows_planned))
        patch.setattr(database, "stream", forgetting(database.stream))
        yield database


@pytest.fixture
def waiting(owned: OpenStore) -> Iterator[None]:
    """The other account has a commit that has no stamp yet."""
    with owned.writer() as database, database.transaction():
        database.lock_account(2)
        commits.begin_commit(database, 2)
    yield
    commits.stamp_commits(owned, 2)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=ONE_SERVER) if name in REFUSED_BY_CITUS else name
        for name in QUERIES
    ],
)
def test_a_query_that_forgets_the_account_shows_nothing_of_another(
    owned: OpenStore, shared: OpenStore, waiting: None, name: str
) -> None:
    """design, "The store": the policy is the second lock on that door."""
    ask = QUERIES[name]
    with shared.reader() as database:
        database.set_tenant(1)
        with database.snapshot():
            expected = ask(database)
    with forgetful(shared.reader()) as database:
        database.set_tenant(1)
        assert ask(database) == expected
        with database.snapshot():
            assert ask(database) == expected
    # Whom no policy binds would have seen it.
    with forgetful(owned.writer()) as database:
        assert ask(database) != expected


def test_where_the_feed_stands_is_told_of_the_own_account_alone(
    owned: OpenStore, shared: OpenStore, waiting: None
) -> None:
    """No tenant sees when another one loads (architecture, "The change feed")."""
    found = {}
    for account_id in (1, 2):
        with shared.reader() as database:
            database.set_tenant(account_id)
            found[account_id] = commits.position_of(database, account_id, 2**61)
        with forgetful(shared.reader()) as database:
            database.set_tenant(account_id)
            assert commits.position_of(database, account_id, 2**61) == found[account_id]
    assert found[1].newest_stamp < found[2].newest_stamp
    # Whom no policy binds would have seen both.
    with forgetful(owned.writer()) as database, pytest.raises(ValueError, match="too many values"):
        commits.position_of(database, 1, 2**61)
