"""The change feed and the snapshot: read once, in flat memory, and whole or an error."""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
import tracemalloc
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from masthead import AsyncClient, Client
from masthead.client import ALL_ENTITIES
from masthead.contract.shapes import ListDownload
from masthead.errors import BadInput, ServiceError, ServiceUnreachable, TooOld, UnexpectedResponse
from tests.client.service import Asked, Reply, Serve, in_turn, refused
from tests.long import ONLY_LONG

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.client.flavours import Connect

LISTS = ["listdownloads"]
THROUGH = {"Masthead-Changes-Through": "2026-11-21T10:00:00.123456+00:00"}
COMPRESS: dict[str, Callable[[bytes], bytes]] = {"gzip": gzip.compress, "zstd": zstd.compress}
FLAT_BYTES_MAX = 8_000_000


def feed(*ids: int) -> str:
    """Return an answer with list downloads."""
    return json.dumps({"list_downloads": [{"mailing_list_id": str(number)} for number in ids]})


def ids(records: Any) -> list[int]:
    """Return the ids of list downloads."""
    return [record.mailing_list_id for record in records]


def test_the_header_is_the_time_to_ask_for_next(golden: Client) -> None:
    """decisions, "Change feed: the next time"; rules, "Change feed: idle accounts"."""
    snapshot = golden.snapshot()
    assert not snapshot.is_date
    assert len(list(snapshot)) > 20
    following = golden.changes(snapshot.through)
    assert list(following) == []
    assert following.through == snapshot.through


def test_a_time_may_be_a_datetime_of_any_zone(connect: Connect, serve: Serve) -> None:
    """interface, operation 4: ``YYYY-MM-DDThh:mm:ss+hh:mm``."""
    service = serve(in_turn(Reply(feed())))
    in_delhi = datetime.fromisoformat("2026-11-21T05:00:00.999999+05:30")
    list(connect(service.url).changes(in_delhi, LISTS))
    assert service.asked[0].path == "/2/cdc"
    assert service.asked[0].parameters == {
        "changed_since": "2026-11-20T23:30:00+00:00",
        "entities": "listdownloads",
    }


def test_all_entities_are_asked_for_unless_some_are_named(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(Reply("{}")))
    client = connect(service.url)
    client.changes("2026-11-21T00:00:00Z").close()
    client.snapshot(iter(["orders", "addresses"])).close()
    assert [asked.parameters["entities"] for asked in service.asked] == [
        ",".join(ALL_ENTITIES),
        "orders,addresses",
    ]


def test_what_cannot_be_asked_is_refused(golden: Client) -> None:
    with pytest.raises(BadInput, match="a time without a zone"):
        golden.changes(datetime.fromisoformat("2026-11-21T00:00:00"))
    with pytest.raises(BadInput, match="there is no 'invoices'; the names are customfields, "):
        golden.snapshot(["orders", "invoices"])
    with pytest.raises(BadInput, match="name at least one of customfields, "):
        golden.snapshot([])


def test_changes_from_too_long_ago_are_gone(golden: Client) -> None:
    """rules, "Change feed: window"."""
    with pytest.raises(TooOld, match=r"/2/cdc: 410: .*snapshot") as caught:
        golden.changes(datetime.now(UTC) - timedelta(days=6))
    assert caught.value.status == 410


def test_gone_means_too_old_only_of_the_feed(connect: Connect, serve: Serve) -> None:
    client = connect(serve(in_turn(refused(410))).url)
    with pytest.raises(ServiceError) as caught:
        client.get_order(1)
    assert not isinstance(caught.value, TooOld)


def test_without_the_header_the_date_counts(connect: Connect, serve: Serve) -> None:
    """rules, "Client: reading generously"."""
    date = {"Date": "Sat, 21 Nov 2026 10:00:00 GMT"}
    service = serve(in_turn(Reply(feed(1), headers=date)))
    changes = connect(service.url).changes("2026-11-21T00:00:00Z", LISTS)
    assert changes.is_date
    assert changes.through == "2026-11-21T10:00:00+00:00"
    assert ids(changes) == [1]


