"""Operation 7: the filters of the list of subscriptions, and paging through it."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin
from urllib.request import ProxyHandler, Request, build_opener

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.api.callers import basic, ids, next_page, query_of
from tests.api.conftest import DATA

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.api.callers import Caller

PATH = "/2/subscriptions/"
UNLIMITED = -1

with (DATA / "lists" / "subscriptions.csv").open(encoding="utf-8", newline="") as stream:
    LOADED = sorted(csv.DictReader(stream), key=lambda row: int(row["subscription_id"]))


def number(text: str) -> int | None:
    """Return a cell as a number, None where it is empty."""
    return int(text) if text else None


def fits(row: dict[str, str], filters: dict[str, Any]) -> bool:
    """Say whether a loaded row fits all filters, as interface and decisions have them."""
    issues, copies = number(row["issues"]), number(row["copies"])
    limited = issues is not None and issues != UNLIMITED
    checks: dict[str, Callable[[Any], bool]] = {
        "campaign_active": lambda wanted: (row["renew_campaign_active"] in {"true", "1"}) is wanted,
        "copies": lambda wanted: copies == wanted,
        "issues_left": lambda wanted: issues == wanted,
        "max_copies": lambda wanted: copies is not None and copies <= wanted,
        "min_copies": lambda wanted: copies is not None and copies >= wanted,
        "max_issues_left": lambda wanted: limited and issues is not None and issues <= wanted,
        "min_issues_left": lambda wanted: (
            issues == UNLIMITED or (issues is not None and issues >= wanted)
        ),
        "publication_id": lambda wanted: int(row["publication_id"]) == wanted,
        "subscriber_id": lambda wanted: int(row["subscriber_id"]) == wanted,
        "type": lambda wanted: row["type"] == wanted,
    }
    return all(checks[name](wanted) for name, wanted in filters.items())


def expected(**filters: Any) -> list[int]:
    """Return the ids of the loaded rows that fit, in order."""
    return ids([row for row in LOADED if fits(row, filters)], "subscription_id")


def found(lists: Caller, **filters: Any) -> list[int]:
    """Return the ids of all pages that the server gives for the filters."""
    pages = lists.all_pages(PATH, **filters)
    return ids([row for page in pages for row in page], "subscription_id")


counts = st.sampled_from([-1, 0, 1, 2, 3, 4, 5, 10, 12, 30, 100, 2**63 - 1])
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "campaign_active": st.booleans(),
        "copies": counts,
        "issues_left": counts,
        "max_copies": counts,
        "min_copies": counts,
        "max_issues_left": counts,
        "min_issues_left": counts,
        "publication_id": st.sampled_from([1, 2, 10, 99]),
        "subscriber_id": st.sampled_from([1, 2, 3, 10, 25, 999, 2**63 - 2]),
        "type": st.sampled_from(["Print", "Digital", "Both"]),
    },
)


@given(filters=FILTERS)
def test_any_filters_find_the_records_that_match_all_filters(
    lists: Caller, filters: dict[str, Any]
) -> None:
    """interface, operation 7; rules, "Subscription filters": joined with AND."""
    assert found(lists, **filters) == expected(**filters)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("campaign_active", True),
        ("campaign_active", False),
        ("copies", 2),
        ("issues_left", 0),
        ("issues_left", 3),
        ("max_copies", 2),
        ("min_copies", 3),
        ("max_issues_left", 2),
        ("min_issues_left", 12),
        ("publication_id", 10),
        ("subscriber_id", 7),
        ("type", "Digital"),
    ],
)
def test_each_filter_alone(lists: Caller, name: str, wanted: Any) -> None:
    """interface, operation 7; rules, "Bounds": inclusive."""
    filtered = expected(**{name: wanted})
    assert 0 < len(filtered) < len(LOADED)
    assert found(lists, **{name: wanted}) == filtered


def test_a_lower_bound_of_issues_keeps_the_unlimited(lists: Caller) -> None:
    """rules, "Subscription filters": unlimited is more than any number."""
    rows = lists.read(PATH, min_issues_left=2**63 - 1)["subscriptions"]
    assert {row["issues"] for row in rows} == {"-1", str(2**63 - 1)}


def test_an_upper_bound_of_issues_leaves_the_unlimited_out(lists: Caller) -> None:
    """rules, "Subscription filters": a renewal mailing must not reach the unlimited."""
    rows = lists.read(PATH, max_issues_left=2)["subscriptions"]
    assert {row["issues"] for row in rows} == {"0", "1", "2"}
    assert lists.read(PATH, max_issues_left=-1) == {"subscriptions": []}


def test_minus_one_finds_the_unlimited(lists: Caller) -> None:
    """rules, "Subscription filters": ``issues_left=-1`` finds it."""
    rows = lists.read(PATH, issues_left=-1)["subscriptions"]
    assert {row["issues"] for row in rows} == {"-1"}
    assert ids(rows, "subscription_id") == expected(issues_left=-1)


def test_bounds_of_issues_together_keep_to_the_numbers_between(lists: Caller) -> None:
    """rules, "Bounds" and "Subscription filters": the upper bound rules the unlimited out."""
    rows = lists.read(PATH, min_issues_left=3, max_issues_left=5)["subscriptions"]
    assert {row["issues"] for row in rows} == {"3", "4", "5"}


def test_the_list_is_in_order_of_id(lists: Caller) -> None:
    """decisions, "Order of lists": by ascending id, as a number."""
    assert found(lists) == ids(LOADED, "subscription_id")
    assert len(LOADED) > 200


def test_a_page_holds_a_hundred_unless_asked_otherwise(lists: Caller) -> None:
    """interface, Limits."""
    assert [len(page) for page in lists.all_pages(PATH)] == [100, 100, len(LOADED) - 200]


@given(limit=st.integers(1, 150), filters=FILTERS)
def test_paging_visits_every_row_once(lists: Caller, limit: int, filters: dict[str, Any]) -> None:
    """decisions, "Order of lists": paging by key never skips or repeats."""
    filters = {name: value for name, value in filters.items() if name in {"type", "min_copies"}}
    pages = lists.all_pages(PATH, **filters, limit=max(limit, 7))
    assert ids([row for page in pages for row in page], "subscription_id") == expected(**filters)
    assert all(len(page) == min(max(limit, 7), 100) for page in pages[:-1])


def test_after_returns_only_greater_ids(lists: Caller) -> None:
    """decisions, "Order of lists": ``after=<id>``."""
    everything = ids(LOADED, "subscription_id")
    for after in (0, everything[4], everything[4] + 1, everything[-2], everything[-1]):
        wanted = [number for number in everything if number > after][:5]
        rows = lists.read(PATH, after=after, limit=5)["subscriptions"]
        assert ids(rows, "subscription_id") == wanted


def test_a_full_page_names_the_next(lists: Caller) -> None:
    """decisions, "Order of lists": ``Link: <…>; rel="next"``."""
    response = lists.ask(PATH, limit=2)
    last = ids(response.json()["subscriptions"], "subscription_id")[-1]
    assert next_page(response) == f"/2/subscriptions/?limit=2&after={last}"


@pytest.mark.parametrize("path", [PATH, PATH.removesuffix("/")])
def test_the_address_of_the_next_page_has_the_path_that_was_asked(lists: Caller, path: str) -> None:
    """rules, "Order of lists: the address of the next page"."""
    first = lists.ask(path, limit=2, type="print")
    last = ids(first.json()["subscriptions"], "subscription_id")[-1]
    assert first.headers["Link"] == f'<{path}?limit=2&type=Print&after={last}>; rel="next"'
    second = lists.read(next_page(first))["subscriptions"]
    assert ids(second, "subscription_id") == expected(type="Print")[2:4]


def test_clients_of_python_follow_the_next_page(lists: Caller) -> None:
    """rules, "Order of lists: the address of the next page": with what they bring for it.

    httpx reads the header, and puts a path behind its base URL; urllib joins it to what was asked.
    """
    authorization = basic(lists.api_key, lists.api_login)
    headers = {"Authorization": authorization}
    wanted = expected()
    with httpx2.Client(base_url=lists.server.url, headers=headers) as client:
        first = client.get(PATH)
        second = client.get(first.links["next"]["url"])
    assert ids(second.json()["subscriptions"], "subscription_id") == wanted[100:200]
    address = f"{lists.server.url}{PATH}"
    opener = build_opener(ProxyHandler({}))
    with opener.open(Request(address, headers=headers)) as answer:
        link = answer.headers["Link"].partition(">")[0].removeprefix("<")
    with opener.open(Request(urljoin(address, link), headers=headers)) as answer:
        assert ids(json.load(answer)["subscriptions"], "subscription_id") == wanted[100:200]


def test_a_page_that_is_not_full_names_no_other(lists: Caller) -> None:
    """decisions, "Order of lists": a full page carries ``Link``."""
    assert "Link" not in lists.ask(PATH, subscriber_id=999).headers
    wanted = expected(copies=100)
    assert "Link" not in lists.ask(PATH, copies=100, limit=len(wanted) + 1).headers
    assert "Link" in lists.ask(PATH, copies=100, limit=len(wanted)).headers


def test_the_next_page_keeps_every_filter(lists: Caller) -> None:
    """decisions, "Order of lists", from the query string and from a body."""
    filters: dict[str, Any] = {"type": "Print", "min_copies": "1", "campaign_active": "true"}
    for response in (
        lists.ask(PATH, **filters, limit=2),
        lists.ask_with_body(PATH, {**filters, "limit": 2}),
        lists.ask_with_form(PATH, "type=Print&min_copies=1&campaign_active=true&limit=2"),
    ):
        first_two = expected(type="Print", min_copies=1, campaign_active=True)[:2]
        rows = response.json()["subscriptions"]
        assert ids(rows, "subscription_id") == first_two
        query = query_of(next_page(response))
        assert query.pop("after") == str(first_two[-1])
        assert query.pop("limit") == "2"
        assert query.pop("type").lower() == "print"
        assert query.pop("min_copies") == "1"
        assert query.pop("campaign_active").lower() in {"true", "1"}
        assert not query


def test_subscriptions_of_deleted_subscribers_are_listed(logins: Caller) -> None:
    """decisions, "Deleted subscribers" keep answering in operation 7."""
    rows = logins.read(PATH, subscriber_id=21)["subscriptions"]
    assert ids(rows, "subscription_id") == [211]
