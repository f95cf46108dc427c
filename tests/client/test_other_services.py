"""Services that are not Masthead: other ways to write the same, other paths, other errors."""

from __future__ import annotations

import gzip
import json
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from masthead.contract.shapes import (
    AuthenticatedSubscriber,
    AuthenticatedSubscription,
    Order,
    OrderItem,
)
from masthead.errors import BadInput, ServiceError, UnexpectedResponse
from tests.client.service import Asked, Reply, Serve, in_turn, refused, reply

if TYPE_CHECKING:
    from tests.client.flavours import Connect

NUMBERS_FOR_DIGITS = {
    "order_id": 71,
    "mailing_address_id": None,
    "subscriber_id": 1.0,
    "order_date": "0000-00-00 00:00:00",
    "is_gift": 0,
    "sub_total": "10.50",
    "grand_total": 12,
    "order_items": [{"order_item_id": 9, "bundle_id": 3, "product_id": None, "sub_total": 85.10}],
    "currency": "EUR",
}
ORDER = Order(
    order_id=71,
    mailing_address_id=None,
    billing_address_id=None,
    subscriber_id=1,
    import_name=None,
    user_id=None,
    channel_id=None,
    order_date=None,
    is_gift=False,
    sub_total=Decimal("10.50"),
    tax_total=Decimal(0),
    grand_total=Decimal(12),
    order_items=[
        OrderItem(9, 3, None, None, None, Decimal("85.1"), Decimal(0), Decimal(0)),
    ],
)


def test_numbers_nulls_and_keys_of_another_service(connect: Connect, serve: Serve) -> None:
    """rules, "Client: reading generously"."""
    assert connect(serve(in_turn(reply(NUMBERS_FOR_DIGITS))).url).get_order(71) == ORDER


@pytest.mark.parametrize("true", [True, 1, "1", "true"], ids=repr)
def test_a_login_that_fits_in_the_words_of_another_service(
    connect: Connect, serve: Serve, true: Any
) -> None:
    """rules, "Client: reading generously"."""
    subscription = {
        "subscription_id": 5,
        "date_created": "",
        "date_expired": "2027-01-31",
        "publication_id": 2,
        "issues_left": -1,
        "type": "PRINT",
        "issues": [],
    }
    subscriber = {"subscriber_id": 1, "email": None, "subscriptions": [subscription]}
    service = serve(in_turn(reply({"authenticated": true, "subscribers": subscriber})))
    expires = date(2027, 1, 31)
    assert connect(service.url).authenticate("a@b.example", "x") == AuthenticatedSubscriber(
        subscriber_id=1,
        renewal_code=None,
        email=None,
        first_name=None,
        last_name=None,
        subscriptions=[AuthenticatedSubscription(5, None, expires, 2, -1, "Print", [])],
    )


@pytest.mark.parametrize("false", [False, 0, "0", "false"], ids=repr)
def test_a_login_that_does_not_fit(connect: Connect, serve: Serve, false: Any) -> None:
    service = serve(in_turn(reply({"authenticated": false, "subscribers": None})))
    assert connect(service.url).authenticate("a@b.example", "x") is None


def test_the_request_is_one_that_any_service_understands(connect: Connect, serve: Serve) -> None:
    """decisions, "How credentials travel", "Where parameters travel"."""
    service = serve(in_turn(reply({"subscriptions": []})))
    list(connect(service.url).list_subscriptions(campaign_active=True, limit=500))
    (asked,) = service.asked
    assert asked.target == "/2/subscriptions/?campaign_active=true&limit=100"
    assert asked.headers["authorization"] == "Basic a2V5OmxvZ2lu"
    assert asked.headers["accept"] == "application/json"
    assert asked.headers["user-agent"].startswith("masthead/")


@pytest.mark.parametrize("ending", ["", "/"])
def test_a_base_url_with_a_path(connect: Connect, serve: Serve, ending: str) -> None:
    service = serve(in_turn(reply([])))
    client = connect(f"{service.url}/press/api{ending}")
    client.list_custom_fields()
    client.get_custom_field_answers(7)
    assert [asked.target for asked in service.asked] == [
        "/press/api/2/customfields/",
        "/press/api/2/customfields/7",
    ]


