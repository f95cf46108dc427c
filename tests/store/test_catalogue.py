"""What the database itself says of its tables, keys, policies and rights."""

# Long because each table is looked at from all sides: keys, policies and rights, on both kinds.

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import ACCOUNTS, TABLES_BY_NAME, Table
from masthead.store import find_store
from masthead.store.migrations import migrations
from masthead.store.staging import DERIVED, Problem
from tests.long import ONE_SERVER
from tests.servers import Store
from tests.store.catalogue import (
    COUNTERS,
    GLOBAL_TABLES,
    OF_ENTITLEMENTS,
    OF_THE_BOOKS,
    OF_THE_CONSOLE,
    STAGING_TABLES,
    TABLES_OF_A_SERVER,
    TENANTS_TABLES,
    TENANTS_TABLES_OF_A_SERVER,
    columns,
    indexes,
    references,
    tables,
)
from tests.store.conftest import ON_POSTGRESQL, ON_SQLITE, new_url, opening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store import Connection
    from tests.postgres import Databases

pytestmark = ONE_SERVER

OF_THE_FEED = {
    "subscribers": ["commit_id", "custom_fields_commit_id"],
    **{
        name: ["commit_id"]
        for name in ("addresses", "subscriptions", "orders", "purchases", "list_downloads")
    },
}
IN_LOWER_CASE = {
    "subscribers": ["renewal_code_lower", "email_lower", "source_lower"],
    "orders": ["external_reference_lower"],
}
# What says whether a removal has set the delete_date.
OF_A_REMOVAL = {"subscribers": ["removed_at"]}
KINDS = "subscription_kinds"
# On a server alone: no index of PostgreSQL finds a missing value by comparing it with another's.
KIND = "kind"
DEFINERS = {
    "accounts_for_credentials",
    "accounts_to_stamp",
    "accounts_with_history",
    "histories",
    "last_loads",
    "published_entitlement_keys",
}
FOR_READERS = {
    *("greatest_id", "greatest_number", "is_own_invoice", "is_own_order", "is_own_payment"),
    *("is_own_reader", "is_own_subscription", "is_own_term", "recipient_of"),
    *("account_of_site", "sites", "taken_codes"),
}
# What anybody may ask: it answers with the rights of who asks.
INVOKERS = {"history"}
OWN_ROWS = "(account_id = (current_setting('masthead.account_id'::text))::bigint)"
OWN_OR_MASTERS = f"({OWN_ROWS} OR (current_setting('masthead.is_master'::text, true) = 'on'::text))"


@pytest.fixture(scope="module")
def made(store: Store) -> Iterator[Connection]:
    """A fresh database, seen by its owner."""
    with new_url(store) as url, opening(url) as opened, opened.writer() as database:
        yield database


@pytest.fixture(scope="module")
def role(made: Connection) -> str:
    """The role of the database's servers, in SQL."""
    return role_of_servers(made)


def role_of_servers(database: Connection) -> str:
    ((name,),) = database.rows("SELECT current_database()")
    return f"'\"{name}_server\"'::REGROLE"


def test_a_table_has_the_columns_of_the_contract_under_the_account(made: Connection) -> None:
    """design, "The store": every key begins with account_id."""
    for table in TABLES_BY_NAME.values():
        assert_has_the_columns_of_the_contract(made, table)


def assert_has_the_columns_of_the_contract(made: Connection, table: Table) -> None:
    expected = [("account_id", "INTEGER"), *((c.name, c.kind.column) for c in table.columns)]
    expected += [(name, "TEXT") for name in DERIVED.get(table.name, {})]
    expected += [(name, "TEXT") for name in IN_LOWER_CASE.get(table.name, [])]
    expected += [(name, "TEXT") for name in OF_A_REMOVAL.get(table.name, [])]
    if (made.dialect, table.name) == ("postgresql", "subscriptions"):
        expected.append((KIND, "TEXT"))
    expected += [(name, "INTEGER") for name in OF_THE_FEED.get(table.name, [])]
    found = columns(made, table.name)
    # A later migration would add columns behind the others.
    assert sorted((column.name, column.type) for column in found) == sorted(expected), table.name
    key = sorted((column.place, column.name) for column in found if column.place)
    assert [name for _, name in key] == ["account_id", *table.key], table.name


def test_accounts_have_the_columns_of_the_contract(made: Connection) -> None:
    expected = [(column.name, column.kind.column) for column in ACCOUNTS.columns]
    assert [(column.name, column.type) for column in columns(made, "accounts")] == expected


