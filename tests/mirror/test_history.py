"""Since when a row of the copy is as it is, and what it was before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadUsage
from masthead.mirror.versions import Versions
from masthead.store import erasing
from tests.mirror.conftest import EACH_COPY
from tests.mirror.kept import TABLES
from tests.mirror.other import LONG_AGO, OtherService

if TYPE_CHECKING:
    from tests.client.service import Serve
    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

SINCE = "SELECT address_id, changed_at FROM addresses ORDER BY address_id"
EARLIER = "SELECT address_id, city, changed_at, ended_at FROM addresses_history ORDER BY changed_at"


class Killed(BaseException):
    """What ends a pass in the tests as a kill does."""


def times_of(kept: Kept) -> dict[int, object]:
    """Return since when each address is as it is."""
    return dict(kept.ask(SINCE))


@EACH_COPY
def test_a_row_says_since_when_it_is_so_and_the_history_what_it_was(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: versions of rows"."""
    kept.update(publisher, history=True)
    (first,) = set(times_of(kept).values())
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    kept.update(publisher)
    second = times_of(kept)[1]
    assert {**times_of(kept), 1: first} == dict.fromkeys(times_of(kept), first)
    publisher.load(addresses=[{"address_id": 1, "city": "Beyond"}])
    kept.update(publisher)
    third = times_of(kept)[1]
    assert kept.column("SELECT city FROM addresses WHERE address_id = 1") == ["Beyond"]
    assert kept.ask(EARLIER) == [(1, "Town", first, second), (1, "Elsewhere", second, third)]
    publisher.remove(orders=[1])
    kept.update(publisher)
    assert kept.column("SELECT order_id FROM orders_history") == [1]
    assert set(kept.column("SELECT order_id FROM order_items_history")) == {1}
    assert kept.differences(publisher) == []


def test_a_record_that_comes_again_as_it_was_leaves_the_time(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: versions of rows": whatever the feed repeats, and after 410 everything."""
    kept.update(publisher, history=True)
    before = times_of(kept)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    publisher.load(addresses=[{"address_id": 1, "city": "Town"}])
    assert kept.update(publisher).records == 1
    kept.run("UPDATE mirror SET changed_since = '2020-01-01T00:00:00+00:00'")
    publisher.load(addresses=[{"address_id": 2, "city": "Elsewhere"}])
    assert kept.update(publisher).full_load
    after = times_of(kept)
    assert after[2] != before[2]
    assert {**after, 2: before[2]} == before
    earlier = {table: kept.column(f"SELECT 1 FROM {table}_history") for table in TABLES}
    assert {table for table, rows in earlier.items() if rows} == {"addresses"}


def test_the_time_of_the_change_alone_is_no_change(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: versions of rows": the feed fills modified_date a moment later."""
    kept.update(publisher, history=True)
    since = "SELECT subscriber_id, changed_at FROM subscribers ORDER BY 1"
    before = kept.ask(since)
    kept.run(
        "UPDATE subscribers SET modified_date = NULL",
        "UPDATE mirror SET changed_since = '2020-01-01T00:00:00+00:00'",
    )
    kept.update(publisher)
    assert kept.ask(since) == before
    assert kept.column("SELECT 1 FROM subscribers_history") == []
    assert None not in kept.column("SELECT modified_date FROM subscribers")


def test_a_killed_pass_leaves_no_part_of_the_history(
    publisher: Publisher, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "The history of a copy": it is written with the rows, so the next pass has it."""
    kept.update(publisher, history=True)
    before, times = kept.everything(), times_of(kept)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    settle = Versions.settle

    def dies(versions: Versions, tables: set[str]) -> set[str]:
        if settle(versions, tables) == {"addresses_history"}:
            raise Killed
        return set()

    with monkeypatch.context() as patched:
        patched.setattr(Versions, "settle", dies)
        with pytest.raises(Killed):
            kept.update(publisher)
    assert (kept.everything(), times_of(kept), kept.ask(EARLIER)) == (before, times, [])
    kept.update(publisher)
    assert kept.ask(EARLIER) == [(1, "Town", times[1], times_of(kept)[1])]


def test_a_clock_that_is_set_back_does_not_set_back_the_times(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: versions of rows": each pass has a later time than the one before."""
    kept.update(publisher, history=True)
    kept.run("UPDATE mirror SET changed_at = '2999-12-31 00:00:00.000000'")
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    kept.update(publisher)
    assert str(times_of(kept)[1]) == "2999-12-31 00:00:00.000001"


def test_a_history_begins_with_the_pass_that_is_asked_for_it(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: versions of rows"."""
    kept.update(publisher)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    kept.update(publisher)
    publisher.load(addresses=[{"address_id": 1, "city": "Beyond"}])
    kept.update(publisher, history=True)
    assert [row[1] for row in kept.ask(EARLIER)] == ["Elsewhere"]


def test_the_history_of_an_erased_person_has_nothing_personal(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: versions of rows"; decisions, "Personal data: erasing"."""
    kept.update(publisher, history=True)
    for word in ("Quill", "Quillon"):
        publisher.load(
            subscribers=[{"subscriber_id": 1, "first_name": word}],
            addresses=[{"address_id": 1, "address": word}],
            orders=[{"order_id": 1, "import_name": word}],
            purchases=[{"purchase_id": 1, "notes": word}],
        )
        kept.update(publisher)
    personal = ("subscribers", "addresses", "orders", "purchases")
    assert all(kept.column(f"SELECT 1 FROM {table}_history") for table in personal)
    erasing.erase(publisher.store, publisher.account_id, 1)
    kept.update(publisher)
    everything = [kept.ask(f"SELECT * FROM {table}_history") for table in TABLES]
    assert "Quill" not in str(everything)
    assert kept.differences(publisher) == []


@pytest.mark.parametrize("new_kept", ["sqlite"], indirect=True)
def test_a_copy_without_subscribers_gets_no_history_of_what_is_personal(
    serve: Serve, kept: Kept
) -> None:
    """rules, "Mirror: versions of rows": nothing in it says who was erased."""
    other = OtherService(serve)
    kept.update(other, entities=["listdownloads", "addresses"])
    with pytest.raises(BadUsage, match="a history of addresses needs the entity subscribers too"):
        kept.update(other, history=True)
    kept.update(other)
    assert (
        kept.ask("SELECT name FROM sqlite_master WHERE name LIKE '%\\_history' ESCAPE '\\'") == []
    )


@pytest.mark.parametrize("new_kept", ["sqlite"], indirect=True)
def test_a_record_that_came_from_another_subscriber_has_no_history_after_an_erasure(
    serve: Serve, kept: Kept
) -> None:
    """rules, "Mirror: versions of rows": a merge moves records. The order of passes is any."""
    other = OtherService(serve)
    # Later passes do not get the subscribers again.
    for number in (1, 2, 3):
        other.subscriber(number, LONG_AGO)
    history = "SELECT subscriber_id, city FROM addresses_history"

    def passes(subscriber_id: int, **address: object) -> None:
        other.put("addresses", {"address_id": 5, "subscriber_id": subscriber_id, **address})
        kept.update(other, history=True)

    passes(2, city="Quill")
    passes(1, city="Quillon")
    assert kept.ask(history) == [(2, "Quill")]
    other.put("subscribers", {"subscriber_id": 1, "delete_date": "2026-11-30 00:00:00"})
    passes(1, verified="perhaps")
    assert kept.ask(history) == []
    other.changed_at["subscribers", 1] -= LONG_AGO
    passes(1)
    assert kept.ask("SELECT city FROM addresses WHERE address_id = 5") == [(None,)]
    assert kept.ask(history) == []
