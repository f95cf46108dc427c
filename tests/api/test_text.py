"""Text beyond ASCII is compared by code points, with every language setting of the database.

The same literal answers stand for each kind of database. PostgreSQL's own order is that of a
language in these tests, which passes over hyphens and takes an accented letter for its plain one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.callers import JSON_BODY, error_of, ids

if TYPE_CHECKING:
    import httpx2

    from tests.api.callers import Caller
    from tests.api.conftest import Publishers

SEARCH = "/2/subscribers/"
LOGIN = "/2/subscribers/authenticate/"
LAST = "\U0010ffff"
TEXTS = {
    1: "😀",
    2: "😀😁",
    3: "\u00e9",  # é as one character
    4: "e\u0301",  # é as e and an accent
    5: "Straße",
    6: "STRASSE",
    7: "STRA\u1e9eE",  # capital sharp s
    8: "\u0130zmir",  # capital I with a dot
    9: "izmir",
    10: "Izmir",
    11: "\u0131zmir",  # small i without a dot
    12: "a-b",
    13: "ab",
    14: "a b",
    15: "A_b",
    16: "\u00c4b",
    17: "\u00e4b",
    18: "Zoe",
    19: "zz",
    20: "\ud7ff",  # the last character before the surrogates
    21: "\ue000",  # the first one behind them
    22: LAST,
    23: LAST * 3,
    24: "co-op",
    25: "coop",
    26: "CO OP",
    27: "\u01c6",  # the letter dž, small, as a title has it, and capital
    28: "\u01c5",
    29: "\u01c4",
    30: "\ufb01n",  # with a ligature
    31: "fin",
    32: "\u200bghost",  # behind a space without width
    33: "ghost",
    34: "\uff11\uff12",  # wide digits
    35: "12",
    36: "\u212a",  # the sign of kelvin
    37: "k",
}
"""The first name and the source of each subscriber."""


@pytest.fixture(scope="module")
def texts(publishers: Publishers) -> Caller:
    """An account whose subscribers have those texts and no others."""
    publisher = publishers.new()
    publisher.load(
        subscribers=[
            {"subscriber_id": 1_000 + n, "first_name": text, "source": text, "last_name": "Texts"}
            for n, text in TEXTS.items()
        ]
    )
    return publisher.caller


def found(texts: Caller, **filters: str) -> list[int]:
    """Return the numbers of the texts that a search finds."""
    rows = texts.read(SEARCH, last_name="texts", **filters)["subscribers"]
    return [number - 1_000 for number in ids(rows, "subscriber_id")]


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ("😀", [1]),
        ("😀*", [1, 2]),
        ("\u00e9", [3]),
        ("\u00c9", [3]),
        ("e\u0301", [4]),
        ("E\u0301", [4]),
        ("e*", [4]),
        ("\u00e9*", [3]),
        ("straße", [5, 6, 7]),
        ("STRASSE", [5, 6, 7]),
        ("stra\u1e9ee", [5, 6, 7]),
        ("stra\u1e9e*", [5, 6, 7]),
        ("stras*", [5, 6, 7]),
        ("\u0130zmir", [8]),
        ("i\u0307ZMIR", [8]),
        ("IZMIR", [9, 10]),
        ("\u0131zmir", [11]),
        ("i*", [8, 9, 10]),
        ("iz*", [9, 10]),
        ("a*", [12, 13, 14, 15]),
        ("ab", [13]),
        ("AB*", [13]),
        ("a-*", [12]),
        ("a *", [14]),
        ("a_*", [15]),
        ("\u00e4*", [16, 17]),
        ("\u00c4B", [16, 17]),
        ("z*", [18, 19]),
        ("\ud7ff*", [20]),
        ("\ue000*", [21]),
        (LAST, [22]),
        (f"{LAST}*", [22, 23]),
        (f"{LAST}{LAST}*", [23]),
        ("coop", [25]),
        ("co*", [24, 25, 26]),
        ("coo*", [25]),
        ("co-*", [24]),
        ("\u01c6", [27, 28, 29]),
        ("\u01c4*", [27, 28, 29]),
        ("fin", [30, 31]),
        ("\ufb01*", [30, 31]),
        ("ghost", [33]),
        ("\u200bGHOST", [32]),
        ("g*", [33]),
        ("12", [35]),
        ("1*", [35]),
        ("\uff11*", [34]),
        ("K", [36, 37]),
        ("*", list(TEXTS)),
    ],
)
def test_a_name_is_found_by_its_folded_code_points(
    texts: Caller, wanted: str, numbers: list[int]
) -> None:
    """rules, "Subscriber search": Unicode case folding, and nothing else is the same."""
    assert found(texts, first_name=wanted) == numbers


@pytest.mark.parametrize(
    ("wanted", "numbers"),
    [
        ("😀*", [1, 2]),
        ("\u00e9", [3]),
        ("\u00c9", []),
        ("E\u0301", [4]),
        ("e*", [4]),
        ("STRAßE", [5]),
        ("strasse", [6]),
        ("stra\u1e9ee", [7]),
        ("stra*", [5, 6, 7]),
        ("stras*", [6]),
        ("\u0130ZMIR", [8]),
        ("i\u0307zmir", []),
        ("IZMIR", [9, 10]),
        ("i*", [9, 10]),
        ("A*", [12, 13, 14, 15]),
        ("ab*", [13]),
        ("a-*", [12]),
        ("\u00c4*", [16]),
        ("\u00e4*", [17]),
        ("Z*", [18, 19]),
        ("\ud7ff*", [20]),
        ("\ue000*", [21]),
        (f"{LAST}*", [22, 23]),
        ("Co*", [24, 25, 26]),
        ("COOP", [25]),
        ("\u01c6", [27]),
        ("\u01c5", [28]),
        ("\u01c4", [29]),
        ("FIN", [31]),
        ("\ufb01N", [30]),
        ("ghost*", [33]),
        ("\u200b*", [32]),
        ("1*", [35]),
        ("K", [37]),
        ("\u212a", [36]),
    ],
)
def test_a_source_is_found_by_its_code_points_ignoring_ascii_case(
    texts: Caller, wanted: str, numbers: list[int]
) -> None:
    """rules, "Subscriber search"."""
    assert found(texts, source=wanted) == numbers


def test_every_text_comes_back_as_it_was(texts: Caller) -> None:
    rows = texts.read(SEARCH, last_name="texts")["subscribers"]
    assert [row["first_name"] for row in rows] == list(TEXTS.values())
    assert [row["source"] for row in rows] == list(TEXTS.values())


# Text that cannot be stored

NUL = "holds a NUL character, which no store can keep"
BROKEN = "is not valid UTF-8"


@pytest.mark.parametrize(
    ("path", "query", "sentence"),
    [
        (SEARCH, "email=%00", f"email: {NUL}"),
        (SEARCH, "email=a%00b", f"email: {NUL}"),
        (SEARCH, "first_name=a%00*", f"first_name: {NUL}"),
        (SEARCH, "first_name=%00*", f"first_name: {NUL}"),
        (SEARCH, "renewal_code=a%00", f"renewal_code: {NUL}"),
        (LOGIN, "login=a%00&password=b", f"login: {NUL}"),
        (LOGIN, "login=a&password=%00", f"password: {NUL}"),
        ("/2/subscriptions/", "type=%00", "type: not one of Print, Digital, Both"),
        ("/2/cdc", "changed_since=%00&entities=orders", f"changed_since: {NUL}"),
        (SEARCH, "email=%ed%a0%80", "the parameters are not valid UTF-8"),
        (LOGIN, "login=%ed%b0%80&password=b", "the parameters are not valid UTF-8"),
    ],
)
def test_text_of_a_query_that_no_store_can_hold_is_refused(
    texts: Caller, path: str, query: str, sentence: str
) -> None:
    """A NUL and a lone surrogate can be in no record, so that asking for one is a mistake."""
    response = texts.raw(f"{path}?{query}")
    assert response.status == 400
    assert response.error() == sentence


def ask(texts: Caller, path: str, body: str) -> httpx2.Response:
    return texts.ask(path, body=body.encode("ascii"), headers=JSON_BODY)


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (SEARCH, r'{"email":"\u0000"}', f"email: {NUL}"),
        (SEARCH, r'{"last_name":"a\u0000*"}', f"last_name: {NUL}"),
        (LOGIN, r'{"login":"a\u0000b","password":"b"}', f"login: {NUL}"),
        (LOGIN, r'{"login":"a","password":"\u0000"}', f"password: {NUL}"),
        (SEARCH, r'{"email":"\ud800"}', f"email: {BROKEN}"),
        (SEARCH, r'{"first_name":"a\udc00*"}', f"first_name: {BROKEN}"),
        (SEARCH, r'{"source":"\ude00\ud83d"}', f"source: {BROKEN}"),
        (LOGIN, r'{"login":"\ud800","password":"b"}', f"login: {BROKEN}"),
        (LOGIN, r'{"login":"a","password":"\udfff"}', f"password: {BROKEN}"),
        ("/2/subscriptions/", r'{"type":"\ud800"}', "type: not one of Print, Digital, Both"),
        ("/2/cdc", r'{"changed_since":"\ud800","entities":"orders"}', f"changed_since: {BROKEN}"),
    ],
)
def test_text_of_a_body_that_no_store_can_hold_is_refused(
    texts: Caller, path: str, body: str, sentence: str
) -> None:
    assert error_of(ask(texts, path, body), 400) == sentence


def test_two_surrogates_that_belong_together_are_a_character(texts: Caller) -> None:
    response = ask(texts, SEARCH, r'{"first_name":"\ud83d\ude00","last_name":"Texts"}')
    assert ids(response.json()["subscribers"], "subscriber_id") == [1_001]
