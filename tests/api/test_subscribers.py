"""Operation 8: the search for subscribers."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.api.callers import ids, next_page, query_of
from tests.api.conftest import DATA
from tests.servers import import_files

if TYPE_CHECKING:
    from pathlib import Path

    from tests.api.callers import Caller
    from tests.api.conftest import House, Publisher

PATH = "/2/subscribers/"

with (DATA / "people" / "subscribers.csv").open(encoding="utf-8", newline="") as stream:
    LIVING = [row for row in csv.DictReader(stream) if not row["delete_date"]]


def ascii_folded(text: str) -> str:
    """Return the text with its ASCII letters made small, and no other."""
    return "".join(c.lower() if c.isascii() else c for c in text)


FOLDED = {
    "email": ascii_folded,
    "renewal_code": ascii_folded,
    "source": ascii_folded,
    "first_name": str.casefold,
    "last_name": str.casefold,
}


def fits(row: dict[str, str], filters: dict[str, str]) -> bool:
    """Say whether a loaded row fits all filters, as the decisions have them."""
    for name, wanted in filters.items():
        fold = FOLDED[name]
        stored = fold(row[name])
        if wanted.endswith("*"):
            if not stored.startswith(fold(wanted[:-1])):
                return False
        elif stored != fold(wanted):
            return False
    return True


def expected(**filters: str) -> list[int]:
    """Return the ids of the living subscribers who fit, in order."""
    return sorted(ids([row for row in LIVING if fits(row, filters)], "subscriber_id"))


def found(people: Caller, **filters: str) -> list[int]:
    """Return the ids of the subscribers that the server finds."""
    return ids(people.read(PATH, **filters)["subscribers"], "subscriber_id")


@pytest.mark.parametrize(
    ("name", "wanted", "who"),
    [
        ("email", "ann@example.org", [1, 2]),
        ("email", "Ann@Example.Org", [1, 2]),
        ("email", "shared@example.org", [9, 10, 11]),
        ("email", "ann", []),
        ("email", "ann@", []),
        ("email", "@example.org", []),
        ("email", "ann*", [1, 2, 3]),
        ("email", "ΣΊΣΥΦΟΣ@EXAMPLE.org", [15]),
        ("email", "kelvin@example.org", [29]),
        ("email", "\u212aelvin@example.org", [30]),
        ("email", "per%cent@example.org", [17]),
        ("email", "per_cent@example.org", [19]),
        ("email", "per%*", [17]),
        ("email", "per_*", [19]),
        ("email", "back\\slash@example.org", [25]),
        ("email", "", [21, 22]),
        ("renewal_code", "pp001", [1]),
        ("renewal_code", "PP022", [22]),
        ("renewal_code", "PP00*", [1, 2, 3, 9]),
        ("renewal_code", "PP00", []),
        ("source", "web", [1, 2, 3, 9223372036854775807]),
        ("source", "mail_1", [9]),
        ("source", "mail*", [9, 10, 11]),
        ("source", "100%", [12]),
        ("source", "100*", [12, 13, 14]),
        ("source", "\u00fcnder", [18]),
        ("source", "\u00dcnder", [17, 19]),
        ("source", "\u00dcNDER", [17, 19]),
        ("source", "[a-z]*", [20]),
        ("source", "a*b", [22]),
        ("source", "a?b", [24]),
        ("source", "", [21, 26, 27, 28, 33]),
        ("first_name", "ANN", [1, 2]),
        ("first_name", "Anna", [3]),
        ("first_name", "an*", [1, 2, 3]),
        ("first_name", "Straße", [9, 10, 11]),
        ("first_name", "STRASSE", [9, 10, 11]),
        ("first_name", "stra\u1e9ee", [9, 10, 11]),
        ("first_name", "strass*", [9, 10, 11]),
        ("first_name", "STRAß*", [9, 10, 11]),
        ("first_name", "\u0130stanbul", [12]),
        ("first_name", "i\u0307STANBUL", [12]),
        ("first_name", "istanbul", [13, 14]),
        ("first_name", "Istanbul", [13, 14]),
        ("first_name", "\u0131stanbul", []),
        ("first_name", "σίσυφοσ", [15, 16]),
        ("first_name", "100%", [17]),
        ("first_name", "1%", []),
        ("first_name", "100_", []),
        ("first_name", "10%*", []),
        ("first_name", "100%*", [17]),
        ("first_name", "star**", [23]),
        ("first_name", "star*", [23, 24]),
        ("first_name", "back\\slash", [25]),
        ("first_name", " ann ", [26]),
        ("first_name", "ZOË", [27]),
        ("first_name", "KELVIN", [29, 30]),
        ("first_name", "😀*", [33]),
        ("first_name", "O'Hara; DROP", [22]),
        ("last_name", "weiss", [9, 10, 11]),
        ("last_name", "\u0131l\u0131ca", []),
        ("last_name", "IL\u0131CA", [12]),
        ("last_name", "ilica", [13, 14]),
        ("last_name", "a_b", [17, 20]),
        ("last_name", "a_*", [17, 20]),
        ("last_name", "\\%", [25]),
        ("last_name", "?", [24]),
        ("last_name", 'SMITH "q"', [22]),
        ("last_name", "FLUFFI", [33]),
        ("last_name", "", [21]),
    ],
)
def test_a_search_by_one_value(people: Caller, name: str, wanted: str, who: list[int]) -> None:
    """rules, "Subscriber search": whole values, letter case, a trailing ``*``."""
    assert expected(**{name: wanted}) == who
    assert found(people, **{name: wanted}) == who


@st.composite
def searches(draw: st.DrawFn) -> dict[str, str]:
    """Draw filters that are near to what was loaded."""
    row = draw(st.sampled_from(LIVING))
    names = draw(st.sets(st.sampled_from(sorted(FOLDED)), min_size=1, max_size=3))
    filters = {}
    for name in sorted(names):
        value = row[name]
        if draw(st.booleans()):
            value = draw(st.sampled_from([str.upper, str.lower, str.title, str.swapcase]))(value)
        if draw(st.integers(0, 3)) == 0:
            value = value[: draw(st.integers(1, 6))] + "*"
        filters[name] = value
    return filters


@given(filters=searches())
def test_any_search_finds_the_records_that_match_all_values(
    people: Caller, filters: dict[str, str]
) -> None:
    """rules, "Subscriber search", against a model over the loaded rows."""
    if any(value == "*" for value in filters.values()):
        return  # whether an empty value begins with nothing is not decided
    assert found(people, **filters) == expected(**filters)


def test_several_parameters_are_joined_with_and(people: Caller) -> None:
    """interface, operation 8; rules, "A parameter that is present always filters"."""
    assert found(people, first_name="Ann", source="web") == [1, 2]
    assert found(people, first_name="Ann", source="") == []
    assert found(people, email="shared@example.org", source="mail_1") == [9]


def test_deleted_subscribers_are_left_out(people: Caller) -> None:
    """rules, "Subscriber search"; the feed shows them."""
    assert found(people, renewal_code="PP031") == []
    assert found(people, email="gone@example.org") == []
    everybody = found(people)
    assert 31 not in everybody
    assert 32 not in everybody


def test_everybody_is_in_order_of_id(people: Caller) -> None:
    """decisions, "Order of lists"."""
    assert found(people) == sorted(ids(LIVING, "subscriber_id"))


@given(limit=st.integers(9, 140))
def test_paging_visits_every_subscriber_once(lists: Caller, limit: int) -> None:
    """decisions, "Order of lists"."""
    pages = lists.all_pages(PATH, limit=limit)
    everybody = [*range(1, 131), 9223372036854775806]
    assert ids([row for page in pages for row in page], "subscriber_id") == everybody
    assert all(len(page) == min(limit, 100) for page in pages[:-1])


def test_a_full_page_names_the_next(lists: Caller) -> None:
    """decisions, "Order of lists"."""
    assert next_page(lists.ask(PATH, limit=2)) == "/2/subscribers/?limit=2&after=2"
    assert found(lists, limit="3", after="129") == [130, 9223372036854775806]
    assert "Link" not in lists.ask(PATH, after=129).headers


def test_the_next_page_keeps_a_filter_outside_ascii(lists: Caller) -> None:
    """decisions, "Order of lists": the header is a reference, percent-encoded."""
    wanted = found(lists, last_name="ÜB*")
    assert len(wanted) > 20
    first = lists.ask_with_body(PATH, {"last_name": "ÜB*", "limit": 5})
    target = next_page(first)
    query = query_of(target)
    assert query["last_name"].casefold() == "üb*"
    rows = first.json()["subscribers"] + lists.ask(target).json()["subscribers"]
    assert ids(rows, "subscriber_id") == wanted[:10]
    pages = lists.all_pages(PATH, last_name="ÜB*", limit=5)
    assert ids([row for page in pages for row in page], "subscriber_id") == wanted


def test_a_plus_and_an_ampersand_survive_paging(publisher: Publisher) -> None:
    """decisions, "Order of lists": paging never skips or repeats."""
    publisher.load(
        subscribers=[
            {"subscriber_id": 100 + n, "renewal_code": f"PLU{n:02d}", "source": "a+b & c=d #1%"}
            for n in range(5)
        ]
    )
    pages = publisher.caller.all_pages(PATH, source="a+b & c=d #1%", limit=2)
    assert [ids(page, "subscriber_id") for page in pages] == [[100, 101], [102, 103], [104]]


def test_the_digest_is_hidden_where_the_account_says_so(hidden: Caller) -> None:
    """decisions, "Passwords": the wire then carries the empty string."""
    rows = hidden.read(PATH)["subscribers"]
    assert [row["password_md5"] for row in rows] == ["", ""]


NAMES = st.text(
    st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1, max_size=50
)


def search_rows(caller: Caller) -> dict[str, dict[str, Any]]:
    """Return every subscriber by id."""
    pages = caller.all_pages(PATH)
    return {row["subscriber_id"]: row for page in pages for row in page}


@settings(max_examples=4)
@given(names=st.lists(NAMES, min_size=40, max_size=60))
def test_any_text_comes_back_as_it_was_loaded(
    house: House, tmp_path: Path, names: list[str]
) -> None:
    """rules, "Content": UTF-8 not escaped, lengths count code points; from a CSV file."""
    path = tmp_path / "subscribers.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(["subscriber_id", "renewal_code", "first_name", "last_name"])
        for number, name in enumerate(names, 1):
            writer.writerow([number, f"T{number:04d}", name, name[::-1]])
    import_files(path, account_id="10", database=house.database)
    caller = house.caller("texts")
    rows = search_rows(caller)
    for number, name in enumerate(names, 1):
        assert rows[str(number)]["first_name"] == name
        assert rows[str(number)]["last_name"] == name[::-1]
    answer = caller.answer(PATH)
    for name in names:
        if name.isprintable() and not {'"', "\\"} & set(name):
            assert f'"first_name":"{name}"' in answer


@settings(max_examples=3)
@given(names=st.lists(NAMES, min_size=20, max_size=30))
def test_every_loaded_reader_is_found_by_name(
    shared_publisher: Publisher, names: list[str]
) -> None:
    """rules, "Subscriber search", for every text; from an NDJSON file."""
    shared_publisher.load(
        subscribers=[
            {"subscriber_id": 2000 + n, "renewal_code": f"N{n:04d}", "first_name": name}
            for n, name in enumerate(names)
        ]
    )
    for n, name in enumerate(names):
        rows = shared_publisher.caller.read(PATH, first_name=name, source="")["subscribers"]
        assert str(2000 + n) in [row["subscriber_id"] for row in rows]
