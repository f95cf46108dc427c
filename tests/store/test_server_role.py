"""What a server may read and write as the role that it logs in as, and who must not be a server."""

from __future__ import annotations

import secrets
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.store import accounts, commits, credentials, epochs, find_store, logins, open_store
from tests.long import ONE_SERVER
from tests.postgres import name_of
from tests.servers import as_server
from tests.store.catalogue import GLOBAL_TABLES, STAGING_TABLES, TENANTS_TABLES_OF_A_SERVER
from tests.store.conftest import ON_POSTGRESQL, ON_SQLITE, START_US, new_url, opening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import LiteralString

    from masthead.store import Store as OpenStore
    from tests.servers import Store
    from tests.store.conftest import Clock

EVERY_TABLE = (*TENANTS_TABLES_OF_A_SERVER, *GLOBAL_TABLES, *STAGING_TABLES, "heartbeat", "nodes")
# What a server may write is not of the contract; each of these is looked at below.
WRITTEN = {"commits", "account_locks", "epochs", "heartbeat", "login_failures", "credential_uses"}
WRITTEN |= {"login_successes", "request_counts", "entitlement_codes"}
DELETED = {"login_failures", "login_successes", "request_counts", "entitlement_codes"}


@pytest.fixture(scope="module")
def owned(store: Store) -> Iterator[str]:
    """Two accounts, each with a commit without a stamp, a wrong guess, a used pair, a request."""
    with new_url(store) as url, opening(url) as opened:
        for account_id in (1, 2):
            accounts.add_account(opened, {"account_id": account_id})
            with opened.writer() as database, database.transaction():
                database.lock_account(account_id)
                commits.begin_commit(database, account_id)
                database.change(
                    "INSERT INTO login_failures VALUES (:id, 'login', 'guess', 1, 'code')",
                    id=account_id,
                )
                database.change("INSERT INTO login_successes VALUES (:id, 'x', 1)", id=account_id)
                database.change(
                    "INSERT INTO credential_uses VALUES (:id, 'pair', 1)", id=account_id
                )
                database.change(
                    "INSERT INTO entitlement_codes VALUES (:id, 'x', 1, 1)", id=account_id
                )
                database.change(
                    "INSERT INTO request_counts VALUES (:id, '2026-01-01', '', 'x', 1, 0, 0, 1)",
                    id=account_id,
                )
        yield url


@pytest.fixture(scope="module")
def shared(owned: str) -> Iterator[OpenStore]:
    """The same, as a server has it open."""
    with opening(as_server(owned)) as opened:
        yield opened


def write_as_a_server(shared: OpenStore, statement: str, *, account_id: int = 1) -> int:
    """Run a statement in a transaction such as stamping has; return how many rows it changed."""
    with shared.writer() as database, database.transaction():
        database.set_tenant(account_id)
        return database.change(statement)


def refused(why: str = "") -> pytest.RaisesExc[MastheadError]:
    return pytest.raises(MastheadError, match=f"the database's user may not do this: .*{why}")


@ON_POSTGRESQL
def test_a_server_cannot_take_all_away(shared: OpenStore, subtests: pytest.Subtests) -> None:
    for table, how in product(EVERY_TABLE, ("TRUNCATE", "DROP TABLE")):
        with subtests.test(table=table, how=how), refused():
            write_as_a_server(shared, f"{how} {table}")


@ON_POSTGRESQL
def test_a_server_can_delete_nothing_but_old_guesses_and_counts(
    shared: OpenStore, subtests: pytest.Subtests
) -> None:
    for table in sorted({*EVERY_TABLE} - DELETED):
        with subtests.test(table=table), refused("permission denied for table"):
            write_as_a_server(shared, f"DELETE FROM {table}")


@ON_POSTGRESQL
def test_a_server_cannot_write_what_is_an_accounts_or_what_a_load_has_staged(
    shared: OpenStore, subtests: pytest.Subtests
) -> None:
    columns = {"migrations": "number", "secret_key": "fingerprint", "nodes": "node"}
    for table in sorted({*EVERY_TABLE} - WRITTEN):
        column = columns.get(table, "account_id")
        for statement in (
            f"INSERT INTO {table} DEFAULT VALUES",
            f"UPDATE {table} SET {column} = {column}",
        ):
            with subtests.test(statement), refused("permission denied for table"):
                write_as_a_server(shared, statement)


