"""``GET /deletions``, an extension: the ids of records that were removed and are not there now."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.store import open_store
from masthead.store.removing import remove_records
from tests.api.callers import ENTITIES, KEYS, basic, send_raw

if TYPE_CHECKING:
    from tests.api.callers import Caller
    from tests.api.conftest import Publisher, Publishers

PATH = "/deletions"
ALL = ",".join(ENTITIES)
HEADER = "Masthead-Changes-Through"
NOTHING = (
    '{"custom_fields":[],"subscriptions":[],"subscribers":[],"addresses":[],"purchases":[],'
    '"list_downloads":[],"orders":[]}'
)
EVERYTHING_ONCE = (
    '{"custom_fields":[],"subscriptions":["1"],"subscribers":[],"addresses":["1","2"],'
    '"purchases":["2"],"list_downloads":["1"],"orders":["1","2"]}'
)
REMOVED = {
    "subscriptions": [1],
    "purchases": [2],
    "list_downloads": [1],
    "orders": [1, 2],
    "addresses": [1, 2],
}


def ago(**parts: float) -> str:
    """Return a moment before now, in the interface's form."""
    return (datetime.now(UTC) - timedelta(**parts)).isoformat(timespec="seconds")


def remove(publisher: Publisher, **records: list[int]) -> None:
    """Remove records, by table."""
    with closing(open_store(publisher.database)) as store:
        for name, ids in records.items():
            keys = [(number,) for number in ids]
            remove_records(store, int(publisher.account_id), TABLES_BY_NAME[name], keys)


def listed(publisher: Publisher, since: str) -> str:
    """Return the text of all that was removed since a time."""
    return publisher.caller.answer(PATH, changed_since=since, entities=ALL)


def test_every_requested_key_has_the_ids_in_the_form_of_the_wire(publisher: Publisher) -> None:
    """rules, "Records that are gone"."""
    since = publisher.feed.through
    assert listed(publisher, since) == NOTHING
    no_addresses = {"mailing_address_id": None, "billing_address_id": None}
    publisher.load(subscriptions=[{"subscription_id": 2, **no_addresses}])
    remove(publisher, **REMOVED)
    assert listed(publisher, since) == EVERYTHING_ONCE
    later = publisher.caller.ask(PATH, changed_since=since, entities=ALL).headers[HEADER]
    assert listed(publisher, later) == NOTHING


def test_only_what_is_asked_for_is_there(publisher: Publisher) -> None:
    """rules, "`entities`"."""
    since = publisher.feed.through
    remove(publisher, orders=[1], purchases=[1])
    caller = publisher.caller
    answer = caller.answer(PATH, changed_since=since, entities="orders, ADDRESSES,")
    assert answer == '{"orders":["1"],"addresses":[]}'
    for given in ({"entities": "lists"}, {"entities": ","}, {}):
        refusal = caller.refusal(400, PATH, changed_since=since, **given)
        assert "entities" in refusal
    assert "changed_since" in caller.refusal(400, PATH, entities=ALL)
    assert "limit" in caller.refusal(400, PATH, changed_since=since, entities=ALL, limit="1")


def test_a_record_that_is_there_again_is_not_listed(publisher: Publisher) -> None:
    """rules, "Records that are gone": the ids of records that are not there now."""
    since = publisher.feed.through
    remove(publisher, purchases=[1, 2])
    publisher.load(purchases=[{"purchase_id": 1, "subscriber_id": 1}])
    answer = publisher.caller.answer(PATH, changed_since=since, entities="purchases")
    assert answer == '{"purchases":["2"]}'
    assert [row["purchase_id"] for row in publisher.feed.poll()["purchases"]] == ["1"]
    remove(publisher, purchases=[1])
    answer = publisher.caller.answer(PATH, changed_since=since, entities="purchases")
    assert answer == '{"purchases":["2","1"]}'


def test_the_feed_itself_says_nothing_of_a_removed_record(publisher: Publisher) -> None:
    """rules, "Records that are gone": `/2/cdc` stays exactly as it is."""
    remove(publisher, orders=[1, 2])
    assert publisher.feed.poll()["orders"] == []
    assert "order 1" in publisher.caller.refusal(404, "/2/orders/1")