@pytest.mark.parametrize(
    "ending",
    [
        *("redirects", "https://", "press.example", "http://x:port", "ftp://x"),
        *("http://press..example", f"https://{'x' * 64}.example"),
    ],
)
def test_an_invalid_base_url(connect: Connect, ending: str) -> None:
    with pytest.raises(BadInput) as caught:
        connect(ending)
    assert str(caught.value) == "the base URL reads https://host, or https://host/path"


@pytest.mark.parametrize("url", ["http://u:p@x.example", "http://x.example?a=1", "http://x/#a"])
def test_a_base_url_with_more_than_a_place(connect: Connect, url: str) -> None:
    with pytest.raises(BadInput) as caught:
        connect(url)
    assert str(caught.value) == "the base URL holds neither credentials nor a query nor a fragment"


def with_a_slash(asked: Asked) -> Reply:
    """Answer only paths with a slash at their end, and send all others there."""
    if asked.path.endswith("/"):
        return reply({"list_downloads": []} if "cdc" in asked.path else NUMBERS_FOR_DIGITS)
    path, mark, query = asked.target.partition("?")
    return Reply(status=301, headers={"Location": f"{path}/{mark}{query}"})


def test_a_redirect_to_a_trailing_slash_is_followed(connect: Connect, serve: Serve) -> None:
    """rules, "Trailing slash"."""
    service = serve(with_a_slash)
    client = connect(service.url)
    assert client.get_order(71) == ORDER
    assert list(client.changes("2026-11-21T00:00:00Z", ["listdownloads"])) == []
    assert [asked.path for asked in service.asked] == [
        "/2/orders/71",
        "/2/orders/71/",
        "/2/cdc",
        "/2/cdc/",
    ]
    assert service.asked[2].parameters == service.asked[3].parameters
    assert all(asked.headers["authorization"] for asked in service.asked)


def test_a_redirect_that_writes_the_same_query_otherwise_is_followed(
    connect: Connect, serve: Serve
) -> None:
    location = "/2/subscribers?last_name=van%20der+Aa&email=a@b.example"
    moved = Reply(status=302, headers={"Location": location})
    service = serve(in_turn(moved, reply({"subscribers": []})))
    found = connect(service.url).search_subscribers(email="a@b.example", last_name="van der Aa")
    assert list(found) == []


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        (
            "https://press.example/2/orders/71?token=1",
            "it redirects to https://press.example, which may be the right base URL",
        ),
        (
            "//press.example:8443/2/orders/71",
            "it redirects to http://press.example:8443, which may be the right base URL",
        ),
        ("/login?next=orders", "it redirects to another of its addresses; is the base URL right?"),
        ("http://x:port", "it redirects to something that is not an address"),
        ("mailto:press@example.org", "it redirects to something that is not an address"),
    ],
)
def test_a_redirect_elsewhere_is_an_error(
    connect: Connect, serve: Serve, location: str, sentence: str
) -> None:
    """Credentials and a reader's password go nowhere else."""
    service = serve(in_turn(Reply(status=302, headers={"Location": location})))
    with pytest.raises(ServiceError) as caught:
        connect(service.url).get_order(71)
    assert str(caught.value) == f"/2/orders/71: 302: {sentence}"
    assert len(service.asked) == 1


def test_a_redirect_that_loses_the_filters_is_an_error(connect: Connect, serve: Serve) -> None:
    """A filter that is lost would return everybody."""
    service = serve(in_turn(Reply(status=301, headers={"Location": "/2/subscribers"})))
    with pytest.raises(ServiceError, match="301: it redirects to another of its addresses"):
        list(connect(service.url).search_subscribers(email="a@b.example"))


