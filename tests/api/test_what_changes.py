"""Operation 4: what counts as a change, and of which records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.callers import ENTITIES, KEYS, ids
from tests.api.conftest import DATA
from tests.long import SHORT_ON_SQLITE
from tests.servers import import_files, masthead

if TYPE_CHECKING:
    from tests.api.callers import Caller
    from tests.api.conftest import Publisher, Publishers

PATH = "/2/cdc"
HEADER = "Masthead-Changes-Through"
EVERYTHING = ",".join(ENTITIES)


def ago(**parts: float) -> str:
    """Return a moment before now, in the interface's form."""
    return (datetime.now(UTC) - timedelta(**parts)).isoformat(timespec="seconds")


def through(caller: Caller) -> datetime:
    """Return the time that the server hands out."""
    response = caller.ask(PATH, changed_since=ago(days=1), entities="orders")
    assert response.status_code == 200, response.text
    return datetime.fromisoformat(response.headers[HEADER])


def stamp_of(caller: Caller) -> datetime:
    """Return the newest stamp of an account: what the server hands out, less a microsecond."""
    return through(caller) - timedelta(microseconds=1)


# The entities o

CHANGED: dict[str, tuple[str, dict[str, Any]]] = {
    "a subscriber": ("subscribers", {"subscriber_id": 1, "first_name": "Renamed"}),
    "a password": ("subscribers", {"subscriber_id": 1, "password": "another"}),
    "an address": ("addresses", {"address_id": 1, "city": "Elsewhere"}),
    "an address verified": ("addresses", {"address_id": 2, "verified": 1}),
    "a subscription": ("subscriptions", {"subscription_id": 1, "issues": 11}),
    "a subscription's end": ("subscriptions", {"subscription_id": 2, "date_expired": None}),
    "a purchase": ("purchases", {"purchase_id": 1, "notes": "refunded"}),
    "a list download": ("list_downloads", {"mailing_list_id": 2, "status": "Complete"}),
    "an order": ("orders", {"order_id": 1, "import_name": "again"}),
    "an order item": ("order_items", {"order_item_id": 1, "refund_date": "2026-11-01 00:00:00"}),
}
SHOWN = {
    "subscribers": ("subscribers", "subscriber_id"),
    "addresses": ("addresses", "address_id"),
    "subscriptions": ("subscriptions", "subscription_id"),
    "purchases": ("purchases", "purchase_id"),
    "list_downloads": ("list_downloads", "mailing_list_id"),
    "orders": ("orders", "order_id"),
    "order_items": ("orders", "order_id"),
}


@pytest.mark.parametrize("what", CHANGED)
@SHORT_ON_SQLITE
def test_a_change_shows_that_record_and_no_other(feed_of_shared: Publisher, what: str) -> None:
    """interface, operation 4; design: a row counts as changed only where a value differs."""
    kind, record = CHANGED[what]
    key, id_name = SHOWN[kind]
    changes = feed_of_shared.changes(**{kind: [record]})
    assert list(changes) == [key]
    (row,) = changes[key]
    assert row[id_name] == str(next(iter(record.values())))
    assert feed_of_shared.changes(**{kind: [record]}) == {}


def test_a_changed_item_shows_its_order_whole(publisher: Publisher) -> None:
    """design, The change feed: derived wire data counts; decisions: the form of operation 9."""
    changes = publisher.changes(
        order_items=[
            {"order_item_id": 1, "grand_total": "12.50"},
            {"order_item_id": 3, "order_id": 1, "bundle_id": 7, "grand_total": 1},
        ]
    )
    assert list(changes) == ["orders"]
    assert changes["orders"] == [publisher.caller.read("/2/orders/1")]
    assert ids(changes["orders"][0]["order_items"], "order_item_id") == [1, 3]


@pytest.mark.parametrize(
    ("entry", "list_id"),
    [
        ({"mailing_list_id": 1, "subscription_id": 1, "copies": 2}, 1),
        ({"mailing_list_id": 2, "subscription_id": 1, "copies": 1}, 2),
    ],
    ids=["changed", "new"],
)
def test_an_entry_sends_its_list_download_again(
    publisher: Publisher, entry: dict[str, Any], list_id: int
) -> None:
    """rules, "A mailing list's entries": who keeps them has to know."""
    changes = publisher.changes(mailing_list_entries=[entry])
    assert list(changes) == ["list_downloads"]
    assert ids(changes["list_downloads"], "mailing_list_id") == [list_id]
    assert publisher.changes(mailing_list_entries=[entry]) == {}


