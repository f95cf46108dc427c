"""Odd records of a service: they are set aside and named, and everything else is copied."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import UnexpectedResponse
from tests.client.service import Asked, Reply, Serve, forwarding, reply
from tests.mirror.conftest import EACH_COPY
from tests.mirror.other import LONG_AGO, OtherService, Record, answers, order, subscription
from tests.mirror.test_command import mirror

if TYPE_CHECKING:
    from pathlib import Path

    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

SET_ASIDE = "SELECT table_name, record_id, field, value, request FROM set_aside ORDER BY 1, 2"
NAMES = "SELECT table_name || ' ' || record_id FROM set_aside ORDER BY 1"

ON_SQLITE = pytest.mark.parametrize("new_kept", ["sqlite"], indirect=True)


@pytest.fixture
def other(serve: Serve) -> OtherService:
    """The service, with some records of each kind."""
    return OtherService(serve)


def purchase(number: int, **values: Any) -> Record:
    """Return a purchase as this service writes it."""
    return {"purchase_id": number, "subscriber_id": 1, "total": 10.5, **values}


@EACH_COPY
def test_an_odd_record_is_set_aside_until_it_is_well_formed(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: records set aside"; decisions, "Odd records of other services"."""
    other.put("purchases", purchase(4, total="12,50"))
    other.put("purchases", purchase(5))
    done = kept.update(other)
    row = ("purchases", "4", "total", '"12,50"', "/2/cdc")
    assert kept.ask(SET_ASIDE) == [row]
    assert kept.column("SELECT purchase_id FROM purchases ORDER BY 1") == [3, 5]
    assert (done.new_aside, done.set_aside) == ([row], 1)
    again = kept.update(other)
    assert (again.new_aside, again.set_aside) == ([], 1)
    verified = kept.verify(other)
    assert (verified.differences, verified.set_aside) == ([], [row])
    other.put("purchases", purchase(4, total="12.50"))
    assert kept.update(other).set_aside == 0
    assert kept.ask(SET_ASIDE) == []
    assert kept.column("SELECT purchase_id FROM purchases ORDER BY 1") == [3, 4, 5]
    assert kept.verify(other).set_aside == []


