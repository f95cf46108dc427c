"""Lists of more than a hundred: pages are asked for as they are wanted, and only where offered."""

from __future__ import annotations

import json
from itertools import count, islice
from typing import TYPE_CHECKING

import pytest

from masthead.client import pages
from masthead.errors import ServiceError, UnexpectedResponse
from tests.api.test_subscriptions import LOADED, expected
from tests.client.service import Asked, Reply, Serve, forwarding, in_turn

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead import Client
    from tests.client.flavours import Connect


def page(*ids: int, link: str = "") -> Reply:
    """Return a page of subscribers, and the header that leads to the next."""
    subscribers = [{"subscriber_id": number} for number in ids]
    return Reply(json.dumps({"subscribers": subscribers}), headers={"Link": link})


def all_ids(client: Client) -> list[int]:
    """Return the ids of all subscribers that the search returns."""
    return [record.subscriber_id for record in client.search_subscribers()]


@pytest.mark.parametrize("limit", [1, 99, 100, 101, 200, 205, 1_000_000])
def test_a_limit_is_the_length_of_the_whole_list(lists: Client, limit: int) -> None:
    """interface, Limits: of one page it can be at most 100."""
    found = [record.subscription_id for record in lists.list_subscriptions(limit=limit)]
    assert found == expected()[:limit]


def test_without_a_limit_all_pages_are_read(lists: Client) -> None:
    """decisions, "Order of lists, and more than 100"."""
    found = [record.subscription_id for record in lists.list_subscriptions()]
    assert found == expected()
    assert len(LOADED) > 200


def test_filters_hold_on_every_page(lists: Client) -> None:
    """rules, "Order of lists: the address of the next page"."""
    found = list(lists.list_subscriptions(min_copies=1))
    assert [record.subscription_id for record in found] == expected(min_copies=1)
    assert len(found) > 100


def test_behind_a_proxy_that_takes_a_prefix_off_all_pages_are_read(
    connect: Connect, serve: Serve, masthead_url: str
) -> None:
    """rules, "Order of lists: the address of the next page": the proxy changes no header."""
    proxy = serve(forwarding(masthead_url, "/press/api"))
    client = connect(f"{proxy.url}/press/api/", "key-lists", "login-lists")
    found = [record.subscription_id for record in client.list_subscriptions()]
    assert found == expected()
    assert {asked.path for asked in proxy.asked} == {"/press/api/2/subscriptions/"}


def test_a_page_is_asked_for_when_it_is_wanted(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(page(1, 2, link='<?after=2>; rel="next"'), page(3)))
    subscribers = connect(service.url).search_subscribers()
    assert not service.asked
    assert [found.subscriber_id for found in islice(subscribers, 2)] == [1, 2]
    assert len(service.asked) == 1
    assert next(subscribers).subscriber_id == 3
    assert [asked.parameters for asked in service.asked] == [{}, {"after": "2"}]


def test_no_more_is_asked_for_than_the_limit_wants(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(page(1, 2, link='<?after=2>; rel="next"'), page(3)))
    assert len(list(connect(service.url).search_subscribers(limit=2))) == 2
    assert [asked.parameters for asked in service.asked] == [{"limit": "2"}]


def test_a_service_that_gives_more_than_the_limit(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(page(1, 2, 3, 4)))
    assert len(list(connect(service.url).search_subscribers(limit=3))) == 3


@pytest.mark.parametrize(
    "link",
    [
        '<?after=2>; rel="next"',
        "<?after=2>; rel=next",
        '</base/2/subscribers/?after=2>; rel="next"',
        '<first>; rel="first", <?after=2>; rel="last next"; title="more"',
        '<{url}/base/2/subscribers/?after=2>; rel="next"',
        '</2/subscribers/?after=2>; rel="next"',
        '</2/subscribers?after=2>; rel="next"',
        '<{url}/2/subscribers/?after=2>; rel="next"',
        "<?a=1;b=2,3&after=2>; REL = Next ; title=x",
        '<?a>; title="x, y; rel=next", <?after=2>;rel="next"',
        "<?a>; rel=prev; rel=next, <?after=2>; rel=next",
        "<<?a>, <?after=2>; rel=next; rel=prev",
    ],
)
def test_a_link_to_the_next_page_in_any_form(connect: Connect, serve: Serve, link: str) -> None:
    """RFC 8288 section 3: a reference of any form, a relation of several."""

    def answer(asked: Asked) -> Reply:
        assert asked.path == "/base/2/subscribers/"
        return page(3) if asked.parameters else page(1, 2, link=link.format(url=service.url))

    service = serve(answer)
    assert all_ids(connect(f"{service.url}/base")) == [1, 2, 3]