def test_all_but_a_few_tables_belong_to_a_tenant(made: Connection) -> None:
    """design, "The store"."""
    expected = {*TENANTS_TABLES, *GLOBAL_TABLES}
    if made.dialect == "postgresql":
        expected |= TABLES_OF_A_SERVER
    assert tables(made) == expected


def test_references_are_kept_by_the_database_too_and_inside_the_account(made: Connection) -> None:
    found = {
        (table, reference.target, reference.columns)
        for table in TABLES_BY_NAME
        for reference in references(made, table)
        if reference.target != "accounts"
    }
    assert found == {
        (table.name, target, ("account_id", column))
        for table in TABLES_BY_NAME.values()
        for column, target in table.references.items()
    }


def test_keys_references_and_indexes_begin_with_the_account(made: Connection) -> None:
    """design, "The store": a row cannot even refer to another tenant's."""
    for table in TENANTS_TABLES:
        first = columns(made, table)[0]
        # Of a kind of subscriptions anything but these may be missing, which no key allows.
        place = 0 if table == KINDS else 1
        assert (first.name, first.place) == ("account_id", place), table
        assert_all_begins_with_the_account(made, table)


@ON_POSTGRESQL
@pytest.mark.parametrize(
    "table",
    [
        *("account_locks", *COUNTERS, "audit", "loads", "natural_keys", "accounts", "operators"),
        "entitlement_keys",
    ],
)
def test_on_a_server_the_rows_of_other_tables_do_so_too(made: Connection, table: str) -> None:
    """So that all of them can be distributed by the account."""
    first = columns(made, table)[0]
    assert (first.name, first.place) == ("account_id", 1)
    assert_all_begins_with_the_account(made, table)


def assert_all_begins_with_the_account(made: Connection, table: str) -> None:
    for reference in references(made, table):
        assert reference.columns[0] == reference.target_columns[0] == "account_id", table
    for name, index in indexes(made, table).items():
        assert index.columns[0] == "account_id", (table, name)


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
    """rules, "Migrations": so a number says the same of either database."""
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
            for table in tables(database) - TABLES_OF_A_SERVER
        }
        for database in both
    )
    assert sqlite == postgresql
    assert set(sqlite["subscribers"]) >= {"email_lower", "renewal_code_lower", "source_lower"}


def test_both_kinds_keep_the_same_values_apart(both: list[Connection]) -> None:
    def kept_apart(database: Connection, table: str) -> set[tuple[str | None, ...]]:
        # SQLite makes no index of a key that is one number.
        key = sorted((column.place, column.name) for column in columns(database, table))
        unique = {index.columns for index in indexes(database, table).values() if index.is_unique}
        return {tuple(name for place, name in key if place), *unique} - {()}

    sqlite, postgresql = (
        {table: kept_apart(database, table) for table in TENANTS_TABLES} for database in both
    )
    assert sqlite == postgresql
    assert ("account_id", "renewal_code_lower") in sqlite["subscribers"]
    assert sqlite["epochs"] == {("account_id",)}


def test_both_kinds_keep_the_same_references(both: list[Connection]) -> None:
    sqlite, postgresql = (
        {table: references(database, table) for table in TENANTS_TABLES} for database in both
    )
    assert sqlite == postgresql


# Where loads keep their rows on a server.

OF_A_STAGED_ROW = [
    (name, "INTEGER", True) for name in ("account_id", "load_id", "file", "line", "present")
]


@ON_POSTGRESQL
def test_a_staging_table_has_the_columns_of_the_contract_and_those_made_from_them(
    made: Connection,
) -> None:
    """Each may be missing, and then has no default: the row's mask says which are there."""
    for table in TABLES_BY_NAME.values():
        name = f"staged_{table.name}"
        expected = [(column.name, column.kind.column, False) for column in table.columns]
        expected += [(derived, "TEXT", False) for derived in DERIVED.get(table.name, {})]
        assert [column[:3] for column in columns(made, name)] == [*OF_A_STAGED_ROW, *expected], name
        defaults = "SELECT 1 FROM pg_attrdef WHERE adrelid = to_regclass(:name)"
        assert not made.rows(defaults, name=name), name


@ON_POSTGRESQL
def test_the_rows_of_a_load_are_found_by_their_key(made: Connection) -> None:
    for table in TABLES_BY_NAME.values():
        (index,) = indexes(made, f"staged_{table.name}").values()
        assert index.columns == ("account_id", "load_id", *table.key), table.name


