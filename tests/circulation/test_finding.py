"""Finding a caller: what the console's search and person pickers find, on both databases."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import finding
from masthead.store.staging import DERIVED
from tests.circulation.desk import at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk
    from tests.servers import Store

PEOPLE = (
    # id, first name, last name, code, company, street, postal code, city
    (1, "Susan", "Lopez", "5Z2DE", None, "99 Elm Ln", "97301", "Salem"),
    (2, "Susan", "Lopez", "8KSBR", None, "5315 Mill Blvd", "55403", "Minneapolis"),
    (3, "Jürgen", "Müller", "AAAAA", None, "Hauptstraße 19", "20095", "Hamburg"),
    (4, "Anna", "Mueller", "10608", None, "3 rue des Écoles", "42000", "Saint-Étienne"),
    (5, "Tim", "O'Neill", "SMITH", "Harbor Public Library", "12 Elm Street", "97302", "Salem"),
    (6, None, None, "C6", "Harbor Café", "7 Quay", "04101", "Portland"),
    (7, "Ada", "Salem", "D7", None, None, None, None),
    (8, "Old", "Lopez", "OLD88", None, "99 Elm Ln", "97301", "Salem"),
)


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """An account with a few readers of whom 8 was merged into 1, and with two orders."""
    with at_desk(store) as desk:
        fill(desk)
        yield desk


def fill(desk: Desk) -> None:
    """Add the readers, who have names in the forms that a load stores too."""
    for key, first, last, code, company, street, zip_code, city in PEOPLE:
        row = {
            "subscriber_id": key,
            "first_name": first,
            "last_name": last,
            "renewal_code": code,
            "email": f"{first}.{last}{key}@example.org".lower() if first else None,
            "delete_date": "2026-01-01 00:00:00" if key == 8 else None,
            "merged_into": 1 if key == 8 else None,
        }
        derived = {
            name: make(row.get(source)) for name, (source, make) in DERIVED["subscribers"].items()
        }
        desk.put("subscribers", **row, **derived)
        if street:
            desk.put(
                "addresses",
                address_id=key,
                subscriber_id=key,
                company=company,
                address=street,
                zip_code=zip_code,
                city=city,
            )
    desk.put("orders", order_id=1332, subscriber_id=2, order_date="2026-01-01 10:00:00")
    desk.put("orders", order_id=3, subscriber_id=2, external_reference="WEB-7")


def look(desk: Desk, text: str) -> tuple[list[int], list[int]]:
    """Return the ids of the readers and of the orders that a text finds."""
    hits = finding.look(desk.books, text, limit=8)
    assert not hits.is_similar or not hits.is_one
    return [hit.person.subscriber_id for hit in hits.people], [
        order.order_id for order in hits.orders
    ]


def test_what_a_caller_says_finds_the_reader(desk: Desk) -> None:
    """decisions, "Finding a caller": words in any order, with or without accents."""
    for text, people in {
        "susan lopez": [1, 2],
        "Lopez, Susan": [1, 2],
        "lopez salem": [1],
        "Salem Lopez": [1],
        "sus lop minn": [2],
        "salem": [7],
        "mueller hamburg": [3],
        "müller hamburg": [3],
        "MULLER Hamburg": [3],
        "müller saint-etienne": [4],
        "jurgen 20095": [3],
        "97301 lopez": [1],
        "harbor": [5, 6],
        "the harbor library": [5],
        "library harbor salem": [5],
        "harbor cafe portland": [6],
        "12 elm": [5],
        "12 elm st": [5],
        "elm street 12": [5],
        "99 elm lane salem": [1],
        "hauptstrasse 19": [3],
        "hauptstr. 19 hamburg": [3],
        "hauptstr 1": [],
        "oneill salem": [5],
        "5z2de": [1],
        "code 5z2de": [1],
        "old88": [1],
        "code aaaaa": [3],
        "10608": [4],
        "smith": [5],
        "susan.lopez2@example.org": [2],
        "susan.lopez2@": [2],
        "tim.o": [5],
        "old.lopez8@example.org": [1],
        "1 2027-01-01": [1],
        "xyz": [],
        "*": [],
        "o": [5, 1],
        "' OR 1=1": [],
    }.items():
        assert look(desk, text) == (people, []), text


def test_an_order_is_found_by_its_number_and_its_reference(desk: Desk) -> None:
    for text, found in {
        "1332": ([], [1332]),
        "order 1332": ([], [1332]),
        "Order no. 1332": ([], [1332]),
        "#1332": ([], [1332]),
        "# 1332": ([], [1332]),
        "web-7": ([], [3]),
        "order WEB-7": ([], [3]),
        "3": ([3], [3]),
        "#3": ([], [3]),
        "order 99999999999999999999": ([], []),
    }.items():
        assert look(desk, text) == found, text
    (order,) = finding.look(desk.books, "#1332", limit=8).orders
    assert (order.first_name, order.last_name) == ("Susan", "Lopez")


def test_a_name_with_one_wrong_letter_is_found_if_nothing_else_fits(desk: Desk) -> None:
    for text, people in {
        "lopes": [1, 2],
        "susan lopes": [1, 2],
        "suzan lopez": [1, 2],
        "lpoez salem": [1],
        "lopesz minneapolis": [2],
        "mullr hamburg": [3],
        "lopess salem": [],
        "loo": [],
    }.items():
        hits = finding.look(desk.books, text, limit=8)
        assert [hit.person.subscriber_id for hit in hits.people] == people, text
        assert hits.is_similar == bool(people), text
        assert not hits.is_one


@pytest.mark.parametrize(
    "text", ["x" * 8_000, "x " * 4_000, "9" * 8_000, f"order {'9' * 8_000}", "1a" * 4_000]
)
def test_a_text_of_any_length_finds_nothing_in_little_time(desk: Desk, text: str) -> None:
    """decisions, "Finding a caller": one wrong letter is looked for in names of 20 letters."""
    assert finding.look(desk.books, text, limit=5)[:2] == ([], [])


def test_a_search_says_when_there_are_more(desk: Desk) -> None:
    hits = finding.look(desk.books, "lopez", limit=1)
    assert (len(hits.people), hits.is_more, hits.is_one) == (1, True, False)
    assert finding.look(desk.books, "  lopez   salem ", limit=1).is_one