def test_a_renamed_field_changes_every_record(publisher: Publisher) -> None:
    """rules, "Change feed": every record that shows it; nothing old is remembered."""
    before = publisher.caller.read("/2/customfields/1")
    changes = publisher.changes(custom_fields=[{"field_id": 2, "display_as": "Your motto"}])
    assert before != publisher.caller.read("/2/customfields/1")
    assert list(changes) == ["custom_fields"]
    assert ids(changes["custom_fields"], "subscriber_id") == [1, 2, 3, 4, 10]
    for record in changes["custom_fields"]:
        assert record["custom_fields"][1]["display_as"] == "Your motto"
        subscriber_id = record["subscriber_id"]
        answers = publisher.caller.read(f"/2/customfields/{subscriber_id}")
        assert record["custom_fields"] == answers


def test_a_renamed_option_changes_the_records_that_show_it(publisher: Publisher) -> None:
    """rules, "Change feed": a change of an option is a change of those who show it."""
    changes = publisher.changes(custom_field_options=[{"option_id": 2, "display_as": "Navy"}])
    assert list(changes) == ["custom_fields"]
    assert ids(changes["custom_fields"], "subscriber_id") == [2]
    assert changes["custom_fields"][0]["custom_fields"][0]["values"] == [
        {"option_id": "2", "display_as": "Navy", "value": "blue"}
    ]
    shown_by_nobody = [{"option_id": 3, "display_as": "Olive"}]
    assert publisher.changes(custom_field_options=shown_by_nobody) == {}


def test_a_new_field_changes_every_record(publisher: Publisher) -> None:
    """rules, "Change feed": a new field changes all of them."""
    changes = publisher.changes(
        custom_fields=[
            {"field_id": 3, "name": "age", "display_as": "Age", "type": "text", "allow_other": 0}
        ]
    )
    assert list(changes) == ["custom_fields"]
    assert ids(changes["custom_fields"], "subscriber_id") == [1, 2, 3, 4, 10]
    for record in changes["custom_fields"]:
        assert ids(record["custom_fields"], "field_id") == [1, 2, 3]


def test_a_new_option_without_answers_changes_no_record(publisher: Publisher) -> None:
    """rules, "Change feed": every record that shows it."""
    option = {"option_id": 4, "field_id": 1, "value": "grey", "display_as": "Grey", "order": 4}
    assert publisher.changes(custom_field_options=[option]) == {}


def test_an_answer_changes_the_record_of_its_subscriber(publisher: Publisher) -> None:
    """rules, "Change feed", for a new, a changed and an other answer."""
    for answer in (
        {"subscriber_id": 4, "field_id": 2, "text_value": "New"},
        {"subscriber_id": 4, "field_id": 2, "text_value": "Changed"},
        {"subscriber_id": 4, "field_id": 1, "option_ids": [1, 3]},
        {"subscriber_id": 4, "field_id": 1, "option_ids": [3], "text_value": "Mauve"},
    ):
        changes = publisher.changes(custom_field_answers=[answer])
        assert list(changes) == ["custom_fields"]
        assert ids(changes["custom_fields"], "subscriber_id") == [4]
        answers = publisher.caller.read("/2/customfields/4")
        assert changes["custom_fields"][0]["custom_fields"] == answers
        assert publisher.changes(custom_field_answers=[answer]) == {}


def test_a_new_subscriber_has_a_record_of_custom_fields(publisher: Publisher) -> None:
    """rules, "Change feed": every subscriber has a record of custom fields."""
    changes = publisher.changes(subscribers=[{"subscriber_id": 5, "renewal_code": "FED05"}])
    assert set(changes) == {"subscribers", "custom_fields"}
    assert ids(changes["subscribers"], "subscriber_id") == [5]
    (record,) = changes["custom_fields"]
    assert record["subscriber_id"] == "5"
    assert [(e["values"], e["text_value"]) for e in record["custom_fields"]] == [(None, None)] * 2