@pytest.mark.parametrize("date", ["", "yesterday"])
def test_without_any_time_there_is_nothing_to_go_on_from(
    connect: Connect, serve: Serve, date: str
) -> None:
    service = serve(in_turn(Reply(feed(1), headers={"Date": date})))
    with pytest.raises(UnexpectedResponse) as caught:
        connect(service.url).changes("2026-11-21T00:00:00Z", LISTS)
    assert str(caught.value) == (
        "/2/cdc: it has neither a header Masthead-Changes-Through nor a Date"
    )


def test_a_service_without_a_snapshot(connect: Connect, serve: Serve) -> None:
    """The snapshot is an extension of Masthead."""
    with pytest.raises(ServiceError) as caught:
        connect(serve(in_turn(refused(404))).url).snapshot()
    assert caught.value.status == 404


@pytest.mark.parametrize("is_in_chunks", [True, False])
@pytest.mark.parametrize("characters", [0, 1, 40])
def test_an_answer_that_breaks_off_is_an_error(
    connect: Connect, serve: Serve, characters: int, is_in_chunks: bool
) -> None:
    """rules, "Change feed: a broken response"."""
    body = feed(1, 2, 3).encode()[: -characters or None]
    answer = Reply([body] if is_in_chunks else body, headers=THROUGH, is_cut=True)
    changes = connect(serve(in_turn(answer)).url).changes("2026-11-21T00:00:00Z", LISTS)
    with pytest.raises(ServiceUnreachable, match="/2/cdc: no complete response: "):
        list(changes)


def test_a_broken_answer_stays_broken(connect: Connect, serve: Serve) -> None:
    """A client that continues after the failure must not get an empty rest."""
    answer = Reply(feed(1, 2).encode()[:-1], headers=THROUGH, is_cut=True)
    changes = connect(serve(in_turn(answer)).url).changes("2026-11-21T00:00:00Z", LISTS)
    for _ in range(2):
        with pytest.raises(ServiceUnreachable):
            list(changes)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (feed(1)[:-1], "/2/cdc: it ends in the middle, or is not JSON"),
        ("{}", "/2/cdc: there is no 'list_downloads' in it"),
        ("<html>", "/2/cdc: it is not a JSON object"),
        (b'{"list_downloads":[]}\xff', "/2/cdc: the response is not JSON"),
        (
            feed(1)[:-2] + ',{"mailing_list_id":"2","is_gap":"x"}]}',
            (
                "/2/cdc: ListDownload with mailing_list_id 2: is_gap is not what the interface "
                'says: "0" or "1"'
            ),
        ),
    ],
)
def test_an_answer_of_another_form_is_an_error(
    connect: Connect, serve: Serve, body: str | bytes, sentence: str
) -> None:
    service = serve(in_turn(Reply(body, headers=THROUGH)))
    with pytest.raises(UnexpectedResponse) as caught:
        list(connect(service.url).changes("2026-11-21T00:00:00Z", LISTS))
    assert str(caught.value) == sentence
    assert caught.value.status == 200


def test_records_come_while_the_answer_still_does(connect: Connect, serve: Serve) -> None:
    """The first are there long before the last is made."""
    made: list[int] = []

    def pieces() -> Iterator[bytes]:
        yield b'{"list_downloads":[{"mailing_list_id":"1"}'
        for number in range(2, 2_000):
            made.append(number)
            yield b',{"mailing_list_id":"%d","name":"%b"}' % (number, b"x" * 50_000)
        yield b"]}"

    service = serve(lambda _asked: Reply(pieces(), headers=THROUGH))
    changes = connect(service.url).changes("2026-11-21T00:00:00Z", LISTS)
    first = next(iter(changes))
    assert isinstance(first, ListDownload)
    assert first.mailing_list_id == 1
    assert len(made) < 1_000
    changes.close()


def test_an_answer_that_is_left_gives_its_connection_back(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(Reply(feed(1, 2), headers=THROUGH), Reply()))
    client = connect(service.url)
    with client.changes("2026-11-21T00:00:00Z", LISTS) as changes:
        assert ids([next(iter(changes))]) == [1]
    assert client.list_accounts() == []