@ON_POSTGRESQL
@pytest.mark.parametrize(
    "how",
    [
        "INSERT INTO commits (account_id, commit_id, visible_at) VALUES (1, 99, 1)",
        "UPDATE commits SET commit_id = 99",
        pytest.param("UPDATE commits SET account_id = 2", marks=ONE_SERVER),
        "UPDATE heartbeat SET is_only_row = FALSE",
        "INSERT INTO heartbeat (beat_at) VALUES (1)",
        "INSERT INTO account_locks (account_id, kind) VALUES (1, 'other')",
        pytest.param("UPDATE account_locks SET account_id = 2", marks=ONE_SERVER),
        "INSERT INTO epochs (account_id, epoch_at) VALUES (1, 1)",
        pytest.param("UPDATE epochs SET account_id = 2", marks=ONE_SERVER),
        "UPDATE subscribers SET email = 'other'",
        "UPDATE credential_uses SET key_hash = 'other'",
        "UPDATE request_counts SET operation = 'other'",
        # Of another account.
        "INSERT INTO commits (account_id, commit_id) VALUES (2, 99)",
        "INSERT INTO login_failures VALUES (2, 'other', 'other', 1, 'code')",
        pytest.param("UPDATE login_failures SET account_id = 2", marks=ONE_SERVER),
        "INSERT INTO login_successes VALUES (2, 'other', 1)",
        "UPDATE login_successes SET login = 'other'",
        "INSERT INTO credential_uses VALUES (2, 'other', 1)",
        "INSERT INTO request_counts VALUES (2, '2026-01-01', '', 'other', 1, 0, 0, 1)",
        "INSERT INTO entitlement_codes VALUES (2, 'other', 1, 1)",
        "UPDATE entitlement_codes SET subscriber_id = 2",
        "UPDATE entitlement_keys SET issuer = 'other'",
        "SELECT class FROM terms",
    ],
)
def test_a_server_stamps_and_counts_only_for_its_account(shared: OpenStore, how: str) -> None:
    with refused():
        write_as_a_server(shared, how)


@ON_POSTGRESQL
@pytest.mark.parametrize(
    "how",
    [
        f"UPDATE commits SET visible_at = {START_US} WHERE visible_at IS NULL",
        "UPDATE epochs SET epoch_at = 1, history = 'other'",
        "UPDATE login_failures SET failed_at = 2",
        "UPDATE login_successes SET succeeded_at = 2",
        "DELETE FROM login_successes",
        "UPDATE credential_uses SET used_at = 2",
        "UPDATE request_counts SET requests = 2",
        "DELETE FROM login_failures",
        "DELETE FROM request_counts",
        "DELETE FROM entitlement_codes",
    ],
)
def test_a_server_changes_no_row_of_another_account(shared: OpenStore, how: str) -> None:
    with shared.writer() as database, database.transaction():
        database.set_tenant(1)
        assert database.change(f"{how} {'AND' if 'WHERE' in how else 'WHERE'} account_id = 2") == 0
        assert database.change(how) == 1
        # What is not committed is not kept for the other tests.
        database.script("ROLLBACK; BEGIN")


@ON_POSTGRESQL
@ONE_SERVER
@pytest.mark.parametrize("kind", ["data", "stamps"])
def test_a_server_locks_no_other_account(shared: OpenStore, owned: str, kind: str) -> None:
    """It could hold up another tenant's loads."""
    with shared.writer() as database, database.transaction():
        database.set_tenant(1)
        locked = database.rows(
            "SELECT account_id FROM account_locks WHERE kind = :kind FOR UPDATE", kind=kind
        )
        assert locked == [(1,)]
        with opening(owned) as other, other.writer(waits=False) as load, load.transaction():
            load.lock_account(2)
            load.lock_stamps(2)


@ON_POSTGRESQL
def test_what_is_read_for_an_account_cannot_write_at_all(shared: OpenStore) -> None:
    def write_where_it_reads() -> None:
        with shared.reader() as database:
            database.set_tenant(1)
            database.change("INSERT INTO commits (account_id, commit_id) VALUES (1, 99)")

    with pytest.raises(StoreUnavailable, match="read-only transaction"):
        write_where_it_reads()


# All that a server does, as its role.


@pytest.fixture
def served(opened: OpenStore, url: str, clock: Clock) -> Iterator[OpenStore]:
    """The two accounts as a server has them open."""
    with opening(as_server(url), clock) as found:
        yield found