def test_redirects_without_end_are_an_error(connect: Connect, serve: Serve) -> None:
    service = serve(in_turn(Reply(status=301, headers={"Location": "/2/accounts"})))
    with pytest.raises(ServiceError, match="301: it redirects"):
        connect(service.url).list_accounts()
    assert len(service.asked) == 2


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_response_with_a_mark_of_its_byte_order(
    connect: Connect, serve: Serve, coding: str
) -> None:
    body = b"\xef\xbb\xbf" + json.dumps({"accounts": []}).encode()
    packed = gzip.compress(body) if coding == "gzip" else body
    service = serve(in_turn(Reply(packed, headers={"Content-Encoding": coding})))
    assert connect(service.url).list_accounts() == []


@pytest.mark.parametrize(
    ("response", "sentence"),
    [
        (Reply("<html>Busy</html>"), "the response is not JSON"),
        (Reply(b'{"accounts":"\xff"}'), "the response is not JSON"),
        (Reply("[" * 100_000), "the response is not JSON"),
        (Reply('{"accounts":[NaN]}'), "NaN is not JSON"),
        (reply([]), "there is no 'accounts'"),
        (reply({"error": "not today"}), "there is no 'accounts'"),
        (reply({"accounts": {"account_id": 1}}), "accounts is not a JSON array"),
        (reply({"accounts": [1]}), "Account: not a JSON object"),
        (reply({"accounts": [{}]}), "Account: account_id is missing"),
        (
            reply({"accounts": [{"account_id": "7", "active": "perhaps"}]}),
            "Account with account_id 7: active is not what the interface says: true or false",
        ),
    ],
)
def test_a_response_that_is_not_what_the_interface_says(
    connect: Connect, serve: Serve, response: Reply, sentence: str
) -> None:
    with pytest.raises(UnexpectedResponse) as caught:
        connect(serve(in_turn(response)).url).list_accounts()
    assert str(caught.value) == f"/2/accounts/: {sentence}"
    assert caught.value.status == 200


def test_a_response_that_cannot_be_unpacked(connect: Connect, serve: Serve) -> None:
    response = Reply("no gzip at all", headers={"Content-Encoding": "gzip"})
    service = serve(in_turn(response))
    with pytest.raises(
        UnexpectedResponse, match="/2/accounts/: the response cannot be decompressed: "
    ):
        connect(service.url, patience_s=5.0).list_accounts()
    assert len(service.asked) == 1


def test_a_login_check_that_answers_neither_yes_nor_no(connect: Connect, serve: Serve) -> None:
    client = connect(serve(in_turn(reply({"authenticated": "maybe"}))).url)
    with pytest.raises(UnexpectedResponse, match="'authenticated' is neither true nor false"):
        client.authenticate("a@b.example", "x")


@pytest.mark.parametrize("member", [None, 7, {}, {"count": None, "digest": "a"}, {"count": "1"}])
def test_an_invalid_digest(connect: Connect, serve: Serve, member: Any) -> None:
    client = connect(serve(in_turn(reply({"orders": member}))).url)
    with pytest.raises(UnexpectedResponse, match="/digest: "):
        client.digest(["orders"])


@pytest.mark.parametrize(
    ("response", "sentence"),
    [
        (refused(400, "limit: not a number"), "400: limit: not a number"),
        (Reply('{"message":"nothing here"}', 404), "404: nothing here"),
        (Reply('{"error":{"code":7}}', 500), "500: Internal Server Error"),
        (Reply("<html>", 500), "500: Internal Server Error"),
        (Reply("", 403), "403: Forbidden"),
        (Reply("[1]", 409), "409: Conflict"),
        (Reply("\ufeff" + json.dumps({"error": "x" * 5_000}), 400), "400: " + "x" * 500),
        (Reply("", 204), "204: No Content"),
    ],
)
def test_errors_of_any_form_have_status_and_message(
    connect: Connect, serve: Serve, response: Reply, sentence: str
) -> None:
    """interface, Errors: their shape is not shown."""
    with pytest.raises(ServiceError) as caught:
        connect(serve(in_turn(response)).url).list_accounts()
    assert str(caught.value) == f"/2/accounts/: {sentence}"
    assert caught.value.status == int(sentence[:3])
