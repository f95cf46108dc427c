"""On PostgreSQL, the role of the readers' pages sees and writes one reader's rows, and no others.

The database itself is asked, as that role, with no condition in the queries. SQLite has no roles.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import psycopg
import pytest

from masthead.databases import queries
from masthead.databases.queries import Batch
from masthead.errors import BadUsage, MastheadError, StoreUnavailable
from masthead.store import open_store
from tests.circulation.desk import at_desk
from tests.readers.rows_of import fill_each_table, rows_of
from tests.servers import as_readers, as_server
from tests.store.catalogue import STAGING_TABLES, tables
from tests.store.conftest import ON_POSTGRESQL, opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.databases.queries import Query, Row
    from masthead.store import Connection
    from masthead.store import Store as OpenStore
    from tests.circulation.desk import Desk
    from tests.servers import Store

pytestmark = ON_POSTGRESQL

# What the role reads and may be of all readers: the account's issues, prices and rules, what
# operations are numbered by, and what is known by a hash only.
OF_ALL = {
    *("account_locks", "accounts", "billing", "billing_settings", "books", "bundle_lines"),
    *("audit_class_conditions", "audit_classes", "qualification_forms"),
    *("qualification_questions", "request_types"),
    *("bundles", "cancellation_reasons", "classes", "closed_months", "commits"),
    *("custom_field_options", "custom_fields", "deletions", "epochs", "issues", "list_downloads"),
    *("login_failures", "login_successes", "migrations", "page_settings", "products"),
    *(
        "publications",
        "reader_bundles",
        "reminder_levels",
        "renewal_efforts",
        "saved_forms",
        "secret_key",
        "shipping_prices",
    ),
    *("subscription_kinds", "tax_rates"),
}
# What it has no right to at all, and what it can only add to, or sees of its own transaction.
NOT_READ = {
    *(
        "audit",
        "bank_files",
        "credential_uses",
        "credentials",
        "debit_runs",
        "entitlement_keys",
        "heartbeat",
    ),
    *("loads", "natural_keys", "nodes", "operator_sessions", "operators", "removed_accounts"),
    "partners",
    *("request_counts", *STAGING_TABLES),
    *("audit_figures", "requalification_efforts", "requalifications_sent"),
} - {"staged_keys"}
WITHOUT_ROWS = {"staged_keys"}
OWN = {"subscribers", "addresses", *rows_of(1)} - NOT_READ
FUNCTIONS = {
    *("greatest_id", "greatest_number", "history", "is_own_invoice", "is_own_order"),
    *("is_own_payment", "is_own_reader", "is_own_subscription", "is_own_term", "recipient_of"),
    *("account_of_site", "sites", "taken_codes"),
}


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """An account in which two readers have a row in each table, and a third has none."""
    with at_desk(store) as found:
        fill_each_table(found)
        yield found


@pytest.fixture(scope="module")
def shared(desk: Desk) -> Iterator[OpenStore]:
    """The same as the readers' pages have it open."""
    found = open_store(as_readers(desk.url))
    yield found
    found.close()


@contextmanager
def reader(shared: OpenStore, subscriber_id: int, account_id: int = 1) -> Iterator[Connection]:
    """A transaction of the role for a reader, which is rolled back."""
    with shared.writer() as connection, connection.transaction():
        connection.set_tenant(account_id)
        connection.set_reader(subscriber_id)
        yield connection
        connection.script("ROLLBACK; BEGIN")


def test_statements_that_are_sent_together_see_one_reader_also_after_an_error(
    shared: OpenStore,
) -> None:
    """decisions, "Statements that are sent together"."""
    everybody = queries.rows_of("SELECT subscriber_id FROM subscribers")
    failing = queries.rows_of("SELECT no_such_column FROM subscribers")

    def found(connection: Connection, *queries: Query[list[Row]]) -> list[list[Row]]:
        batch = Batch(connection)
        answers = [batch.add(query) for query in queries]
        batch.send()
        return [answer() for answer in answers]

    with shared.reader() as connection:
        for number in (1, 2):
            connection.set_tenant(1)
            connection.set_reader(number)
            own = [(number,)]
            for snapshot in (nullcontext, connection.read_snapshot):
                with pytest.raises(StoreUnavailable), snapshot():
                    found(connection, everybody, failing, everybody)
                with snapshot():
                    assert found(connection, everybody, everybody) == [own, own]
    # The next one has the same session of the server, and no reader.
    with shared.reader() as connection, pytest.raises(psycopg.Error, match=r"account_id|bigint"):
        found(connection, everybody)


