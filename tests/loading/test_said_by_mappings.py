"""What a mapping can say about rows: several records, joins, splits, conditions, scale, dates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.store.merging import Counts
from tests.loading.mapped import load_mapped, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

ORDERS = (
    "customer_id,email,billing_first_name,billing_last_name,billing_address_1,billing_address_2,"
    "billing_city,shipping_first_name,shipping_last_name,shipping_address_1,shipping_city,"
    "tide_copies,tide_until,gale_copies,gale_until\n"
    "1,a@e.org,Ann,Orr,1 Elm,Apt 4,Bath,,,,,1,2026-12-31,2,2027-03-31\n"
    "2,b@e.org,Bo,Kim,2 Elm,,Bath,Gus,Gray,5 Gift Ln,Reno,,,1,2027-03-31\n"
)
BILLING = '{ key = ["customer_id", { constant = "billing" }] }'
SHIPPING = '{ key = ["customer_id", { constant = "shipping" }], when = ["shipping_address_1"] }'
ORDERS_MAPPING = f"""
[[files]]
name = "orders"

[[files.tables.publications]]
publication_id = {{ key = [{{ constant = "Tide" }}] }}
name = {{ constant = "Tide" }}
[[files.tables.publications]]
publication_id = {{ key = [{{ constant = "Gale" }}] }}
name = {{ constant = "Gale" }}

[files.tables.subscribers]
subscriber_id = {{ key = ["customer_id"] }}
email = "email"
first_name = "billing_first_name"
last_name = "billing_last_name"

[[files.tables.addresses]]
address_id = {BILLING}
subscriber_id = {{ key = ["customer_id"] }}
first_name = "billing_first_name"
last_name = "billing_last_name"
address = {{ join = "{{billing_address_1}}, {{billing_address_2}}" }}
city = "billing_city"
[[files.tables.addresses]]
address_id = {SHIPPING}
subscriber_id = {{ key = ["customer_id"] }}
first_name = "shipping_first_name"
last_name = "shipping_last_name"
address = "shipping_address_1"
city = "shipping_city"

