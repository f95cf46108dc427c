"""Everything that is refused: with which status, and always as one JSON sentence."""

from __future__ import annotations

import json
from itertools import product
from typing import TYPE_CHECKING
from urllib.parse import quote_from_bytes

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.api.callers import JSON_BODY, basic, error_of, send_raw
from tests.long import ON_BOTH

if TYPE_CHECKING:
    from tests.api.callers import Caller
    from tests.api.conftest import House

PATHS = [
    "/2/accounts/",
    "/2/accounts/1/",
    "/2/subscribers/authenticate/",
    "/2/cdc",
    "/2/customfields/1",
    "/2/customfields/",
    "/2/subscriptions/",
    "/2/subscribers/",
    "/2/orders/71",
    "/2/downloadmailinglist/81/",
]


METHODS = ("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND")


def test_other_methods_are_refused_with_those_that_are_allowed(
    golden: Caller, subtests: pytest.Subtests
) -> None:
    """rules, "Methods"."""
    for path, method in product(PATHS, METHODS):
        with subtests.test(path=path, method=method):
            answer = golden.ask(path, method=method)
            assert error_of(answer, 405)
            assert answer.headers["Allow"] == "GET, HEAD"


@pytest.mark.parametrize("method", ["BREW", "X-ASK"])
def test_a_method_that_http_does_not_know_is_refused_as_any_other(
    golden: Caller, method: str
) -> None:
    """rules, "Methods": any other."""
    answer = golden.raw("/2/orders/71", method=method)
    assert answer.status == 405
    assert answer.error()
    assert answer.headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize("path", PATHS)
def test_a_head_has_the_headers_of_the_get_and_no_body(golden: Caller, path: str) -> None:
    """rules, "Methods": GET and HEAD."""
    got = golden.ask(path)
    answer = golden.raw(path, method="HEAD")
    assert answer.status == got.status_code
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers.get("content-length") in {None, str(len(got.content))}
    assert answer.body == b""


@pytest.mark.parametrize("version", ["/1", "/3", "/02", "/v2", "/2.0"])
def test_other_versions_say_that_version_2_is_served(golden: Caller, version: str) -> None:
    """rules, "Other versions"."""
    assert "/2/" in golden.refusal(404, f"{version}/accounts/")


UNKNOWN_PATHS = [
    "/",
    "/2",
    "/2/",
    "/2/account/",
    "/2/Accounts/",
    "/2/accounts//",
    "/2/accounts/1/2/",
    "/2/orders/",
    "/2/downloadmailinglist/",
    "/2/cdc/1",
    "/2/subscribers/1",
    "/2/subscriptions/31",
    "/accounts/",
]


def test_an_unknown_path_is_not_found(golden: Caller, subtests: pytest.Subtests) -> None:
    """rules, "Statuses": 404 unknown path."""
    for path in UNKNOWN_PATHS:
        with subtests.test(path=path):
            assert error_of(golden.ask(path), 404)


def ask_raw_with_length(golden: Caller, target: str) -> int:
    """Return the status of a request for a target of any length."""
    answer = golden.raw(target)
    if answer.status != 200:
        answer.error()
    return answer.status


def test_a_target_beyond_8_kib_is_refused(golden: Caller) -> None:
    """rules, "Statuses": 414; rules, "Sizes"."""
    target = "/2/subscribers/?email="
    assert ask_raw_with_length(golden, target + "a" * (8000 - len(target))) == 200
    assert ask_raw_with_length(golden, target + "a" * (8300 - len(target))) == 414
    assert ask_raw_with_length(golden, target + "a" * 30_000) == 414


def test_headers_beyond_32_kib_are_refused(golden: Caller) -> None:
    """rules, "Statuses": 431."""

    def ask(count: int) -> int:
        lines = b"".join(b"X-Filler-%d: %s\r\n" % (n, b"a" * 1000) for n in range(count))
        answer = golden.raw("/2/customfields/", extra=lines)
        if answer.status != 200:
            answer.error()
        return answer.status

    assert ask(20) == 200
    assert ask(36) == 431


def test_one_header_beyond_32_kib_is_refused(golden: Caller) -> None:
    """rules, "Statuses": 431."""
    answer = golden.raw("/2/customfields/", extra=b"X-Filler: " + b"a" * 40_000 + b"\r\n")
    assert answer.status == 431
    assert answer.error()


def test_a_body_beyond_16_kib_is_refused(golden: Caller) -> None:
    """rules, "Statuses": 413."""
    content = b'{"type":"Print"}'

    def ask(length: int) -> int:
        response = golden.ask(
            "/2/subscriptions/", body=content + b" " * (length - len(content)), headers=JSON_BODY
        )
        if response.status_code != 200:
            error_of(response, response.status_code)
        return response.status_code

    assert ask(16 * 1024) == 200
    assert ask(16 * 1024 + 1) == 413
    assert ask(200 * 1024) == 413


