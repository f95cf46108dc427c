"""Records that are gone leave the copy: after the changes, in the same transaction."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from masthead.contract.operations import ENTITIES
from masthead.errors import MastheadError, ServiceError, UnexpectedResponse
from tests.client.service import Asked, Reply, Serve, forwarding, refused
from tests.long import ONLY_LONG
from tests.mirror.conftest import EACH_COPY

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

CHANGES, DELETIONS = "/2/cdc", "/deletions"
THROUGH = "Masthead-Changes-Through"
DATE = "Sat, 21 Nov 2026 10:00:00 GMT"


class Between:
    """Stands before the service: sees each request, and may replace its response."""

    def __init__(self, publisher: Publisher, serve: Serve) -> None:
        self._pass_on = forwarding(publisher.url, "")
        self.happenings: dict[str, Callable[[], None]] = {}
        self.answers: dict[str, Callable[[Reply], Reply]] = {}
        self.asked: list[Asked] = []
        self.publisher = publisher.behind(serve(self._answer).url)

    def _answer(self, asked: Asked) -> Reply:
        self.asked.append(asked)
        self.happenings.pop(asked.path, lambda: None)()
        plain = replace(asked, headers={**asked.headers, "accept-encoding": "identity"})
        whole = self._pass_on(plain)
        how = self.answers.get(asked.path)
        return how(whole) if how else whole

    def times(self) -> list[tuple[str, str]]:
        """Return the paths that were asked with a time, and that time."""
        return [
            (asked.path, asked.parameters["changed_since"])
            for asked in self.asked
            if "changed_since" in asked.parameters
        ]


@pytest.fixture
def between(publisher: Publisher, serve: Serve) -> Between:
    return Between(publisher, serve)


def ids(kept: Kept, table: str) -> list[int]:
    return kept.column(f"SELECT {table[:-1]}_id FROM {table} ORDER BY 1")


@EACH_COPY
def test_what_was_removed_leaves_the_copy_with_all_its_parts(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: records that are gone"."""
    kept.update(publisher)
    assert kept.column("SELECT count(*) FROM order_items WHERE order_id = 1") != [0]
    assert kept.column("SELECT count(*) FROM mailing_list_entries WHERE mailing_list_id = 1") != [0]
    publisher.remove(subscriptions=[2], purchases=[1], list_downloads=[1], orders=[1])
    assert kept.update(publisher).removed == 4
    assert ids(kept, "orders") == ids(kept, "purchases") == [2]
    assert 2 not in ids(kept, "subscriptions")
    assert kept.column("SELECT mailing_list_id FROM list_downloads") == [2]
    assert 1 not in kept.column("SELECT order_id FROM order_items")
    assert 1 not in kept.column("SELECT mailing_list_id FROM mailing_list_entries")
    assert kept.differences(publisher) == []
    assert kept.update(publisher).removed == 0


def test_what_comes_back_is_in_the_copy_again(publisher: Publisher, kept: Kept) -> None:
    """rules, "Records that are gone"."""
    kept.update(publisher)
    publisher.remove(purchases=[1, 2])
    kept.update(publisher)
    publisher.load(purchases=[{"purchase_id": 1, "subscriber_id": 1}])
    kept.update(publisher)
    assert ids(kept, "purchases") == [1]
    publisher.remove(purchases=[1])
    publisher.load(purchases=[{"purchase_id": 1, "subscriber_id": 2}])
    assert kept.update(publisher).removed == 0
    assert kept.ask("SELECT purchase_id, subscriber_id FROM purchases") == [(1, 2)]
    assert kept.differences(publisher) == []


def test_a_first_copy_has_nothing_to_remove_and_misses_nothing_after_it(
    between: Between, kept: Kept
) -> None:
    """rules, "Mirror: records that are gone"."""
    publisher = between.publisher
    publisher.remove(orders=[1])
    # The snapshot has been read by now; the next request is that for the definitions.
    between.happenings["/2/customfields/"] = lambda: publisher.remove(orders=[2])
    kept.update(publisher)
    assert between.times() == []
    assert ids(kept, "orders") == [2]
    assert kept.update(publisher).removed == 1
    assert ids(kept, "orders") == []
    assert kept.differences(publisher) == []


