"""Who is let in, and whose data they see."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.api.callers import ENTITIES, Caller, basic, error_of, send_raw

if TYPE_CHECKING:
    from tests.api.conftest import House

PATHS = [
    "/2/accounts/",
    "/2/accounts/1/",
    "/2/subscribers/authenticate/?login=a&password=b",
    "/2/cdc?changed_since=2026-01-01T00:00:00Z&entities=orders",
    "/2/customfields/1",
    "/2/customfields/",
    "/2/subscriptions/",
    "/2/subscribers/",
    "/2/orders/71",
    "/2/downloadmailinglist/81/",
]


def asked_with(house: House, authorization: str | None, path: str = "/2/accounts/") -> bytes:
    """Return a request's bytes with that Authorization header, or without one."""
    line = "" if authorization is None else f"Authorization: {authorization}\r\n"
    head = f"GET {path} HTTP/1.1\r\nHost: masthead.test\r\n{line}Connection: close\r\n\r\n"
    return head.encode("latin-1")


@pytest.mark.parametrize("path", PATHS)
def test_every_operation_asks_for_credentials(gate: House, path: str) -> None:
    """decisions, "How credentials travel"; rules, "Missing or malformed credentials"."""
    answer = send_raw(gate.server, asked_with(gate, None, path))
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == 'Basic realm="masthead"'
    assert answer.error()


@pytest.mark.parametrize(
    "authorization",
    [
        "Basic",
        "Basic ",
        "Basic !!!",
        "Basic a2V5LWdhcmRlbg==",  # key-garden, without a colon
        "Bearer key-garden",
        "Digest username=key-garden",
        "key-garden:login-garden",
        basic("key-garden", "login-garden").removeprefix("Basic "),
    ],
)
def test_malformed_credentials_are_as_none(gate: House, authorization: str) -> None:
    """rules, "Missing or malformed credentials"."""
    answer = send_raw(gate.server, asked_with(gate, authorization))
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == 'Basic realm="masthead"'
    assert answer.error()


@pytest.mark.parametrize(
    ("user", "password"), [("key-garden", "login-garden"), ("login-garden", "key-garden")]
)
def test_the_pair_is_taken_in_either_order(gate: House, user: str, password: str) -> None:
    """decisions, "How credentials travel"."""
    answer = send_raw(gate.server, asked_with(gate, basic(user, password)))
    assert answer.status == 200
    assert json.loads(answer.body)["accounts"][0]["account_id"] == "1"


@pytest.mark.parametrize("scheme", ["basic", "BASIC"])
def test_the_scheme_is_read_in_any_letter_case(gate: House, scheme: str) -> None:
    """decisions, "How credentials travel": Basic as RFC 9110 has it."""
    authorization = basic("key-garden", "login-garden").replace("Basic", scheme)
    assert send_raw(gate.server, asked_with(gate, authorization)).status == 200


WRONG = {
    "an unknown key": ("key-nobody", "login-garden"),
    "a wrong login": ("key-garden", "login-nobody"),
    "both unknown": ("key-nobody", "login-nobody"),
    "another letter case": ("KEY-GARDEN", "LOGIN-GARDEN"),
    "the login of another account": ("key-garden", "login-awkward"),
    "the key twice": ("key-garden", "key-garden"),
    "the login twice": ("login-garden", "login-garden"),
    "the login left out": ("key-garden", ""),
    "the key left out": ("", "login-garden"),
    "an account with api_active 0": ("key-closed", "login-closed"),
    "the same, swapped": ("login-closed", "key-closed"),
    "an inactive account": ("key-asleep", "login-asleep"),
    "the same, swapped too": ("login-asleep", "key-asleep"),
    "text outside ASCII": ("kéy-garden", "lögin-garden"),
    "a prefix": ("key-garde", "login-garde"),
    "a pattern": ("key-%", "login-%"),
}


@pytest.mark.parametrize("cause", sorted(WRONG))
def test_wrong_credentials_are_refused_with_one_body_for_every_cause(
    gate: House, cause: str
) -> None:
    """rules, "Wrong credentials; account inactive or api_active 0"."""
    answer = send_raw(gate.server, asked_with(gate, basic(*WRONG[cause])))
    plainest = send_raw(gate.server, asked_with(gate, basic("key-nobody", "login-nobody")))
    assert answer.status == 403
    assert answer.error()
    assert answer.body == plainest.body
    assert "www-authenticate" not in answer.headers


