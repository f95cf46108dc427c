"""What the database itself says of its tables, keys, policies and rights."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import ACCOUNTS, TABLES_BY_NAME, Table
from masthead.store.migrations import migrations
from masthead.store.staging import DERIVED
from tests.servers import Store
from tests.store.catalogue import columns, indexes, references, tables
from tests.store.conftest import ON_POSTGRESQL, ON_SQLITE, new_url, opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Connection
    from tests.postgres import Databases

OF_THE_FEED = {
    "subscribers": ["commit_id", "custom_fields_commit_id"],
    **{
        name: ["commit_id"]
        for name in ("addresses", "subscriptions", "orders", "purchases", "list_downloads")
    },
}
IN_LOWER_CASE = {"subscribers": ["renewal_code_lower", "email_lower", "source_lower"]}
KINDS = "subscription_kinds"
# On a server alone: no index of PostgreSQL finds a missing value by comparing it with another's.
KIND = "kind"
TENANTS_TABLES = ("commits", KINDS, *TABLES_BY_NAME)
GLOBAL_TABLES = {"accounts", "api_keys", "audit", "migrations", "secret_key"}
# The heartbeat is for replicas, which a file does not have. A file's counters are in another file.
COUNTERS = {"key_uses", "login_failures"}
TABLES_OF_A_SERVER: dict[str, set[str]] = {"sqlite": set(), "postgresql": {"heartbeat", *COUNTERS}}

each_table = pytest.mark.parametrize("table", TABLES_BY_NAME.values(), ids=list(TABLES_BY_NAME))
each_tenants_table = pytest.mark.parametrize("table", TENANTS_TABLES)


@pytest.fixture(scope="module")
def made(store: Store) -> Iterator[Connection]:
    """A fresh database, seen by who made it."""
    with new_url(store) as url, opening(url) as opened, opened.writer() as database:
        yield database


@each_table
def test_a_table_has_the_columns_of_the_contract_under_the_account(
    made: Connection, table: Table
) -> None:
    """design, "The store": every key begins with account_id."""
    expected = [("account_id", "INTEGER"), *((c.name, c.kind.column) for c in table.columns)]
    expected += [(name, "TEXT") for name in DERIVED.get(table.name, {})]
    expected += [(name, "TEXT") for name in IN_LOWER_CASE.get(table.name, [])]
    if (made.dialect, table.name) == ("postgresql", "subscriptions"):
        expected.append((KIND, "TEXT"))
    expected += [(name, "INTEGER") for name in OF_THE_FEED.get(table.name, [])]
    found = columns(made, table.name)
    # A migration adds columns behind the others.
    assert sorted((column.name, column.type) for column in found) == sorted(expected)
    key = sorted((column.place, column.name) for column in found if column.place)
    assert [name for _, name in key] == ["account_id", *table.key]


def test_accounts_have_the_columns_of_the_contract_settings_and_their_epoch(
    made: Connection,
) -> None:
    expected = [(column.name, column.kind.column) for column in ACCOUNTS.columns]
    assert [(column.name, column.type) for column in columns(made, "accounts")] == [
        *expected,
        ("hide_password_md5", "INTEGER"),
        ("epoch_at", "INTEGER"),
        ("renewal_code_login", "INTEGER"),
    ]


def test_all_but_a_few_tables_are_a_tenants(made: Connection) -> None:
    """design, "The store"."""
    expected = {*TENANTS_TABLES, *GLOBAL_TABLES, *TABLES_OF_A_SERVER[made.dialect]}
    assert tables(made) == expected


@each_table
def test_references_are_kept_by_the_database_too_and_inside_the_account(
    made: Connection, table: Table
) -> None:
    found = {
        (reference.target, reference.columns)
        for reference in references(made, table.name)
        if reference.target != "accounts"
    }
    assert found == {
        (target, ("account_id", column)) for column, target in table.references.items()
    }


@each_tenants_table
def test_keys_references_and_unique_indexes_begin_with_the_account(
    made: Connection, table: str
) -> None:
    """design, "The store": a row cannot even refer to another tenant's."""
    first = columns(made, table)[0]
    # Of a kind of subscriptions anything but these may be missing, which no key allows.
    assert (first.name, first.place) == ("account_id", 0 if table == KINDS else 1)
    for reference in references(made, table):
        assert reference.columns[0] == reference.target_columns[0] == "account_id"
    for name, index in indexes(made, table).items():
        assert index.columns[0] == "account_id", name