def test_it_says_how_far_it_goes_as_the_feed_does(publisher: Publisher) -> None:
    """rules, "Records that are gone": the header of the feed."""
    since = publisher.feed.through
    for removal in ({"orders": [1]}, {"purchases": [1]}):
        remove(publisher, **removal)
        answer = publisher.caller.ask(PATH, changed_since=since, entities=ALL)
        publisher.feed.poll()
        assert answer.headers[HEADER] == publisher.feed.through
        assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("since", "status"),
    [
        ({"days": 5, "hours": 2}, 410),
        ("2001-01-01T00:00:00Z", 410),
        ({"days": 5}, 200),
        ({"minutes": -4}, 200),
        ({"minutes": -10}, 400),
        ("yesterday", 400),
    ],
)
def test_the_window_is_that_of_the_feed(
    golden: Caller, since: str | dict[str, float], status: int
) -> None:
    """rules, "Records that are gone": with the window and the statuses of the feed."""
    if not isinstance(since, str):
        since = ago(**since)
    for path in (PATH, "/2/cdc"):
        response = golden.ask(path, changed_since=since, entities="orders")
        assert response.status_code == status
        if status != 200:
            assert HEADER not in response.headers
    if status == 410:
        assert "/snapshot" in golden.refusal(410, PATH, changed_since=since, entities="orders")


def test_tenants_see_only_their_own(publishers: Publishers) -> None:
    """rules, "Whose data"."""
    first, second = publishers.new(), publishers.new()
    since = min(first.feed.through, second.feed.through)
    remove(first, orders=[1])
    assert '"orders":["1"]' in listed(first, since)
    assert listed(second, since) == NOTHING


def test_the_response_to_many_removals_is_whole(publisher: Publisher) -> None:
    """decisions, "Long responses": more than one piece of it."""
    ids = range(1_000, 3_500)
    publisher.load(purchases=[{"purchase_id": n, "subscriber_id": 1} for n in ids])
    since = publisher.feed.through
    remove(publisher, purchases=[*ids])
    answer = publisher.caller.read(PATH, changed_since=since, entities="purchases,orders")
    assert answer == {"purchases": [str(n) for n in ids], "orders": []}


def test_head_gives_the_headers_alone(publisher: Publisher) -> None:
    """rules, "Methods"."""
    asked = {"changed_since": publisher.feed.through, "entities": ALL}
    for number in (1, 2):
        whole = publisher.caller.ask(PATH, *asked.items())
        headers = publisher.caller.ask(PATH, *asked.items(), method="HEAD")
        assert (headers.status_code, headers.content) == (200, b"")
        assert headers.headers[HEADER] == whole.headers[HEADER]
        remove(publisher, orders=[number])


def test_a_slash_at_its_end_and_other_methods(golden: Caller) -> None:
    """rules, "Trailing slash"; "Methods"."""
    asked = {"changed_since": ago(days=1), "entities": ALL}
    assert golden.answer(f"{PATH}/", **asked) == golden.answer(PATH, **asked) == NOTHING
    assert golden.ask(PATH, *asked.items(), method="POST").status_code == 405


def test_it_needs_credentials(golden: Caller) -> None:
    """rules, "Missing or malformed credentials"; "Wrong credentials"."""
    for credentials, status in ((b"", 401), (basic("key-golden", "no").encode(), 403)):
        header = b"Authorization: " + credentials + b"\r\n" if credentials else b""
        request = b"GET /deletions?entities=orders HTTP/1.1\r\nHost: a\r\n" + header + b"\r\n"
        assert send_raw(golden.server, request).status == status


def test_the_keys_are_those_of_the_feed(golden: Caller) -> None:
    """rules, "Records that are gone"."""
    assert list(golden.read(PATH, changed_since=ago(days=1), entities=ALL)) == [
        KEYS[entity] for entity in ENTITIES
    ]