@EACH_COPY
def test_what_the_database_cannot_hold_is_set_aside(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: records set aside"; "Mirror: amounts in DuckDB and Parquet"."""
    amount = "1" * 21
    other.put("addresses", {"address_id": 7, "subscriber_id": 1, "city": "\ud83d"})
    other.put("addresses", {"address_id": 8, "subscriber_id": "9" * 20})
    other.put("addresses", {"address_id": 9, "subscriber_id": 1, "city": "A\0B"})
    other.put("addresses", {"address_id": "9" * 20, "subscriber_id": 1})
    other.put("orders", order(7, 1, sub_total="1e400"))
    other.put("purchases", purchase(7, total=amount))
    other.put("purchases", purchase(8, total="1e99999999"))
    kept.update(other)
    expected = [
        ("addresses", "7", "city", '"\\ud83d"', "/2/cdc"),
        ("addresses", "8", "subscriber_id", "9" * 20, "/2/cdc"),
        ("addresses", "9" * 20, "address_id", "9" * 20, "/2/cdc"),
        ("orders", "7", "sub_total", '"1E+400"', "/2/cdc"),
        ("purchases", "8", "total", '"1E+99999999"', "/2/cdc"),
    ]
    if kept.kind == "postgresql":
        expected.insert(2, ("addresses", "9", "city", '"A\\u0000B"', "/2/cdc"))
    if kept.kind in {"duckdb", "parquet"}:
        expected.insert(-1, ("purchases", "7", "total", f'"{amount}"', "/2/cdc"))
    assert sorted(kept.ask(SET_ASIDE)) == sorted(expected)
    aside = {(table, key) for table, key, *_ in expected}
    addresses = [str(key) for key in kept.column("SELECT address_id FROM addresses")]
    assert set(addresses) == {"3", "9"} - {key for _, key in aside}
    verified = kept.verify(other)
    assert verified.differences == []
    assert len(verified.set_aside) == len(expected)


@ON_SQLITE
def test_the_row_of_before_stays(other: OtherService, kept: Kept) -> None:
    """decisions, "Odd records of other services"."""
    kept.update(other)
    before = kept.everything()
    other.put("purchases", purchase(3, total="12,50"))
    other.put("orders", order(3, 3, order_items=[{"order_item_id": 8, "sub_total": "2,-"}]))
    odd = answers(3, "Other")
    odd["custom_fields"][0]["type"] = {}
    other.put("customfields", odd)
    other.put("subscriptions", subscription(30, 3, date_created="01.01.2026"))
    other.put("subscribers", {"subscriber_id": 1, "email": [], "renewal_code": "R1"}, LONG_AGO)
    other.entries[3] = [{"subscription_id": 30, "copies": "two"}, {"subscription_id": 10}]
    other.put("listdownloads", {"mailing_list_id": 3, "count": 2, "is_gap": 0})
    other.fields[0]["value_options"][0]["active"] = "perhaps"
    kept.update(other)
    fields = {(table, key): field for table, key, field, *_ in kept.ask(SET_ASIDE)}
    assert fields == {
        ("custom_field_definitions", "1"): "value_options.active",
        ("custom_fields", "3"): "custom_fields.type",
        ("mailing_list_entries", "3/30"): "copies",
        ("orders", "3"): "order_items.sub_total",
        ("purchases", "3"): "total",
        ("subscriptions", "30"): "date_created",
    }
    after = kept.everything()
    entries = after.pop("mailing_list_entries")
    assert [row[:2] for row in entries] == [(3, 10), (3, 30)]
    assert before.pop("mailing_list_entries")[0] in entries
    for table in ("list_downloads", "mirror"):
        del before[table], after[table]
    assert after == before
    verified = kept.verify(other, repair=True)
    assert verified.differences == verified.repaired == []
    # Only a list shows the first subscriber.
    found = {(odd.table_name, odd.record_id): odd.field for odd in verified.set_aside}
    assert found == fields | {("subscribers", "1"): "email"}
    assert kept.everything()["subscribers"] == before["subscribers"]


@ON_SQLITE
def test_lists_that_have_an_odd_record_show_the_others(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: records set aside"; "Mirror: services without a snapshot"."""
    other.subscriber(1, LONG_AGO, email={})
    other.put("subscriptions", subscription(21, 2, issues="few"), LONG_AGO)
    odd = answers(2, "Other")
    odd["custom_fields"][1]["values"][0]["option_id"] = "b"
    other.put("customfields", odd, LONG_AGO)
    kept.update(other)
    assert kept.ask(SET_ASIDE) == [
        ("custom_fields", "2", "custom_fields.values.option_id", '"b"', "/2/customfields/2"),
        ("subscribers", "1", "email", "{}", "/2/subscribers/"),
        ("subscriptions", "21", "issues", '"few"', "/2/subscriptions/"),
    ]
    assert kept.column("SELECT subscriber_id FROM subscribers ORDER BY 1") == [2, 3]
    assert kept.column("SELECT subscription_id FROM subscriptions ORDER BY 1") == [10, 20, 30]
    assert kept.column("SELECT DISTINCT subscriber_id FROM custom_fields ORDER BY 1") == [1, 3]


@ON_SQLITE
def test_pages_of_odd_records_alone_do_not_stop_the_copy(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: records set aside": a service may write a field of each in its own way."""
    other.pages = True
    for number in range(1000, 1300):
        other.subscriber(number, LONG_AGO, email=["several", "addresses"])
    other.subscriber(2000, LONG_AGO)
    assert kept.update(other).set_aside == 300
    assert kept.verify(other).differences == []
    found = kept.column("SELECT subscriber_id FROM subscribers ORDER BY 1")
    assert found == [1, 2, 3, 2000]


@ON_SQLITE
def test_what_a_full_page_with_an_odd_record_does_not_show_is_not_called_extra(
    other: OtherService, kept: Kept
) -> None:
    """decisions, "Digest": where the list has no further page, it does not show them."""
    for number in range(1000, 1120):
        other.put("subscriptions", subscription(number, 1))
    kept.update(other)
    for number in range(1000, 1120):
        other.changed_at["subscriptions", number] -= LONG_AGO
    other.put("subscriptions", subscription(1000, 1, issues="few"), LONG_AGO)
    assert kept.verify(other, repair=True).differences == []
    assert len(kept.column("SELECT subscription_id FROM subscriptions")) == 3 + 120


@ON_SQLITE
def test_a_key_that_is_none_stays_until_a_repair_finds_it_no_more(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: records set aside"."""
    other.put("purchases", purchase(6, purchase_id="A-6"))
    other.put("purchases", {"purchase_id": None, "subscriber_id": 5})
    other.put("purchases", {"purchase_id": "", "subscriber_id": 6})
    kept.update(other)
    found = {key: value for _, key, _, value, _ in kept.ask(SET_ASIDE)}
    assert found["A-6"] == '"A-6"'
    assert len(found) == 3
    assert sum(value.endswith('"subscriber_id": 6}') for value in found.values()) == 1
    for key in ("A-6", None, ""):
        other.remove("purchases", key)  # type: ignore[arg-type] # keys that are none
    assert kept.update(other).set_aside == len(kept.verify(other).set_aside) == 3
    assert kept.verify(other, repair=True).set_aside == []
    assert kept.ask(SET_ASIDE) == []


@ON_SQLITE
def test_a_record_that_was_mended_in_silence_is_missing_until_a_repair(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: records set aside"; "Mirror: repair"."""
    other.put("subscriptions", subscription(21, 2, issues="few"), LONG_AGO)
    kept.update(other)
    assert kept.column(NAMES) == ["subscriptions 21"]
    other.put("subscriptions", subscription(21, 2), LONG_AGO)
    assert kept.differences(other) == ["missing: subscriptions 21"]
    assert kept.verify(other, repair=True).differences == []
    assert kept.column(NAMES) == []
    assert kept.column("SELECT issues FROM subscriptions WHERE subscription_id = 21") == [4]


@ON_SQLITE
def test_an_answer_without_a_list_stops_the_pass(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: records set aside": then nothing is known."""
    other.window = timedelta()
    bodies: list[Any] = [{"purchases": []}, {"purchases": {"purchase_id": 1}}, "no"]
    for body in bodies:
        other.too_old = reply(body)
        with pytest.raises(UnexpectedResponse):
            kept.update(other)
        assert not any(kept.everything().values())


@ON_SQLITE
def test_the_command_names_some_counts_all_and_shows_no_value(
    other: OtherService, kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: records set aside"; decisions, "What is logged"."""
    for number in range(11, 17):
        other.put("purchases", purchase(number, total="12,50"))
    other.put("purchases", purchase(7, purchase_id="reader@example.org"))
    address = (other.url, "--to", kept.url)
    done = mirror(other, *address, "--once", folder=tmp_path)
    made, *named, more = done.stderr.splitlines()
    assert made.endswith(" set_aside=7")
    line = "record='purchases 11' field='total' request='/2/cdc'"
    assert f"level='warning' event='record set aside' {line}" in named[0]
    assert len(named) == 5
    assert more.endswith("event='more records set aside' records=2")
    (again,) = mirror(other, *address, "--once", folder=tmp_path).stderr.splitlines()
    assert again.endswith(" set_aside=7")
    verified = mirror(other, "verify", *address, folder=tmp_path, exit_status=1)
    listed = [line for line in verified.stdout.splitlines() if line.startswith("set aside: ")]
    assert len(listed) == 7
    assert "set aside: purchases 11: total" in listed
    assert "set aside: purchases without a valid id: purchase_id" in listed
    assert verified.stdout.endswith("the copy differs: 7 set aside\n")
    for text in (done.stderr, verified.stdout + verified.stderr):
        assert "12,50" not in text
        assert "reader@" not in text


@ON_SQLITE
def test_unearned_revenue_that_can_be_held_now_is_no_longer_set_aside(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: records set aside"; "Mirror: unearned revenue"."""
    left = "SELECT paid_issues_left FROM unearned_revenue WHERE subscription_id = 30"
    other.put("subscriptions", subscription(30, 3, paid_issues_left="9" * 20))
    kept.update(other, unearned=True)
    assert kept.column(NAMES) == ["unearned_revenue 30"]
    other.put("subscriptions", subscription(30, 3, paid_issues_left=4))
    assert kept.update(other).set_aside == 0
    assert kept.column(left) == [4]


@ON_SQLITE
@pytest.mark.parametrize("is_too_old", [False, True])
@pytest.mark.parametrize("where", ["definition", "value in it", "value in an option"])
def test_the_definition_of_before_stays_with_its_options(
    publisher: Publisher, kept: Kept, where: str, is_too_old: bool, serve: Serve
) -> None:
    """rules, "Mirror: records set aside": after 410 too, even if no other definition is there."""
    fields: list[Record] = [{"field_id": 1, "display_as": "Colour", "value_options": []}]
    fields[0]["value_options"] = [{"option_id": key, "value": "red"} for key in (1, 2)]
    service = forwarding(publisher.url, "")

    def answer(asked: Asked) -> Reply:
        return reply(fields) if asked.path == "/2/customfields/" else service(asked)

    behind = publisher.behind(serve(answer).url)
    tables = ("custom_field_definitions", "custom_field_options")
    kept.update(behind)
    before = kept.ask_all(*(f"SELECT * FROM {table}" for table in tables))
    if where == "value in an option":
        fields[0]["value_options"][0]["value"] = "\ud83d"
    else:
        fields[0]["display_as"] = [] if where == "definition" else "\ud83d"
    if is_too_old:
        kept.run("UPDATE mirror SET changed_since = '2020-01-01T00:00:00+00:00'")
    assert kept.update(behind).set_aside == 1
    assert kept.column(NAMES) == ["custom_field_definitions 1"]
    assert kept.ask_all(*(f"SELECT * FROM {table}" for table in tables)) == before


@ON_SQLITE
def test_a_repair_does_not_forget_a_definition_without_a_valid_id(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: repair": each pass looks for definitions, and the repair does not."""
    other.fields.append({"field_id": "x1", "value_options": []})
    kept.update(other)
    assert [odd.record_id for odd in kept.verify(other, repair=True).set_aside] == ["x1"]
    assert kept.column(NAMES) == ["custom_field_definitions x1"]
