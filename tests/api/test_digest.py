"""``GET /digest``, an extension: held against one computed from the bytes of the snapshot."""

from __future__ import annotations

import json
import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from tests.api.callers import ENTITIES, KEYS, basic, send_raw

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.api.callers import Caller
    from tests.api.conftest import House, Publisher, Publishers

ALL = ",".join(ENTITIES)
HEADER = "Masthead-Changes-Through"
MODIFIED = re.compile(r',"modified_date":(?:null|"[^"]*")\}$')


def records_of(array: str) -> Iterator[str]:
    """Yield the bytes of each record of an array as they stand in the response."""
    at = 1
    while array[at] != "]":
        _, end = json.JSONDecoder().raw_decode(array, at)
        yield array[at:end]
        at = end + (array[end] == ",")


def digests_of(snapshot: str) -> dict[str, dict[str, str]]:
    """Compute what the digest of these records is: a sum of hashes, modulo 2^256."""
    found = {}
    at = 1
    while at < len(snapshot) - 1:
        key, at = json.JSONDecoder().raw_decode(snapshot, at)
        _, end = json.JSONDecoder().raw_decode(snapshot, at + 1)
        records = list(records_of(snapshot[at + 1 : end]))
        if key == "subscribers":
            records = [MODIFIED.sub("}", record) for record in records]
        total = sum(int(sha256(record.encode()).hexdigest(), 16) for record in records)
        digits = f"{total % 2**256:064x}"
        found[key] = {"count": str(len(records)), "digest": digits}
        at = end + 1
    return found


def shown(caller: Caller) -> dict[str, dict[str, str]]:
    """Return the digests that the snapshot has."""
    return digests_of(caller.answer("/snapshot", entities=ALL))


@pytest.mark.parametrize("name", ["golden", "sparse", "empty", "one", "neighbour", "lists"])
def test_it_is_the_sum_of_the_hashes_of_the_snapshots_records(house: House, name: str) -> None:
    """decisions, "Digest"."""
    caller = house.caller(name)
    answer = caller.read("/digest", entities=ALL)
    assert list(answer) == [KEYS[entity] for entity in ENTITIES]
    assert answer == shown(caller)


def test_it_can_be_computed_by_hand(one: Caller) -> None:
    """decisions, "Digest": of a subscriber without ``modified_date``."""
    subscriber = (
        b'{"subscriber_id":"1","renewal_code":"ONE01","email":"one@example.org",'
        b'"password_md5":"5ebe2294ecd0e0f08eab7690d2a6ee69","first_name":"Ona",'
        b'"last_name":"Einer","source":null,"delete_date":null}'
    )
    digest = sha256(subscriber).hexdigest()
    nothing = "0" * 64
    assert one.read("/digest", entities="subscribers,addresses") == {
        "subscribers": {"count": "1", "digest": digest},
        "addresses": {"count": "0", "digest": nothing},
    }


def test_it_counts_no_password_that_is_hidden(hidden: Caller) -> None:
    """decisions, "Passwords"; "Digest": the records as the change feed writes them."""
    answer = hidden.read("/digest", entities=ALL)
    snapshot = hidden.answer("/snapshot", entities="subscribers")
    assert '"password_md5":""' in snapshot
    assert answer["subscribers"] == digests_of(snapshot)["subscribers"]


def test_tenants_have_digests_of_their_own(golden: Caller, neighbour: Caller) -> None:
    """rules, "Whose data"."""
    first, second = (caller.read("/digest", entities=ALL) for caller in (golden, neighbour))
    assert first["subscribers"]["digest"] != second["subscribers"]["digest"]


def test_another_tenants_load_changes_nothing(publishers: Publishers) -> None:
    """rules, "Whose data"."""
    first, second = publishers.new(), publishers.new()
    before = first.caller.ask("/digest", entities=ALL)
    second.load(subscribers=[{"subscriber_id": 1, "first_name": "Elsewhere"}])
    after = first.caller.ask("/digest", entities=ALL)
    assert (after.text, after.headers[HEADER]) == (before.text, before.headers[HEADER])