def test_both_are_asked_for_since_the_same_time_and_the_changes_first(
    between: Between, kept: Kept
) -> None:
    """rules, "Deletions: the order of a client"."""
    began = kept.update(between.publisher).state.changed_since
    between.publisher.remove(orders=[1])
    later = kept.update(between.publisher).state.changed_since
    kept.update(between.publisher)
    assert later > began
    assert between.times() == [
        *((path, began) for path in (CHANGES, DELETIONS)),
        *((path, later) for path in (CHANGES, DELETIONS)),
    ]


def test_what_is_removed_between_the_two_requests_is_not_forgotten(
    between: Between, kept: Kept
) -> None:
    """rules, "Deletions: the order of a client"."""
    publisher = between.publisher
    kept.update(publisher)

    def happens() -> None:
        publisher.remove(orders=[1], purchases=[1])
        publisher.load(
            purchases=[{"purchase_id": 1, "subscriber_id": 1}],
            addresses=[{"address_id": 1, "city": "Later"}],
        )

    between.happenings[DELETIONS] = happens
    assert kept.update(publisher).removed == 1
    assert ids(kept, "orders") == [2]
    assert "Later" not in kept.column("SELECT city FROM addresses")
    kept.update(publisher)
    assert kept.differences(publisher) == []
    assert "Later" in kept.column("SELECT city FROM addresses")


def test_a_response_of_a_replica_that_is_behind_does_not_lose_a_removal(
    between: Between, kept: Kept
) -> None:
    """rules, "Deletions: the order of a client": the earlier of both headers is the next."""
    publisher = between.publisher
    began = kept.update(publisher).state.changed_since
    publisher.remove(orders=[1])
    behind = Reply(json.dumps({entity.key: [] for entity in ENTITIES}), headers={THROUGH: began})
    between.answers[DELETIONS] = lambda _whole: behind
    done = kept.update(publisher)
    assert done.removed == 0
    assert done.state.changed_since == began
    between.answers.clear()
    assert kept.update(publisher).removed == 1
    assert kept.differences(publisher) == []


@pytest.mark.parametrize(
    "response",
    [refused(404), pytest.param(refused(405), marks=ONLY_LONG)],
)
def test_a_service_that_lists_no_deletions_is_copied_as_before(
    between: Between, kept: Kept, response: Reply
) -> None:
    """rules, "Mirror: records that are gone"."""
    publisher = between.publisher
    kept.update(publisher)
    between.answers[DELETIONS] = lambda _whole: response
    publisher.remove(orders=[1])
    publisher.load(addresses=[{"address_id": 1, "city": "Changed"}])
    done = kept.update(publisher)
    assert (done.removed, done.full_load) == (0, None)
    assert "Changed" in kept.column("SELECT city FROM addresses")
    # Verifying says what is in the copy alone, as it did before.
    assert kept.differences(publisher) == ["extra: orders 1"]


BROKEN: dict[str, tuple[Callable[[Reply], Reply], type[Exception]]] = {
    "cut off": (
        lambda whole: Reply([b'{"custom_fields":['], headers=whole.headers, is_cut=True),
        ServiceError,
    ),
    "half": (lambda whole: Reply('{"custom_fields":[', headers=whole.headers), UnexpectedResponse),
    "without a key": (lambda whole: Reply("{}", headers=whole.headers), UnexpectedResponse),
    "without a time": (lambda whole: replace(whole, headers={THROUGH: "noon"}), MastheadError),
    "another page": (
        lambda _whole: Reply("<html>Back soon</html>", headers={"Date": DATE}),
        UnexpectedResponse,
    ),
    "without the header": (
        lambda whole: replace(whole, headers={"Date": DATE}),
        UnexpectedResponse,
    ),
    "400": (lambda _whole: refused(400), ServiceError),
    "401": (lambda _whole: refused(401), ServiceError),
    "403": (lambda _whole: refused(403), ServiceError),
    "500": (lambda _whole: refused(500), ServiceError),
    "503": (lambda _whole: refused(503), ServiceError),
}


