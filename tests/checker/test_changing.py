"""What changes between two requests is no difference; where parameters travel is found out."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from masthead.checker import check
from tests.checker.altering import altered
from tests.checker.edits import CDC, each, put, says, searches_refused, without_query
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from tests.checker.altering import Asked, Reply, Send
    from tests.mirror.publisher import Publisher


@ON_SQLITE
def test_what_differs_once_is_no_difference(small: Publisher) -> None:
    """decisions, "Checker: what may change meanwhile"."""
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


@ON_SQLITE
def test_a_service_whose_records_always_change_does_not_differ(small: Publisher) -> None:
    """decisions, "Checker: what may change meanwhile"."""
    numbers = count(8_000_000)

    def one_more(content: dict[str, list[dict[str, object]]]) -> None:
        if addresses := content.get("addresses"):
            last = next(numbers)
            more = range(8_000_000, last + 1)
            addresses += [{**addresses[0], "address_id": str(number)} for number in more]

    with altered(small.url, says(CDC, one_more)) as server:
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
    """decisions, "Checker: where parameters travel"."""
    with altered(small.url, without_query) as server:
        report = check(server.url, small.key, small.login, 1000)
        assert any(b'"publication_id"' in asked.body for asked in server.asked)
    assert report.differences == []