def test_only_what_is_asked_for_is_there(golden: Caller) -> None:
    """decisions, "Digest"; "`entities`"."""
    assert list(golden.read("/digest", entities="orders, Addresses,")) == ["orders", "addresses"]
    assert "listdownloads" in golden.refusal(400, "/digest", entities="lists")
    assert "entities" in golden.refusal(400, "/digest")
    assert "changed_since" in golden.refusal(400, "/digest", entities=ALL, changed_since="2026")


def test_it_says_how_far_it_goes_as_the_feed_does(publisher: Publisher) -> None:
    """decisions, "Digest": the header is that of the feed."""
    before = publisher.caller.ask("/digest", entities=ALL)
    assert before.headers[HEADER] == publisher.feed.through
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    after = publisher.caller.ask("/digest", entities=ALL)
    publisher.feed.poll()
    assert after.headers[HEADER] == publisher.feed.through
    assert after.headers["Cache-Control"] == "no-store"
    changed = {key for key in KEYS.values() if after.json()[key] != before.json()[key]}
    assert changed == {"addresses"}
    assert publisher.caller.read("/digest", entities=ALL) == shown(publisher.caller)


CHANGES: dict[str, dict[str, Any]] = {
    "subscribers": {"subscriber_id": 1, "first_name": "Renamed"},
    "subscriptions": {"subscription_id": 1, "issues": 11},
    "orders": {"order_id": 1, "import_name": "again"},
    "order_items": {"order_item_id": 1, "refund_date": "2026-11-01 00:00:00"},
    "purchases": {"purchase_id": 1, "notes": "refunded"},
    "list_downloads": {"mailing_list_id": 2, "status": "Complete"},
    "custom_field_answers": {"subscriber_id": 4, "field_id": 2, "text_value": "New"},
}


def test_each_change_changes_it_and_taking_it_back_takes_it_back(publisher: Publisher) -> None:
    """decisions, "Digest": what a record is counts, not when it changed."""
    seen = [publisher.caller.answer("/digest", entities=ALL)]
    for kind, record in CHANGES.items():
        publisher.load(**{kind: [record]})
        seen.append(publisher.caller.answer("/digest", entities=ALL))
    assert len(set(seen)) == 1 + len(CHANGES)
    assert json.loads(seen[-1]) == shown(publisher.caller)
    publisher.load(subscribers=[{"subscriber_id": 10, "last_name": "Another"}])
    publisher.load(subscribers=[{"subscriber_id": 10, "last_name": "Reader"}])
    assert publisher.caller.answer("/digest", entities=ALL) == seen[-1]


def test_head_gives_the_headers_alone(golden: Caller) -> None:
    """rules, "Methods"."""
    headers = golden.ask("/digest", entities=ALL, method="HEAD")
    whole = golden.ask("/digest", entities=ALL)
    assert (headers.status_code, headers.content) == (200, b"")
    assert headers.headers[HEADER] == whole.headers[HEADER]


def test_a_slash_at_its_end_and_other_methods(golden: Caller) -> None:
    """rules, "Trailing slash"; "Methods"."""
    assert golden.read("/digest/", entities=ALL) == golden.read("/digest", entities=ALL)
    assert golden.ask("/digest", entities=ALL, method="POST").status_code == 405


def test_it_needs_credentials(golden: Caller) -> None:
    """rules, "Missing or malformed credentials"; "Wrong credentials"."""
    for credentials, status in ((b"", 401), (basic("key-golden", "no").encode(), 403)):
        header = b"Authorization: " + credentials + b"\r\n" if credentials else b""
        request = b"GET /digest?entities=orders HTTP/1.1\r\nHost: a\r\n" + header + b"\r\n"
        assert send_raw(golden.server, request).status == status


def test_a_long_response_begins_at_once_and_is_json_all_the_same(lists: Caller) -> None:
    """decisions, "Digest"; "Long responses": spaces come while it is being made."""
    response = lists.ask("/digest", entities=ALL)
    assert "Content-Length" not in response.headers
    assert response.json() == shown(lists)
