"""How PostgreSQL finds rows: by an index where a few are asked for, in order where all are.

It plans by what a database holds, so this one holds enough; and it plans for the role and under the
policies of a server, since behind a policy an index is used only by what is known to keep what it
reads to itself. A statement that stays prepared may at some time be planned for whatever values
come, and not for those at hand: both plans are looked at.
"""

# Long because it names each statement that must not read a whole table, and the plan it has.

from __future__ import annotations

import re
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.records import TABLES, TABLES_BY_NAME
from masthead.store import accounts, changes, credentials, deletions, exporting, interface_queries
from masthead.store.books.ownership import BOOKS
from masthead.store.postgresql_connection import PostgresStoreConnection
from tests.loading.publisher import SMALL, Publisher
from tests.long import ONE_SERVER
from tests.servers import as_server
from tests.store.catalogue import OF_THE_BOOKS, tables
from tests.store.conftest import ON_POSTGRESQL, new_url, opening
from tests.store.plans import (
    OF_ONE_SUBSCRIBER,
    POINT_LOOKUPS,
    SEARCHED,
    load_in_steps,
    statements,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store import Connection, Store
    from tests import servers

    Node = dict[str, Any]

pytestmark = [ON_POSTGRESQL, ONE_SERVER]

# Ten thousand rows of the account 1 in each large table, one thousand of the account 2.
MANY = "generate_series(1, 2) AS a, generate_series(1001, 1000 + 10000 / (9 * a - 8)) AS n"
SOME = "generate_series(1, 2) AS a, generate_series(1001, 1000 + 5000 / (9 * a - 8)) AS n"
FEW = "generate_series(1, 2) AS a, generate_series(1001, 3000) AS n"
ROWS = {
    "accounts (account_id)": "n FROM generate_series(1001, 3000) AS n",
    "account_locks (account_id, kind)": (
        "n, kind FROM generate_series(1001, 3000) AS n, unnest(ARRAY['data', 'stamps']) AS kind"
    ),
    "epochs (account_id)": "n FROM generate_series(1001, 3000) AS n",
    "credentials (key_hash, account_id)": "n, n FROM generate_series(1001, 3000) AS n",
    "commits (account_id, commit_id, visible_at)": f"a, n, 1000 * n FROM {FEW}",
    "publications (account_id, publication_id, name)": f"a, n, 'Title ' || n FROM {FEW}",
    "issues (account_id, issue_id, publication_id)": f"a, n, 1001 + n % 200 FROM {SOME}",
    """subscribers (account_id, subscriber_id, renewal_code, email, source, first_name_folded,
        last_name_folded, commit_id, custom_fields_commit_id)""": (
        "a, n, 'R' || n, 'reader' || n || '@example.org', 'Source ' || n % 8, 'first ' || n % 300, "
        f"'last ' || n % 2000, 1001 + n / 100, 1001 + n / 100 FROM {MANY}"
    ),
    "addresses (account_id, address_id, subscriber_id, zip_code, commit_id)": (
        f"a, n, n, n % 90000, 1001 + n / 100 FROM {MANY}"
    ),
    """subscriptions (account_id, subscription_id, subscriber_id, publication_id, issues, copies,
        type, date_expired, commit_id)""": (
        "a, n, n, 1001 + n % 200, n % 20, 1 + n % 3, (ARRAY['Print', 'Digital'])[1 + n % 2], "
        f"'2026-12-31', 1001 + n / 100 FROM {MANY}"
    ),
    "subscription_issues (account_id, subscription_id, issue_id)": (
        f"a, n, 1001 + n % 500 FROM {MANY}"
    ),
    # As many as a large publisher has: a stream compares each field with each option.
    "custom_fields (account_id, field_id, type)": (
        "a, n, 'text' FROM generate_series(1, 2) AS a, generate_series(1001, 1200) AS n"
    ),
    'custom_field_options (account_id, option_id, field_id, "order")': (
        f"a, n, 1001 + n % 200, n FROM {SOME}"
    ),
    "custom_field_answers (account_id, subscriber_id, field_id, option_ids)": (
        f"a, n, 1001 + n % 200, '1001' FROM {MANY}"
    ),
    "orders (account_id, order_id, subscriber_id, commit_id)": (
        f"a, n, n, 1001 + n / 100 FROM {MANY}"
    ),
    "order_items (account_id, order_item_id, order_id, bundle_id)": f"a, n, n, 7 FROM {MANY}",
    "purchases (account_id, purchase_id, subscriber_id, commit_id)": (
        f"a, n, n, 1001 + n / 100 FROM {MANY}"
    ),
    "list_downloads (account_id, mailing_list_id, commit_id)": (
        f"a, n, 1001 + n / 100 FROM {SOME}"
    ),
    "mailing_list_entries (account_id, mailing_list_id, subscription_id, copies)": (
        f"a, 1001 + n % 500, n, 1 FROM {MANY}"
    ),
    "classes (account_id, class_id, name)": f"a, n, 'Class ' || n FROM {FEW}",
    "bundles (account_id, bundle_id, name)": f"a, n, 'Bundle ' || n FROM {FEW}",
    """bundle_lines (account_id, bundle_id, line_number, publication_id, issues, type, copies,
        price)""": f"a, n, 1, 1001 + n % 200, 12, 'Print', 1, 100 FROM {FEW}",
    "products (account_id, product_id, name)": f"a, n, 'Thing ' || n FROM {FEW}",
    "renewal_efforts (account_id, publication_id, effort, issues_left)": (
        f"a, 1001 + n % 200, n, 3 FROM {FEW}"
    ),
    "terms (account_id, term_id, subscription_id, issues, issues_left, price, kind)": (
        f"a, n, n, 12, 4, 100, 'paid' FROM {MANY}"
    ),
    "revenue (account_id, revenue_id, term_id, kind, cents, booked_on)": (
        f"a, n, n, 'received', 100, '2026-01-01' FROM {MANY}"
    ),
    "suspensions (account_id, suspension_id, subscription_id, from_date)": (
        f"a, n, n, '2026-07-01' FROM {MANY}"
    ),
    """temporary_addresses (account_id, temporary_address_id, subscription_id, address_id,
        from_date, to_date)""": f"a, n, n, n, '2026-07-01', '2026-07-31' FROM {MANY}",
    """replacements (account_id, replacement_id, subscription_id, issue_id, asked_on,
        written_at)""": f"""a, n, n, 1001, '2026-06-01',
        CASE WHEN n % 100 <> 0 THEN '2026-06-02 08:00:00' END FROM {MANY}""",
    "notes (account_id, note_id, subscriber_id, author, text)": f"a, n, n, 'Ada', 'b' FROM {MANY}",
    """complaints (account_id, complaint_id, subscriber_id, subscription_id, issue_id, kind,
        answer)""": f"a, n, n, n, 1001 + n % 500, 'lost', 'nothing' FROM {MANY}",
    "cancellation_reasons (account_id, reason_id, name)": f"a, n, 'Reason ' || n FROM {FEW}",
    "cancellations (account_id, subscription_id, made_on, after_issue_id)": (
        f"a, n, '2026-06-01', 1001 FROM {FEW}"
    ),
    "cancelled_terms (account_id, term_id, issues_left)": f"a, n, 4 FROM {FEW}",
    "renewals_sent (account_id, term_id, effort, subscription_id, sent_on)": (
        f"a, n, 1, n, '2026-06-01' FROM {MANY}"
    ),
    "billing_settings (account_id, setting_id, name)": f"a, n, 'Setting ' || n FROM {FEW}",
    "tax_rates (account_id, rate_id, country, goods, percent, begins_on)": (
        f"a, n, 'DE', 'print', 700, '2026-01-01' FROM {FEW}"
    ),
    "shipping_prices (account_id, shipping_price_id, type, begins_on)": (
        f"a, n, 'Print', '2026-01-01' FROM {FEW}"
    ),
    "payer_details (account_id, subscriber_id)": f"a, n FROM {MANY}",
    """invoices (account_id, invoice_id, kind, series, number, number_text, subscriber_id, order_id,
        issued_on, net, tax, total, open_cents)""": (
        f"a, n, 'invoice', '2026', n, n, n, n, '2026-01-01', 100, 7, 107, 107 * (n % 2) FROM {MANY}"
    ),
    """invoice_lines (account_id, invoice_id, line_number, goods, net, tax, percent,
        category)""": f"a, n, 1, 'print', 100, 7, 700, 'S' FROM {MANY}",
    """payments (account_id, payment_id, subscriber_id, kind, value_date, booked_on, cents,
        left_cents)""": (f"a, n, n, 'payment', '2026-01-01', '2026-01-01', 100, 0 FROM {MANY}"),
    "allocations (account_id, allocation_id, invoice_id, kind, payment_id, cents, booked_on)": (
        f"a, n, n, 'payment', n, 100, '2026-01-01' FROM {MANY}"
    ),
    "journal_lines (account_id, entry_id, line_number, booked_on, account, cents)": (
        f"a, n, 1, '2026-01-01', 'bank', 100 FROM {MANY}"
    ),
    "bank_files (account_id, bank_file_id, name, digest, imported_at)": (
        f"a, n, n, n, '2026-01-01' FROM {FEW}"
    ),
    """bank_entries (account_id, bank_entry_id, bank_file_id, fingerprint, value_date, cents,
        status, subscriber_id, invoice_id, payment_id)""": (
        f"a, n, 1001 + n % 100, n, '2026-01-01', 100, 'settled', n, n, n FROM {MANY}"
    ),
    """mandates (account_id, mandate_id, subscriber_id, reference, scheme, signed_on, status,
        status_since)""": (f"a, n, n, n, 'core', '2026-01-01', 'active', '2026-01-01' FROM {MANY}"),
    "debit_runs (account_id, debit_run_id, collected_on, message_id, version, claims, cents)": (
        f"a, n, '2026-01-01', n, 'pain.008.001.08', 1, 100 FROM {FEW}"
    ),
    """claims (account_id, claim_id, debit_run_id, invoice_id, mandate_id, subscriber_id, cents,
        end_to_end_id, sequence, status, payment_id)""": (
        f"a, n, 1001, n, n, n, 100, n, 'RCUR', 'paid', n FROM {MANY}"
    ),
    "reminder_levels (account_id, level, days, then_do)": (
        f"a, n - 1000, n, 'nothing' FROM {FEW} WHERE n < 1010"
    ),
    """reminders (account_id, reminder_id, invoice_id, subscriber_id, level, reminded_on,
        fee_invoice_id)""": f"a, n, n, n, 1, '2026-01-01', n FROM {MANY}",
    """renewal_consents (account_id, consent_id, subscription_id, subscriber_id, bundle_id,
        given_on)""": f"a, n, n, n, 1001, '2026-01-01' FROM {MANY}",
    """announced_renewals (account_id, announcement_id, consent_id, subscription_id, term_id,
        bundle_id, price, tax, announced_on, renews_on, status, order_id)""": (
        f"a, n, n, n, n, 1001, 100, 7, '2026-01-01', '2026-02-01', 'renewed', n FROM {MANY}"
    ),
    """mails (account_id, mail_id, subscriber_id, kind, invoice_id, reminder_id, subscription_id,
        status, queued_at, due_at, message_id)""": (
        "a, n, n, 'reminder', n, n, n, 'sent', '2026-01-01 10:00:00', '2026-01-01 10:00:00', n "
        f"FROM {MANY}"
    ),
    "held_addresses (account_id, held_address_id, subscriber_id, address, held_on)": (
        f"a, n, n, n, '2026-01-01' FROM {FEW}"
    ),
    "letters (account_id, letter_id, kind, subscription_id, subscriber_id, written_on)": (
        f"a, n, 'welcome', n, n, '2026-01-01' FROM {MANY}"
    ),
    "qualification_forms (account_id, publication_id)": f"a, n FROM {FEW}",
    "qualification_questions (account_id, publication_id, field_id, position)": (
        f"a, n, n, 1 FROM {FEW}"
    ),
    "audit_classes (account_id, audit_class_id, publication_id, code)": f"a, n, n, 'a' FROM {FEW}",
    "audit_class_conditions (account_id, audit_class_id, field_id)": f"a, n, n FROM {FEW}",
    "request_types (account_id, request_type_id, code, position)": (
        f"a, n, 'type ' || n, n FROM {FEW}"
    ),
    """qualifications (account_id, qualification_id, subscriber_id, publication_id,
        subscription_id, qualified_on, valid_until, request_type, recorded_at)""": f"""a, n, n,
        1001 + n % 500, n, '2026-01-01', '2028-12-31', 'type 1001', '2026-01-01' FROM {MANY}""",
    """qualified_subscriptions (account_id, subscription_id, publication_id, qualification_id,
        qualified_on, valid_until)""": f"""a, n, 1001 + n % 500, n, '2026-01-01', '2028-12-31'
        FROM {MANY}""",
    "audit_figures (account_id, issue_id, position, part)": (
        f"a, 1001 + n % 500, n, 'class' FROM {FEW}"
    ),
    "requalification_efforts (account_id, publication_id, effort, days_before, way)": (
        f"a, n, 1, 30, 'letter' FROM {FEW}"
    ),
    "requalifications_sent (account_id, qualification_id, effort)": f"a, n, 1 FROM {MANY}",
    "page_settings (account_id, setting_id, name)": f"a, n, 'Setting ' || n FROM {FEW}",
    "reader_bundles (account_id, bundle_id, buy)": f"a, n, 1 FROM {FEW}",
    "reader_changes (account_id, reader_change_id, subscriber_id, subscription_id, kind)": (
        f"a, n, n, n, 'pause' FROM {MANY}"
    ),
    "reader_consents (account_id, reader_consent_id, subscriber_id, purpose, given_at)": (
        f"a, n, n, 'news', '2026-01-01 10:00:00' FROM {MANY}"
    ),
    """reader_requests (account_id, reader_request_id, subscriber_id, subscription_id, issue_id,
        kind, made_at, answered_at)""": f"""a, n, n, n, 1001 + n % 500, 'missing_copy',
        '2026-01-01 10:00:00', CASE WHEN n % 100 <> 0 THEN '2026-01-02 10:00:00' END FROM {MANY}""",
    "closed_months (account_id, month_id, closed_on)": f"a, 200000 + n, '2026-01-01' FROM {FEW}",
    "erasures (account_id, subscriber_id, erased_at)": (f"a, n, '2026-06-01 08:00:00' FROM {FEW}"),
    "deletions (account_id, entity, record_id, commit_id)": (
        "a, (ARRAY['subscriptions', 'addresses', 'purchases', 'listdownloads', 'orders'])"
        f"[1 + n % 5], 500 + n, 1001 + n / 100 FROM {MANY}"
    ),
}
# A row of each table out of the middle of those.
CHANGES = {
    "publications.csv": "publication_id,name\n1101,New\n",
    "issues.csv": "issue_id,publication_id,name,date\n2101,1101,New,2026-04-01\n",
    "subscribers.csv": "subscriber_id,renewal_code,email,source\n9001,NEW,new@example.org,X\n",
    "addresses.csv": "address_id,subscriber_id,city,zip_code\n9001,9001,New,97301\n",
    "subscriptions.csv": (
        "subscription_id,subscriber_id,publication_id,mailing_address_id,issues,copies,type\n"
        "9001,9001,1101,9001,4,1,Both\n"
    ),
    "subscription_issues.csv": "subscription_id,issue_id,is_grace\n9001,1001,1\n",
    "custom_fields.csv": "field_id,name,display_as,type,allow_other\n1101,new,New,checkbox,1\n",
    "custom_field_options.csv": (
        "option_id,field_id,value,display_as,active,order\n2101,1102,n,New,1,1\n"
    ),
    "custom_field_answers.csv": "subscriber_id,field_id,option_ids,text_value\n9001,1002,2001,\n",
    "classes.csv": "class_id,name\n1101,New\n",
    "bundles.csv": "bundle_id,name\n1101,New\n",
    "bundle_lines.csv": (
        "bundle_id,line_number,publication_id,issues,type,copies,price\n1101,1,1101,6,Print,1,9\n"
    ),
    "products.csv": "product_id,name\n1101,New\n",
    "cancellation_reasons.csv": "reason_id,name\n1101,Moved\n",
    "renewal_efforts.csv": "publication_id,effort,issues_left\n1102,1101,9\n",
    "orders.csv": "order_id,subscriber_id,import_name,grand_total\n9001,9001,New,1\n",
    "order_items.csv": "order_item_id,order_id,bundle_id,grand_total\n9001,9001,7,1\n",
    "purchases.csv": "purchase_id,subscriber_id,total\n9001,9001,1\n",
    "list_downloads.csv": "mailing_list_id,name\n2101,New\n",
    "mailing_list_entries.csv": "mailing_list_id,subscription_id,copies,type\n1002,9001,2,Both\n",
    "notes.csv": "note_id,subscriber_id,text\n9001,9001,New\n",
    "complaints.csv": (
        "complaint_id,subscriber_id,subscription_id,issue_id,kind,answer\n"
        "9001,9001,9001,1001,late,nothing\n"
    ),
    "page_settings.csv": "setting_id,name,value\n1101,New,1\n",
    "reader_bundles.csv": "bundle_id,renew,buy,gift\n1101,0,1,0\n",
    "reader_changes.csv": (
        "reader_change_id,subscriber_id,subscription_id,kind\n9001,9001,9001,pause\n"
    ),
    "reader_consents.csv": "reader_consent_id,subscriber_id,purpose\n9001,9001,news\n",
    "reader_requests.csv": (
        "reader_request_id,subscriber_id,subscription_id,issue_id,kind\n"
        "9001,9001,9001,1001,message\n"
    ),
}
PARAMETER = re.compile(r"(?<![:\w]):(\w+)")

for_these_and_for_any_values = pytest.mark.parametrize("for_any", [False, True])


@pytest.fixture(scope="module")
def large(store: servers.Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Publisher]:
    """The small publisher amid many rows, which the planner knows of."""
    with new_url(store) as url:
        publisher = Publisher(url, tmp_path_factory.mktemp("plans"))
        publisher.load({**SMALL, "erasures.csv": "subscriber_id\n2\n"})
        accounts.add_account(publisher.store, {"account_id": 2})
        with publisher.store.writer() as database:
            for table in tables(database):
                # Else a plan would depend on how far that has come.
                database.script(f"ALTER TABLE {table} SET (autovacuum_enabled = off)")
            # No foreign key is looked up, which is most of the work for rows that are known.
            database.script("SET session_replication_role = 'replica'")
            for columns, rows in ROWS.items():
                database.script(f"INSERT INTO {columns} SELECT {rows}")
            database.script("RESET session_replication_role")
            database.script("ANALYZE")
        yield publisher
        publisher.store.close()


@pytest.fixture(scope="module")
def served(large: Publisher) -> Iterator[Store]:
    """The same database as a server has it open."""
    with opening(as_server(large.url)) as opened:
        yield opened


def plan(
    database: Connection, sql: str, values: dict[str, Any], *, for_any: bool = False
) -> list[Node]:
    """Return the nodes of the plan for a statement, with these values or for any: a parent first.

    PostgreSQL puts a node "Result" where it has nothing else to say; those are left out.
    """
    assert isinstance(database, PostgresStoreConnection)
    if for_any:
        names = list(dict.fromkeys(PARAMETER.findall(sql)))
        asked = PARAMETER.sub(lambda found: f"${1 + names.index(found[1])}", sql)
        explain = f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {asked}".encode()
        # The planner too asks whom the connection speaks for.
        with nullcontext() if database._is_in_transaction() else database.read_snapshot():
            rows = database._connection.execute(explain, prepare=False).fetchall()
    else:
        rows = database.rows(f"EXPLAIN (FORMAT JSON) {sql}", **values)
    return [node for node in nodes(rows[0][0][0]["Plan"]) if node["Node Type"] != "Result"]


def nodes(node: Node) -> Iterator[Node]:
    """Yield a node of a plan and all beneath it."""
    yield node
    for below in node.get("Plans", ()):
        yield from nodes(below)


@contextmanager
def asking(
    opened: Store, ask: Callable[[Connection], object], *, as_a_stream: bool = False
) -> Iterator[tuple[Connection, list[tuple[str, dict[str, Any]]]]]:
    """A connection that speaks for the account 1, and the statements of the question."""
    with opened.reader() as database:
        database.set_tenant(1)
        with database.snapshot() if as_a_stream else nullcontext():
            with statements(database) as found:
                ask(database)
            assert found
            yield database, found


def assert_finds_by_index(found: list[Node]) -> None:
    """Assert that nothing walks a table, or the part of a table that is the account's.

    But for the account's custom fields and their options, which are few.
    """
    for node in found:
        if node.get("Relation Name") in {"custom_fields", "custom_field_options"}:
            continue
        assert node["Node Type"] != "Seq Scan", node
        if "Index Name" in node and node["Relation Name"] not in {"accounts", "commits", "epochs"}:
            assert len(columns_of(node)) > 1, node


def columns_of(node: Node) -> set[str]:
    """Return the columns by which an index is entered."""
    return set(re.findall(r"\((\w+) (?:=|<|>|<=|>=|IS) ", node["Index Cond"]))


@for_these_and_for_any_values
@pytest.mark.parametrize("name", POINT_LOOKUPS)
def test_a_point_lookup_finds_its_rows_by_an_index(
    served: Store, name: str, *, for_any: bool
) -> None:
    """design, "The store"."""
    with asking(served, POINT_LOOKUPS[name]) as (database, found):
        for sql, values in found:
            assert_finds_by_index(plan(database, sql, values, for_any=for_any))


def test_what_is_held_of_one_subscriber_is_found_by_an_index(large: Publisher) -> None:
    """rules, "Personal data: what is stored": the operator reads it, as no server may."""
    with asking(large.store, OF_ONE_SUBSCRIBER["data"], as_a_stream=True) as (database, found):
        scans = [node for sql, values in found for node in plan(database, sql, values)]
    # The account's fields, their options and its lists are few, and read as a whole. Entries of
    # lists are looked up list by list, unless there are hardly more of them than lists, as here.
    whole = {"custom_fields", "custom_field_options", "list_downloads", "mailing_list_entries"}
    scans = [x for x in scans if x.get("Relation Name") not in {None, *whole}]
    assert_finds_by_index(scans)
    used = {scan["Index Name"] for scan in scans if "subscriber_id" in scan.get("Index Cond", "")}
    assert {"orders_by_subscriber", "purchases_by_subscriber"} <= used


def test_what_is_erased_of_one_subscriber_is_found_by_an_index(large: Publisher) -> None:
    """decisions, "Personal data: erasing"."""
    with large.store.writer() as database:
        database.script("BEGIN")
        with statements(database) as found:
            OF_ONE_SUBSCRIBER["erased"](database)
        scans = [node for sql, values in found for node in plan(database, sql, values)]
        database.script("ROLLBACK")
    assert not {x["Relation Name"] for x in scans if x["Node Type"] == "Seq Scan"}
    used = {x["Index Name"] for x in scans if "subscriber_id" in x.get("Index Cond", "")}
    assert {"orders_by_subscriber", "purchases_by_subscriber"} <= used


def test_credentials_are_found_by_the_index_of_the_keys(large: Publisher, served: Store) -> None:
    """A function of the database reads there. Its plan is not shown, so its scans are counted."""

    def scans(database: Connection) -> tuple[int, int]:
        ((walks, looks),) = database.rows(
            "SELECT seq_scan, coalesce(idx_scan, 0) FROM pg_stat_xact_user_tables "
            "WHERE relname = 'credentials'"
        )
        return walks, looks

    accounts.set_account(large.store, 2001, {"api_key": "key-2001", "api_login": "login-2001"})
    with served.reader() as database, database.read_snapshot():
        walks, looks = scans(database)
        assert credentials.account_for_credentials(database, "login-2001", "key-2001", now=0)
        walks_since, looks_since = scans(database)
        assert walks_since == walks
        assert looks_since > looks


@pytest.mark.parametrize("name", SEARCHED)
@pytest.mark.parametrize("asked", ["ada", "ada*", "a*", ""])
def test_a_search_finds_its_rows_by_the_index_of_its_column(
    served: Store, name: str, asked: str
) -> None:
    """rules, "Subscriber search"; the columns in lower case are there for this."""
    with asking(
        served,
        lambda database: interface_queries.search_subscribers(
            database, 1, {name: asked}, after=0, limit=100
        ),
    ) as (database, found):
        ((sql, values),) = found
        *above, scan = plan(database, sql, values)
        assert {node["Node Type"] for node in above} <= {"Limit", "Sort"}
        both = {"last_name": {"subscribers_by_name"}}.get(name, set())
        assert scan["Index Name"] in {f"subscribers_by_{name}", *both}
        assert_finds_by_index([scan])


@pytest.mark.parametrize(("asked", "kept"), [("ada", 1), ("ada*", 0)])
def test_a_search_for_a_beginning_is_planned_for_what_is_asked(
    served: Store, asked: str, kept: int
) -> None:
    """rules, "Filters that few fit": no plan for any value is kept, which could be used."""
    with served.reader() as database:
        database.set_tenant(1)
        for _ in range(10):
            interface_queries.search_subscribers(database, 1, {"source": asked}, after=0, limit=100)
        condition = "source_lower >=%" if asked.endswith("*") else "source_lower =%"
        ((found,),) = database.rows(
            "SELECT count(*) FROM pg_prepared_statements "
            "WHERE statement LIKE :like AND statement NOT LIKE 'EXPLAIN%'",
            like=f"%FROM subscribers%{condition}",
        )
        assert found == kept


@pytest.mark.parametrize("name", ["email", "renewal_code"])
@pytest.mark.parametrize("asked", ["ada", ""])
def test_a_search_of_what_is_hardly_ever_the_same_is_planned_so_for_any_value(
    served: Store, name: str, asked: str
) -> None:
    """Of a source or a name, which many may share, only the value tells what is best."""
    with asking(
        served,
        lambda database: interface_queries.search_subscribers(
            database, 1, {name: asked}, after=0, limit=100
        ),
    ) as (database, found):
        ((sql, values),) = found
        *_, scan = plan(database, sql, values, for_any=True)
        assert scan["Index Name"] == f"subscribers_by_{name}"
        assert_finds_by_index([scan])


def test_many_subscribers_of_one_source_are_read_in_the_order_of_their_ids(
    served: Store,
) -> None:
    """Until there are enough: not all of them are collected to be sorted."""
    with asking(
        served,
        lambda database: interface_queries.search_subscribers(
            database, 1, {"source": "source*"}, after=0, limit=100
        ),
    ) as (database, found):
        ((sql, values),) = found
        limit, scan = plan(database, sql, values)
        assert limit["Node Type"] == "Limit"
        assert scan["Index Name"] == "subscribers_pkey"
        assert columns_of(scan) == {"account_id", "subscriber_id"}


@for_these_and_for_any_values
def test_a_list_is_read_in_the_order_of_its_ids_without_sorting(
    served: Store, *, for_any: bool
) -> None:
    with asking(
        served,
        lambda database: interface_queries.subscriptions(database, 1, {}, after=0, limit=100),
    ) as (database, found):
        ((sql, values),) = found
        limit, scan = plan(database, sql, values, for_any=for_any)
        assert limit["Node Type"] == "Limit"
        assert scan["Index Name"] == "subscriptions_pkey"
        assert columns_of(scan) == {"account_id", "subscription_id"}


@for_these_and_for_any_values
@pytest.mark.parametrize("few", [0, 30])
def test_a_filter_walks_a_bounded_number_of_ids_or_those_of_its_kinds(
    served: Store, few: int, monkeypatch: pytest.MonkeyPatch, *, for_any: bool
) -> None:
    """rules, "Filters that few fit"."""
    monkeypatch.setattr(interface_queries, "_FEW_COMBINATIONS", few)
    asked: dict[str, int | str] = {"type": "Both", "min_copies": 2}
    with asking(
        served,
        lambda database: interface_queries.subscriptions(database, 1, asked, after=0, limit=1),
    ) as (database, found):
        for sql, values in found[1:]:
            scans = plan(database, sql, values, for_any=for_any)
            scans = [node for node in scans if node.get("Relation Name") == "subscriptions"]
            assert_finds_by_index(scans)
            if few:
                *by_kind, by_id = scans
                assert columns_of(by_id) == {"account_id", "subscription_id"}
                assert by_kind
                for scan in by_kind:
                    assert scan["Index Name"] == "subscriptions_by_kind"
                    assert columns_of(scan) == {"account_id", "kind", "subscription_id"}
            else:
                assert {scan["Index Name"] for scan in scans} == {"subscriptions_pkey"}


# Streams.


def assert_comes_in_order(found: list[Node]) -> None:
    """Assert that the first row comes at once: nothing is collected, hashed or sorted before."""
    kinds = {node["Node Type"] for node in found}
    assert kinds <= {"Index Scan", "Index Only Scan", "Nested Loop", "Memoize", "Incremental Sort"}


@for_these_and_for_any_values
@pytest.mark.parametrize("first_commit", [0, 1100, 1300])
@pytest.mark.parametrize("entity", changes.CHANGED)
def test_the_feed_finds_what_changed_by_its_commit_and_sorts_nothing(
    served: Store, entity: str, first_commit: int, *, for_any: bool
) -> None:
    """design, "The change feed"; only the few rows of one record may be put in order."""
    with asking(
        served,
        lambda database: list(changes.CHANGED[entity](database, 1, first_commit)),
        as_a_stream=True,
    ) as (database, found):
        ((sql, values),) = found
        lines = plan(database, sql, values, for_any=for_any)
        assert_comes_in_order(lines)
        assert_finds_by_index(lines)
        first = next(node for node in lines if "Index Name" in node)
        assert re.fullmatch(r"\w+_by_\w*commit", first["Index Name"])
        assert {re.sub(r"\w*commit_id", "commit_id", name) for name in columns_of(first)} == {
            "account_id",
            "commit_id",
        }


@for_these_and_for_any_values
@pytest.mark.parametrize("entity", changes.CHANGED)
def test_whether_anything_changed_is_seen_by_the_commit(
    served: Store, entity: str, *, for_any: bool
) -> None:
    with asking(
        served,
        lambda database: changes.has_changed(database, entity, 1, 1100),
        as_a_stream=True,
    ) as (database, found):
        ((sql, values),) = found
        limit, scan = plan(database, sql, values, for_any=for_any)
        assert limit["Node Type"] == "Limit"
        assert re.fullmatch(r"\w+_by_\w*commit", scan["Index Name"])
        assert_finds_by_index([scan])


@for_these_and_for_any_values
@pytest.mark.parametrize("first_commit", [0, 1100, 1300])
@pytest.mark.parametrize("entity", deletions.REMOVABLE)
def test_what_was_removed_is_found_by_its_commit_and_sorted_by_nothing(
    served: Store, entity: str, first_commit: int, *, for_any: bool
) -> None:
    def ask(database: Connection) -> None:
        list(deletions.removed(database, entity, 1, first_commit))
        deletions.has_noted(database, entity, 1, first_commit)

    with asking(served, ask, as_a_stream=True) as (database, found):
        for sql, values in found:
            lines = plan(database, sql, values, for_any=for_any)
            first, *others = [node for node in lines if node["Node Type"] != "Limit"]
            assert first["Index Name"] == "deletions_by_commit"
            assert columns_of(first) == {"account_id", "entity", "commit_id"}
            assert_comes_in_order(others)
            assert_finds_by_index(others)


@for_these_and_for_any_values
def test_a_mailing_list_is_read_in_the_order_of_its_key(served: Store, *, for_any: bool) -> None:
    with asking(
        served,
        lambda database: list(interface_queries.mailing_list_entries(database, 1, 1001) or ()),
        as_a_stream=True,
    ) as (database, found):
        for sql, values in found:
            lines = plan(database, sql, values, for_any=for_any)
            assert lines[-1]["Index Name"] in {"list_downloads_pkey", "mailing_list_entries_pkey"}
            assert {node["Node Type"] for node in lines[:-1]} <= {"Limit"}
            assert columns_of(lines[-1]) == {"account_id", "mailing_list_id"}


# The books are exported by an operator: a server may not read them.
EXPORTED = [table for table in TABLES if table.name not in OF_THE_BOOKS]


@for_these_and_for_any_values
@pytest.mark.parametrize("table", EXPORTED, ids=[table.name for table in EXPORTED])
def test_an_export_is_read_in_the_order_of_its_key(
    served: Store, table: Any, *, for_any: bool
) -> None:
    with asking(
        served, lambda database: list(exporting.batches(database, 1, table)), as_a_stream=True
    ) as (database, found):
        ((sql, values),) = found
        (scan,) = plan(database, sql, values, for_any=for_any)
        assert scan["Index Name"] == f"{table.name}_pkey"


# Loads, which no policy binds.


# Indexes with the columns of the primary key in another order.
ALSO_BY_KEY = {"mailing_list_entries": ("mailing_list_entries_by_subscription",)}


@pytest.mark.parametrize("discard", [False, True])
def test_a_small_load_into_a_large_account_walks_only_its_own_rows(
    large: Publisher, *, discard: bool
) -> None:
    """Each staged row looks its target up by the primary key, when it checks and when it writes."""
    with load_in_steps(large, CHANGES, discard=discard) as (database, found):
        updated = set()
        for sql, values in found:
            if "UPDATE subscribers SET custom_fields_commit_id" in sql and sql.endswith("TRUE"):
                continue  # a new field shows in each subscriber's record
            lines = plan(database, sql, values)
            for node in lines:
                # Who is erased is read as a whole.
                of_data = {each.name for each in TABLES}
                if node.get("Relation Name") in of_data and "Operation" not in node:
                    assert node["Node Type"] in {"Index Scan", "Index Only Scan"}, (
                        node["Relation Name"],
                        sql,
                    )
            if match := re.match(r"\s*UPDATE (\w+) AS o SET", sql):
                updated.add(match[1])
                target = next(
                    node for node in lines if node.get("Alias") == "o" and "Index Name" in node
                )
                own = {f"{match[1]}_pkey", *ALSO_BY_KEY.get(match[1], ())}
                assert target["Index Name"] in own
                assert columns_of(target) == {"account_id", *TABLES_BY_NAME[match[1]].key}
        with_values = {each.name for each in TABLES if each.values and each.name not in BOOKS}
        assert updated == with_values


@pytest.mark.parametrize(
    ("name", "marked", "key"),
    [
        ("order_items.csv", "orders", "order_id"),
        ("custom_field_answers.csv", "subscribers", "subscriber_id"),
    ],
)
def test_what_shows_a_changed_row_is_found_by_its_key(
    large: Publisher, name: str, marked: str, key: str
) -> None:
    with load_in_steps(large, {name: CHANGES[name]}, discard=False) as (database, found):
        ((sql, values),) = (each for each in found if each[0].startswith(f"UPDATE {marked}"))
        (target,) = (
            node
            for node in plan(database, sql, values)
            if node.get("Alias") == marked and "Index Name" in node
        )
        assert target["Index Name"] == f"{marked}_pkey"
        assert columns_of(target) == {"account_id", key}