@ON_POSTGRESQL
def test_the_problems_and_lists_of_a_load_are_found_by_what_they_are_asked_for(
    made: Connection,
) -> None:
    names = {column.name for column in columns(made, "staged_problems")}
    assert names == {"account_id", "load_id", "number", *Problem._fields}
    (by_row,) = indexes(made, "staged_problems").values()
    assert by_row.columns == ("account_id", "load_id", "file", "line")
    (by_key,) = indexes(made, "staged_keys").values()
    assert by_key.columns == ("account_id", "load_id", "list", "key", "other")


@ON_POSTGRESQL
def test_what_a_load_stages_is_not_logged_and_everything_else_is(made: Connection) -> None:
    """After a crash of the server the load is run again."""
    kept = made.rows(
        "SELECT relname, relpersistence::TEXT FROM pg_class "
        "WHERE relkind = 'r' AND relnamespace = current_schema::REGNAMESPACE"
    )
    assert {name for name, how in kept if how == "u"} == set(STAGING_TABLES)
    assert {how for _, how in kept} == {"u", "p"}


# Policies and rights are PostgreSQL's alone.


@ON_POSTGRESQL
def test_servers_see_rows_by_the_policy_of_an_account(made: Connection, role: str) -> None:
    """design, "The store": the database separates tenants, even if a query forgets the account.

    The first setting is asked for without a second argument: where it is missing, that is an error.
    """
    guarded = made.rows(
        "SELECT relname, relforcerowsecurity FROM pg_class "
        "WHERE relrowsecurity AND relnamespace = current_schema::REGNAMESPACE"
    )
    expected = {"accounts", "entitlement_keys", "operators", "saved_forms"}
    expected |= {*TENANTS_TABLES_OF_A_SERVER}
    assert set(guarded) == {(name, False) for name in expected | {"audit", "staged_keys"}}
    policies = made.rows(
        f"""
        SELECT polrelid::REGCLASS::TEXT, polroles = ARRAY[{role}::OID], polcmd::TEXT, polpermissive,
            pg_get_expr(polqual, polrelid), polwithcheck IS NULL
        FROM pg_policy WHERE polname NOT IN ('own_reader', 'own_rows', 'signing_in')
        """
    )
    # For every command; where a policy has no condition for what is written, the one for what is
    # read holds. Those of the readers' pages are in tests/readers/test_wall.py.
    assert sorted(policies) == sorted(
        (table, True, "*", True, OWN_OR_MASTERS if table == "accounts" else OWN_ROWS, True)
        for table in expected
    )


