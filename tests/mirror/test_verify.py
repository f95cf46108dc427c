"""``verify`` of Masthead: it names what differs, whatever it is, and nothing else."""

from __future__ import annotations

from contextlib import closing
from functools import partial
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.mirror import Difference, open_copy
from masthead.mirror.records import digest_of
from masthead.mirror.tables import ENTITIES
from tests.client.service import Asked, Reply, Serve, forwarding
from tests.conftest import KINDS
from tests.long import ONLY_EVERY
from tests.mirror.conftest import EACH_COPY
from tests.mirror.test_tables import BIGGEST, COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

COUNTS = {
    "custom_fields": 4,
    "subscriptions": 4,
    "subscribers": 4,
    "addresses": 3,
    "purchases": 3,
    "list_downloads": 3,
    "orders": 3,
    "mailing_list_entries": 4,
    "custom_field_definitions": 6,
    "custom_field_options": 9,
}


@EACH_COPY
def test_a_good_copy_has_no_difference(golden: Publisher, kept: Kept) -> None:
    """decisions, "Digest"."""
    verified = kept.verify(golden)
    assert verified.counts == COUNTS
    assert verified.differences == []
    assert verified.not_compared is None


def test_a_copy_of_some_entities_has_no_difference(golden: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"; decisions, "Digest"."""
    kept.update(golden, entities=["orders", "customfields", "subscribers"])
    verified = kept.verify(golden)
    of_others = {"subscriptions", "addresses", "purchases", "list_downloads"}
    of_others.add("mailing_list_entries")
    assert verified.counts == {name: COUNTS[name] for name in COUNTS if name not in of_others}
    assert verified.differences == []
    assert verified.not_compared is None


def test_a_copy_of_the_barest_records_has_no_difference(sparse: Publisher, kept: Kept) -> None:
    """decisions, "Digest"; "Missing values"."""
    assert kept.differences(sparse) == []


MISSING = {
    "DELETE FROM custom_fields WHERE subscriber_id = 2": "missing: custom_fields 2",
    "DELETE FROM custom_field_values WHERE option_id = 14": "different: custom_fields 1",
    "DELETE FROM subscriptions WHERE subscription_id = 9": "missing: subscriptions 9",
    "DELETE FROM subscribers WHERE subscriber_id = 3": "missing: subscribers 3",
    "DELETE FROM addresses WHERE address_id = 22": "missing: addresses 22",
    "DELETE FROM purchases WHERE purchase_id = 61": "missing: purchases 61",
    "DELETE FROM orders WHERE order_id = 72": "missing: orders 72",
    "DELETE FROM orders WHERE order_id = 71": "missing: orders 71",
    f"DELETE FROM order_items WHERE order_id = {BIGGEST}": f"different: orders {BIGGEST}",
    "DELETE FROM mailing_list_entries WHERE subscription_id = 32": (
        "missing: mailing_list_entries 81/32"
    ),
    "DELETE FROM list_downloads WHERE mailing_list_id = 81": "missing: list_downloads 81",
}
CHANGED = {
    "UPDATE custom_fields SET text_value = 'Ivy' WHERE subscriber_id = 1 AND field_id = 4": (
        "different: custom_fields 1"
    ),
    "UPDATE custom_field_values SET position = 3 WHERE subscriber_id > 1": (
        f"different: custom_fields {BIGGEST}"
    ),
    "UPDATE subscriptions SET date_expired = '2098-12-31' WHERE subscription_id = 31": (
        "different: subscriptions 31"
    ),
    "UPDATE subscribers SET delete_date = NULL WHERE subscriber_id = 3": (
        "different: subscribers 3"
    ),
    "UPDATE addresses SET city = 'Lodz' WHERE address_id = 22": "different: addresses 22",
    "UPDATE purchases SET total = '10.51' WHERE purchase_id = 61": "different: purchases 61",
    "UPDATE list_downloads SET count = 5 WHERE mailing_list_id = 81": (
        "different: list_downloads 81"
    ),
    "UPDATE orders SET tax_total = 0.04 WHERE order_id = 71": "different: orders 71",
    "UPDATE order_items SET refund_date = NULL WHERE order_item_id = 712": "different: orders 71",
    "UPDATE order_items SET sub_total = 1 WHERE order_item_id > 1000": (
        f"different: orders {BIGGEST}"
    ),
    "UPDATE mailing_list_entries SET copies = 7 WHERE subscription_id = 9": (
        "different: mailing_list_entries 81/9"
    ),
}
ANSWER = "INSERT INTO custom_fields (subscriber_id, field_id, type, allow_other) VALUES "
VALUE = "INSERT INTO custom_field_values (subscriber_id, field_id, position, option_id) VALUES "
ITEM = (
    "INSERT INTO order_items (order_id, order_item_id, sub_total, tax_total, grand_total) VALUES "
)
ENTRY = (
    "INSERT INTO mailing_list_entries (mailing_list_id, subscription_id, is_grace, is_paid) VALUES "
)
ADDED = {
    ANSWER + "(4, 1, 'text', false)": "extra: custom_fields 4",
    ANSWER + "(2, 7, 'text', false)": "different: custom_fields 2",
    VALUE + "(5, 1, 0, 11)": "extra: custom_fields 5",
    VALUE + "(3, 7, 0, 11)": "different: custom_fields 3",
    (
        "INSERT INTO subscriptions (subscription_id, subscriber_id, publication_id, "
        "renew_campaign_active) VALUES (33, 1, 11, false)"
    ): "extra: subscriptions 33",
    "INSERT INTO subscribers (subscriber_id) VALUES (6)": "extra: subscribers 6",
    "INSERT INTO addresses (address_id, subscriber_id, verified) VALUES (23, 1, true)": (
        "extra: addresses 23"
    ),
    "INSERT INTO purchases (purchase_id, subscriber_id, is_gift) VALUES (63, 1, false)": (
        "extra: purchases 63"
    ),
    "INSERT INTO list_downloads (mailing_list_id, is_gap) VALUES (83, true)": (
        "extra: list_downloads 83"
    ),
    (
        "INSERT INTO orders (order_id, subscriber_id, is_gift, sub_total, tax_total, grand_total) "
        "VALUES (73, 1, false, 0, 0, 0)"
    ): "extra: orders 73",
    ITEM + "(71, 1, 0, 0, 0)": "different: orders 71",
    ITEM + "(74, 1, 0, 0, 0)": "extra: orders 74",
    ENTRY + "(82, 31, false, true)": "extra: mailing_list_entries 82/31",
    ENTRY + "(99, 31, false, true)": "extra: mailing_list_entries 99/31",
}


@pytest.mark.parametrize("damage", [MISSING, CHANGED, ADDED], ids=["missing", "changed", "added"])
def test_each_damage_is_named_by_table_and_id(
    golden: Publisher, kept: Kept, damage: dict[str, str]
) -> None:
    """decisions, "Digest"."""
    kept.update(golden)
    kept.run(*damage)
    assert sorted(kept.differences(golden)) == sorted(set(damage.values()))


@pytest.mark.parametrize("number", range(len(MISSING | CHANGED | ADDED)))
@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    "new_kept", ["sqlite", pytest.param("postgresql", marks=ONLY_EVERY)], indirect=True
)
def test_each_damage_alone_is_enough(golden: Publisher, kept: Kept, number: int) -> None:
    """decisions, "Digest": a copy with one fault is not complete.

    In the long form, test_repair names each third damage of a copy on PostgreSQL.
    """
    statement, named = list((MISSING | CHANGED | ADDED).items())[number]
    kept.update(golden)
    kept.run(statement)
    assert kept.differences(golden) == [named]


