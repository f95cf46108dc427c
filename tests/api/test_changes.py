"""Operation 4: what counts as a change, and which time a client may name."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.callers import ENTITIES, KEYS, ids
from tests.api.conftest import DATA
from tests.servers import import_files, masthead

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api.callers import Caller
    from tests.api.conftest import House, Publisher, Publishers

PATH = "/2/cdc"
HEADER = "Masthead-Changes-Through"
THROUGH = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00")
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


# The entities of one answer


@pytest.mark.parametrize("path", ["/2/cdc", "/2/cdc/"])
def test_every_requested_key_is_present(golden: Caller, path: str) -> None:
    """decisions, "Change feed", an empty array where nothing changed."""
    soon = (datetime.now(UTC) + timedelta(minutes=3)).isoformat(timespec="seconds")
    content = golden.read(path, changed_since=soon, entities=EVERYTHING)
    assert content == {key: [] for key in KEYS.values()}


@pytest.mark.parametrize("entity", ENTITIES)
def test_no_other_key_is_present(golden: Caller, entity: str) -> None:
    """interface, operation 4; decisions, "Change feed": orders and purchases under their names."""
    assert list(golden.read(PATH, changed_since=ago(days=1), entities=entity)) == [KEYS[entity]]


@pytest.mark.parametrize(
    "entities",
    [
        "customfields, subscriptions, ",
        "customfields,subscriptions,",
        " customfields ,  subscriptions",
        "customfields,,subscriptions",
        ",customfields,subscriptions",
        "subscriptions,customfields,subscriptions",
        "CustomFields,SUBSCRIPTIONS",
    ],
)
def test_spaces_commas_repeats_and_letter_case_do_not_matter(golden: Caller, entities: str) -> None:
    """decisions, "entities" and "Booleans": enumerations in any letter case."""
    since = ago(days=1)
    wanted = golden.read(PATH, changed_since=since, entities="customfields,subscriptions")
    assert set(wanted) == {"custom_fields", "subscriptions"}
    assert golden.read(PATH, changed_since=since, entities=entities) == wanted


@pytest.mark.parametrize("entities", ["custom_fields", "subscriptions,people", "orders;purchases"])
def test_an_unknown_entity_is_refused_with_the_known_ones(golden: Caller, entities: str) -> None:
    """decisions, "entities": 400 that lists the valid ones."""
    sentence = golden.refusal(400, PATH, changed_since=ago(days=1), entities=entities)
    for entity in ENTITIES:
        assert entity in sentence


@pytest.mark.parametrize("entities", ["", ",", " , "])
def test_no_entity_at_all_is_refused(golden: Caller, entities: str) -> None:
    """interface, operation 4: entities are required."""
    assert "entities" in golden.refusal(400, PATH, changed_since=ago(days=1), entities=entities)


def test_a_missing_parameter_is_named_in_the_documented_words(golden: Caller) -> None:
    """decisions, "Error body"."""
    assert golden.refusal(400, PATH, entities="orders") == "{changed_since} is a required field"
    sentence = golden.refusal(400, PATH, changed_since=ago(days=1))
    assert sentence == "{entities} is a required field"


def test_parameters_may_come_in_a_body(golden: Caller) -> None:
    """decisions, "Where parameters travel"."""
    content = {"changed_since": ago(days=1), "entities": "orders, addresses"}
    wanted = golden.answer(PATH, **content)
    assert golden.ask_with_body(PATH, content).text == wanted
    assert golden.ask_with_body(PATH, [content]).text == wanted


def test_rows_are_in_order_of_id(lists: Caller) -> None:
    """decisions, "Order of lists"; interface, operation 4: no row limit."""
    content = lists.read(
        PATH, changed_since=ago(days=1), entities="subscriptions,subscribers,customfields"
    )
    numbers = ids(content["subscriptions"], "subscription_id")
    assert numbers == sorted(numbers)
    assert len(numbers) == 228
    everybody = [*range(1, 131), 9223372036854775806]
    assert ids(content["subscribers"], "subscriber_id") == everybody
    assert ids(content["custom_fields"], "subscriber_id") == everybody


def test_deleted_subscribers_are_in_the_feed(people: Caller) -> None:
    """decisions, "Subscriber search": the change feed shows them."""
    rows = people.read(PATH, changed_since=ago(days=1), entities="subscribers")["subscribers"]
    deleted = {row["subscriber_id"]: row["delete_date"] for row in rows if row["delete_date"]}
    assert deleted == {"31": "2024-02-29 00:00:00", "32": "2023-01-01 00:00:00"}


# The header


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("name", ["golden", "empty"])
def test_every_answer_says_through_when_it_goes(house: House, method: str, name: str) -> None:
    """decisions, "Change feed": the header of every 200, in its form."""
    response = house.caller(name).ask(
        PATH, method=method, changed_since=ago(hours=1), entities="orders"
    )
    assert response.status_code == 200
    assert THROUGH.fullmatch(response.headers[HEADER])
    if method == "HEAD":
        assert response.content == b""


def test_the_header_is_the_newest_stamp_and_not_a_clock(golden: Caller) -> None:
    """decisions, "Change feed"; design, The change feed, 4."""
    assert through(golden) == through(golden)
    stamp = stamp_of(golden)
    assert stamp < datetime.now(UTC)
    for moment, found in ((stamp, True), (stamp + timedelta(microseconds=1), False)):
        content = golden.read(
            PATH, changed_since=moment.isoformat(timespec="microseconds"), entities="orders"
        )
        assert bool(content["orders"]) is found


def test_an_error_carries_no_time_to_go_on_from(golden: Caller) -> None:
    """decisions, "Change feed": the header of every 200."""
    response = golden.ask(PATH, changed_since=ago(days=30), entities="orders")
    assert response.status_code == 410
    assert HEADER not in response.headers


# The forms of changed_since


def offset(hours: float) -> timezone:
    """Return a fixed offset from UTC."""
    return timezone(timedelta(hours=hours))


def american(moment: datetime) -> str:
    """Return ``M/D/YYYY h:mm:ss AM``, without leading zeros."""
    hour = moment.hour % 12 or 12
    half = "AM" if moment.hour < 12 else "PM"
    date = f"{moment.month}/{moment.day}/{moment.year}"
    return f"{date} {hour}:{moment.minute:02d}:{moment.second:02d} {half}"


FORMS: dict[str, Callable[[datetime], str]] = {
    "UTC with a colon": lambda m: m.strftime("%Y-%m-%dT%H:%M:%S+00:00"),
    "east of UTC": lambda m: m.astimezone(offset(2)).strftime("%Y-%m-%dT%H:%M:%S+02:00"),
    "west of UTC": lambda m: m.astimezone(offset(-5)).strftime("%Y-%m-%dT%H:%M:%S-05:00"),
    "half an hour": lambda m: m.astimezone(offset(5.5)).strftime("%Y-%m-%dT%H:%M:%S+05:30"),
    "far east": lambda m: m.astimezone(offset(14)).strftime("%Y-%m-%dT%H:%M:%S+14:00"),
    "without a colon": lambda m: m.astimezone(offset(2)).strftime("%Y-%m-%dT%H:%M:%S+0200"),
    "west without a colon": lambda m: m.astimezone(offset(-3.5)).strftime("%Y-%m-%dT%H:%M:%S-0330"),
    "Z": lambda m: m.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "no offset": lambda m: m.strftime("%Y-%m-%dT%H:%M:%S"),
    "a space for the T": lambda m: m.strftime("%Y-%m-%d %H:%M:%S"),
    "a space and Z": lambda m: m.strftime("%Y-%m-%d %H:%M:%SZ"),
    "a space and an offset": lambda m: m.astimezone(offset(2)).strftime("%Y-%m-%d %H:%M:%S+02:00"),
    "tenths": lambda m: m.strftime("%Y-%m-%dT%H:%M:%S.0Z"),
    "thousandths": lambda m: m.strftime("%Y-%m-%dT%H:%M:%S.000+00:00"),
    "millionths": lambda m: m.strftime("%Y-%m-%dT%H:%M:%S.000000+00:00"),
    "finer than a microsecond": lambda m: m.strftime("%Y-%m-%dT%H:%M:%S.000000999Z"),
    "fraction without offset": lambda m: m.strftime("%Y-%m-%dT%H:%M:%S.000"),
    "twelve hours": american,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("way", ["query", "body"])
def test_a_moment_is_read_in_each_form(golden: Caller, form: str, way: str) -> None:
    """decisions, "changed_since in other forms", exact to the second."""

    def count(moment: datetime) -> int:
        content: dict[str, Any] = {"changed_since": FORMS[form](moment), "entities": "orders"}
        if way == "query":
            response = golden.ask(PATH, **content)
        else:
            response = golden.ask_with_body(PATH, content)
        assert response.status_code == 200, response.text
        return len(response.json()["orders"])

    second = stamp_of(golden).replace(microsecond=0)
    assert count(second) == 3
    assert count(second + timedelta(seconds=1)) == 0


def test_a_raw_plus_arrives_as_a_space_and_is_read_as_plus(golden: Caller) -> None:
    """decisions, "+ in changed_since sent unescaped", in the query string and in a form."""
    second = stamp_of(golden).replace(microsecond=0)
    for moment, count in ((second, 3), (second + timedelta(seconds=1), 0)):
        for written in (FORMS["east of UTC"](moment), FORMS["without a colon"](moment)):
            answer = golden.raw(f"/2/cdc?changed_since={written}&entities=orders")
            assert answer.status == 200
            assert answer.body.count(b'"order_id"') == count
            form = f"changed_since={written}&entities=orders"
            assert len(golden.ask_with_form(PATH, form).json()["orders"]) == count


def test_a_fraction_is_exact_to_the_microsecond_and_floored_beyond(golden: Caller) -> None:
    """decisions, "changed_since in other forms": finer than a microsecond is floored."""
    stamp = stamp_of(golden)
    later = stamp + timedelta(microseconds=1)

    def count(written: str) -> int:
        return len(golden.read(PATH, changed_since=written, entities="orders")["orders"])

    assert count(stamp.strftime("%Y-%m-%dT%H:%M:%S.%fZ")) == 3
    assert count(stamp.strftime("%Y-%m-%dT%H:%M:%S.%f999Z")) == 3
    assert count(stamp.strftime("%Y-%m-%dT%H:%M:%S.%f9999999999Z")) == 3
    assert count(later.strftime("%Y-%m-%dT%H:%M:%S.%fZ")) == 0
    assert count(later.strftime("%Y-%m-%d %H:%M:%S.%f")) == 0


@pytest.mark.parametrize("half", ["AM", "PM"])
def test_twelve_is_the_first_hour_of_its_half_of_the_day(golden: Caller, half: str) -> None:
    """decisions, "changed_since in other forms": ``M/D/YYYY h:mm:ss AM`` in UTC."""
    now = datetime.now(UTC)
    minute = (now.minute + 30) % 60  # far from the edge of the window, whatever the time
    moment = now.replace(hour=0 if half == "AM" else 12, minute=minute, second=0, microsecond=0)
    written = f"{now.month}/{now.day}/{now.year} 12:{minute:02d}:00 {half}"
    response = golden.ask(PATH, changed_since=written, entities="orders")
    assert response.status_code == (200 if moment < now else 400)


@pytest.mark.parametrize(
    "written",
    [
        "",
        "now",
        "yesterday",
        "1763596800",
        "{date}",
        "{date}T",
        "{date}T00",
        "{date}T00:00",
        "{compact}T000000Z",
        "{compact}",
        "{week}T00:00:00Z",
        "{date}T24:00:00Z",
        "{date}T23:60:00Z",
        "{date}T00:00:00+24:00",
        "{date}T00:00:00+02:60",
        "{date}T00:00:00+02:00:00",
        "{date}T00:00:00+2",
        "{date}T00:00:00.Z",
        "{date}T00:00:00ZZ",
        "{date}T00:00:00 UTC",
        "{date}T00:00:00Z trailing",
        "{date}_00:00:00Z",
        "2026-02-30T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2025-02-29T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "26-11-20T00:00:00Z",
        "20/11/2026 1:00:00 AM",
        "11/31/2026 1:00:00 AM",
        "11/20/2026 13:00:00 PM",
        "11/20/2026 0:30:00 AM",
        "11/20/2026 1:00:00",
        "11/20/26 1:00:00 AM",
        "11/20/2026 1:00 AM",
        "\u0662\u0660\u0662\u0666-11-20T00:00:00Z",
    ],
)
def test_any_other_form_is_refused(golden: Caller, written: str) -> None:
    """decisions, "changed_since in other forms": anything else is 400."""
    day = datetime.now(UTC) - timedelta(days=1)
    written = written.format(
        date=day.strftime("%Y-%m-%d"),
        compact=day.strftime("%Y%m%d"),
        week=day.strftime("%G-W%V-%u"),
    )
    assert "changed_since" in golden.refusal(400, PATH, changed_since=written, entities="orders")


# The window


def test_the_window_reaches_back_five_days_and_an_hour(golden: Caller) -> None:
    """interface, Limits; decisions, "Change feed": more exactly 5 days and 1 hour."""
    for since in (ago(days=4, hours=23), ago(days=5), ago(days=5, minutes=55)):
        assert golden.ask(PATH, changed_since=since, entities="orders").status_code == 200
    sentence = golden.refusal(410, PATH, changed_since=ago(days=5, minutes=65), entities="orders")
    assert (datetime.now(UTC) - timedelta(days=5)).strftime("%Y-%m-%d") in sentence
    assert "lost" in sentence
    assert "/snapshot?entities=" in sentence


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+14:00", "1970-01-01T00:00:00Z"])
def test_any_time_long_ago_is_gone(golden: Caller, since: str) -> None:
    """decisions, "Change feed": 410."""
    assert golden.refusal(410, PATH, changed_since=since, entities="orders")


def test_a_time_to_come_is_refused_beyond_five_minutes(golden: Caller) -> None:
    """decisions, "Change feed": 400 that gives the server's time."""
    assert golden.ask(PATH, changed_since=ago(minutes=-4), entities="orders").status_code == 200
    for since in (ago(minutes=-6), ago(days=-400), "9999-12-31T23:59:59-14:00"):
        sentence = golden.refusal(400, PATH, changed_since=since, entities="orders")
        assert datetime.now(UTC).strftime("%Y-%m-%d") in sentence