@pytest.mark.parametrize(
    "link",
    [
        *("", '<?after=0>; rel="prev"', "?after=2", "<?after=2>", "<?a; rel=next", "<?a> rel=next"),
        *(
            '<?a>; title="rel=next"',
            '<?a>; rel="nextpage"',
            "<?a>; rev=next",
            '<?a>; x="; rel=next',
        ),
    ],
)
def test_invalid_links_to_a_next_page(connect: Connect, serve: Serve, link: str) -> None:
    service = serve(in_turn(page(1, 2, link=link), page(3)))
    assert all_ids(connect(service.url)) == [1, 2]
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    "elsewhere", ["//other.example/2/subscribers/?after=2", "https://127.0.0.1/", "http://[bad"]
)
def test_the_next_page_is_not_fetched_from_another_host(
    connect: Connect, serve: Serve, elsewhere: str
) -> None:
    """Credentials stay with the host that they are for."""
    service = serve(in_turn(page(1, 2, link=f'<{elsewhere}>; rel="next"')))
    with pytest.raises(UnexpectedResponse) as caught:
        all_ids(connect(service.url))
    assert str(caught.value) == "/2/subscribers/: the next page is at another host"


CIRCLES = {
    "a page that is its own next": lambda asked, _: (1, asked.target),
    "two pages, each the other's next": lambda asked, _: (
        (2, "?page=a") if asked.target.endswith("b") else (1, "?page=b")
    ),
    "a way into a circle": lambda asked, _: {
        "/2/subscribers/": (1, "?page=b"),
        "/2/subscribers/?page=b": (2, "?page=c"),
        "/2/subscribers/?page=c": (3, "?page=d"),
        "/2/subscribers/?page=d": (4, "?page=b"),
    }[asked.target],
    "new addresses of the same page": lambda _, number: (7, f"?page={number}"),
    "new addresses of two pages": lambda _, number: (number % 2, f"?page={number}"),
    "new addresses of nothing": lambda _, number: (None, f"?page={number}"),
}


@pytest.mark.parametrize("circle", CIRCLES.values(), ids=CIRCLES)
def test_pages_that_come_again_are_an_error(
    connect: Connect, serve: Serve, circle: Callable[[Asked, int], tuple[int | None, str]]
) -> None:
    """rules, "Client: pages that come again"; no record is given twice."""
    numbers = count()

    def answer(asked: Asked) -> Reply:
        only, following = circle(asked, next(numbers))
        return page(*[] if only is None else [only], link=f'<{following}>; rel="next"')

    service = serve(answer)
    subscribers = connect(service.url).search_subscribers()
    found: list[int] = []
    with pytest.raises(UnexpectedResponse) as caught:
        found.extend(record.subscriber_id for record in subscribers)
    assert str(caught.value) == (
        "/2/subscribers/: the same page comes again: its links to the next one lead in a circle"
    )
    assert len(found) == len(set(found))
    assert len(service.asked) <= 5


def test_one_page_in_between_may_be_empty(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(page(1, link="<?b>; rel=next"), page(link="<?c>; rel=next"), page(2)))
    assert all_ids(connect(service.url)) == [1, 2]
    assert all_ids(connect(serve(in_turn(page(link="<?b>; rel=next"), page())).url)) == []


def odd_page(*ids: int, link: str = "") -> Reply:
    """Return a page of subscribers of which none can be read."""
    subscribers = [{"subscriber_id": number, "email": []} for number in ids]
    return Reply(json.dumps({"subscribers": subscribers}), headers={"Link": link})


def test_pages_of_odd_records_alone_are_not_empty(connect: Connect, serve: Serve) -> None:
    """rules, "Client: pages that come again": such a page is known by its link."""
    odd: list[object] = []
    links = [odd_page(each, link=f"<?page={each}>; rel=next") for each in (1, 2, 3)]
    client = connect(serve(in_turn(*links, page(4))).url)
    client.omit_odd_records(lambda _, record: odd.append(record.record["subscriber_id"]))
    assert all_ids(client) == [4]
    assert odd == [1, 2, 3]


def test_a_page_of_odd_records_that_comes_again_is_an_error(connect: Connect, serve: Serve) -> None:
    service = serve(lambda asked: odd_page(1, link=f"<{asked.target}>; rel=next"))
    client = connect(service.url)
    client.omit_odd_records(lambda _path, _record: None)
    with pytest.raises(UnexpectedResponse, match="the same page comes again"):
        all_ids(client)
    assert len(service.asked) == 2


def test_pages_without_end_are_an_error(
    connect: Connect, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """rules, "Client: pages that come again": memory has a bound too."""
    monkeypatch.setattr(pages, "_PAGES_MAX", 3)
    numbers = count()
    service = serve(lambda _: page(number := next(numbers), link=f"<?after={number}>; rel=next"))
    with pytest.raises(UnexpectedResponse, match="the list has more than 3 pages"):
        all_ids(connect(service.url))
    assert len(service.asked) == 4


def test_a_failure_on_a_later_page_is_raised(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(page(1, link='<?after=1>; rel="next"'), Reply("{}", status=500)))
    subscribers = connect(service.url).search_subscribers()
    assert next(subscribers).subscriber_id == 1
    with pytest.raises(ServiceError, match="500: Internal Server Error"):
        next(subscribers)