@ON_POSTGRESQL
def test_a_server_opens_a_database_that_is_up_to_date(served: OpenStore) -> None:
    served.check_server_role()
    with served.reader() as database:
        database.set_tenant(1)
        assert database.rows("SELECT account_id FROM commits") == [(1,)]
        assert accounts.settings_of(database, 1)["api_login"] == "login-1"


@ON_POSTGRESQL
def test_a_server_cannot_bring_a_database_up_to_date(opened: OpenStore, url: str) -> None:
    with opened.writer() as database:
        database.change("DELETE FROM migrations")
    with pytest.raises(MastheadError, match="migrate it as the user who owns it"):
        open_store(as_server(url))
    with refused("permission denied for schema"):
        find_store(as_server(url)).migrate()


@ON_POSTGRESQL
def test_a_server_does_not_give_itself_rights(served: OpenStore) -> None:
    """Not even where there is nothing else to migrate."""
    with refused():
        served.migrate()


@ON_POSTGRESQL
def test_a_server_stamps_commits_of_all_accounts(
    opened: OpenStore, served: OpenStore, clock: Clock
) -> None:
    """What a killed load has left, and idle accounts too."""
    with opened.writer() as database, database.transaction():
        database.lock_account(1)
        commits.begin_commit(database, 1)
    clock.now += commits.IDLE_US + 1
    commits.stamp_all(served)
    for account_id in (1, 2):
        with served.reader() as database:
            database.set_tenant(account_id)
            position = commits.position_of(database, account_id, 2**62)
            assert position.newest_stamp >= clock.now
            assert position.first_commit is None


@ON_POSTGRESQL
def test_a_server_starts_the_epoch_of_another_history(
    opened: OpenStore, served: OpenStore, clock: Clock
) -> None:
    """Of accounts whose database was restored or promoted since they were looked at."""
    histories = "SELECT history FROM epochs ORDER BY account_id"
    with opened.writer() as database:
        before = database.rows(histories)
        database.change("UPDATE epochs SET history = 'another/1/00000001' WHERE account_id = 2")
    epochs.follow_all(served)
    with opened.writer() as database:
        assert commits.position_of(database, 1).epoch_at is None
        assert commits.position_of(database, 2).epoch_at == START_US + 1_000_000
        assert database.rows(histories) == before


@ON_POSTGRESQL
def test_a_server_counts_wrong_guesses_and_the_uses_of_pairs(
    opened: OpenStore, served: OpenStore, clock: Clock
) -> None:
    attempt = logins.attempt_of(served.secret, 1, "ada", "wrong")
    for _ in range(2):
        with served.counters() as counters:
            counters.set_tenant(1)
            logins.count_failure(counters, logins.Limits(1, 0), attempt, clock.now)
            assert logins.standing_of(counters, logins.Limits(1, 0), attempt, clock.now).wait_us
        # Those of the window before are deleted.
        clock.now += logins.ACCOUNT_US + 1
    uses = credentials.Uses()
    with served.reader() as database:
        for account_id in (1, 2):
            pair = f"key-{account_id}", f"login-{account_id}"
            caller = credentials.account_for_credentials(database, *pair, now=clock.now)
            assert caller
            uses.note(caller, clock.now)
    uses.write(served)
    for account_id in (1, 2):
        assert [pair.used_at for pair in credentials.credentials_of(opened, account_id)] == [
            clock.now
        ]


@ON_POSTGRESQL
def test_a_server_beats(opened: OpenStore, served: OpenStore) -> None:
    with served.writer() as database:
        assert database.change("UPDATE heartbeat SET beat_at = :now", now=START_US) == 1
    with opened.reader() as database:
        assert database.rows("SELECT beat_at FROM heartbeat") == [(START_US,)]


@ON_POSTGRESQL
def test_a_server_finds_an_account_by_its_credentials(served: OpenStore) -> None:
    """rules, "Wrong credentials": one question that is asked before an account speaks."""
    with served.reader() as database:
        caller = credentials.account_for_credentials(database, "key-2", "login-2", now=START_US)
        assert caller
        assert caller.account_id == 2
        assert (
            credentials.account_for_credentials(database, "key-2", "login-1", now=START_US) is None
        )