def test_the_snapshot_is_the_feed_without_a_lower_bound(golden: Caller) -> None:
    """decisions, "Change feed": ``GET /snapshot?entities=…``, an extension outside ``/2/``."""
    response = golden.ask("/snapshot", entities=EVERYTHING)
    assert response.status_code == 200
    since = golden.ask(PATH, changed_since=ago(days=1), entities=EVERYTHING)
    assert response.json() == since.json()
    assert response.headers[HEADER] == since.headers[HEADER]
    assert response.headers["Cache-Control"] == "no-store"


# What counts as a change


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


def test_a_renamed_field_changes_every_record(publisher: Publisher) -> None:
    """decisions, "Change feed": every record that shows it."""
    changes = publisher.changes(custom_fields=[{"field_id": 2, "display_as": "Your motto"}])
    assert list(changes) == ["custom_fields"]
    assert ids(changes["custom_fields"], "subscriber_id") == [1, 2, 3, 4, 10]
    for record in changes["custom_fields"]:
        assert record["custom_fields"][1]["display_as"] == "Your motto"
        subscriber_id = record["subscriber_id"]
        answers = publisher.caller.read(f"/2/customfields/{subscriber_id}")
        assert record["custom_fields"] == answers


def test_a_renamed_option_changes_the_records_that_show_it(publisher: Publisher) -> None:
    """decisions, "Change feed": a change of an option is a change of those who show it."""
    changes = publisher.changes(custom_field_options=[{"option_id": 2, "display_as": "Navy"}])
    assert list(changes) == ["custom_fields"]
    assert ids(changes["custom_fields"], "subscriber_id") == [2]
    assert changes["custom_fields"][0]["custom_fields"][0]["values"] == [
        {"option_id": "2", "display_as": "Navy", "value": "blue"}
    ]
    shown_by_nobody = [{"option_id": 3, "display_as": "Olive"}]
    assert publisher.changes(custom_field_options=shown_by_nobody) == {}