def denied() -> pytest.RaisesExc[MastheadError]:
    return pytest.raises(MastheadError, match="the database's user may not do this")


def test_each_table_is_of_one_of_these_kinds(desk: Desk) -> None:
    """decisions, "The role of the readers' pages": a new table needs a wall, or is named above."""
    assert tables(desk.connection) == OWN | OF_ALL | NOT_READ | WITHOUT_ROWS
    assert not OWN & OF_ALL


def test_a_reader_sees_own_rows_alone(desk: Desk, shared: OpenStore) -> None:
    """decisions, "The role of the readers' pages"."""

    def seen_by(subscriber_id: int, account_id: int) -> dict[str, list[tuple[object, ...]]]:
        with reader(shared, subscriber_id, account_id) as connection:
            return {table: connection.rows(everything.format(table)) for table in OWN}

    everything = "SELECT * FROM {} AS t ORDER BY t"
    first, second, of_another_account = seen_by(1, 1), seen_by(2, 1), seen_by(1, 2)
    for table in OWN:
        rows = desk.connection.rows(everything.format(table))
        assert (first[table], second[table]) == (rows[:1], rows[1:2]), table
        assert len(rows) >= 2, table
        assert of_another_account[table] == [], table


def test_without_a_reader_no_row_is_shown(shared: OpenStore) -> None:
    for table in OWN:
        with shared.reader() as connection:
            connection.set_tenant(1)
            with pytest.raises(psycopg.Error, match=r"masthead\.subscriber_id|bigint"):
                connection.rows(f"SELECT * FROM {table}")


SOUGHT = {"subscribers", "addresses", "subscriptions", "reader_sessions", "sign_in_links"}


def test_before_a_sign_in_the_login_is_looked_for_and_nothing_else(shared: OpenStore) -> None:
    with shared.writer() as connection, connection.transaction():
        connection.set_tenant(1)
        connection.set_reader(None)
        assert {each for each in OWN if connection.rows(f"SELECT 1 FROM {each}")} == SOUGHT
        for table in ("subscribers", "addresses", "subscriptions"):
            assert connection.change(f"UPDATE {table} SET commit_id = 99") == 0, table
        connection.script("ROLLBACK; BEGIN")


def test_a_reader_changes_no_row_of_another_reader(desk: Desk, shared: OpenStore) -> None:
    # All columns that the role may change, at once: which rows it may change is the same for each.
    updates = desk.connection.rows(
        """
        SELECT table_name::TEXT, 'UPDATE ' || table_name || ' SET '
            || string_agg(column_name || ' = ' || column_name, ', ')
        FROM information_schema.columns
        WHERE table_schema = current_schema AND is_generated = 'NEVER'
            AND has_column_privilege(
                current_database() || '_readers', table_name, column_name, 'UPDATE'
            )
        GROUP BY table_name
        """
    )
    updates = [(table, update) for table, update in updates if table in OWN]
    assert {"subscribers", "addresses", "subscriptions"} < {table for table, _ in updates}
    for table, statement in (*updates, *((each, f"DELETE FROM {each}") for each in OWN)):
        # The third reader has no row in any other table.
        own = 1 if table in {"subscribers", "addresses"} else 0
        assert changed(shared, statement) in {own, None}, statement


def changed(shared: OpenStore, statement: str) -> int | None:
    """Return how many rows the third reader changes; None without a right to do it."""
    try:
        with reader(shared, 3) as connection:
            return connection.change(statement)
    except MastheadError as error:
        if "may not do this: permission denied" not in str(error):
            raise
        return None


def test_a_reader_adds_no_row_for_another_reader(shared: OpenStore) -> None:
    for table in {*rows_of(1)} - NOT_READ:
        row = {"account_id": 1, **rows_of(1)[table]}
        if table == "announced_renewals":
            row["term_id"] = 99
        names = [*row]
        sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES (:{', :'.join(names)})"
        with denied(), reader(shared, 3) as connection:
            connection.rows(sql, **row)
            pytest.fail(f"a row of {table} was added")


