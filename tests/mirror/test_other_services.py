"""A copy of a service that is not Masthead, made and proved by the interface alone."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import BadUsage, ServiceError, ServiceUnreachable
from masthead.mirror import EMPTY, TOO_OLD
from tests.client.service import Reply, Serve, refused, reply
from tests.mirror.other import LONG_AGO, NOW, OtherService, answers, order, subscription
from tests.mirror.test_tables import as_kept, at

if TYPE_CHECKING:
    from tests.mirror.kept import Kept

MINUTE = timedelta(minutes=1)


@pytest.fixture
def other(serve: Serve) -> OtherService:
    """The service, with some records of each kind."""
    return OtherService(serve)


def ids(kept: Kept, table: str) -> list[int]:
    """Return the ids that the copy has."""
    return [row[0] for row in kept.ask(f"SELECT * FROM {table} ORDER BY 1")]


def say_it_was_kept(kept: Kept, ago: timedelta) -> str:
    """Let the last pass of the copy be so long ago, and return when that was."""
    when = (datetime.now(UTC) - ago).isoformat(timespec="seconds")
    kept.run(f"UPDATE mirror SET changed_since = '{when}'")
    return when


def test_a_copy_begins_with_what_the_interface_offers(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: services without a snapshot"."""
    done = kept.update(other)
    assert done.full_load == EMPTY
    assert ids(kept, "subscribers") == [1, 2, 3]
    assert ids(kept, "subscriptions") == [10, 20, 30]
    assert Counter(ids(kept, "custom_fields")) == {1: 2, 2: 2, 3: 2}
    assert [field["field_id"] for field in other.fields] == ids(kept, "custom_field_definitions")
    # What only the feed shows is there as far as that reaches back.
    for table in ("addresses", "orders", "purchases", "list_downloads", "mailing_list_entries"):
        assert ids(kept, table) == [3], table