DAMAGED = {
    "integer": "4711",
    "text": "'damaged'",
    "date": "'2001-01-01'",
    "time": "'2001-01-01 01:01:01'",
    "double": "47.11",
    "decimal": "'47.11'",
}


@pytest.mark.parametrize(
    "new_kept", [*KINDS, "duckdb", pytest.param("parquet", marks=ONLY_EVERY)], indirect=True
)
def test_each_column_counts(golden: Publisher, kept: Kept) -> None:
    """decisions, "Digest": all but the time of a subscriber's last change.

    A copy in Parquet files is read into DuckDB for this, whose own copies the short form has.
    """
    kept.update(golden)
    copy = open_copy(kept.url)
    for entity in ENTITIES:
        good = digest_of(copy, entity, lambda _count: None).hex()
        for table in entity.tables:
            for column in COLUMNS[table.name].split(", "):
                name, kind = column.split(" ")
                kept.run(*damage_to(kept, table.name, name, kind))
                copy.load_files(always=False)
                damaged = digest_of(copy, entity, lambda _count: None).hex()
                assert (damaged == good) is (name == "modified_date"), f"{table.name}.{name}"
                kept.run(
                    f"DELETE FROM {table.name}", f"INSERT INTO {table.name} SELECT * FROM saved"
                )
                copy.load_files(always=False)
                assert digest_of(copy, entity, lambda _count: None).hex() == good
    copy.close()


def damage_to(kept: Kept, table: str, column: str, kind: str) -> list[str]:
    """Return the statements that keep a table aside and change a value of one of its rows."""
    flipped = f'1 - "{column}"' if kept.kind == "sqlite" else f'NOT "{column}"'
    # The row with the greatest id has all its values.
    first = COLUMNS[table].split(" ")[0]
    greatest = f"{first} = (SELECT max({first}) FROM {table})"
    if table == "custom_fields":
        greatest += f" AND field_id = {BIGGEST}"
    return [
        "DROP TABLE IF EXISTS saved",
        f"CREATE TABLE saved AS SELECT * FROM {table}",
        f'UPDATE {table} SET "{column}" = {DAMAGED.get(kind, flipped)} WHERE {greatest}',
    ]


LIST = "/2/downloadmailinglist/1/"


