"""Readers move from a later day on and move again, and cancel a term that has not begun."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import orders, reader_addresses, reader_cancelling
from masthead.books.reader_addresses import Wanted
from masthead.circulation.ordering import Item, Order, Person
from tests.readers_books.household import ADA, CORA, of, reader, undo_newest
from tests.readers_books.test_changing import BAY, seen

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.mark.parametrize(
    ("again", "left"),
    [
        (Wanted(BAY, []), []),
        (Wanted(BAY, [], issue_id=6), [("2026-04-15", "2026-05-31", "1 Oak")]),
        (
            Wanted(BAY, [], first="2026-08-01"),
            [("2026-04-15", "2026-06-30", "1 Oak"), ("2026-07-01", "2026-07-31", "4 Quay")],
        ),
    ],
)
def test_a_reader_who_moves_again_leaves_the_former_address_by_the_new_day(
    household: Desk, again: Wanted, left: list[tuple[str, str, str]]
) -> None:
    """decisions, "A reader who moves again": what was for a while from the beginning stays."""
    key, books = of(household).ada, reader(household, ADA)
    away = {**BAY, "address": "5 Beach"}
    reader_addresses.change_for_a_while(books, ADA, key, away, "2026-09-01", "2026-09-30")
    quay = Wanted({**BAY, "address": "4 Quay"}, [key], first="2026-07-01")
    reader_addresses.change(books, ADA, quay)

    def places() -> list[tuple[str, str | None, str]]:
        streets = ("1 Oak", "4 Quay", "5 Beach")
        return [
            (each.first, each.last, next(x for x in streets if x in each.line))
            for each in seen(household, ADA).temporary
        ]

    before = places()
    reader_addresses.change(books, ADA, again._replace(subscriptions=[key]))
    assert places() == [*left, ("2026-09-01", "2026-09-30", "5 Beach")]
    undo_newest(household)
    assert places() == before


def test_the_months_of_a_term_that_has_not_begun_count_from_its_first_issue(
    household: Desk,
) -> None:
    """decisions, "How a reader cancels"; rules, "The beginning of an unlimited term"."""
    household.put("bundles", bundle_id=2, name="Tide unlimited", price=2400)
    household.put(
        "bundle_lines",
        bundle_id=2,
        line_number=1,
        publication_id=1,
        issues=-1,
        months=12,
        type="Print",
        copies=1,
        price=2400,
    )
    orders.place(household.books, Order(Person(subscriber_id=CORA), (Item(bundle_id=2),)))
    key = seen(household, CORA).subscription_id
    done = reader_cancelling.cancel(reader(household, CORA), CORA, key)
    assert (done.issues_left, done.until) == (None, "2027-04-01")