def test_a_chunked_body_beyond_16_kib_is_refused(golden: Caller) -> None:
    """rules, "Statuses": 413, whether or not the length is said beforehand."""
    head = (
        "GET /2/subscriptions/ HTTP/1.1\r\nHost: masthead.test\r\n"
        f"Authorization: {basic(golden.api_key, golden.api_login)}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n"
        "Connection: close\r\n\r\n"
    )
    chunk = b"400\r\n" + b" " * 1024 + b"\r\n"
    answer = send_raw(golden.server, head.encode() + chunk * 20 + b"0\r\n\r\n")
    assert answer.status == 413
    assert answer.error()


NO_HTTP = [
    b"GARBAGE\r\n\r\n",
    b"GET\r\n\r\n",
    b"GET /2/accounts/ HTTP/9.x\r\nHost: a\r\n\r\n",
    b"GET /2/accounts/ HTTP/1.1\r\nHost a\r\n\r\n",
    b"GET /2/accounts/ HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n",
    b"GET /2/accounts/ HTTP/1.1\r\nHost: a\r\nX-Null: a\x00b\r\n\r\n",
    b"GET /2/acc ounts/ HTTP/1.1\r\nHost: a\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
]


def test_invalid_http_gets_a_bad_request_in_json(house: House, subtests: pytest.Subtests) -> None:
    """rules, "Error body": JSON on every error, those of the server itself included.

    decisions, "HTTP server".
    """
    for sent in NO_HTTP:
        with subtests.test(sent=sent):
            answer = send_raw(house.server, sent)
            assert answer.status == 400
            assert answer.error()


def test_a_sentence_says_what_is_wrong_and_what_would_be_right(lists: Caller) -> None:
    """rules, "Error body": one sentence that names the fault and its remedy."""
    sentence = lists.refusal(400, "/2/subscriptions/", type="Paper")
    for word in ("type", "Print", "Digital", "Both"):
        assert word in sentence


STATUSES = {200, 400, 404, 405, 410}


@ON_BOTH
@given(query=st.binary(max_size=60))
@example(b"\xff=\xff")
@example(b"=")
@example(b"&&&")
@example(b"type=Print;limit=1")
@example(b"type=\x00")
@example(b"limit=\xd9\xa1")
def test_no_query_makes_a_fault(lists: Caller, query: bytes) -> None:
    """rules, "Statuses" and "Error body", for every query string."""
    escaped = quote_from_bytes(query, safe="=&;+")
    for path in ("/2/subscriptions/", "/2/subscribers/", "/2/cdc"):
        response = lists.ask(f"{path}?{escaped}")
        assert response.status_code in STATUSES
        if response.status_code != 200:
            error_of(response, response.status_code)


@ON_BOTH
@given(name=st.sampled_from(["email", "first_name", "renewal_code", "source"]), value=st.text())
@example("email", "\x00")
@example("first_name", "\x00*")
def test_no_text_makes_the_search_fail(people: Caller, name: str, value: str) -> None:
    """rules, "Statuses", for every text."""
    response = people.ask("/2/subscribers/", (name, value))
    assert response.status_code in {200, 400}
    if response.status_code != 200:
        error_of(response, 400)


@given(segment=st.binary(min_size=1, max_size=30))
@example(b"%00")
@example(b"\xff")
@example(b"..")
def test_no_path_makes_a_fault(golden: Caller, segment: bytes) -> None:
    """rules, "Statuses" and "Ids in paths", for every path."""
    escaped = quote_from_bytes(segment, safe="")
    for prefix in ("/2/orders/", "/2/customfields/", "/2/accounts/", "/2/", "/"):
        answer = golden.raw(prefix + escaped)
        assert answer.status in STATUSES | {401}
        if answer.status != 200 and answer.headers["content-type"] != "text/html":
            answer.error()


@given(body=st.binary(min_size=1, max_size=60))
@example(b"{")
@example(b"[")
@example(b"[]")
@example(b"{}")
@example(b"\xef\xbb\xbf{}")
@example(b'{"type":"\xff"}')
@example(b'{"type":"\\ud800"}')
@example(b'{"limit":1e400}')
@example(b'{"limit":NaN}')
@example(b"[" * 60)
def test_no_body_makes_a_fault(lists: Caller, body: bytes) -> None:
    """rules, "Body of a GET", for every body."""
    response = lists.ask("/2/subscriptions/", body=body, headers=JSON_BODY)
    assert response.status_code in {200, 400}
    if response.status_code != 200:
        error_of(response, 400)


def test_a_deeply_nested_body_is_a_bad_request(lists: Caller) -> None:
    """rules, "Body of a GET": a nested value is 400."""
    body = b'{"type":' + b"[" * 8000 + b"]" * 8000 + b"}"
    assert error_of(lists.ask("/2/subscriptions/", body=body, headers=JSON_BODY), 400)


def test_the_exact_bytes_of_an_error(golden: Caller) -> None:
    """rules, "Error body": ``{"error": "…"}``, a missing parameter in its own words."""
    response = golden.ask("/2/cdc", entities="orders")
    assert response.status_code == 400
    assert json.loads(response.content) == {"error": "{changed_since} is a required field"}
    assert response.content == b'{"error":"{changed_since} is a required field"}'