def test_nothing_as_key_and_login_opens_nothing(gate: House) -> None:
    """rules, "api_key, api_login while api_active is 0": they open nothing."""
    assert send_raw(gate.server, asked_with(gate, basic("", ""))).status in {401, 403}


def test_credentials_that_are_not_utf8_are_refused(gate: House) -> None:
    """rules, "Missing or malformed credentials" and "Wrong credentials"."""
    answer = send_raw(gate.server, asked_with(gate, "Basic /////zr///8="))
    assert answer.status in {401, 403}
    assert answer.error()


def test_an_account_without_credentials_cannot_be_opened_by_empty_ones(house: House) -> None:
    """interface, Authentication; rules, "Missing values"."""
    house.must_have_loaded("sparse account")
    caller = Caller(house.server, "", "")
    try:
        assert caller.ask("/2/accounts/").status_code in {401, 403}
    finally:
        caller.close()


@pytest.mark.parametrize(
    "path",
    [
        "/2/accounts/1/",
        "/2/customfields/3",
        "/2/orders/72",
        "/2/orders/9223372036854775807",
        "/2/downloadmailinglist/82/",
    ],
)
def test_a_foreign_id_is_answered_as_an_unknown_one(
    golden: Caller, neighbour: Caller, path: str
) -> None:
    """rules, "Whose data": one tenant must not learn that another's record exists."""
    assert golden.ask(path).status_code == 200
    foreign = neighbour.ask(path)
    known = path.strip("/").split("/")[-1]
    unknown = neighbour.ask(path.replace(known, "123456789"))
    assert error_of(foreign, 404).replace(known, "123456789") == error_of(unknown, 404)
    assert foreign.headers.keys() == unknown.headers.keys()


def test_two_tenants_with_the_same_ids_see_nothing_of_each_other(
    golden: Caller, neighbour: Caller
) -> None:
    """rules, "Whose data", in every operation."""
    since = ("changed_since", neighbour_day())
    feed = neighbour.read("/2/cdc", since, entities=",".join(ENTITIES))
    answers = [
        neighbour.answer("/2/accounts/"),
        neighbour.answer("/2/customfields/1"),
        neighbour.answer("/2/customfields/"),
        neighbour.answer("/2/subscriptions/"),
        neighbour.answer("/2/subscriptions/", subscriber_id=1),
        neighbour.answer("/2/subscribers/"),
        neighbour.answer("/2/subscribers/", renewal_code="GF001"),
        neighbour.answer("/2/orders/71"),
        neighbour.answer("/2/downloadmailinglist/81/"),
        neighbour.answer(
            "/2/subscribers/authenticate/",
            login="other@neighbour.example",
            password="other",
        ),
        json.dumps(feed),
    ]
    for answer in answers:
        for foreign in ("Mira", "mira.lang", "golden", "9223372036854775807", "Credit", "Spring"):
            assert foreign not in answer
    assert {key: len(rows) for key, rows in feed.items()} == {
        "custom_fields": 2,
        "subscriptions": 2,
        "subscribers": 2,
        "addresses": 1,
        "purchases": 1,
        "list_downloads": 2,
        "orders": 2,
    }
    assert "Other" not in golden.answer("/2/subscribers/")


def neighbour_day() -> str:
    """Return a time before the data of this session was loaded, and within the window."""
    return (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")


@pytest.mark.parametrize(
    ("login", "password"), [("mira.lang@example.org", "secret"), ("GF001", "62701")]
)
def test_a_subscriber_of_one_account_cannot_log_in_through_another(
    golden: Caller, neighbour: Caller, login: str, password: str
) -> None:
    """rules, "Whose data"; interface, operation 3."""
    path = "/2/subscribers/authenticate/"
    assert golden.read(path, login=login, password=password)["authenticated"] is True
    assert neighbour.read(path, login=login, password=password) == {"authenticated": False}


def test_a_filter_by_a_foreign_id_finds_nothing(neighbour: Caller) -> None:
    """rules, "Whose data"."""
    assert neighbour.read("/2/subscriptions/", subscriber_id=2) == {"subscriptions": []}