[[files.tables.subscriptions]]
subscription_id = {{ key = ["customer_id", {{ constant = "Tide" }}], when = ["tide_until"] }}
subscriber_id = {{ key = ["customer_id"] }}
publication_id = {{ key = [{{ constant = "Tide" }}] }}
billing_address_id = {BILLING}
mailing_address_id = {{ first = [{SHIPPING}, {BILLING}] }}
copies = "tide_copies"
date_expired = "tide_until"
[[files.tables.subscriptions]]
subscription_id = {{ key = ["customer_id", {{ constant = "Gale" }}], when = ["gale_until"] }}
subscriber_id = {{ key = ["customer_id"] }}
publication_id = {{ key = [{{ constant = "Gale" }}] }}
billing_address_id = {BILLING}
mailing_address_id = {{ first = [{SHIPPING}, {BILLING}] }}
copies = "gale_copies"
date_expired = "gale_until"
"""


def loaded(publisher: Publisher, content: str, mapping: str, table: str) -> list[Any]:
    """Load a file by the tables of a mapping, of which one is subscribers; return the records."""
    load_mapped(publisher, {"s.csv": content}, f'[[files]]\nname = "s"\n{mapping}')
    return publisher.table(table)


def test_one_row_gives_several_records_of_a_table(publisher: Publisher) -> None:
    """rules, "Flat rows": billing and shipping, a column for each title, the first key."""
    load_mapped(publisher, {"orders.csv": ORDERS}, ORDERS_MAPPING)
    addresses = {row["address_id"]: row for row in publisher.table("addresses")}
    emails = {row["subscriber_id"]: row["email"] for row in publisher.table("subscribers")}
    titles = {row["publication_id"]: row["name"] for row in publisher.table("publications")}
    found = [
        (
            emails[row["subscriber_id"]],
            titles[row["publication_id"]],
            row["copies"],
            row["date_expired"],
            addresses[row["billing_address_id"]]["address"],
            addresses[row["mailing_address_id"]]["address"],
            addresses[row["mailing_address_id"]]["last_name"],
        )
        for row in publisher.table("subscriptions")
    ]
    ann = ("1 Elm, Apt 4", "1 Elm, Apt 4", "Orr")
    assert sorted(found) == [
        ("a@e.org", "Gale", 2, "2027-03-31", *ann),
        ("a@e.org", "Tide", 1, "2026-12-31", *ann),
        ("b@e.org", "Gale", 1, "2027-03-31", "2 Elm", "5 Gift Ln", "Gray"),
    ]
    again = load_mapped(publisher, {"orders.csv": ORDERS}, ORDERS_MAPPING)
    assert all(counts[:2] == (0, 0) for counts in again.counts.values())


def test_a_problem_of_one_of_several_records_names_its_own_column(publisher: Publisher) -> None:
    content = ORDERS.replace("2,2027-03-31", "x,2027-03-31")
    (problem,) = refusal(publisher, {"orders.csv": content}, ORDERS_MAPPING)
    assert problem.startswith("orders.csv:2: gale_copies (subscriptions.copies): 'x' is not")


def test_names_are_split_lines_are_joined_and_cents_are_scaled(small: Publisher) -> None:
    """docs/mapping.md, "Splits", "Joins", "Values"."""
    content = (
        "no,full_name,street,number,second,monthly_cents\n"
        '901,"Müller, Sofie",Hauptstr.,5a,Hinterhaus,500\n'
        '902,"Doe,Jo",Elm,,,1\n'
    )
    mapping = """
        [[files]]
        name = "s"
        [files.split]
        full_name = "{last}, {first}"
        [files.tables.subscribers]
        subscriber_id = "no"
        first_name = "first"
        last_name = "last"
        [files.tables.addresses]
        address_id = "no"
        subscriber_id = "no"
        address = { join = "{street} {number}, {second}" }
        [files.tables.purchases]
        purchase_id = "no"
        subscriber_id = "no"
        total = { column = "monthly_cents", scale = 0.01 }
        """
    load_mapped(small, {"s.csv": content}, mapping)
    names = [(row["last_name"], row["first_name"]) for row in small.table("subscribers")[-2:]]
    assert names == [("Müller", "Sofie"), ("Doe", "Jo")]
    lines = [row["address"] for row in small.table("addresses")[-2:]]
    assert lines == ["Hauptstr. 5a, Hinterhaus", "Elm"]
    assert [row["total"] for row in small.table("purchases")[-2:]] == ["5.00", "0.01"]
    content = content.replace("Doe,Jo", "Madonna").replace("500", "5 EUR")
    assert refusal(small, {"s.csv": content}, mapping) == [
        "s.csv:2: monthly_cents (purchases.total): '5 EUR' is not a number",
        "s.csv:3: full_name (subscribers.first_name): 'Madonna' is not written '{last}, {first}'",
    ]


def test_a_part_of_a_cell_is_a_column_of_keys_values_and_conditions(
    publisher: Publisher,
) -> None:
    """docs/mapping.md, "Splits": also "Issue 214" as the issue of that number."""
    content = (
        "who,item,last\nK1,Tide / Print,Issue 214\nK1,Mug / Blue,\nK2,Gale / Digital,issue 7\n"
    )
    mapping = """
        [[files]]
        name = "s"
        only = { kind = ["Print", "Digital"] }
        ignore = ["issue"]
        [files.split]
        item = "{title} / {kind}"
        last = "Issue {issue:digits}"
        [files.tables.publications]
        publication_id = { key = ["title"] }
        name = "title"
        [files.tables.subscribers]
        subscriber_id = { key = ["who"] }
        [files.tables.subscriptions]
        subscription_id = { key = ["who", "title"] }
        subscriber_id = { key = ["who"] }
        publication_id = { key = ["title"] }
        type = "kind"
        """
    done = load_mapped(publisher, {"s.csv": content}, mapping)
    assert done.counts["subscriptions"] == Counts(2, 0, 0)
    assert [row["type"] for row in publisher.table("subscriptions")] == ["Print", "Digital"]
    assert [row["name"] for row in publisher.table("publications")] == ["Tide", "Gale"]
    issues = mapping.replace('ignore = ["issue"]', 'ignore = ["who"]').split("[files.tables.pub")[0]
    issues += """
        [files.tables.issues]
        issue_id = { key = ["title", "issue"] }
        publication_id = { key = ["title"] }
        name = "last"
        """
    done = load_mapped(publisher, {"s.csv": content}, issues)
    assert done.counts["issues"] == Counts(2, 0, 0)


def test_rows_that_a_condition_leaves_out_give_no_record_and_are_no_problem(
    publisher: Publisher,
) -> None:
    """rules, "Flat rows": a condition of an entry, and of one table."""
    content = "id,mail,status,city\n1,a@e.org,active,Bath\n2,b@e.org,trash,Bath\n3,c@e.org,,Reno\n"
    mapping = """
        [files.tables.subscribers]
        subscriber_id = "id"
        email = "mail"
        except = { status = ["tr*"] }
        [files.tables.addresses]
        address_id = "id"
        subscriber_id = "id"
        city = "city"
        [files.tables.addresses.only]
        status = ["active"]
        city = ["B*"]
        """
    found = loaded(publisher, content, mapping, "subscribers")
    assert [row["email"] for row in found] == ["a@e.org", "c@e.org"]
    assert [row["address_id"] for row in publisher.table("addresses")] == [1]


def test_the_first_column_with_a_value_is_taken(publisher: Publisher) -> None:
    content = "id,mail,mail 2\n1,,x@e.org\n2,b@e.org,y@e.org\n3,-,\n"
    mapping = """
        empty = ["-"]
        [files.tables.subscribers]
        subscriber_id = "id"
        email = { first = ["mail", "mail 2"] }
        """
    found = loaded(publisher, content, mapping, "subscribers")
    assert [row["email"] for row in found] == ["x@e.org", "b@e.org", None]


def test_dates_of_machines_and_of_people(small: Publisher) -> None:
    """decisions, "Zones in files"; rules, "Values of mapped files"."""
    content = (
        "id,created,deleted,until\n"
        "1,2024-01-15T23:30:00.000Z,,12/31/2026 12:00:00 AM\n"
        "2,2026-05-01 23:29:58 -0400,2026-03-01T00:00:00+00:00,7/1/2027 9:12 PM\n"
        "3,12 janv. 2026,1/2/2026 12:05 AM,2026-09\n"
        '4,"Jan 5, 2026",2026-05-01 23:29:58 -0400,Sep 26\n'
    )
    mapping = """
        [[files]]
        name = "s"
        dates = ["M/D/YYYY", "D MMM YYYY", "MMM D, YYYY"]
        [files.tables.subscribers]
        subscriber_id = { key = ["id"] }
        delete_date = "deleted"
        [files.tables.subscriptions]
        subscription_id = { key = ["id"] }
        subscriber_id = { key = ["id"] }
        publication_id = { constant = 1 }
        date_created = "created"
        date_expired = { column = "until", dates = ["M/D/YYYY", "YYYY-MM", "MMM YY"], day = "last" }
        """
    load_mapped(small, {"s.csv": content}, mapping)
    found = [
        (row["date_created"], row["date_expired"]) for row in small.table("subscriptions")[-4:]
    ]
    assert found == [
        ("2024-01-15", "2026-12-31"),
        ("2026-05-01", "2027-07-01"),
        ("2026-01-12", "2026-09-30"),
        ("2026-01-05", "2026-09-30"),
    ]
    assert [row["delete_date"] for row in small.table("subscribers")[-4:]] == [
        None,
        "2026-03-01 00:00:00",
        "2026-01-02 00:05:00",
        "2026-05-02 03:29:58",
    ]


def test_rejected_rows_of_split_cells_load_when_they_are_corrected(
    publisher: Publisher, tmp_path: Path
) -> None:
    mapping = """
        [[files]]
        name = "s"
        [files.split]
        name = ["{last}, {first}", "{first} {last:word}"]
        [files.tables.subscribers]
        subscriber_id = "id"
        first_name = "first"
        last_name = "last"
        """
    two_ways = mapping.replace("{last:word}", "{last}")
    problem = refusal(publisher, {"s.csv": "id,name\n1,Jane Mary Doe\n"}, two_ways)[0]
    assert problem == (
        "s.csv:2: name (subscribers.first_name): 'Jane Mary Doe' is written '{first} {last}' in "
        "two ways, 'Jane' + 'Mary Doe' and 'Jane Mary' + 'Doe': give a part its kind, such as "
        "{name:word}"
    )
    content = 'id,name\n1,"Doe, Jane"\n2,Ludwig van Beethoven\n3,Madonna\n4,\n'
    rejected = load_mapped(publisher, {"s.csv": content}, mapping, reject=tmp_path / "r").rejected
    assert rejected == {"s.csv": 1}
    names = [(row["first_name"], row["last_name"]) for row in publisher.table("subscribers")]
    assert names == [("Jane", "Doe"), ("Ludwig van", "Beethoven"), (None, None)]
    keyed = mapping.replace('"id"', '{ key = ["last"] }\nsource = "id"')
    (problem,) = refusal(publisher, {"s.csv": "id,name\n1,\n"}, keyed)
    assert "since name is empty" in problem
    corrected = (tmp_path / "r" / "s.csv").read_text().replace("3,Madonna,", "3,Madonna Louise,")
    assert load_mapped(publisher, {"s.csv": corrected}, mapping).counts == {
        "subscribers": Counts(1, 0, 0)
    }


FEED_MAPPING = """
    [[files]]
    name = "feed"
    each = "items.*"
    ignore = ["meta.*", "items.*.id"]
    [files.tables.publications]
    publication_id = { key = ["items.*.product.title"] }
    name = "items.*.product.title"
    [files.tables.subscribers]
    subscriber_id = { key = ["customer.id"] }
    email = "customer.mail"
    [files.tables.subscriptions]
    subscription_id = { key = ["customer.id", "items.*.product.title"] }
    subscriber_id = { key = ["customer.id"] }
    publication_id = { key = ["items.*.product.title"] }
    copies = "items.*.copies"
    """


def test_values_of_inner_objects_have_paths_and_each_item_of_a_list_is_a_row(
    publisher: Publisher,
) -> None:
    """docs/mapping.md, "Items"."""
    feed = (
        '{"customer": {"id": 1, "mail": "a@e.org"}, "meta": {"a": {"b": 1}}, "items": ['
        '{"id": 9, "product": {"title": "Tide"}, "copies": 2}, '
        '{"id": 8, "product": {"title": "Gale"}, "copies": 1}]}\n'
        '{"customer": {"id": 2, "mail": "b@e.org"}, "meta": null, "items": ['
        '{"id": 7, "product": {"title": "Gale"}, "copies": 3}]}\n'
    )
    load_mapped(publisher, {"feed.ndjson": feed}, FEED_MAPPING)
    assert [row["copies"] for row in publisher.table("subscriptions")] == [2, 1, 3]
    assert [row["name"] for row in publisher.table("publications")] == ["Tide", "Gale"]
    assert [row["email"] for row in publisher.table("subscribers")] == ["a@e.org", "b@e.org"]
    wrong = feed.replace('"copies": 3', '"copies": "x"')
    (problem,) = refusal(publisher, {"feed.ndjson": wrong}, FEED_MAPPING)
    assert problem.startswith("feed.ndjson:2: items.*.copies (subscriptions.copies): 'x' is not")
    (problem,) = refusal(publisher, {"feed.ndjson": feed.replace("mail", "post")}, FEED_MAPPING)[:1]
    assert "the column 'customer.post' is used by no table" in problem


def test_columns_with_a_number_and_a_cell_with_several_items_give_a_row_for_each_item(
    publisher: Publisher,
) -> None:
    """docs/mapping.md, "Items": order lines within a row."""
    of_items = """
        [files.tables.publications]
        publication_id = {{ key = ["{title}"] }}
        name = "{title}"
        [files.tables.subscribers]
        subscriber_id = {{ key = ["id"] }}
        [files.tables.subscriptions]
        subscription_id = {{ key = ["id", "{title}"], when = ["{title}"] }}
        subscriber_id = {{ key = ["id"] }}
        publication_id = {{ key = ["{title}"] }}
        copies = "{copies}"
        """
    numbered = 'each = "line_*"\n' + of_items.format(title="line_*_name", copies="line_*_qty")
    columns = (
        "id,line_1_name,line_1_qty,line_2_name,line_2_qty\n1,Tide,1,Gale,2\n2,,,Gale,3\n3,,,,\n"
    )
    found = loaded(publisher, columns, numbered, "subscriptions")
    assert [row["copies"] for row in found] == [1, 2, 3]
    assert len(publisher.table("subscribers")) == 3
    one_cell = (
        'each = { column = "lines", between = ";" }\n'
        '[files.split]\nlines = "{quantity:digits} x {title}"\n'
        + of_items.format(title="title", copies="quantity")
    )
    cells = "id,lines\n1,1 x Tide; 4 x Gale;\n2,3 x Gale\n3,\n"
    found = loaded(publisher, cells, one_cell, "subscriptions")
    assert [row["copies"] for row in found] == [1, 4, 3]
