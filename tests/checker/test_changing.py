"""What changes between two requests is no difference; where parameters travel is found out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

import pytest

from masthead.checker import check
from tests.checker.altering import altered, unaltered
from tests.checker.edits import CDC, each, put, says, searches_refused, without_query
from tests.checker.planted_losses import alone_loses_one, changed_one_by_one
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.checker.altering import Asked, Reply, Send
    from tests.mirror.publisher import Publisher


@ON_SQLITE
def test_a_passing_difference_is_not_a_difference(small: Publisher) -> None:
    """rules, "Checker: what may change meanwhile"."""
    other = says(CDC, each("subscriptions", put(copies="77")))
    times: list[Asked] = []

    def alter(asked: Asked, send: Send) -> Reply:
        if asked.query.get("entities") != "subscriptions" or times[1:]:
            return send(asked)
        times.append(asked)
        return other(asked, send)

    with altered(small.url, alter) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert len(times) == 2
    assert report.findings == []


FIRST_NEW = 8_000_000


def one_more(
    key: str, numbers: Iterator[int], values: Callable[[int], dict[str, object]]
) -> Callable[[dict[str, list[dict[str, object]]]], None]:
    """Let each response of the feed have one record more than the one before."""

    def change(content: dict[str, list[dict[str, object]]]) -> None:
        if records := content.get(key):
            last = next(numbers)
            records += [{**records[0], **values(n)} for n in range(FIRST_NEW, last + 1)]

    return change


@ON_SQLITE
def test_a_service_whose_records_always_change_does_not_differ(small: Publisher) -> None:
    """rules, "Checker: what may change meanwhile"."""
    numbers = count(FIRST_NEW)
    more = one_more("addresses", numbers, lambda number: {"address_id": str(number)})
    with altered(small.url, says(CDC, more)) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert next(numbers) > 8_000_010
    assert report.differences == []


@ON_SQLITE
def test_a_search_for_what_is_no_address_may_be_refused(small: Publisher) -> None:
    """decisions, "Checker: differences and notes"."""
    with altered(small.url, searches_refused) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert report.differences == []
    assert {note.field for note in report.notes} == {"renewal_code"}


@ON_SQLITE
def test_a_service_that_reads_only_bodies_is_asked_with_bodies(small: Publisher) -> None:
    """rules, "Checker: where parameters travel"."""
    with altered(small.url, without_query) as server:
        report = check(server.url, small.key, small.login, 1000)
        assert any(b'"publication_id"' in asked.body for asked in server.asked)
    assert report.differences == []


@ON_SQLITE
@pytest.mark.parametrize("hours", [-12, 0, 14])
def test_any_time_zone_may_be_that_of_modified_date(small: Publisher, hours: int) -> None:
    """rules, "Checker: what `modified_date` proves"."""
    with altered(small.url, changed_one_by_one(hours_ahead=hours)) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert report.findings == []


@ON_SQLITE
def test_subscribers_that_change_all_the_time_are_no_difference(small: Publisher) -> None:
    """rules, "Checker: what may change meanwhile"."""
    numbers = count(FIRST_NEW)

    def changed_now(number: int) -> dict[str, object]:
        return {
            "subscriber_id": str(number),
            "renewal_code": f"Z{number % 10_000:04}",
            "modified_date": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S}",
        }

    with altered(small.url, says(CDC, one_more("subscribers", numbers, changed_now))) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert next(numbers) > 8_000_010
    assert report.differences == []


@ON_SQLITE
def test_a_record_that_an_entity_lacks_once_is_not_a_difference(small: Publisher) -> None:
    """rules, "Checker: row limits of the feed": all entities may show what came meanwhile."""
    lacking: set[str] = set()

    def alter(asked: Asked, send: Send) -> Reply:
        entities = asked.query.get("entities", "")
        is_first = asked.path == CDC and _is_wide(asked) and entities not in lacking
        lacking.add(entities if is_first else "")
        return (alone_loses_one if is_first else unaltered)(asked, send)

    with altered(small.url, alter) as server:
        report = check(server.url, small.key, small.login, 1000)
    assert "addresses" in lacking
    assert report.findings == []


def _is_wide(asked: Asked) -> bool:
    since = asked.query.get("changed_since", "")
    return bool(since) and since < f"{datetime.now(UTC) - timedelta(days=2):%Y-%m-%d}"