def long_feed(_asked: Asked) -> Reply:
    """Answer with 60 MB of records, made while they are sent."""

    def pieces() -> Iterator[bytes]:
        yield b'{"list_downloads":['
        for number in range(20_000):
            mark = b"," if number else b""
            yield mark + b'{"mailing_list_id":"%d","name":"%b"}' % (number, b"x" * 3_000)
        yield b"]}"

    return Reply(pieces(), headers=THROUGH)


def count_plainly(url: str) -> int:
    """Return how many records there are, none of which is kept."""
    with Client(url, "key", "login") as client:
        return sum(1 for _ in client.snapshot(LISTS))


def count_in_a_coroutine(url: str) -> int:
    """Do the same with the other client."""

    async def count() -> int:
        async with AsyncClient(url, "key", "login") as client:
            return sum([1 async for _ in client.snapshot(LISTS)])

    return asyncio.run(count())


@pytest.mark.parametrize(
    "count", [count_plainly, pytest.param(count_in_a_coroutine, marks=ONLY_LONG)]
)
def test_memory_stays_flat_for_a_feed_of_any_length(serve: Serve, count: Any) -> None:
    """interface, operation 4: it applies no row limit."""
    service = serve(long_feed)
    tracemalloc.start()
    try:
        assert count(service.url) == 20_000
        assert tracemalloc.get_traced_memory()[1] < FLAT_BYTES_MAX
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("coding", ["gzip", "zstd"])
@pytest.mark.parametrize("left", [0.0, 0.3, 0.9, 1.0])
def test_a_compressed_answer_is_whole_or_an_error(
    connect: Connect, serve: Serve, coding: str, left: float
) -> None:
    """rules, "Change feed: compression", "Change feed: a broken response"."""
    packed = COMPRESS[coding](feed(*range(5_000)).encode())
    headers = {**THROUGH, "Content-Encoding": coding}
    service = serve(in_turn(Reply(packed[: int(len(packed) * left)], headers=headers)))
    changes = connect(service.url).changes("2026-11-21T00:00:00Z", LISTS)
    assert coding in service.asked[0].headers["accept-encoding"]
    if left == 1.0:
        assert ids(changes) == list(range(5_000))
    else:
        with pytest.raises(ServiceError):
            list(changes)


def test_an_iteration_that_an_exception_ended_does_not_look_complete_when_it_goes_on(
    connect: Connect, serve: Serve
) -> None:
    """rules, "Change feed: a broken response": a timeout of the caller is one too."""

    def tell(_path: str, _record: object) -> None:
        raise RuntimeError

    body = json.dumps({"list_downloads": [{"mailing_list_id": "1"}, {"mailing_list_id": "one"}]})
    client = connect(serve(in_turn(Reply(body, headers=THROUGH))).url)
    client.omit_odd_records(tell)
    changes = client.changes("2026-11-20T10:00:00+00:00", LISTS)
    with pytest.raises(RuntimeError):
        list(changes)
    for _ in range(2):
        with pytest.raises(ServiceError, match="/2/cdc: the response was not read to its end: "):
            list(changes)


def test_an_iterator_that_goes_on_after_an_error_does_not_look_complete(
    connect: Connect, serve: Serve
) -> None:
    """rules, "Change feed: a broken response": nor does one that the caller has kept."""
    feed_cut = Reply([feed(1)[:-2].encode()], headers=THROUGH, is_cut=True)
    entry = b'[{"subscription_id":"1","copies":"1","is_grace":"0","is_paid":"0","type":"Print"},'
    client = connect(serve(in_turn(feed_cut, Reply([entry], is_cut=True), refused(400))).url)
    changes = client.changes("2026-11-20T10:00:00+00:00", LISTS)
    for records in (changes, client.download_mailing_list(7), client.list_subscriptions()):
        following = iter(records)
        for _ in range(3):
            with pytest.raises(ServiceError):
                list(following)
