"""Operation 4: which entities and which time a client may name, and how the response looks."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.callers import ENTITIES, KEYS, ids

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api.callers import Caller
    from tests.api.conftest import House

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


# The entities of one response


@pytest.mark.parametrize("path", ["/2/cdc", "/2/cdc/"])
def test_every_requested_key_is_present(golden: Caller, path: str) -> None:
    """rules, "Change feed", an empty array where nothing changed."""
    soon = (datetime.now(UTC) + timedelta(minutes=3)).isoformat(timespec="seconds")
    content = golden.read(path, changed_since=soon, entities=EVERYTHING)
    assert content == {key: [] for key in KEYS.values()}


@pytest.mark.parametrize("entity", ENTITIES)
def test_no_other_key_is_present(golden: Caller, entity: str) -> None:
    """interface, operation 4; rules, "Change feed": orders and purchases under their names."""
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
    """rules, "entities" and "Booleans": enumerations in any letter case."""
    since = ago(days=1)
    wanted = golden.read(PATH, changed_since=since, entities="customfields,subscriptions")
    assert set(wanted) == {"custom_fields", "subscriptions"}
    assert golden.read(PATH, changed_since=since, entities=entities) == wanted


@pytest.mark.parametrize("entities", ["custom_fields", "subscriptions,people", "orders;purchases"])
def test_an_unknown_entity_is_refused_with_the_known_ones(golden: Caller, entities: str) -> None:
    """rules, "entities": 400 that lists the valid ones."""
    sentence = golden.refusal(400, PATH, changed_since=ago(days=1), entities=entities)
    for entity in ENTITIES:
        assert entity in sentence


@pytest.mark.parametrize("entities", ["", ",", " , "])
def test_no_entity_at_all_is_refused(golden: Caller, entities: str) -> None:
    """interface, operation 4: entities are required."""
    assert "entities" in golden.refusal(400, PATH, changed_since=ago(days=1), entities=entities)


def test_a_missing_parameter_is_named_in_the_documented_words(golden: Caller) -> None:
    """rules, "Error body"."""
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
    """rules, "Subscriber search": the change feed shows them."""
    rows = people.read(PATH, changed_since=ago(days=1), entities="subscribers")["subscribers"]
    deleted = {row["subscriber_id"]: row["delete_date"] for row in rows if row["delete_date"]}
    assert deleted == {"31": "2024-02-29 00:00:00", "32": "2023-01-01 00:00:00"}


# The header


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize("name", ["golden", "empty"])
def test_every_response_says_through_when_it_goes(house: House, method: str, name: str) -> None:
    """rules, "Change feed": the header of every 200, in its form."""
    response = house.caller(name).ask(
        PATH, method=method, changed_since=ago(hours=1), entities="orders"
    )
    assert response.status_code == 200
    assert THROUGH.fullmatch(response.headers[HEADER])
    if method == "HEAD":
        assert response.content == b""


def test_the_header_is_the_newest_stamp_and_not_a_clock(golden: Caller) -> None:
    """rules, "Change feed"; design, The change feed, 4."""
    assert through(golden) == through(golden)
    stamp = stamp_of(golden)
    assert stamp < datetime.now(UTC)
    for moment, found in ((stamp, True), (stamp + timedelta(microseconds=1), False)):
        content = golden.read(
            PATH, changed_since=moment.isoformat(timespec="microseconds"), entities="orders"
        )
        assert bool(content["orders"]) is found


def test_an_error_carries_no_time_to_go_on_from(golden: Caller) -> None:
    """rules, "Change feed": the header of every 200."""
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
    """rules, "changed_since in other forms", exact to the second."""

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
    """rules, "An unescaped + in changed_since", in the query string and in a form."""
    second = stamp_of(golden).replace(microsecond=0)
    for moment, count in ((second, 3), (second + timedelta(seconds=1), 0)):
        for written in (FORMS["east of UTC"](moment), FORMS["without a colon"](moment)):
            answer = golden.raw(f"/2/cdc?changed_since={written}&entities=orders")
            assert answer.status == 200
            assert answer.body.count(b'"order_id"') == count
            form = f"changed_since={written}&entities=orders"
            assert len(golden.ask_with_form(PATH, form).json()["orders"]) == count


def test_a_fraction_is_exact_to_the_microsecond_and_floored_beyond(golden: Caller) -> None:
    """rules, "changed_since in other forms": finer than a microsecond is floored."""
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
    """rules, "changed_since in other forms": ``M/D/YYYY h:mm:ss AM`` in UTC."""
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
    """rules, "changed_since in other forms": anything else is 400."""
    day = datetime.now(UTC) - timedelta(days=1)
    written = written.format(
        date=day.strftime("%Y-%m-%d"),
        compact=day.strftime("%Y%m%d"),
        week=day.strftime("%G-W%V-%u"),
    )
    assert "changed_since" in golden.refusal(400, PATH, changed_since=written, entities="orders")


# The window


def test_the_window_reaches_back_five_days_and_an_hour(golden: Caller) -> None:
    """interface, Limits; rules, "Change feed": more exactly 5 days and 1 hour."""
    for since in (ago(days=4, hours=23), ago(days=5), ago(days=5, minutes=55)):
        assert golden.ask(PATH, changed_since=since, entities="orders").status_code == 200
    sentence = golden.refusal(410, PATH, changed_since=ago(days=5, minutes=65), entities="orders")
    assert (datetime.now(UTC) - timedelta(days=5)).strftime("%Y-%m-%d") in sentence
    assert "lost" in sentence
    assert "/snapshot?entities=" in sentence


@pytest.mark.parametrize("since", ["0001-01-01T00:00:00+14:00", "1970-01-01T00:00:00Z"])
def test_any_time_long_ago_is_gone(golden: Caller, since: str) -> None:
    """rules, "Change feed": 410."""
    assert golden.refusal(410, PATH, changed_since=since, entities="orders")


def test_a_time_to_come_is_refused_beyond_five_minutes(golden: Caller) -> None:
    """rules, "Change feed": 400 that gives the server's time."""
    assert golden.ask(PATH, changed_since=ago(minutes=-4), entities="orders").status_code == 200
    for since in (ago(minutes=-6), ago(days=-400), "9999-12-31T23:59:59-14:00"):
        sentence = golden.refusal(400, PATH, changed_since=since, entities="orders")
        assert datetime.now(UTC).strftime("%Y-%m-%d") in sentence


def test_the_snapshot_is_the_feed_without_a_lower_bound(golden: Caller) -> None:
    """rules, "Change feed": ``GET /snapshot?entities=…``, an extension outside ``/2/``."""
    response = golden.ask("/snapshot", entities=EVERYTHING)
    assert response.status_code == 200
    since = golden.ask(PATH, changed_since=ago(days=1), entities=EVERYTHING)
    assert response.json() == since.json()
    assert response.headers[HEADER] == since.headers[HEADER]
    assert response.headers["Cache-Control"] == "no-store"
