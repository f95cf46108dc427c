"""The tables of a copy, read with plain SQL: names, types, and the golden data typed by hand."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.test_golden_custom_fields import LONG_LABEL, LONG_NAME
from tests.conftest import KINDS
from tests.mirror.conftest import EACH_COPY
from tests.mirror.kept import TABLES

if TYPE_CHECKING:
    from tests.mirror.kept import Kept, Row
    from tests.mirror.publisher import Publisher

BIGGEST = 2**63 - 1

COLUMNS = {
    "custom_fields": (
        "subscriber_id integer, field_id integer, name text, display_as text, type text, "
        "allow_other bool, text_value text"
    ),
    "custom_field_values": (
        "subscriber_id integer, field_id integer, position integer, option_id integer, "
        "display_as text, value text"
    ),
    "subscriptions": (
        "subscription_id integer, subscriber_id integer, publication_id integer, "
        "mailing_address_id integer, billing_address_id integer, issues integer, copies integer, "
        "type text, date_created date, date_expired date, date_last_renewed date, "
        "last_purchase_bundle_id integer, last_purchase_id integer, renew_campaign_active bool, "
        "audit_classification text, audit_request_type text"
    ),
    "subscribers": (
        "subscriber_id integer, renewal_code text, email text, password_md5 text, "
        "first_name text, last_name text, source text, delete_date time, modified_date time"
    ),
    "addresses": (
        "address_id integer, subscriber_id integer, first_name text, last_name text, "
        "company text, address text, city text, state text, zip_code text, country_name text, "
        "country_abbreviation text, latitude text, longitude text, verified bool"
    ),
    "purchases": (
        "purchase_id integer, payment_type text, notes text, subscriber_id integer, "
        "bundle_id integer, shipping_address_id integer, billing_address_id integer, name text, "
        "invoice_id text, total decimal, product_total decimal, is_gift bool"
    ),
    "list_downloads": (
        "mailing_list_id integer, name text, status text, count integer, is_gap bool, "
        "grace_from_date date, grace_issues integer, parent_mailing_list_id integer, "
        "date_created time"
    ),
    "orders": (
        "order_id integer, mailing_address_id integer, billing_address_id integer, "
        "subscriber_id integer, import_name text, user_id integer, channel_id integer, "
        "order_date time, is_gift bool, sub_total double, tax_total double, grand_total double"
    ),
    "order_items": (
        "order_id integer, order_item_id integer, bundle_id integer, product_id integer, "
        "refund_date time, fulfilled_date time, sub_total double, tax_total double, "
        "grand_total double"
    ),
    "custom_field_definitions": (
        "field_id integer, name text, display_as text, type text, allow_other bool"
    ),
    "custom_field_options": (
        "field_id integer, option_id integer, value text, display_as text, disqualifier bool, "
        "active bool, order integer"
    ),
    "mailing_list_entries": (
        "mailing_list_id integer, subscription_id integer, copies integer, is_grace bool, "
        "is_paid bool, type text"
    ),
}
TYPES = {
    "integer": ("INTEGER", "bigint", "BIGINT"),
    "text": ("TEXT", "text", "VARCHAR"),
    "bool": ("INTEGER", "boolean", "BOOLEAN"),
    "date": ("TEXT", "date", "DATE"),
    "time": ("TEXT", "timestamp without time zone", "TIMESTAMP"),
    "double": ("REAL", "numeric", "DECIMAL(18,2)"),
    "decimal": ("TEXT", "numeric", "DECIMAL(18,2)"),
}
DECIMALS = [("total_decimals", "SMALLINT"), ("product_total_decimals", "SMALLINT")]


def at(text: str) -> datetime:
    """Return a time without a zone."""
    return datetime.fromisoformat(text)


def as_kept(kept: Kept, rows: list[Row]) -> list[Row]:
    """Return rows as the kind of database has them: a float stands for the interface's Double."""
    return [tuple(_value(kept, value) for value in row) for row in rows]


def _value(kept: Kept, value: Any) -> Any:
    if kept.kind != "sqlite":
        return Decimal(str(value)) if isinstance(value, float) else value
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | Decimal):
        return str(value)
    return value


def names_of(table: str) -> str:
    """Return the columns of the interface, to select them."""
    return ", ".join(f'"{column.split(" ")[0]}"' for column in COLUMNS[table].split(", "))


def columns_of(kept: Kept, table: str) -> list[Row]:
    """Return the names and the types of a table's columns."""
    if kept.kind == "sqlite":
        return kept.ask(f"SELECT name, type FROM pragma_table_info('{table}') ORDER BY cid")
    return kept.ask(
        "SELECT column_name, data_type FROM information_schema.columns WHERE "
        f"table_schema = current_schema() AND table_name = '{table}' ORDER BY ordinal_position"
    )


