"""How parameters are sent and read, in all operations."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import TYPE_CHECKING

import pytest

from tests.api.callers import FORM_BODY, JSON_BODY, error_of, ids
from tests.long import ON_BOTH

if TYPE_CHECKING:
    from tests.api.callers import Caller

NOW = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
NOW_IN_WARSAW = (datetime.now(UTC) + timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%S+02:00")

EVERY_PATH = [
    "/2/accounts",
    "/2/accounts/1",
    "/2/subscribers/authenticate",
    "/2/cdc?changed_since={now}&entities=orders",
    "/2/customfields/1",
    "/2/customfields",
    "/2/subscriptions",
    "/2/subscribers",
    "/2/orders/71",
    "/2/downloadmailinglist/81",
]


@pytest.mark.parametrize("path", EVERY_PATH)
def test_every_path_answers_with_and_without_a_slash_at_its_end(golden: Caller, path: str) -> None:
    """rules, "Trailing slash": at once, never a redirect."""
    bare, _, query = path.partition("?")
    query = query.format(now=NOW)
    without = golden.ask(f"{bare}?{query}")
    with_slash = golden.ask(f"{bare}/?{query}")
    assert without.status_code == 200
    assert with_slash.status_code == 200
    assert without.content == with_slash.content
    assert without.headers["Cache-Control"] == "no-store"


def prints(lists: Caller) -> bytes:
    """Return the answer that the query string gives."""
    response = lists.ask("/2/subscriptions/", type="Print", limit=3, min_copies=2)
    assert response.status_code == 200
    assert len(response.json()["subscriptions"]) == 3
    return response.content


@pytest.mark.parametrize(
    "content",
    [
        {"type": "Print", "limit": "3", "min_copies": "2"},
        {"type": "Print", "limit": 3, "min_copies": 2},
        [{"type": "Print", "limit": 3, "min_copies": "2"}],
        {"type": "Print", "limit": 3, "min_copies": 2, "subscriber_id": None},
    ],
)
@pytest.mark.parametrize("label", [JSON_BODY, FORM_BODY, {}])
def test_a_json_body_is_read_whatever_its_label(
    lists: Caller, content: object, label: dict[str, str]
) -> None:
    """decisions, "Where parameters travel"; rules, "Body of a GET"."""
    body = json.dumps(content).encode()
    assert lists.ask("/2/subscriptions/", body=body, headers=label).content == prints(lists)


@pytest.mark.parametrize("label", [FORM_BODY, {}])
def test_a_form_body_is_read(lists: Caller, label: dict[str, str]) -> None:
    """decisions, "Where parameters travel"; rules, "Body of a GET": else a form."""
    response = lists.ask(
        "/2/subscriptions/", body=b"type=Print&limit=3&min_copies=2", headers=label
    )
    assert response.content == prints(lists)


def test_a_form_body_is_unescaped(people: Caller) -> None:
    """decisions, "Where parameters travel"."""
    response = people.ask_with_form("/2/subscribers/", "first_name=Zo%C3%AB&last_name=Zoe")
    assert ids(response.json()["subscribers"], "subscriber_id") == [27]


def test_query_and_body_are_read_together(lists: Caller) -> None:
    """decisions, "Where parameters travel": JSON body of a GET … as well."""
    response = lists.ask(
        "/2/subscriptions/", body=b'{"limit":3,"min_copies":2}', headers=JSON_BODY, type="Print"
    )
    assert response.content == prints(lists)


def test_json_booleans_are_read(lists: Caller) -> None:
    """rules, "Booleans"; decisions, "Where parameters travel"."""
    for value in (True, False):
        response = lists.ask_with_body("/2/subscriptions/", {"campaign_active": value})
        wanted = lists.ask("/2/subscriptions/", campaign_active=str(value))
        assert response.status_code == 200
        assert response.content == wanted.content


def test_json_null_is_absent(lists: Caller) -> None:
    """rules, "Body of a GET"."""
    response = lists.ask_with_body("/2/subscriptions/", {"type": None, "copies": None})
    assert response.content == lists.ask("/2/subscriptions/").content


def test_json_null_of_a_required_parameter_is_missing(lists: Caller) -> None:
    """rules, "Body of a GET" and "Error body"."""
    response = lists.ask_with_body("/2/cdc", {"changed_since": None, "entities": "orders"})
    assert error_of(response, 400) == "{changed_since} is a required field"


OTHER_FORMS: list[object] = [
    {"type": ["Print"]},
    {"type": {"is": "Print"}},
    {"limit": [1]},
    [{"type": "Print"}, {"limit": 1}],
    [{"type": "Print"}, {"type": "Print"}],
    [1],
    ["type"],
    [[{"type": "Print"}]],
    {"limit": 2.5},
    {"limit": True},
    {"copies": False},
    {"campaign_active": 2},
]


def test_a_body_of_another_form_is_refused(lists: Caller, subtests: pytest.Subtests) -> None:
    """rules, "Body of a GET": a nested value is 400; an array holds one object."""
    for content in OTHER_FORMS:
        with subtests.test(content=content):
            assert error_of(lists.ask_with_body("/2/subscriptions/", content), 400)


def test_a_body_that_is_not_json_is_refused(lists: Caller, subtests: pytest.Subtests) -> None:
    """rules, "Body of a GET": JSON when its first character is ``{`` or ``[``."""
    for body in (b'{"type":', b'{"type":"Print"}}', b"[", b'{"a" "b"}'):
        with subtests.test(body=body):
            assert error_of(lists.ask("/2/subscriptions/", body=body, headers=JSON_BODY), 400)


TWICE = [
    ("/2/subscriptions/", "type=Print&type=Both", "type"),
    ("/2/subscriptions/", "type=Print&type=Print", "type"),
    ("/2/subscriptions/", "limit=1&copies=1&limit=1", "limit"),
    ("/2/subscribers/", "email=&email=", "email"),
    (
        "/2/cdc",
        "entities=orders&entities=orders&changed_since=2026-01-01T00:00:00Z",
        "entities",
    ),
]


def test_a_parameter_given_twice_is_refused(lists: Caller, subtests: pytest.Subtests) -> None:
    """decisions, "Where parameters travel": the same parameter twice is 400.

    rules, "A parameter given twice".
    """
    for path, query, name in TWICE:
        with subtests.test(path=path, query=query):
            assert name in error_of(lists.ask(f"{path}?{query}"), 400)
            assert name in error_of(lists.ask_with_form(path, query), 400)


def test_a_parameter_twice_in_one_json_object_is_refused(lists: Caller) -> None:
    """decisions, "Where parameters travel": the same parameter twice is 400."""
    response = lists.ask(
        "/2/subscriptions/", body=b'{"type":"Print","type":"Both"}', headers=JSON_BODY
    )
    assert "type" in error_of(response, 400)


@pytest.mark.parametrize("body", [b'{"type":"Both"}', b"type=Both", b'[{"type":"Both"}]'])
def test_two_values_in_two_places_are_refused(lists: Caller, body: bytes) -> None:
    """decisions, "Where parameters travel": two values in two places is 400."""
    assert "type" in error_of(lists.ask("/2/subscriptions/", body=body, type="Print"), 400)


UNKNOWN = [
    ("/2/subscriptions/", "publication", "publication_id"),
    ("/2/subscriptions/", "subscriber", "subscriber_id"),
    ("/2/subscriptions/", "min_copie", "min_copies"),
    ("/2/subscriptions/", "max_issue_left", "max_issues_left"),
    ("/2/subscriptions/", "issuesleft", "issues_left"),
    ("/2/subscriptions/", "campaignactive", "campaign_active"),
    ("/2/subscriptions/", "Limit", "limit"),
    ("/2/subscribers/", "mail", "email"),
    ("/2/subscribers/", "firstname", "first_name"),
    ("/2/subscribers/", "lastname", "last_name"),
    ("/2/subscribers/", "renewalcode", "renewal_code"),
    ("/2/subscribers/authenticate/", "logn", "login"),
    ("/2/subscribers/authenticate/", "passwort", "password"),
    ("/2/cdc", "change_since", "changed_since"),
    ("/2/cdc", "entity", "entities"),
    ("/2/downloadmailinglist/81/", "downlaod", "download"),
]


def test_an_unknown_parameter_is_refused_with_the_nearest_name(
    golden: Caller, subtests: pytest.Subtests
) -> None:
    """decisions, "Unknown parameter"."""
    for path, name, nearest in UNKNOWN:
        with subtests.test(path=path, name=name):
            sentence = golden.refusal(400, path, **{name: "1"})
            assert name in sentence
            assert nearest in sentence
            assert error_of(golden.ask_with_body(path, {name: "1"}), 400) == sentence


def test_the_search_refuses_the_parameters_of_the_login(golden: Caller) -> None:
    """decisions, "Unknown parameter": the one deliberate exception for existing clients."""
    assert "login" in golden.refusal(400, "/2/subscribers/", login="a", password="b")


@pytest.mark.parametrize(
    "path", ["/2/accounts/", "/2/accounts/1/", "/2/customfields/", "/2/customfields/1"]
)
def test_an_operation_without_parameters_refuses_them(golden: Caller, path: str) -> None:
    """decisions, "Unknown parameter", for operations that take none."""
    assert "limit" in golden.refusal(400, path, limit=1)


NUMBERS = (
    *("copies", "issues_left", "limit", "after", "max_copies", "min_copies", "max_issues_left"),
    *("min_issues_left", "publication_id", "subscriber_id"),
)
NO_NUMBERS = ("", "abc", "1.5", "1,5", "1_000", "0x1", "\u0663", "1e1", "NaN")


def test_what_is_not_a_number_is_refused(lists: Caller, subtests: pytest.Subtests) -> None:
    """rules, "A parameter that is present always filters" and "limit"."""
    for name, value in product(NUMBERS, NO_NUMBERS):
        with subtests.test(name=name, value=value):
            assert name in lists.refusal(400, "/2/subscriptions/", **{name: value})


def test_what_is_not_a_boolean_is_refused(lists: Caller, subtests: pytest.Subtests) -> None:
    """rules, "Booleans"."""
    for value in ("", "yes", "2", "-1", "t", "on", "null"):
        with subtests.test(value=value):
            sentence = lists.refusal(400, "/2/subscriptions/", campaign_active=value)
            assert "campaign_active" in sentence


@pytest.mark.parametrize("value", ["true", "True", "TRUE", "tRUE", "1"])
def test_true_is_read_in_any_letter_case(lists: Caller, value: str) -> None:
    """rules, "Booleans"."""
    rows = lists.read("/2/subscriptions/", campaign_active=value)["subscriptions"]
    assert {row["renew_campaign_active"] for row in rows} == {True}


@pytest.mark.parametrize("value", ["false", "False", "FALSE", "fAlse", "0"])
def test_false_is_read_in_any_letter_case(lists: Caller, value: str) -> None:
    """rules, "Booleans"."""
    rows = lists.read("/2/subscriptions/", campaign_active=value)["subscriptions"]
    assert {row["renew_campaign_active"] for row in rows} == {False}


@pytest.mark.parametrize("value", ["print", "PRINT", "pRiNt"])
def test_an_enumeration_is_read_in_any_letter_case(lists: Caller, value: str) -> None:
    """rules, "Booleans": enumerations in any letter case."""
    wanted = lists.answer("/2/subscriptions/", type="Print")
    assert lists.answer("/2/subscriptions/", type=value) == wanted


@pytest.mark.parametrize("value", ["Paper", "Print ,Digital", "Pr\u0131nt"])
def test_another_value_of_an_enumeration_is_refused(lists: Caller, value: str) -> None:
    """interface, operation 7: one of Print, Digital, Both."""
    assert "type" in lists.refusal(400, "/2/subscriptions/", type=value)


def test_an_empty_type_does_not_return_everybody(lists: Caller) -> None:
    """rules, "A parameter that is present always filters"."""
    response = lists.ask("/2/subscriptions/", type="")
    if response.status_code == 200:
        assert {row["type"] for row in response.json()["subscriptions"]} == {""}
    else:
        assert "type" in error_of(response, 400)


def test_a_limit_below_one_is_refused(lists: Caller, subtests: pytest.Subtests) -> None:
    """rules, "limit"."""
    paths = ("/2/subscriptions/", "/2/subscribers/")
    for path, value in product(paths, ("0", "-1", "-9223372036854775808")):
        with subtests.test(path=path, value=value):
            assert "limit" in lists.refusal(400, path, limit=value)


@pytest.mark.parametrize("path", ["/2/subscriptions/", "/2/subscribers/"])
@pytest.mark.parametrize("value", ["100", "101", "1000", "9223372036854775808", "9" * 30])
def test_a_limit_above_the_maximum_returns_the_maximum(
    lists: Caller, path: str, value: str
) -> None:
    """rules, "limit": above 100, 100 are returned; interface, Limits: 100 by default."""
    ((_, rows),) = lists.read(path, limit=value).items()
    assert len(rows) == 100
    assert rows == next(iter(lists.read(path).values()))


@pytest.mark.parametrize("value", [1, 2, 99])
def test_a_limit_returns_as_many(lists: Caller, value: int) -> None:
    """interface, operations 7 and 8: limit."""
    assert len(lists.read("/2/subscriptions/", limit=value)["subscriptions"]) == value
    assert len(lists.read("/2/subscribers/", limit=value)["subscribers"]) == value


BEYOND_64_BITS = ("9223372036854775808", "-9223372036854775809", "9" * 40, "-" + "9" * 40)


@ON_BOTH
def test_numbers_beyond_64_bits_make_no_fault(lists: Caller, subtests: pytest.Subtests) -> None:
    """rules, "Statuses": an answer or a sentence, never 500."""
    for name, value in product(
        ("copies", "max_issues_left", "subscriber_id", "after"), BEYOND_64_BITS
    ):
        with subtests.test(name=name, value=value):
            response = lists.ask("/2/subscriptions/", (name, value))
            if response.status_code != 200:
                assert name in error_of(response, 400)


def curl(caller: Caller, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run curl as that caller; it prints the body and, on a line of its own, the status."""
    return subprocess.run(
        [
            "curl",
            "--silent",
            "--user",
            f"{caller.api_key}:{caller.api_login}",
            "--write-out",
            "\n%{http_code}",
            *arguments,
        ],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=True,
    )


def test_curl_sends_json_labelled_as_a_form(lists: Caller) -> None:
    """rules, "Body of a GET": curl labels it a form."""
    content = '{"type":"Print","limit":3,"min_copies":2}'
    url = f"{lists.server.url}/2/subscriptions/"
    answer = curl(lists, "--request", "GET", "--data", content, url).stdout
    assert answer == prints(lists).decode() + "\n200"


def test_curl_sends_a_form_body(lists: Caller) -> None:
    """decisions, "Where parameters travel"."""
    url = f"{lists.server.url}/2/subscriptions"
    fields = ("--data", "type=PRINT", "--data", "limit=3", "--data", "min_copies=2")
    answer = curl(lists, "--request", "GET", *fields, url).stdout
    assert answer == prints(lists).decode() + "\n200"


def test_curl_sends_a_query_string(people: Caller) -> None:
    """decisions, "Where parameters travel"."""
    url = f"{people.server.url}/2/subscribers"
    answer = curl(people, "--get", "--data-urlencode", "last_name=\u00c4*", url).stdout
    assert answer == '{"subscribers":[]}\n200'


def test_curl_sends_a_raw_plus_in_an_offset(lists: Caller) -> None:
    """rules, "An unescaped + in changed_since"."""
    url = f"{lists.server.url}/2/cdc?changed_since={NOW_IN_WARSAW}&entities=orders"
    answer = curl(lists, url).stdout
    assert answer == '{"orders":[]}\n200'
