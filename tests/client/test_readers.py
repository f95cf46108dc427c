"""The reader of the feed as a property: the records are the same for any division into pieces."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from masthead.client.readers import FeedReader, ListReader, RecordReader
from masthead.contract.decoding import decoder, read_record
from masthead.contract.encoding import encode
from masthead.contract.operations import ENTITIES
from masthead.contract.shapes import MailingListEntry
from tests.contract.values import wire_records

if TYPE_CHECKING:
    from masthead.contract.operations import Entity

ORDERS = [entity for entity in ENTITIES if entity.name == "orders"]
LISTS = [entity for entity in ENTITIES if entity.name == "listdownloads"]

_json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


class Feed(NamedTuple):
    """An answer, and what was asked for."""

    body: bytes
    entities: list[Entity]


@st.composite
def feeds(draw: st.DrawFn) -> Feed:
    """Draw a response with some entities, with white space and with unrequested members."""
    entities = draw(st.lists(st.sampled_from(ENTITIES), min_size=1, max_size=3, unique=True))
    members = [
        (entity.key, encode(draw(st.lists(wire_records(entity.shape), max_size=2))).decode())
        for entity in entities
    ]
    members += [
        (f"extra {number}", json.dumps(value, ensure_ascii=draw(st.booleans())))
        for number, value in enumerate(draw(st.lists(_json_values, max_size=2)))
    ]
    space = draw(st.sampled_from(["", " ", "\r\n\t"]))
    written = (
        f"{json.dumps(key)}{space}:{space}{value}" for key, value in draw(st.permutations(members))
    )
    text = f"{{{space}" + f"{space},{space}".join(written) + f"{space}}}"
    return Feed(text.encode(), entities)


def pieces_of(body: bytes, cuts: list[int]) -> list[bytes]:
    """Return the body in pieces that end at the cuts, each of them a place in it or beyond."""
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    return [body[start:end] for start, end in pairwise(places)]


def read(pieces: list[bytes], entities: list[Entity]) -> list[Any]:
    """Return the records that a feed's reader gives for the pieces, the end included."""
    return read_by(FeedReader(entities), pieces)


def read_by(reader: RecordReader[Any], pieces: list[bytes]) -> list[Any]:
    """Return the records that a reader gives for the pieces, the end included."""
    records = [record for piece in pieces for record in reader.feed(piece)]
    reader.finish()
    return records


@settings(max_examples=60)
@given(feed=feeds(), cuts=st.lists(st.integers(0, 2**20), max_size=12))
def test_any_split_of_the_bytes_gives_the_same_records(feed: Feed, cuts: list[int]) -> None:
    """interface, operation 4."""
    shapes = {entity.key: entity.shape for entity in feed.entities}
    whole = decoder.decode(feed.body.decode())
    expected: list[Any] = [
        read_record(shapes[key], record)
        for key, records in whole.items()
        if key in shapes
        for record in records
    ]
    assert read(pieces_of(feed.body, cuts), feed.entities) == expected


@settings(max_examples=20)
@given(feed=feeds())
def test_a_split_at_every_byte_gives_the_same_records(feed: Feed) -> None:
    bytes_alone = [bytes([byte]) for byte in feed.body]
    assert read(bytes_alone, feed.entities) == read([feed.body], feed.entities)


@settings(max_examples=60)
@given(feed=feeds(), end=st.integers(0, 2**20), cuts=st.lists(st.integers(0, 2**20), max_size=5))
def test_any_truncation_is_an_error(feed: Feed, end: int, cuts: list[int]) -> None:
    """rules, "Change feed: a broken response"."""
    cut_off = feed.body[: end % len(feed.body)]
    with pytest.raises(ValueError, match="it ends in the middle, or is not JSON"):
        read(pieces_of(cut_off, cuts), feed.entities)


def test_a_truncation_within_a_character_is_an_error() -> None:
    with pytest.raises(ValueError, match="it ends in the middle, or is not JSON"):
        read(['{"list_downloads":[{"name":"é'.encode()[:-1]], LISTS)


@settings(max_examples=60)
@given(feed=feeds(), more=st.binary(min_size=1, max_size=5), cut=st.integers(0, 2**20))
def test_only_white_space_may_follow_the_end(feed: Feed, more: bytes, cut: int) -> None:
    pieces = pieces_of(feed.body + more, [cut])
    if more.strip(b" \t\r\n"):
        with pytest.raises(ValueError, match=r"something follows its end|codec can't decode"):
            read(pieces, feed.entities)
    else:
        assert read(pieces, feed.entities) == read([feed.body], feed.entities)