def test_tables_and_columns_have_the_names_of_the_interface_and_types(
    golden: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(golden)
    for table, described in COLUMNS.items():
        expected = [column.rsplit(" ", 1) for column in described.split(", ")]
        kind = {"sqlite": 0, "postgresql": 1}.get(kept.kind, 2)
        kinds = [(name, TYPES[word][kind]) for name, word in expected]
        if kind == 2 and table == "purchases":
            kinds += DECIMALS
        kinds.append(("changed_at", "TEXT" if kind == 0 else TYPES["time"][kind]))
        assert columns_of(kept, table) == kinds, table


def test_every_table_is_told_of_here() -> None:
    """rules, "Mirror: names of publications and issues": none of either is among them."""
    assert set(COLUMNS) == set(TABLES)


SUBSCRIBERS = [
    (
        *(1, "GF001", "mira.lang@example.org", "5ebe2294ecd0e0f08eab7690d2a6ee69"),
        *("Mira", "Lang", "spring-mailing", None),
    ),
    (2, "GF002", None, None, None, None, None, None),
    (
        *(3, "GF003", "gone@example.org", "50c1f58be7f5e47e0f53d64c094783c2", "Gone", "Away"),
        *("web", at("2024-02-29 23:59:59")),
    ),
    (
        *(BIGGEST, 'G"\\é😀', 'o\'brien+"tag"@exämple.org', "a4c5547e797d95863f43685c8c7b1049"),
        'Zoe\u0308 "Zo" \\ 😀 </script> & <b>',
        "12345678901234567890\u2028\u2029\tA\nB/é6789012345678901234567",
        '"quoted" \\ </script> 😀 e\u0301',
        None,
    ),
]
SUBSCRIPTIONS = [
    (
        *(9, 2, 11, None, None, 0, 1, "Both", date(2024, 2, 29), date(2024, 2, 29), None),
        *(None, None, True, None, None),
    ),
    (
        *(31, 1, 11, 21, 22, 12, 1, "Print", date(2024, 2, 29), date(2099, 12, 31)),
        *(date(2025, 2, 28), 501, 61, True, "A1", "W"),
    ),
    (
        *(32, 1, 11, 21, 21, -1, 2, "Digital", date(2023, 1, 1), None, None, None, None),
        *(False, None, None),
    ),
    (
        *(BIGGEST, BIGGEST, BIGGEST, BIGGEST, BIGGEST, BIGGEST, BIGGEST, "Both"),
        *(date(1, 1, 1), date(9999, 12, 31), date(2000, 2, 29), BIGGEST, BIGGEST, True),
        *('"\\ 😀 </script>', "é"),
    ),
]
ADDRESSES = [
    (
        *(21, 1, "Mira", "Lang", "Lang & Co", "1 Long Road", "Springfield", "IL", "62701-1234"),
        *("United States", "US", "39.7990", "-89.6440", True),
    ),
    (
        *(22, 1, None, None, None, None, "Łódź", None, "90-001", None, None, None, None),
        False,
    ),
    (
        *(BIGGEST, BIGGEST, '"Zoë"', "\\", "</script>", "Straße 1\nHinterhaus 😀", "e\u0301"),
        *("\u2028", "00001", "Côte d'Ivoire", "CI", "0", "0.0", True),
    ),
]
PURCHASES = [
    (
        *(61, "Credit Card", 'paid "late"', 1, 501, 21, 22, "Garden & Field", "INV-1"),
        *(Decimal("10.50"), Decimal("10.00"), True),
    ),
    (62, "Check", None, 1, 501, None, None, None, None, Decimal("0.30"), None, False),
    (
        *(BIGGEST, "😀 </script>", "\\", BIGGEST, BIGGEST, BIGGEST, BIGGEST, "é", str(BIGGEST)),
        *(Decimal("1234567890123.45"), Decimal(85), False),
    ),
]
LIST_DOWNLOADS = [
    (
        *(81, "Spring list", "Complete", 4, True, date(2024, 2, 29), 2, None),
        at("2024-02-29 23:59:59"),
    ),
    (
        *(82, '"\\ 😀 </script>', "Generating Galley", 0, False, None, None, 81),
        at("2024-03-01 00:00:00"),
    ),
    (BIGGEST, "Edge", "Complete", 1, False, None, None, None, at("2024-03-02 00:00:00")),
]
ORDERS = [
    (71, 21, 22, 1, "spring", 5, 3, at("2024-02-29 23:59:59"), True, 0.3, 0.03, 0.33),
    (72, 21, 21, 1, None, None, None, at("2024-03-01 00:00:00"), False, 0.0, 0.0, 0.0),
    (
        *(BIGGEST, BIGGEST, BIGGEST, BIGGEST, '"\\😀</script>é67890123456789012', BIGGEST),
        *(BIGGEST, at("0001-01-01 00:00:00"), False, 101.16, -5.25, 1234567890123.45),
    ),
]
ORDER_ITEMS = [
    (71, 9, BIGGEST, None, None, None, 85.0, 10.5, 0.0),
    (71, 711, 501, None, None, at("2024-03-01 08:00:00"), 0.1, 0.01, 0.11),
    (71, 712, None, 601, at("2024-03-02 09:15:30"), None, 0.2, 0.02, 0.22),
    (BIGGEST, BIGGEST, None, BIGGEST, None, None, 1000000.0, 0.05, 999999999999.99),
]
ENTRIES = [
    (81, 9, 3, True, False, "Both"),
    (81, 31, 1, False, True, "Print"),
    (81, 32, 2, False, False, "Digital"),
    (BIGGEST, BIGGEST, BIGGEST, True, True, "Both"),
]
VALUES = [
    (1, 1, 0, 11, "Soil & Compost", "soil"),
    (1, 1, 1, 14, "Ponds", "ponds"),
    (1, 1, 2, 12, "Trees", None),
    (1, 2, 0, 21, "Small", "s"),
    (BIGGEST, BIGGEST, 0, BIGGEST, 'é "x" \\', '"\\ 😀 </script>'),
]
DEFINITIONS = [
    (1, "topics", "Topics", "checkbox", True),
    (2, "size", "How big is it?", "radio", False),
    (3, "region", "Region", "select", False),
    (4, "motto", "Motto", "text", False),
    (10, "remarks", "Remarks", "textarea", False),
    (BIGGEST, LONG_NAME.replace("\\\\", "\\").replace('\\"', '"'), LONG_LABEL, "select", True),
]
TEXTS = {
    (1, 1): 'Moss "&" lichen 😀',
    (1, 4): "Grow \\ </script> e\u0301",
    (1, 10): "first\nsecond\u2028third",
    (1, BIGGEST): "none of these",
}
ANSWERS = [
    (subscriber_id, *definition, TEXTS.get((subscriber_id, definition[0])))
    for subscriber_id in (1, 2, 3, BIGGEST)
    for definition in DEFINITIONS
]
OPTIONS = [
    (1, 11, "soil", "Soil & Compost", False, True, 2),
    (1, 12, None, "Trees", False, True, 10),
    (1, 13, "roses", "Roses", False, True, 1),
    (1, 14, "ponds", "Ponds", False, False, 3),
    (1, 15, "bees", "Bees", False, True, 3),
    (2, 21, "s", "Small", True, True, 1),
    (2, 22, "l", "Large", False, True, 2),
    (3, 31, "north", "North", False, True, 1),
    (BIGGEST, BIGGEST, '"\\ 😀 </script>', 'é "x" \\', True, False, BIGGEST),
]
GOLDEN: dict[str, list[Row]] = {
    "custom_fields": ANSWERS,
    "custom_field_values": VALUES,
    "subscriptions": SUBSCRIPTIONS,
    "addresses": ADDRESSES,
    "purchases": PURCHASES,
    "list_downloads": LIST_DOWNLOADS,
    "orders": ORDERS,
    "order_items": ORDER_ITEMS,
    "custom_field_definitions": DEFINITIONS,
    "custom_field_options": OPTIONS,
    "mailing_list_entries": ENTRIES,
}


@EACH_COPY
def test_the_golden_records_stand_in_their_tables(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"; a missing value is NULL, a time is as it was loaded."""
    kept.update(golden)
    for table, rows in GOLDEN.items():
        found = kept.ask(f"SELECT {names_of(table)} FROM {table} ORDER BY 1, 2, 3")
        assert found == as_kept(kept, rows), table
    shown = (
        "subscriber_id, renewal_code, email, password_md5, first_name, last_name, source, "
        "delete_date"
    )
    subscribers = kept.ask(f"SELECT {shown} FROM subscribers ORDER BY 1")
    assert subscribers == as_kept(kept, SUBSCRIBERS)
    assert None not in kept.column("SELECT modified_date FROM subscribers")


BARE: dict[str, list[Row]] = {
    "subscriptions": [
        (1, 1, 1, None, None, None, None, None, None, None, None, None, None, False, None, None)
    ],
    "addresses": [(1, 1, *[None] * 11, False)],
    "purchases": [(1, None, None, 1, *[None] * 7, False)],
    "list_downloads": [(1, None, None, None, False, None, None, None, None)],
    "orders": [(1, None, None, 1, None, None, None, None, False, 0.0, 0.0, 0.0)],
    "order_items": [(1, 1, None, 1, None, None, 0.0, 0.0, 0.0)],
    "custom_field_options": [(1, 1, None, None, False, False, None)],
    "mailing_list_entries": [(1, 1, None, False, False, None)],
}


@EACH_COPY
def test_records_that_have_only_ids_are_in_their_tables(sparse: Publisher, kept: Kept) -> None:
    """rules, "Missing Bool, flag, verified, Double": they are false and zero."""
    kept.update(sparse)
    for table, rows in BARE.items():
        found = kept.ask(f"SELECT {names_of(table)} FROM {table}")
        assert found == as_kept(kept, rows), table
    assert kept.column("SELECT email FROM subscribers ORDER BY subscriber_id") == [
        "bare@example.org",
        None,
    ]


JOINED: dict[str, tuple[str, list[Row]]] = {
    "who gets which list where": (
        """
        SELECT d.name, s.last_name, a.city, e.copies FROM mailing_list_entries AS e
        JOIN list_downloads AS d ON d.mailing_list_id = e.mailing_list_id
        JOIN subscriptions AS n ON n.subscription_id = e.subscription_id
        JOIN subscribers AS s ON s.subscriber_id = n.subscriber_id
        JOIN addresses AS a ON a.address_id = n.mailing_address_id
        WHERE e.mailing_list_id = 81 ORDER BY e.subscription_id
        """,
        [("Spring list", "Lang", "Springfield", 1), ("Spring list", "Lang", "Springfield", 2)],
    ),
    "who chose what": (
        """
        SELECT s.email, f.display_as, v.display_as, o.active FROM custom_field_values AS v
        JOIN custom_fields AS f ON f.subscriber_id = v.subscriber_id AND f.field_id = v.field_id
        JOIN subscribers AS s ON s.subscriber_id = v.subscriber_id
        JOIN custom_field_options AS o ON o.option_id = v.option_id
        WHERE v.field_id = 1 ORDER BY v.position
        """,
        [
            ("mira.lang@example.org", "Topics", "Soil & Compost", True),
            ("mira.lang@example.org", "Topics", "Ponds", False),
            ("mira.lang@example.org", "Topics", "Trees", True),
        ],
    ),
    "what was fulfilled since a day": (
        """
        SELECT o.order_id, count(*), sum(i.sub_total) FROM orders AS o
        JOIN order_items AS i ON i.order_id = o.order_id
        WHERE i.fulfilled_date >= '2024-03-01 08:00:00' GROUP BY o.order_id
        """,
        [(71, 1, 0.1)],
    ),
    "what is active on a day": (
        """
        SELECT subscription_id FROM subscriptions
        WHERE date_expired IS NULL OR date_expired >= '2024-03-01' ORDER BY 1
        """,
        [(31,), (32,), (BIGGEST,)],
    ),
}


@pytest.mark.parametrize("question", JOINED)
def test_tables_are_ready_to_be_joined(golden: Publisher, kept: Kept, question: str) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(golden)
    sql, rows = JOINED[question]
    assert kept.ask(sql) == as_kept(kept, rows)


@pytest.mark.parametrize("new_kept", KINDS, indirect=True)
def test_what_tables_are_joined_by_is_indexed(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"; DuckDB needs none ("Mirror: DuckDB")."""
    kept.update(golden)
    named = (
        "SELECT name FROM sqlite_schema WHERE type = 'index'"
        if kept.kind == "sqlite"
        else "SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()"
    )
    indexes = kept.column(named)
    assert {
        "subscriptions_by_subscriber_id",
        "subscriptions_by_mailing_address_id",
        "subscribers_by_email",
        "subscribers_by_renewal_code",
        "addresses_by_subscriber_id",
        "orders_by_subscriber_id",
        "purchases_by_subscriber_id",
        "custom_field_values_by_option_id",
        "mailing_list_entries_by_subscription_id",
    } <= set(indexes)


@pytest.mark.parametrize("new_kept", ["duckdb", "parquet"], indirect=True)
def test_amounts_keep_the_number_of_decimal_places_that_the_interface_shows(
    golden: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: amounts in DuckDB and Parquet"."""
    kept.update(golden)
    places = "SELECT total_decimals, product_total_decimals FROM purchases ORDER BY purchase_id"
    assert kept.ask(places) == [(2, 2), (2, None), (2, 0)]


def test_the_copy_says_of_what_it_is_one_and_how_far_it_goes(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": with the time to ask for next."""
    done = kept.update(golden)
    row = (golden.url, golden.account_id, done.state.changed_since, None)
    assert kept.ask("SELECT base_url, account_id, changed_since, lacking FROM mirror") == [row]
    assert done.state.changed_since.endswith("+00:00")