def test_a_deleted_subscriber_is_a_change(publisher: Publisher) -> None:
    """rules, "Subscriber search": the change feed shows those with a delete_date."""
    changes = publisher.changes(
        subscribers=[{"subscriber_id": 2, "delete_date": "2026-11-19 08:00:00"}]
    )
    assert list(changes) == ["subscribers"]
    assert [row["delete_date"] for row in changes["subscribers"]] == ["2026-11-19 08:00:00"]


def test_the_time_of_a_change_is_that_of_its_commit(publisher: Publisher) -> None:
    """interface, Subscriber: ``modified_date``; decisions: the time in UTC."""
    changes = publisher.changes(subscribers=[{"subscriber_id": 1, "last_name": "Later"}])
    stamp = datetime.fromisoformat(publisher.feed.through) - timedelta(microseconds=1)
    modified = changes["subscribers"][0]["modified_date"]
    assert modified == stamp.strftime("%Y-%m-%d %H:%M:%S")


def test_values_that_the_feed_does_not_show_are_not_a_change(publisher: Publisher) -> None:
    """design: a row counts as changed only where a value differs, derived wire data included."""
    assert (
        publisher.changes(
            publications=[{"publication_id": 1, "name": "Renamed"}],
            issues=[{"issue_id": 1, "name": "Renamed"}],
            subscription_issues=[{"subscription_id": 2, "issue_id": 1}],
        )
        == {}
    )


def test_the_same_load_again_changes_nothing(publisher: Publisher) -> None:
    """design, The change feed: the same load again changes nothing."""
    import_files(DATA / "feed", account_id=publisher.account_id, database=publisher.database)
    assert {key: rows for key, rows in publisher.feed.poll().items() if rows} == {}


def test_handing_back_the_header_loses_and_repeats_nothing(publisher: Publisher) -> None:
    """rules, "Change feed": the time to pass as the next ``changed_since``."""
    seen: list[str] = []
    for number in range(4):
        publisher.load(
            subscribers=[
                {"subscriber_id": 100 + number, "renewal_code": f"NEW{number:02d}"},
                {"subscriber_id": 4, "first_name": f"Name {number}"},
            ]
        )
        rows = publisher.feed.poll()["subscribers"]
        seen += [row["subscriber_id"] for row in rows]
        assert publisher.feed.poll() == {key: [] for key in KEYS.values()}
    assert seen == ["4", "100", "4", "101", "4", "102", "4", "103"]


def test_a_client_that_asks_for_one_entity_misses_no_other_later(publisher: Publisher) -> None:
    """rules, "Change feed"."""
    start = publisher.feed.through
    publisher.load(
        subscribers=[{"subscriber_id": 1, "first_name": "A"}],
        addresses=[{"address_id": 1, "city": "B"}],
    )
    assert ids(publisher.feed.poll(["subscribers"])["subscribers"], "subscriber_id") == [1]
    publisher.feed.through = start
    assert ids(publisher.feed.poll(["addresses"])["addresses"], "address_id") == [1]


def test_hiding_the_digests_changes_every_subscriber(publisher: Publisher) -> None:
    """decisions, "Passwords": setting it changes every subscriber's record."""
    account = ("accounts", "set", publisher.account_id)
    masthead(*account, "--hide-password-md5", database=publisher.database)
    hidden = {key: rows for key, rows in publisher.feed.poll().items() if rows}
    assert list(hidden) == ["subscribers"]
    assert ids(hidden["subscribers"], "subscriber_id") == [1, 2, 3, 4, 10]
    assert {row["password_md5"] for row in hidden["subscribers"]} == {""}
    masthead(*account, "--show-password-md5", database=publisher.database)
    shown = publisher.feed.poll()["subscribers"]
    assert ids(shown, "subscriber_id") == [1, 2, 3, 4, 10]
    assert "" not in {row["password_md5"] for row in shown}


def test_the_load_of_another_tenant_is_not_a_change(publishers: Publishers) -> None:
    """design: lock, stamps and epoch are the account's own."""
    first, second = publishers.new(), publishers.new()
    before = through(first.caller)
    second.load(subscribers=[{"subscriber_id": 1, "first_name": "Elsewhere"}])
    assert through(first.caller) == before
    assert first.feed.poll() == {key: [] for key in KEYS.values()}