def test_a_new_field_changes_every_record(publisher: Publisher) -> None:
    """decisions, "Change feed": a new field changes all of them."""
    changes = publisher.changes(
        custom_fields=[
            {"field_id": 3, "name": "age", "display_as": "Age", "type": "text", "allow_other": 0}
        ]
    )
    assert list(changes) == ["custom_fields"]
    assert ids(changes["custom_fields"], "subscriber_id") == [1, 2, 3, 4, 10]
    for record in changes["custom_fields"]:
        assert ids(record["custom_fields"], "field_id") == [1, 2, 3]


def test_a_new_option_that_nobody_chose_changes_no_record(publisher: Publisher) -> None:
    """decisions, "Change feed": every record that shows it."""
    option = {"option_id": 4, "field_id": 1, "value": "grey", "display_as": "Grey", "order": 4}
    assert publisher.changes(custom_field_options=[option]) == {}


def test_an_answer_changes_the_record_of_its_subscriber(publisher: Publisher) -> None:
    """decisions, "Change feed", for a new, a changed and an other answer."""
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
    """decisions, "Change feed": every subscriber has a record of custom fields."""
    changes = publisher.changes(subscribers=[{"subscriber_id": 5, "renewal_code": "FED05"}])
    assert set(changes) == {"subscribers", "custom_fields"}
    assert ids(changes["subscribers"], "subscriber_id") == [5]
    (record,) = changes["custom_fields"]
    assert record["subscriber_id"] == "5"
    assert [(e["values"], e["text_value"]) for e in record["custom_fields"]] == [(None, None)] * 2


def test_a_deleted_subscriber_is_a_change(publisher: Publisher) -> None:
    """decisions, "Subscriber search": the change feed shows those with a delete_date."""
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


def test_what_no_record_of_the_feed_shows_is_no_change(publisher: Publisher) -> None:
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
    """decisions, "Change feed": the time to pass as the next ``changed_since``."""
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
    """decisions, "Change feed"."""
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


def test_another_tenants_load_is_no_change(publishers: Publishers) -> None:
    """design: lock, stamps and epoch are the account's own."""
    first, second = publishers.new(), publishers.new()
    before = through(first.caller)
    second.load(subscribers=[{"subscriber_id": 1, "first_name": "Elsewhere"}])
    assert through(first.caller) == before
    assert first.feed.poll() == {key: [] for key in KEYS.values()}
