"""The tables of a database and their columns, keys and indexes, in one form for both kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from masthead.contract.records import TABLES_BY_NAME

if TYPE_CHECKING:
    from masthead.store import Connection

TENANTS_TABLES = ("epochs", "commits", "subscription_kinds", "deletions", *TABLES_BY_NAME)
GLOBAL_TABLES = {
    "accounts",
    "credentials",
    "entitlement_keys",
    "audit",
    "loads",
    "migrations",
    "natural_keys",
    "operators",
    "partners",
    "removed_accounts",
    "saved_forms",
    "secret_key",
}

# What a file does not have: it has no replica and is on no node, its counters are in another file,
# its one writer needs no locks, and the rows of a load are in temporary tables.
COUNTERS = (
    "login_failures",
    "login_successes",
    "credential_uses",
    "operator_sessions",
    "reader_sessions",
    "sign_in_links",
    "entitlement_codes",
    "request_counts",
)
# What servers have no right on, since the console and the readers' pages alone use it.
OF_THE_CONSOLE = {
    *("operators", "operator_sessions", "saved_forms", "reader_sessions", "sign_in_links"),
}
# What servers read for entitlements, beside columns of terms: not what of it the books alone write.
OF_ENTITLEMENTS = {"entitlement_keys", "suspensions"}
# What no operation of the interface shows (circulation, "What is stored in addition").
OF_THE_BOOKS = {
    "books",
    "classes",
    "bundles",
    "bundle_lines",
    "products",
    "terms",
    "revenue",
    "suspensions",
    "temporary_addresses",
    "replacements",
    "notes",
    "complaints",
    "cancellation_reasons",
    "cancellations",
    "cancelled_terms",
    "renewal_efforts",
    "renewals_sent",
    "billing",
    "billing_settings",
    "tax_rates",
    "shipping_prices",
    "payer_details",
    "invoices",
    "invoice_lines",
    "payments",
    "allocations",
    "journal_lines",
    "closed_months",
    "bank_files",
    "bank_entries",
    "mandates",
    "debit_runs",
    "claims",
    "reminder_levels",
    "reminders",
    "renewal_consents",
    "announced_renewals",
    "mails",
    "held_addresses",
    "letters",
    "page_settings",
    "reader_bundles",
    "reader_changes",
    "reader_consents",
    "reader_requests",
    "qualification_forms",
    "qualification_questions",
    "audit_classes",
    "audit_class_conditions",
    "request_types",
    "qualifications",
    "qualified_subscriptions",
    "audit_figures",
    "requalification_efforts",
    "requalifications_sent",
}
TENANTS_TABLES_OF_A_SERVER = (*TENANTS_TABLES, *COUNTERS, "account_locks")
STAGING_TABLES = tuple(
    f"staged_{name}" for name in (*TABLES_BY_NAME, "problems", "keys", "natural_keys")
)
TABLES_OF_A_SERVER = {"heartbeat", "nodes", "account_locks", *COUNTERS, *STAGING_TABLES}

# A type of PostgreSQL, in the contract's words.
_TYPES = {"bigint": "INTEGER", "integer": "INTEGER", "text": "TEXT"}
# The names of the columns in an array of their numbers, in its order.
_NAMES = """ARRAY(
    SELECT a.attname::TEXT FROM unnest({numbers}::INT2[]) WITH ORDINALITY AS n (number, place)
    LEFT JOIN pg_attribute AS a ON a.attrelid = {table} AND a.attnum = n.number
    ORDER BY n.place)"""


class Column(NamedTuple):
    """A column: its type as the contract calls it, and its place in the primary key (0: none)."""

    name: str
    type: str
    is_required: bool
    place: int


class Reference(NamedTuple):
    """A foreign key."""

    columns: tuple[str, ...]
    target: str
    target_columns: tuple[str, ...]


class Index(NamedTuple):
    """An index, that of the primary key included; an expression is None."""

    columns: tuple[str | None, ...]
    is_unique: bool


def tables(database: Connection) -> set[str]:
    """Return the names of all tables, and of what looks like one, without those of Citus."""
    if database.dialect == "sqlite":
        rows = database.rows("SELECT name FROM pragma_table_list WHERE schema = 'main'")
        return {name for (name,) in rows if not name.startswith("sqlite_")}
    rows = database.rows(
        "SELECT relname FROM pg_class WHERE relkind NOT IN ('i', 't', 'S') AND relnamespace = "
        "(SELECT oid FROM pg_namespace WHERE nspname = current_schema)"
    )
    return {name for (name,) in rows if not name.startswith("citus_")}


def columns(database: Connection, table: str) -> list[Column]:
    """Return the columns of a table in their order."""
    if database.dialect == "sqlite":
        sql = 'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(:table)'
    else:
        sql = """
            SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull,
                coalesce(array_position(k.conkey, a.attnum), 0)
            FROM pg_attribute AS a
            LEFT JOIN pg_constraint AS k ON k.conrelid = a.attrelid AND k.contype = 'p'
            WHERE a.attrelid = to_regclass(:table) AND a.attnum > 0 AND NOT a.attisdropped
            ORDER BY a.attnum
            """
    return [
        Column(name, _TYPES.get(type_, str(type_)), bool(is_required), place)
        for name, type_, is_required, place in database.rows(sql, table=table)
    ]


def references(database: Connection, table: str) -> set[Reference]:
    """Return the foreign keys of a table."""
    if database.dialect == "sqlite":
        found: dict[int, list[tuple[str, str, str]]] = {}
        sql = 'SELECT id, "from", "table", "to" FROM pragma_foreign_key_list(:table) ORDER BY seq'
        for number, column, target, target_column in database.rows(sql, table=table):
            found.setdefault(number, []).append((column, target, target_column))
        return {
            Reference(
                tuple(column for column, _, _ in key),
                key[0][1],
                tuple(target_column for _, _, target_column in key),
            )
            for key in found.values()
        }
    rows = database.rows(
        f"""
        SELECT {_NAMES.format(table="k.conrelid", numbers="k.conkey")}, k.confrelid::REGCLASS::TEXT,
            {_NAMES.format(table="k.confrelid", numbers="k.confkey")}
        FROM pg_constraint AS k WHERE k.contype = 'f' AND k.conrelid = to_regclass(:table)
        """,
        table=table,
    )
    return {Reference(tuple(own), target, tuple(others)) for own, target, others in rows}


def indexes(database: Connection, table: str) -> dict[str, Index]:
    """Return the indexes of a table by name."""
    if database.dialect == "sqlite":
        listed = database.rows(
            'SELECT name, "unique" FROM pragma_index_list(:table)',
            table=table,
        )
        return {
            name: Index(
                tuple(
                    column
                    for (column,) in database.rows(
                        "SELECT name FROM pragma_index_info(:index) ORDER BY seqno", index=name
                    )
                ),
                bool(is_unique),
            )
            for name, is_unique in listed
        }
    rows = database.rows(
        f"""
        SELECT i.indexrelid::REGCLASS::TEXT,
            {_NAMES.format(table="i.indrelid", numbers="i.indkey")}, i.indisunique
        FROM pg_index AS i WHERE i.indrelid = to_regclass(:table)
        """,
        table=table,
    )
    return {name: Index(tuple(names), is_unique) for name, names, is_unique in rows}