class Meanwhile:
    """A service whose data change when a test says: just before certain paths are asked."""

    def __init__(self, publisher: Publisher, serve: Serve) -> None:
        self._pass_on = forwarding(publisher.url, "")
        self._changes: dict[str, list[Callable[[], None]]] = {}
        self.publisher = publisher.behind(serve(self._answer).url)

    def before(self, path: str, change: Callable[[], None]) -> None:
        """Make a change just before this path is asked, once."""
        self._changes.setdefault(path, []).append(change)

    def _answer(self, asked: Asked) -> Reply:
        for change in self._changes.pop(asked.path, []):
            change()
        return self._pass_on(asked)


@pytest.fixture
def meanwhile(publisher: Publisher, serve: Serve) -> Meanwhile:
    """A publisher who does not rest."""
    return Meanwhile(publisher, serve)


def everything_changes(publisher: Publisher, name: str) -> None:
    """Change a record of each entity, and add one."""
    publisher.load(
        subscribers=[
            {"subscriber_id": 1, "first_name": name},
            {"subscriber_id": 77, "first_name": name},
        ],
        addresses=[{"address_id": 1, "city": name}],
        subscriptions=[{"subscription_id": 1, "audit_classification": name}],
        orders=[{"order_id": 1, "import_name": name}],
        purchases=[{"purchase_id": 1, "notes": name}],
        list_downloads=[{"mailing_list_id": 2, "name": name}],
        mailing_list_entries=[
            {"mailing_list_id": 1, "subscription_id": 1, "copies": len(name)},
            {"mailing_list_id": 1, "subscription_id": 2, "copies": len(name)},
        ],
        custom_field_answers=[{"subscriber_id": 3, "field_id": 2, "text_value": name}],
        custom_field_options=[{"option_id": 9, "field_id": 1, "value": name}],
    )


def test_a_change_during_the_check_is_not_a_difference(meanwhile: Meanwhile, kept: Kept) -> None:
    """decisions, "Digest"."""
    publisher = meanwhile.publisher
    kept.update(publisher)
    for name, path in (("a", "/digest"), ("bc", "/snapshot"), ("def", LIST)):
        meanwhile.before(path, partial(everything_changes, publisher, name))
    assert kept.differences(publisher) == []
    assert kept.differences(publisher) == []


def test_damage_is_named_while_other_records_change(meanwhile: Meanwhile, kept: Kept) -> None:
    """decisions, "Digest"."""
    publisher = meanwhile.publisher
    kept.update(publisher)
    kept.run(
        "UPDATE addresses SET city = 'damaged'",
        ENTRY + "(2, 2, false, true)",
        "DELETE FROM orders WHERE order_id = 2",
    )
    meanwhile.before("/digest", lambda: everything_changes(publisher, "x"))
    assert kept.differences(publisher) == ["different: addresses 2", "missing: orders 2"]
    # What has changed is mended by now, the entries of a changed list among it.
    assert kept.differences(publisher) == ["different: addresses 2", "missing: orders 2"]


def test_a_pass_need_not_wait_for_it(meanwhile: Meanwhile, kept: Kept) -> None:
    """decisions, "Digest": it compares the copy as it was when it began."""
    publisher = meanwhile.publisher
    kept.update(publisher)
    done: list[int] = []

    def load_and_pass() -> None:
        everything_changes(publisher, "x")
        done.append(kept.update(publisher).records)

    meanwhile.before("/digest", load_and_pass)
    assert kept.differences(publisher) == []
    assert done != [0]


def test_a_copy_begins_with_verifying_too(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    assert kept.differences(publisher) == []
    assert kept.column("SELECT count(*) FROM orders") == [2]


@EACH_COPY
def test_differences_are_corrected_by_loading_everything_again(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: a pass": without its row in ``mirror`` a copy begins again."""
    kept.update(publisher)
    kept.run("DELETE FROM addresses", "INSERT INTO subscribers (subscriber_id) VALUES (9)")
    assert len(kept.differences(publisher)) == 3
    kept.run("DELETE FROM mirror")
    assert kept.differences(publisher) == []


def test_differences_stand_in_order(publisher: Publisher, kept: Kept) -> None:
    kept.update(publisher)
    kept.run("DELETE FROM subscribers", "DELETE FROM mailing_list_entries")
    missing = [Difference("subscribers", "missing", (key,)) for key in (1, 2, 3, 4, 10)]
    entry = Difference("mailing_list_entries", "missing", (1, 1))
    assert kept.verify(publisher).differences == [entry, *missing]


@EACH_COPY
def test_verify_leaves_what_has_no_copy_as_it_is(kept: Kept, tmp_path: Path) -> None:
    """rules, "Exit statuses": a first pass that failed has made its tables alone."""
    with closing(open_copy(kept.url)):
        pass
    before = kept.everything()
    with pytest.raises(BadInput, match="there is no copy"):
        open_copy(kept.url, must_exist=True)
    assert kept.everything() == before
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.db").touch()
    for url in (f"parquet://{tmp_path}/empty", f"sqlite:///{tmp_path}/empty.db"):
        with pytest.raises(BadInput, match="there is no copy at"):
            open_copy(url, must_exist=True)
    assert list((tmp_path / "empty").iterdir()) == []
    assert (tmp_path / "empty.db").stat().st_size == 0