def test_the_role_reads_nothing_of_other_tables(shared: OpenStore) -> None:
    for table in NOT_READ:
        denial = pytest.raises(MastheadError, match=f"permission denied for table {table}")
        with denial, reader(shared, 1) as connection:
            connection.rows(f"SELECT * FROM {table}")


def test_the_role_sees_only_the_keys_of_its_transaction(shared: OpenStore, desk: Desk) -> None:
    keys = "INSERT INTO staged_keys (account_id, load_id, list, key) VALUES (1, 1, 'x', {})"
    desk.connection.rows(keys.format(1))
    with reader(shared, 1) as connection:
        connection.rows(keys.format(2))
        assert connection.rows("SELECT key FROM staged_keys") == [(2,)]
        assert connection.change("DELETE FROM staged_keys") == 1
    assert desk.connection.change("DELETE FROM staged_keys WHERE account_id = 1") == 1


def test_what_all_readers_may_know_is_of_their_account(shared: OpenStore) -> None:
    with reader(shared, 1, account_id=2) as connection:
        for table in OF_ALL - {"migrations", "secret_key"}:
            assert connection.rows(f"SELECT 1 FROM {table}") == [], table


CHANGED_BY_READERS = {"account_locks", "commits", "deletions", "login_failures", "saved_forms"}


def test_the_role_changes_nothing_of_the_publisher(shared: OpenStore) -> None:
    for table in OF_ALL - CHANGED_BY_READERS:
        column = {"migrations": "number", "secret_key": "fingerprint"}.get(table, "account_id")
        statements = [f"UPDATE {table} SET {column} = {column}"]
        if table != "login_successes":
            statements.append(f"DELETE FROM {table}")
        for statement in statements:
            with denied(), reader(shared, 1) as connection:
                connection.rows(statement)
                pytest.fail(f"the role may: {statement}")


def test_the_credentials_of_partners_are_not_shown(shared: OpenStore) -> None:
    with denied(), reader(shared, 1) as connection:
        connection.rows("SELECT api_key FROM accounts")


def test_an_audit_entry_is_of_the_reader(shared: OpenStore) -> None:
    """decisions, "The role of the readers' pages": the reader is the actor."""
    add = (
        "INSERT INTO audit (account_id, at, user_name, command, summary) VALUES ({}, 1, {}, '', '')"
    )
    with reader(shared, 1) as connection:
        connection.rows(add.format(1, "'reader 1'"))
    for account_id, name in ((1, "'reader 2'"), (1, "'ada'"), (2, "'reader 1'")):
        with denied(), reader(shared, 1) as connection:
            connection.rows(add.format(account_id, name))


def test_the_role_may_call_no_other_functions(desk: Desk) -> None:
    found = desk.connection.column_as(
        str,
        """
        SELECT p.proname::TEXT FROM pg_proc AS p
        WHERE p.pronamespace = 'public'::REGNAMESPACE AND p.prosecdef
            AND has_function_privilege(current_database() || '_readers', p.oid, 'EXECUTE')
        """,
    )
    assert {*found} == FUNCTIONS - {"history"}


def test_what_is_told_of_other_readers_is_that_an_id_a_number_or_a_code_is_taken(
    shared: OpenStore,
) -> None:
    with reader(shared, 3) as connection:
        assert connection.rows("SELECT greatest_id(1, 'orders', '')") == [(2,)]
        assert connection.rows("SELECT greatest_number(1, 'S')") == [(2,)]
        assert connection.rows("SELECT taken_codes(1, 'code1 code9')") == [("code1",)]
    with reader(shared, 3, account_id=2) as connection:
        assert connection.rows("SELECT greatest_number(1, 'S')") == [(0,)]
        assert connection.rows("SELECT taken_codes(1, 'code1')") == []
    with denied(), reader(shared, 3, account_id=2) as connection:
        connection.rows("SELECT greatest_id(1, 'orders', '')")
    # A table of others is not asked for what is no id.
    with pytest.raises(psycopg.Error), reader(shared, 3) as connection:
        connection.rows("SELECT greatest_id(1, 'credentials', '')")


def test_only_the_role_of_the_pages_may_serve_them(desk: Desk, shared: OpenStore) -> None:
    """decisions, "The role of the readers' pages"."""
    shared.check_readers_role()
    for url in (desk.url, as_server(desk.url)):
        with opening(url) as other, pytest.raises(BadUsage, match="the readers' pages must not"):
            other.check_readers_role()