def test_records_come_out_as_soon_as_they_are_whole() -> None:
    reader = FeedReader(LISTS)
    assert not list(reader.feed(b'{"list_downloads":[{"mailing_list_id":"1"'))
    assert [id_of(record) for record in reader.feed(b'},{"mailing_list_id":"2"}')] == [1, 2]
    assert not list(reader.feed(b"]}"))
    reader.finish()


def id_of(record: Any) -> int:
    """Return the id of a list download."""
    number: int = record.mailing_list_id
    return number


@pytest.mark.parametrize(
    "body",
    [
        '{"list_downloads":[]}',
        ' { "list_downloads" : [ ] } \n',
        '\ufeff{"list_downloads":[]}',
        '{"list_downloads":null}',
        '{"count":12,"ok":true,"rate":1.5e3,"next":null,"note":"]}","list_downloads":[]}',
        '{"orders":[{"no":"order"},7,"x",[]],"list_downloads":[]}',
    ],
)
def test_what_is_read_as_no_records(body: str) -> None:
    """rules, "Client: reading generously"."""
    for pieces in ([body.encode()], [bytes([byte]) for byte in body.encode()]):
        assert read(pieces, LISTS) == []


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("", "it ends in the middle, or is not JSON"),
        ("[]", "it is not a JSON object"),
        ("<html>", "it is not a JSON object"),
        ("{}", "there is no 'orders' in it"),
        ('{"error":"no"}', "there is no 'orders' in it"),
        ('{"orders":{}}', "'orders' is not a JSON array"),
        ('{"orders":7}', "'orders' is not a JSON array"),
        ('{"orders":[7]}', "Order: not a JSON object"),
        ('{"orders":[null]}', "Order: not a JSON object"),
        ('{"orders":[]]', "it is not JSON"),
        ('{"orders":[],}', "it is not JSON"),
        ('{"orders" []}', "it is not JSON"),
        ('{["orders"]:[]}', "it is not JSON"),
        ('{"orders":[]}{}', "something follows its end"),
        ('{"orders":[],"more":NaN}', "NaN is not JSON"),
        ('{"orders":[' + "[" * 100_000 + "]", "it is nested too deeply"),
    ],
)
def test_what_is_no_answer_of_the_feed_is_said_in_a_sentence(body: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole sentence is compared
        read([body.encode()], ORDERS)
    assert str(caught.value) == sentence


def test_a_record_without_an_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory stays flat for any bytes."""
    monkeypatch.setattr("masthead.client.readers.RECORD_CHARACTERS_MAX", 1_000)
    reader = FeedReader(ORDERS)
    assert not list(reader.feed(b'{"orders":[{"import_name":"'))
    with pytest.raises(ValueError, match="no record ends within 1000 characters"):
        list(reader.feed(b"x" * 1_001))


@settings(max_examples=60)
@given(
    entries=st.lists(st.builds(dict, subscription_id=st.integers(1, 9), type=st.text(max_size=3))),
    cuts=st.lists(st.integers(0, 2**20), max_size=12),
    space=st.text(" \t\r\n", max_size=2),
)
def test_any_split_of_a_list_gives_its_records(
    entries: list[dict[str, Any]], cuts: list[int], space: str
) -> None:
    """interface, operation 10."""
    body = (space + json.dumps(entries) + space).encode()
    found = read_by(ListReader(MailingListEntry), pieces_of(body, cuts))
    assert found == [read_record(MailingListEntry, entry) for entry in entries]


@settings(max_examples=60)
@given(count=st.integers(0, 3), end=st.integers(0, 2**20))
def test_any_truncation_of_a_list_is_an_error(count: int, end: int) -> None:
    body = json.dumps([{"subscription_id": 1}] * count).encode()
    with pytest.raises(ValueError, match="it ends in the middle, or is not JSON"):
        read_by(ListReader(MailingListEntry), [body[: end % len(body)]])


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ("", "it ends in the middle, or is not JSON"),
        ("{}", "the response is not a JSON array"),
        ("null", "the response is not a JSON array"),
        ("[1]", "MailingListEntry: not a JSON object"),
        ('[{"subscription_id":1}', "it ends in the middle, or is not JSON"),
        ('[{"subscription_id":1};', "it is not JSON"),
        ("[]]", "something follows its end"),
    ],
)
def test_a_missing_list_is_reported_in_a_sentence(body: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the whole sentence is compared
        read_by(ListReader(MailingListEntry), [body.encode()])
    assert str(caught.value) == sentence
