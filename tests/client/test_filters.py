"""Each filter of the two lists by its name, on both stores; and filters that would go astray."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.client import SubscriberFilters, SubscriptionFilters
from masthead.contract.operations import OPERATIONS
from masthead.errors import BadInput, ServiceError
from tests.api.test_subscriptions import LOADED, expected

if TYPE_CHECKING:
    from masthead import Client

OF_SUBSCRIPTIONS: list[dict[str, Any]] = [
    {"campaign_active": True},
    {"campaign_active": False},
    {"copies": 2},
    {"issues_left": -1},
    {"max_copies": 2},
    {"min_copies": 3},
    {"max_issues_left": 2},
    {"min_issues_left": 12},
    {"publication_id": 10},
    {"subscriber_id": 7},
    {"type": "Digital"},
    {"type": "Print", "campaign_active": True, "min_copies": 2},
]
OF_SUBSCRIBERS: list[tuple[dict[str, Any], list[int]]] = [
    ({"email": "shared@example.org"}, [9, 10, 11]),
    ({"email": ""}, [21, 22]),
    ({"first_name": "Straße"}, [9, 10, 11]),
    ({"last_name": "fluﬃ"}, [33]),
    ({"renewal_code": "PP00*"}, [1, 2, 3, 9]),
    ({"source": "100%"}, [12]),
    ({"source": "web", "first_name": "ann"}, [1, 2]),
]


@pytest.mark.parametrize("filters", OF_SUBSCRIPTIONS, ids=str)
def test_filters_of_subscriptions(lists: Client, filters: dict[str, Any]) -> None:
    """interface, operation 7; rules, "Subscription filters"."""
    found = [record.subscription_id for record in lists.list_subscriptions(**filters)]
    assert found == expected(**filters)
    assert 0 < len(found) < len(LOADED)


@pytest.mark.parametrize(("filters", "who"), OF_SUBSCRIBERS, ids=str)
def test_filters_of_subscribers(people: Client, filters: dict[str, Any], who: list[int]) -> None:
    """interface, operation 8; rules, "Subscriber search"."""
    assert [record.subscriber_id for record in people.search_subscribers(**filters)] == who


def test_every_filter_of_the_interface_has_its_name_here() -> None:
    """interface, operations 7 and 8; paging by ``after`` is left to the client."""
    for name, filters in (
        ("list_subscriptions", SubscriptionFilters),
        ("search_subscribers", SubscriberFilters),
    ):
        parameters = {parameter.name for parameter in OPERATIONS[name].parameters}
        assert set(filters.__annotations__) == parameters - {"after"}
    tried = {name for filters in OF_SUBSCRIPTIONS for name in filters}
    tried |= {name for filters, _ in OF_SUBSCRIBERS for name in filters}
    known = {*SubscriptionFilters.__annotations__, *SubscriberFilters.__annotations__}
    assert tried == known - {"limit"}


def test_a_mistyped_filter_is_refused_before_anything_is_asked(lists: Client) -> None:
    """decisions, "Unknown parameter": a service that ignores it would return everybody."""
    mistyped: Any = {"emial": "ann@example.org"}
    with pytest.raises(TypeError, match=r"search_subscribers\(\) .* keyword argument 'emial'"):
        lists.search_subscribers(**mistyped)
    with pytest.raises(TypeError, match=r"list_subscriptions\(\) .* keyword argument 'emial'"):
        lists.list_subscriptions(**mistyped)


def test_none_is_no_filter(lists: Client) -> None:
    """rules, "A parameter that is present always filters"."""
    nothing: Any = None
    with pytest.raises(BadInput, match="email: None is no filter; leave it out to find all"):
        lists.search_subscribers(email=nothing)


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(lists: Client, limit: int) -> None:
    """rules, "`limit`"."""
    with pytest.raises(BadInput, match="limit: not a whole number of 1 or more"):
        lists.list_subscriptions(limit=limit)


def test_an_id_that_is_text_is_refused(lists: Client) -> None:
    """It could lead to another path."""
    path: Any = "../accounts"
    with pytest.raises(BadInput, match="order_id: not an int"):
        lists.get_order(path)


def test_a_text_that_cannot_be_sent_is_refused_without_being_shown(lists: Client) -> None:
    for password in ("\ud800", "x" * 100_000):
        with pytest.raises(BadInput) as caught:
            lists.authenticate("ann@example.org", password)
        assert str(caught.value) == (
            "/2/subscribers/authenticate/: a parameter is too long, or no text that UTF-8 can write"
        )


def test_what_the_server_refuses_is_said_in_its_words(lists: Client) -> None:
    """rules, "Error body", "Statuses"."""
    sideways: Any = "Sideways"
    with pytest.raises(ServiceError, match="400: type: not one of Print, Digital, Both"):
        list(lists.list_subscriptions(type=sideways))