@ON_POSTGRESQL
def test_the_servers_role_can_log_in_has_no_members_and_owns_nothing(
    made: Connection, role: str
) -> None:
    (attributes,) = made.rows(
        f"""
        SELECT rolcanlogin, rolpassword IS NULL, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb,
            rolreplication
        FROM pg_authid WHERE oid = {role}
        """
    )
    assert attributes == (True, True, False, False, False, False, False)
    assert not made.rows(f"SELECT roleid FROM pg_auth_members WHERE member = {role}")
    assert not made.rows(
        f"SELECT classid, objid FROM pg_shdepend WHERE refobjid = {role} AND deptype = 'o'"
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


@ON_POSTGRESQL
def test_a_server_may_read_stamp_count_and_beat_and_nothing_else(
    made: Connection, role: str
) -> None:
    """design, "The store"; no pair, no record of who did what, nothing of a load and the books.

    Nor of the console: the process that answers partners knows none of its operators.
    """
    of_all = {"accounts", "heartbeat", "migrations", "nodes", "secret_key"}
    read = {*TENANTS_TABLES_OF_A_SERVER, *of_all} - OF_THE_BOOKS - OF_THE_CONSOLE
    of_terms = ("account_id", "term_id", "subscription_id", "issues", "issues_left", "price")
    of_free_titles = ("account_id", "subscription_id", "served", "valid_until", "lapsed_by")
    assert rights_of(made, role) == {
        *((name, "SELECT") for name in read | OF_ENTITLEMENTS),
        *((f"terms.{name}", "SELECT") for name in (*of_terms, "paid_on")),
        *((f"qualified_subscriptions.{name}", "SELECT") for name in of_free_titles),
        *(("entitlement_codes", right) for right in ("INSERT", "DELETE")),
        ("subscribers.password_hash", "UPDATE"),
        ("commits.account_id", "INSERT"),
        ("commits.commit_id", "INSERT"),
        ("commits.visible_at", "UPDATE"),
        ("account_locks.kind", "UPDATE"),
        ("epochs.epoch_at", "UPDATE"),
        ("epochs.history", "UPDATE"),
        ("heartbeat.beat_at", "UPDATE"),
        *(("login_failures", right) for right in ("INSERT", "UPDATE", "DELETE")),
        *(("login_successes", right) for right in ("INSERT", "DELETE")),
        ("login_successes.succeeded_at", "UPDATE"),
        ("credential_uses", "INSERT"),
        ("credential_uses.used_at", "UPDATE"),
        *(("request_counts", right) for right in ("INSERT", "DELETE")),
        *((f"request_counts.{name}", "UPDATE") for name in ("requests", "errors", "last_at")),
        ("request_counts.server_errors", "UPDATE"),
        *((f"{function}()", "EXECUTE") for function in DEFINERS),
    }
    assert rights_of(made, "0") == {(f"{function}()", "EXECUTE") for function in INVOKERS}


@ON_POSTGRESQL
def test_only_the_owner_and_the_two_roles_have_rights(made: Connection, role: str) -> None:
    """Also where the database is a copy of another one, whose servers have their own role."""
    others = made.rows(
        f"""
        SELECT DISTINCT refobjid::REGROLE::TEXT FROM pg_shdepend
        WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND deptype IN ('a', 'r') AND refobjid <> {role}
            AND refobjid <> to_regrole(quote_ident(current_database() || '_readers'))
        """
    )
    assert others == []


@ON_POSTGRESQL
def test_a_server_has_rights_to_tables_and_functions_only(made: Connection, role: str) -> None:
    """No schema, no sequence, no type: what is not asked for above does not exist."""
    kinds = made.rows(
        f"""
        SELECT DISTINCT classid::REGCLASS::TEXT, c.relkind::TEXT
        FROM pg_shdepend LEFT JOIN pg_class AS c ON c.oid = objid AND classid = 'pg_class'::REGCLASS
        WHERE refobjid = {role} AND deptype = 'a'
            AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        """
    )
    assert set(kinds) == {("pg_class", "r"), ("pg_proc", None)}


@ON_POSTGRESQL
def test_few_functions_answer_with_their_owners_rights(made: Connection) -> None:
    """No search_path leads them elsewhere."""
    found = made.rows(
        """
        SELECT proname, prosqlbody IS NOT NULL
                OR proconfig @> ARRAY['search_path=public, pg_temp'], prosecdef,
            has_function_privilege('public', oid, 'EXECUTE'),
            proowner = (SELECT relowner FROM pg_class WHERE oid = 'accounts'::REGCLASS)
        FROM pg_proc WHERE pronamespace = current_schema::REGNAMESPACE
        """
    )
    assert set(found) == {
        *((name, True, True, False, True) for name in DEFINERS | FOR_READERS),
        *((name, True, False, True, True) for name in INVOKERS),
    }


@ON_POSTGRESQL
def test_each_migration_gives_the_same_rights(made: Connection, role: str, store: Store) -> None:
    """`masthead database migrate` gives them again, whether or not there is one to apply."""
    expected = rights_of(made, role)
    with new_url(store, is_empty=True) as url:
        for _ in range(2):
            find_store(url).migrate()
            with opening(url) as opened, opened.writer() as database:
                assert rights_of(database, role_of_servers(database)) == expected
                assert rights_of(database, "0") == rights_of(made, "0")


@ON_POSTGRESQL
def test_every_text_is_ordered_and_lowered_by_code_points(made: Connection) -> None:
    """As SQLite does it, with every language of the server (architecture, "The store")."""
    collations = made.rows(
        """
        SELECT a.attrelid::REGCLASS || '.' || a.attname, c.collname
        FROM pg_attribute AS a JOIN pg_collation AS c ON c.oid = a.attcollation
        WHERE a.attrelid IN (
            SELECT oid FROM pg_class
            WHERE relkind = 'r' AND relnamespace = current_schema::REGNAMESPACE)
        """
    )
    found = {
        column: collation
        for column, collation in collations
        if not column.startswith("migrations.")
    }
    assert set(found.values()) == {"C"}
    assert {"accounts.api_key", "subscribers.email", "subscribers.email_lower"} <= set(found)
