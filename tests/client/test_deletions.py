"""The records that are not there any more: an extension of Masthead, read as the feed is."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from masthead.client import ALL_ENTITIES, Deletion
from masthead.errors import BadInput, ServiceError, ServiceUnreachable, TooOld, UnexpectedResponse
from tests.client.service import Reply, Serve, in_turn, refused

if TYPE_CHECKING:
    from masthead import Client
    from tests.client.flavours import Connect

SINCE = "2026-11-21T00:00:00Z"
THROUGH = {"Masthead-Changes-Through": "2026-11-21T10:00:00.123456+00:00"}


def test_each_record_comes_with_its_entity(neighbour: Client) -> None:
    """rules, "Records that are gone"."""
    deletions = neighbour.deletions(datetime.now(UTC) - timedelta(days=1))
    assert not deletions.is_date
    assert list(deletions) == [Deletion("purchases", 61), Deletion("orders", 71)]
    assert deletions.through == neighbour.snapshot().through
    following = neighbour.deletions(deletions.through)
    assert list(following) == []
    assert following.through == deletions.through


def test_only_the_named_entities_are_asked_for(neighbour: Client) -> None:
    found = neighbour.deletions(datetime.now(UTC) - timedelta(days=1), ["orders", "addresses"])
    assert list(found) == [Deletion("orders", 71)]


def test_what_is_asked(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(Reply("{}", headers=THROUGH)))
    client = connect(service.url)
    in_delhi = datetime.fromisoformat("2026-11-21T05:00:00.999999+05:30")
    client.deletions(in_delhi).close()
    client.deletions(SINCE, iter(["orders"])).close()
    assert [asked.path for asked in service.asked] == ["/deletions"] * 2
    assert [asked.parameters for asked in service.asked] == [
        {"changed_since": "2026-11-20T23:30:00+00:00", "entities": ",".join(ALL_ENTITIES)},
        {"changed_since": SINCE, "entities": "orders"},
    ]


def test_what_cannot_be_asked_is_refused(neighbour: Client) -> None:
    with pytest.raises(BadInput, match="a time without a zone"):
        neighbour.deletions(datetime.fromisoformat("2026-11-21T00:00:00"))
    with pytest.raises(BadInput, match="there is no 'invoices'; the names are customfields, "):
        neighbour.deletions(SINCE, ["orders", "invoices"])


def test_deletions_from_too_long_ago_are_gone(neighbour: Client) -> None:
    """rules, "Change feed: window"."""
    with pytest.raises(TooOld, match=r"/deletions: 410: .*snapshot"):
        neighbour.deletions(datetime.now(UTC) - timedelta(days=6))


def test_a_service_without_deletions(connect: Connect, serve: Serve) -> None:
    with pytest.raises(ServiceError) as caught:
        connect(serve(in_turn(refused(404))).url).deletions(SINCE)
    assert caught.value.status == 404


@pytest.mark.parametrize("is_in_chunks", [True, False])
@pytest.mark.parametrize("characters", [0, 1, 10])
def test_a_response_that_breaks_off_is_an_error(
    connect: Connect, serve: Serve, characters: int, is_in_chunks: bool
) -> None:
    """rules, "Change feed: a broken response": also to whoever goes on after it."""
    body = b'{"orders":["1","2","3"]}'[: -characters or None]
    response = Reply([body] if is_in_chunks else body, headers=THROUGH, is_cut=True)
    deletions = connect(serve(in_turn(response)).url).deletions(SINCE, ["orders"])
    for _ in range(2):
        with pytest.raises(ServiceUnreachable, match="/deletions: no complete response: "):
            list(deletions)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ('{"orders":["1"]', "/deletions: it ends in the middle, or is not JSON"),
        ("{}", "/deletions: there is no 'orders' in it"),
        ("[]", "/deletions: it is not a JSON object"),
        ('{"orders":"1"}', "/deletions: 'orders' is not a JSON array"),
        ('{"orders":["one"]}', "/deletions: orders: one of its values is no id"),
        ('{"orders":[{"order_id":"1"}]}', "/deletions: orders: one of its values is no id"),
        ('{"orders":[null]}', "/deletions: orders: one of its values is no id"),
    ],
)
def test_a_response_of_another_form_is_an_error(
    connect: Connect, serve: Serve, body: str, sentence: str
) -> None:
    service = serve(in_turn(Reply(body, headers=THROUGH)))
    with pytest.raises(UnexpectedResponse) as caught:
        list(connect(service.url).deletions(SINCE, ["orders"]))
    assert str(caught.value) == sentence


def test_unrequested_numbers_and_keys(connect: Connect, serve: Serve) -> None:
    """rules, "Client: reading generously"."""
    service = serve(in_turn(Reply('{"purchases":["9"],"orders":[1, "2"]}', headers=THROUGH)))
    found = connect(service.url).deletions(SINCE, ["orders"])
    assert list(found) == [Deletion("orders", 1), Deletion("orders", 2)]


def test_a_response_that_is_left_gives_its_connection_back(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(Reply('{"orders":["1","2"]}', headers=THROUGH), Reply()))
    client = connect(service.url)
    with client.deletions(SINCE, ["orders"]) as deletions:
        assert next(iter(deletions)) == Deletion("orders", 1)
    assert client.list_accounts() == []