def test_a_response_that_is_not_whole_leaves_the_copy_as_it_was(
    between: Between, kept: Kept
) -> None:
    """rules, "Mirror: a pass": the changes that came before it are not kept either.

    Nor is a removal lost that the service does not allow to be read ("Mirror: records that are
    gone").
    """
    publisher = between.publisher
    kept.update(publisher)
    before = kept.everything()
    publisher.remove(orders=[1])
    publisher.load(addresses=[{"address_id": 1, "city": "Changed"}])
    for name, (response, error) in BROKEN.items():
        between.answers[DELETIONS] = response
        with pytest.raises(error):
            kept.update(publisher)
        assert kept.everything() == before, name
    between.answers.clear()
    assert kept.update(publisher).removed == 1
    assert kept.differences(publisher) == []


def test_lost_deletions_load_everything_again(between: Between, kept: Kept) -> None:
    """rules, "Mirror: a pass": a backup may be restored between the two requests."""
    publisher = between.publisher
    kept.update(publisher)
    publisher.remove(orders=[1])
    between.answers[DELETIONS] = lambda _whole: refused(410, "too long ago")
    assert kept.update(publisher).full_load is not None
    assert ids(kept, "orders") == [2]


def test_what_was_removed_since_an_export_leaves_the_copy(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: records that are gone"."""
    folder = publisher.export()
    publisher.remove(orders=[1], list_downloads=[1])
    assert kept.start_from_export(publisher, folder)
    assert ids(kept, "orders") == [1, 2]
    assert kept.update(publisher).removed == 2
    assert kept.differences(publisher) == []


def test_a_list_that_changed_and_then_went_is_not_asked_for(between: Between, kept: Kept) -> None:
    publisher = between.publisher
    kept.update(publisher)
    between.asked.clear()
    publisher.load(list_downloads=[{"mailing_list_id": 2, "name": "Renamed"}])
    between.happenings[DELETIONS] = lambda: publisher.remove(list_downloads=[2])
    assert kept.update(publisher).lists == 0
    assert not [asked for asked in between.asked if "downloadmailinglist" in asked.path]
    assert kept.column("SELECT mailing_list_id FROM list_downloads") == [1]


@EACH_COPY
def test_many_records_leave_the_copy_in_one_pass(publisher: Publisher, kept: Kept) -> None:
    many = range(1_000, 3_500)
    publisher.load(purchases=[{"purchase_id": n, "subscriber_id": 1} for n in many])
    kept.update(publisher)
    publisher.remove(purchases=[*many], orders=[2])
    assert kept.update(publisher).removed == len(many) + 1
    assert ids(kept, "purchases") == [1, 2]
    assert kept.differences(publisher) == []


def test_a_removal_during_verification_is_not_a_difference(between: Between, kept: Kept) -> None:
    """decisions, "Digest"."""
    publisher = between.publisher
    kept.update(publisher)
    between.happenings["/digest"] = lambda: publisher.remove(orders=[1], list_downloads=[1])
    assert kept.differences(publisher) == []
    assert ids(kept, "orders") == [1, 2]
    assert kept.differences(publisher) == []
    assert ids(kept, "orders") == [2]


def test_the_time_to_go_on_from_is_in_the_window(between: Between, kept: Kept) -> None:
    """A response without changes moves the time on, so that it does not become too old."""
    publisher = between.publisher
    began = kept.update(publisher).state.changed_since
    later = (datetime.fromisoformat(began) + timedelta(seconds=5)).isoformat()
    for path in (CHANGES, DELETIONS):
        between.answers[path] = lambda whole: replace(whole, headers={THROUGH: later})
    assert kept.update(publisher).state.changed_since == later