@ON_POSTGRESQL
def test_a_server_can_change_no_account(opened: OpenStore, served: OpenStore) -> None:
    changes: tuple[Callable[[], object], ...] = (
        lambda: accounts.set_account(served, 1, {"plan": "Premium"}),
        lambda: accounts.set_account(served, 1, {"hide_password_md5": 1}),
        lambda: accounts.add_account(served, {"account_id": 3}),
        lambda: accounts.rotate_credentials(served, 1),
    )
    for change in changes:
        with refused("permission denied for table secret_key"):
            change()
    with opened.writer() as database:
        assert [row[0] for row in accounts.accounts(database)] == [1, 2]
        assert accounts.settings_of(database, 1)["plan"] is None


# Two databases of one server.


@ON_POSTGRESQL
def test_the_servers_of_one_database_read_nothing_of_another(
    opened: OpenStore, owned: str, url: str, subtests: pytest.Subtests
) -> None:
    """Each database has its own role: who has come into one has not come into the others."""
    role = urlsplit(as_server(owned)).netloc
    other = urlsplit(url)._replace(netloc=role).geturl()
    with psycopg.connect(other, autocommit=True) as session:
        session.execute("SELECT set_config('masthead.account_id', '1', FALSE)")
        for table in sorted({"accounts", *TABLES_BY_NAME, "migrations", "heartbeat"}):
            with subtests.test(table=table), pytest.raises(psycopg.errors.InsufficientPrivilege):
                session.execute(f"SELECT * FROM {table}".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("SELECT * FROM accounts_for_credentials('', '')")


@ON_POSTGRESQL
def test_a_server_of_another_database_is_refused_at_its_start(
    opened: OpenStore, owned: str, url: str
) -> None:
    role = urlsplit(as_server(owned)).netloc
    with refused("permission denied for table migrations"):
        open_store(urlsplit(url)._replace(netloc=role).geturl())


# Who must not be a server.


@pytest.fixture
def login(store: Store, url: str) -> Iterator[Callable[[LiteralString], str]]:
    """Returns the URL of the database for a new user, whom a statement gives what it says.

    The statement's ``{user}`` is that user, and ``{server}`` the database's role of servers.
    """
    postgres = store.postgres
    assert postgres is not None
    name, password = f"masthead-user-{secrets.token_hex(6)}", secrets.token_hex(8)
    values = {
        "user": sql.Identifier(name),
        "password": sql.Literal(password),
        "server": sql.Identifier(f"{name_of(url)}_server"),
    }

    def ask(statement: LiteralString) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(sql.SQL(statement).format(**values))

    def made(statement: LiteralString) -> str:
        ask(statement)
        address = urlsplit(url)
        place = address.netloc.rpartition("@")[2]
        return address._replace(netloc=f"{name}:{password}@{place}").geturl()

    ask("CREATE ROLE {user} LOGIN PASSWORD {password}")
    yield made
    ask("REASSIGN OWNED BY {user} TO CURRENT_USER")
    ask("DROP OWNED BY {user}")
    ask("DROP ROLE {user}")


@ON_POSTGRESQL
@ONE_SERVER
def test_a_user_who_is_a_member_of_the_servers_role_is_a_server_too(
    opened: OpenStore, login: Callable[[LiteralString], str]
) -> None:
    """One with a password, say."""
    with opening(login("GRANT {server} TO {user}")) as served:
        served.check_server_role()
        with served.reader() as database:
            database.set_tenant(2)
            assert [row[0] for row in accounts.accounts(database)] == [2]


@ON_POSTGRESQL
@ONE_SERVER
@pytest.mark.parametrize(
    "who",
    [
        "ALTER ROLE {user} SUPERUSER",
        "ALTER ROLE {user} BYPASSRLS; GRANT {server} TO {user}",
        "ALTER TABLE subscribers OWNER TO {user}; GRANT {server} TO {user}",
    ],
)
def test_a_user_whom_no_policy_binds_is_refused_with_the_name_of_the_role_to_use(
    opened: OpenStore, url: str, login: Callable[[LiteralString], str], who: LiteralString
) -> None:
    """Partners' requests must not run as one who sees all accounts."""
    with opening(login(who)) as served, pytest.raises(BadUsage) as refusal:
        served.check_server_role()
    assert "a server must not log in as masthead-user-" in str(refusal.value)
    assert f"use the role {name_of(url)}_server of this database" in str(refusal.value)


@ON_POSTGRESQL
def test_the_owner_is_refused_as_a_server(opened: OpenStore) -> None:
    with pytest.raises(BadUsage, match=r"a server must not log in as \S+, for whom the walls"):
        opened.check_server_role()


@ON_SQLITE
def test_a_file_has_no_users_that_could_be_refused(opened: OpenStore) -> None:
    opened.check_server_role()