@ON_SQLITE
def test_every_table_is_strict(made: Connection) -> None:
    """SQLite alone takes text for a number unless it is told not to."""
    rows = made.rows("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'")
    found = {name for name, is_strict in rows if is_strict}
    assert found == {*GLOBAL_TABLES - {"migrations"}, *TENANTS_TABLES}


# Both kinds side by side.


@pytest.fixture(scope="module")
def both(
    postgres: Databases, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[list[Connection]]:
    """A fresh database of each kind."""
    folder = tmp_path_factory.mktemp("both")
    with ExitStack() as stack:
        found = []
        for store in (Store("sqlite", folder), Store("postgresql", folder, postgres)):
            opened = stack.enter_context(opening(stack.enter_context(new_url(store))))
            found.append(stack.enter_context(opened.writer()))
        yield found


def test_both_kinds_have_the_same_migrations() -> None:
    """decisions, "Migrations": so a number says the same of either database."""
    named = [
        [(migration.number, migration.name) for migration in migrations(dialect)]
        for dialect in ("sqlite", "postgresql")
    ]
    assert named[0] == named[1]


def test_both_kinds_have_the_same_tables_with_the_same_columns(both: list[Connection]) -> None:
    sqlite, postgresql = (
        {
            table: {
                column.name: column[1:3]
                for column in columns(database, table)
                if column.name != KIND
            }
            for table in tables(database) - TABLES_OF_A_SERVER[database.dialect]
        }
        for database in both
    )
    assert sqlite == postgresql
    assert set(sqlite["subscribers"]) >= {"email_lower", "renewal_code_lower", "source_lower"}


def test_both_kinds_keep_the_same_values_apart(both: list[Connection]) -> None:
    sqlite, postgresql = (
        {
            table: {index.columns for index in indexes(database, table).values() if index.is_unique}
            for table in TENANTS_TABLES
        }
        for database in both
    )
    assert sqlite == postgresql
    assert ("account_id", "renewal_code_lower") in sqlite["subscribers"]


def test_both_kinds_keep_the_same_references(both: list[Connection]) -> None:
    sqlite, postgresql = (
        {table: references(database, table) for table in TENANTS_TABLES} for database in both
    )
    assert sqlite == postgresql


# Policies and rights are PostgreSQL's alone.


@ON_POSTGRESQL
def test_a_server_sees_rows_by_a_policy_that_names_the_account(made: Connection) -> None:
    """design, "The store": a tenant is kept in by the database, whatever a query forgets."""
    guarded = made.rows(
        "SELECT relname FROM pg_class WHERE relrowsecurity AND relnamespace = "
        "(SELECT oid FROM pg_namespace WHERE nspname = current_schema)"
    )
    assert {name for (name,) in guarded} == {"accounts", *TENANTS_TABLES}
    policies = made.rows(
        """
        SELECT polrelid::REGCLASS::TEXT, polroles::REGROLE[]::TEXT, polcmd::TEXT, polpermissive,
            pg_get_expr(polqual, polrelid), polwithcheck IS NULL
        FROM pg_policy
        """
    )
    for table, roles, command, is_permissive, condition, is_for_writing_too in policies:
        assert roles == "{masthead_server}"
        # Of every command; where a policy has no condition for what is written, this one holds.
        assert (command, is_permissive, is_for_writing_too) == ("*", True, True)
        if table != "accounts":
            assert condition == "(account_id = current_account())", table
    assert sorted(row[0] for row in policies) == sorted(["accounts", *TENANTS_TABLES])


@ON_POSTGRESQL
def test_the_servers_role_is_nobody_and_owns_nothing(made: Connection) -> None:
    (attributes,) = made.rows(
        """
        SELECT rolcanlogin, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication
        FROM pg_roles WHERE rolname = 'masthead_server'
        """
    )
    assert not any(attributes)
    assert not made.rows(
        "SELECT roleid::REGROLE::TEXT FROM pg_auth_members "
        "WHERE member = 'masthead_server'::REGROLE"
    )
    assert not made.rows(
        "SELECT classid::REGCLASS::TEXT, objid FROM pg_shdepend "
        "WHERE refobjid = 'masthead_server'::REGROLE AND deptype = 'o'"
    )


def rights_of(database: Connection, role: str) -> set[tuple[str, str]]:
    """Return (what, right) of each right that a role, or "0" for PUBLIC, has by name."""
    return {
        (what, right)
        for what, right in database.rows(
            f"""
            SELECT oid::REGCLASS::TEXT, acl.privilege_type
            FROM pg_class, aclexplode(relacl) AS acl
            WHERE acl.grantee = {role} AND relnamespace = current_schema::REGNAMESPACE
            UNION ALL
            SELECT attrelid::REGCLASS || '.' || attname, acl.privilege_type
            FROM pg_attribute, aclexplode(attacl) AS acl
            WHERE acl.grantee = {role} AND attrelid IN (
                SELECT oid FROM pg_class WHERE relnamespace = current_schema::REGNAMESPACE)
            UNION ALL
            SELECT proname || '()', acl.privilege_type
            FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner))) AS acl
            WHERE acl.grantee = {role} AND pronamespace = current_schema::REGNAMESPACE
            """
        )
    }


DEFINERS = {
    "accounts_for_keys",
    "is_master",
    "accounts_to_stamp",
    "nth_login_failures",
    "count_login_failure",
    "note_key_use",
    "key_uses_of",
}


@ON_POSTGRESQL
def test_a_server_may_read_stamp_and_beat_and_nothing_else(made: Connection) -> None:
    """design, "The store"."""
    every_table = {*TENANTS_TABLES, *GLOBAL_TABLES, "heartbeat"} - {"api_keys", "audit"}
    assert rights_of(made, "'masthead_server'::REGROLE") == {
        *((table, "SELECT") for table in every_table),
        ("commits.account_id", "INSERT"),
        ("commits.commit_id", "INSERT"),
        ("commits.visible_at", "UPDATE"),
        ("heartbeat.beat_at", "UPDATE"),
        *((f"{function}()", "EXECUTE") for function in DEFINERS),
    }
    assert rights_of(made, "0") == {("current_account()", "EXECUTE")}


@ON_POSTGRESQL
def test_a_server_has_rights_to_nothing_but_tables_and_functions(made: Connection) -> None:
    """No schema, no sequence, no type: what is not asked for above does not exist."""
    kinds = made.rows(
        """
        SELECT DISTINCT classid::REGCLASS::TEXT, c.relkind::TEXT
        FROM pg_shdepend LEFT JOIN pg_class AS c ON c.oid = objid AND classid = 'pg_class'::REGCLASS
        WHERE refobjid = 'masthead_server'::REGROLE AND deptype = 'a'
            AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    )
    assert set(kinds) == {("pg_class", "r"), ("pg_proc", None)}


@ON_POSTGRESQL
def test_few_functions_answer_with_their_owners_rights(made: Connection) -> None:
    """Their names were resolved when they were made: no search_path leads them elsewhere."""
    found = made.rows(
        """
        SELECT proname, prosqlbody IS NOT NULL, has_function_privilege('public', oid, 'EXECUTE'),
            proowner = (SELECT relowner FROM pg_class WHERE oid = 'accounts'::REGCLASS)
        FROM pg_proc WHERE prosecdef AND pronamespace = current_schema::REGNAMESPACE
        """
    )
    assert sorted(found) == [(name, True, False, True) for name in sorted(DEFINERS)]


@ON_POSTGRESQL
def test_every_text_is_ordered_and_lowered_by_code_points(made: Connection) -> None:
    """As SQLite does it, whatever the language of the server (architecture, "The store")."""
    collations = made.rows(
        """
        SELECT a.attrelid::REGCLASS || '.' || a.attname, c.collname
        FROM pg_attribute AS a JOIN pg_collation AS c ON c.oid = a.attcollation
        WHERE a.attrelid IN (
            SELECT oid FROM pg_class
            WHERE relkind = 'r' AND relnamespace = current_schema::REGNAMESPACE)
        """
    )
    found = {column: collation for column, collation in collations if column != "migrations.name"}
    assert set(found.values()) == {"C"}
    assert {"accounts.api_key", "subscribers.email", "subscribers.email_lower"} <= set(found)