def test_what_the_copy_lacks_is_said(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: services without a snapshot"."""
    lacking = kept.update(other).state.lacking
    assert lacking
    for word in ("no snapshot", "addresses", "purchases", "list downloads", "orders", "five days"):
        assert word in lacking
    assert "first 100" in lacking
    assert kept.column("SELECT lacking FROM mirror") == [lacking]
    assert kept.update(other).state.lacking == lacking


def test_other_words_for_the_same_are_kept_as_the_interface_has_them(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Client: reading generously"."""
    kept.update(other)
    order = "SELECT order_date, is_gift, sub_total, tax_total, grand_total FROM orders"
    when = at("2026-11-01 10:00:00")
    assert kept.ask(order) == as_kept(kept, [(when, False, 101.16000000000001, 0.0, 101.16)])
    dates = "SELECT DISTINCT type, date_created, date_expired FROM subscriptions"
    created = at("2026-01-01 00:00:00").date()
    assert kept.ask(dates) == as_kept(kept, [("Print", created, None)])
    chosen = "SELECT option_id FROM custom_field_values WHERE subscriber_id = 1 ORDER BY position"
    assert kept.column(chosen) == [2, 1]


def test_lists_show_a_hundred_rows_where_there_are_no_further_pages(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: services without a snapshot"."""
    for number in range(4, 121):
        other.subscriber(number, LONG_AGO)
    other.subscriber(130)
    other.subscriber(131)
    other.put("subscriptions", subscription(1300, 130), LONG_AGO)
    kept.update(other)
    assert ids(kept, "subscribers") == [*range(1, 101), 130, 131]
    assert ids(kept, "subscriptions") == [10, 20, 30, 1300]
    assert kept.differences(other) == []
    # Of whom no list shows, the search tells all the same.
    other.remove("subscribers", 131)
    other.subscriber(130, LONG_AGO, last_name="Unheard of")
    assert kept.differences(other) == ["different: subscribers 130", "extra: subscribers 131"]


def test_all_rows_come_where_there_are_further_pages(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: services without a snapshot"; "Order of lists, and more than 100"."""
    other.pages = True
    for number in range(4, 206):
        other.subscriber(number, LONG_AGO)
    kept.update(other)
    assert ids(kept, "subscribers") == [*range(1, 206)]


def test_the_next_pass_asks_for_five_minutes_before_the_last_answer(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: services without a snapshot"."""
    before = datetime.now(UTC).replace(microsecond=0)
    kept.update(other)
    after = datetime.now(UTC)
    kept.update(other)
    last = next(asked for asked in reversed(other.asked) if asked.path == "/2/cdc")
    text = last.parameters["changed_since"]
    assert before <= datetime.fromisoformat(text) + 5 * MINUTE <= after
    # As the interface writes it: no part of a second.
    assert len(text) == len("YYYY-MM-DDThh:mm:ss+hh:mm")


def test_a_service_that_reads_only_bodies_is_asked_with_bodies(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: services without a snapshot"; "Checker: where parameters travel"."""
    other.reads_bodies = True
    kept.update(other)
    owners = "SELECT subscription_id, subscriber_id FROM subscriptions ORDER BY 1"
    assert kept.ask(owners) == [(10, 1), (20, 2), (30, 3)]
    other.subscriber(1, email="new@example.org")
    assert kept.update(other).full_load is None
    assert kept.column("SELECT email FROM subscribers WHERE subscriber_id = 1") == [
        "new@example.org"
    ]
    assert kept.differences(other) == []


def test_a_copy_may_have_some_entities_alone(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(other, entities=["subscriptions", "subscribers"])
    other.subscriber(4)
    other.put("addresses", {"address_id": 4, "subscriber_id": 4})
    kept.update(other)
    assert ids(kept, "subscribers") == [1, 2, 3, 4]
    assert ids(kept, "subscriptions") == [10, 20, 30]
    for table in ("addresses", "custom_fields", "custom_field_definitions", "orders"):
        assert ids(kept, table) == [], table
    verified = kept.verify(other)
    assert verified.differences == []
    assert list(verified.counts) == ["subscriptions", "subscribers"]
    assert not [asked for asked in other.asked if asked.path.startswith("/2/customfields")]
    with pytest.raises(BadUsage, match="this is a copy of subscriptions, subscribers: take"):
        kept.update(other, entities=["subscribers"])
    with pytest.raises(BadUsage, match="name the entity subscribers too"):
        kept.update(other, entities=["customfields"])


def test_what_changes_arrives(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(other)
    other.subscriber(1, email="new@example.org")
    other.subscriber(4)
    other.put("addresses", {"address_id": 1, "subscriber_id": 1, "city": "Elsewhere"})
    other.put("orders", order(3, 3, order_items=[{"order_item_id": 8, "sub_total": 2}]))
    other.entries[3] = [{"subscription_id": 30, "copies": 7}, {"subscription_id": 20}]
    done = kept.update(other)
    assert done.full_load is None
    assert kept.column("SELECT email FROM subscribers WHERE subscriber_id = 1") == [
        "new@example.org"
    ]
    assert ids(kept, "subscribers") == [1, 2, 3, 4]
    assert ids(kept, "addresses") == [1, 3]
    assert kept.column("SELECT order_item_id FROM order_items") == [8]
    entries = "SELECT subscription_id, copies FROM mailing_list_entries ORDER BY subscription_id"
    assert kept.ask(entries) == [(20, None), (30, 7)]


UNKNOWN_PATHS: dict[str, Reply] = {
    "404": refused(404),
    "401, as some gateways say": refused(401),
    "403, as some gateways say": Reply('{"message": "Missing Authentication Token"}', 403),
    "400": refused(400),
    "a page": Reply("<!doctype html><title>Other</title>"),
    "JSON of another kind": reply({"accounts": []}),
    "a redirect": refused(302, Location="/sign-in"),
}


@pytest.mark.parametrize("how", UNKNOWN_PATHS)
def test_a_service_may_report_a_missing_snapshot_in_any_way(
    other: OtherService, kept: Kept, how: str
) -> None:
    """rules, "Mirror: services without a snapshot"."""
    other.unknown = UNKNOWN_PATHS[how]
    why = "does not allow the" if other.unknown.status in {401, 403} else "has no"
    assert (kept.update(other).state.lacking or "").startswith(f"the service {why} snapshot: ")
    assert ids(kept, "subscribers") == [1, 2, 3]
    verified = kept.verify(other)
    assert verified.differences == []
    assert (verified.not_compared or "").startswith(f"the service {why} digest, ")


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_service_that_only_fails_may_have_a_snapshot(
    other: OtherService, kept: Kept, status: int
) -> None:
    """rules, "Mirror: services without a snapshot": a later pass may get it."""
    other.unknown = refused(status)
    with pytest.raises(ServiceError):
        kept.update(other)
    assert ids(kept, "subscribers") == []


TOO_OLD_ANSWERS: dict[str, Reply | None] = {
    "410": refused(410),
    "400": refused(400, "changed_since must fall within the last 5 days"),
    "500": refused(500),
    "200 with an error in it": reply({"error": "too old"}),
    "what is left of it": None,
}


@pytest.mark.parametrize("how", TOO_OLD_ANSWERS)
def test_after_too_long_the_copy_goes_on_with_what_there_is(
    other: OtherService, kept: Kept, how: str
) -> None:
    """rules, "Mirror: services without a snapshot": the copy is not emptied."""
    other.too_old = TOO_OLD_ANSWERS[how]
    began = kept.update(other).state.lacking
    other.put("orders", order(4, 1), LONG_AGO)
    other.put("orders", order(5, 1))
    other.subscriber(4, LONG_AGO)
    other.subscriber(1, LONG_AGO, email="new@example.org")
    when = say_it_was_kept(kept, timedelta(days=6))
    done = kept.update(other)
    assert done.full_load == TOO_OLD
    assert ids(kept, "orders") == [3, 5]
    assert ids(kept, "subscribers") == [1, 2, 3, 4]
    assert kept.column("SELECT email FROM subscribers ORDER BY subscriber_id")[0].startswith("new")
    lacking = done.state.lacking
    assert lacking
    assert began
    assert lacking.startswith(began)
    assert when in lacking.removeprefix(began)


@pytest.mark.parametrize("refusal", [refused(400), refused(500), refused(503)])
def test_a_refusal_of_a_time_that_is_not_old_is_an_error(
    other: OtherService, kept: Kept, refusal: Reply
) -> None:
    """rules, "Mirror: services without a snapshot"."""
    kept.update(other)
    before = kept.everything()
    say_it_was_kept(kept, timedelta(days=4))
    other.too_old = refusal
    other.window = timedelta(days=1)
    with pytest.raises(ServiceError):
        kept.update(other)
    after = kept.everything()
    assert after.pop("mirror") != before.pop("mirror")
    assert after == before


def test_a_service_that_is_away_is_not_one_that_forgot(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: services without a snapshot"."""
    kept.update(other)
    other.too_old = refused(503)
    say_it_was_kept(kept, timedelta(days=6))
    with pytest.raises(ServiceUnreachable):
        kept.update(other)


def test_what_comes_twice_counts_once_and_the_later_one(other: OtherService, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    item: dict[str, Any] = {"order_item_id": 1, "sub_total": 1}
    twice = order(6, 1, order_items=[item, {**item, "sub_total": 2}])
    other.put("orders", twice)
    asked = answers(1, "first")
    asked["custom_fields"] += answers(1, "second")["custom_fields"]
    other.put("customfields", asked)
    entry = {"subscription_id": 10, "copies": 1}
    other.put("listdownloads", {"mailing_list_id": 6})
    other.entries[6] = [entry, {**entry, "copies": 2}]
    other.fields += [{**other.fields[0], "name": "later"}]
    other.fields[0]["value_options"] *= 2
    other.is_doubled = True
    kept.update(other)
    kept.update(other)
    assert kept.column("SELECT sub_total FROM order_items WHERE order_id = 6") == [2]
    assert kept.column(
        "SELECT text_value FROM custom_fields WHERE subscriber_id = 1 AND field_id = 2"
    ) == ["second"]
    assert kept.column("SELECT copies FROM mailing_list_entries WHERE mailing_list_id = 6") == [2]
    assert kept.column("SELECT name FROM custom_field_definitions ORDER BY field_id") == [
        "later",
        "motto",
    ]
    assert kept.differences(other) == []


def test_a_good_copy_has_no_difference_and_what_cannot_be_told_is_said(
    other: OtherService, kept: Kept
) -> None:
    """decisions, "Digest": else what the interface can show is compared."""
    kept.update(other)
    verified = kept.verify(other)
    assert verified.differences == []
    assert verified.counts == {
        "custom_fields": 3,
        "subscriptions": 3,
        "subscribers": 3,
        "addresses": 1,
        "purchases": 1,
        "list_downloads": 1,
        "orders": 1,
        "mailing_list_entries": 1,
        "custom_field_definitions": 2,
        "custom_field_options": 2,
    }
    assert verified.not_compared
    for word in ("no digest", "addresses", "no snapshot"):
        assert word in verified.not_compared


DAMAGE = {
    "UPDATE subscribers SET email = 'damaged' WHERE subscriber_id = 1": "different: subscribers 1",
    "DELETE FROM subscribers WHERE subscriber_id = 2": "missing: subscribers 2",
    "INSERT INTO subscribers (subscriber_id, email) VALUES (99, 'x@y')": "extra: subscribers 99",
    "UPDATE subscriptions SET issues = 99 WHERE subscription_id = 10": (
        "different: subscriptions 10"
    ),
    "DELETE FROM subscriptions WHERE subscription_id = 20": "missing: subscriptions 20",
    (
        "INSERT INTO subscriptions (subscription_id, subscriber_id, publication_id, "
        "renew_campaign_active) VALUES (21, 2, 5, false)"
    ): "extra: subscriptions 21",
    "DELETE FROM custom_fields WHERE subscriber_id = 2": "missing: custom_fields 2",
    "DELETE FROM custom_field_values WHERE subscriber_id = 1": "different: custom_fields 1",
    "UPDATE addresses SET city = 'damaged' WHERE address_id = 4": "different: addresses 4",
    "DELETE FROM purchases WHERE purchase_id = 4": "missing: purchases 4",
    "UPDATE list_downloads SET name = 'damaged' WHERE mailing_list_id = 4": (
        "different: list_downloads 4"
    ),
    "DELETE FROM order_items WHERE order_id = 4": "different: orders 4",
    (
        "INSERT INTO orders (order_id, subscriber_id, is_gift, sub_total, tax_total, grand_total) "
        "VALUES (99, 1, false, 0, 0, 0)"
    ): "extra: orders 99",
    "UPDATE mailing_list_entries SET copies = 9 WHERE mailing_list_id = 4": (
        "different: mailing_list_entries 4/10"
    ),
}


def test_each_damage_that_the_interface_shows_is_named(other: OtherService, kept: Kept) -> None:
    """decisions, "Digest": else what the interface can show is compared."""
    # Within the reach of the feed, but not of the five minutes that each pass repeats.
    earlier = timedelta(hours=1)
    other.put("addresses", {"address_id": 4, "subscriber_id": 1}, earlier)
    other.put("purchases", {"purchase_id": 4, "subscriber_id": 1}, earlier)
    other.put("listdownloads", {"mailing_list_id": 4}, earlier)
    other.entries[4] = [{"subscription_id": 10, "copies": 1}]
    other.put("orders", order(4, 1), earlier)
    kept.update(other)
    kept.run(*DAMAGE)
    assert sorted(kept.differences(other)) == sorted(DAMAGE.values())


def test_records_that_the_service_no_longer_has_are_named(other: OtherService, kept: Kept) -> None:
    """decisions, "Digest": the change feed does not tell what was removed."""
    other.put("listdownloads", {"mailing_list_id": 4}, timedelta(hours=1))
    other.entries[4] = [{"subscription_id": 10, "copies": 1}]
    kept.update(other)
    other.remove("orders", 3)
    other.remove("subscriptions", 10)
    other.remove("subscribers", 2)
    other.remove("subscriptions", 20)
    del other.entries[4]
    assert sorted(kept.differences(other)) == [
        "extra: mailing_list_entries 4/10",
        "extra: orders 3",
        "extra: subscribers 2",
        "extra: subscriptions 10",
        "extra: subscriptions 20",
    ]


def test_questions_that_a_new_subscriber_did_not_answer_are_not_missing(
    other: OtherService, kept: Kept
) -> None:
    """decisions, "Digest": not every service tells of them in its change feed."""
    kept.update(other)
    other.subscriber(4)
    other.put("customfields", answers(4, ""), LONG_AGO)
    del other.records["customfields"][4]["custom_fields"][1]["values"]
    kept.update(other)
    assert kept.differences(other) == []
    other.put("customfields", answers(4, "Motto"), LONG_AGO)
    assert kept.differences(other) == ["missing: custom_fields 4"]


def test_deleted_subscribers_that_no_list_shows_are_not_extra(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Subscriber search": those with a delete_date are left out."""
    kept.update(other)
    other.subscriber(2, delete_date="2026-11-20 10:00:00")
    kept.update(other)
    other.remove("customfields", 2)
    other.remove("subscriptions", 20)
    assert kept.differences(other) == []


def test_subscriptions_beyond_a_hundred_are_not_called_extra(
    other: OtherService, kept: Kept
) -> None:
    """decisions, "Digest": where the list has no further page, it does not show them."""
    for number in range(1000, 1120):
        other.put("subscriptions", subscription(number, 1), NOW)
    kept.update(other)
    assert len(ids(kept, "subscriptions")) == 3 + 120
    for number in range(1000, 1120):
        other.changed_at["subscriptions", number] -= LONG_AGO
    assert kept.differences(other) == []


def test_a_copy_of_one_service_is_not_gone_on_with_from_another(
    other: OtherService, serve: Serve, kept: Kept
) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(other)
    before = kept.everything()
    another = OtherService(serve)
    with pytest.raises(BadUsage, match=f"this is a copy of {other.url}"):
        kept.update(another)
    assert kept.everything() == before


@pytest.mark.parametrize("new_kept", ["sqlite"], indirect=True)
def test_a_list_that_names_a_subscription_twice_does_not_differ(
    other: OtherService, kept: Kept
) -> None:
    """rules, "Mirror: a pass": the later one counts, in a comparison too."""
    other.entries[3] = [{"subscription_id": 30, "copies": copies} for copies in (1, 2)]
    kept.update(other)
    verified = kept.verify(other)
    assert verified.differences == []
    assert verified.counts["mailing_list_entries"] == 1
    assert kept.column("SELECT copies FROM mailing_list_entries WHERE subscription_id = 30") == [2]
