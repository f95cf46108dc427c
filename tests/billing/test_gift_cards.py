"""The cards for gifts: only what the payer gave, and only for the payer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import gift_cards, orders, page_settings
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import NotFound
from tests.documents.shown import lines_of, made

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def gift(bureau: Desk) -> int:
    """An order in which Ada gives a year of Tide to Dora, who is subscriber 4."""
    page_settings.set_values(
        bureau.books,
        {"name": "Tide & Co", "contact": "desk@tide.example", "colour": "#104060"},
    )
    names = {"first_name": "Dora", "last_name": "Day"}
    place = {**names, "address": "1 Elm", "city": "Cork"}
    reader = Person(first_name="Dora", last_name="Day", address=place)
    item = Item(bundle_id=1, recipient=reader)
    return orders.place(bureau.books, Order(Person(subscriber_id=1), (item,))).order_id


def test_a_card_names_the_payer_the_reader_and_the_gift(bureau: Desk, gift: int) -> None:
    found = gift_cards.cards_of(
        bureau.books, 1, gift, begins_on="2026-12-24", message="Enjoy\r\nit", language="de"
    )
    (card,) = found.cards
    assert found.appearance.colour == "#104060"
    assert lines_of(made(card, found.appearance)) == [
        "Tide & Co",
        "Ein Geschenk für Dora Day",
        "Ada Ames schenkt Ihnen Tide for a year.",
        "Es beginnt am 24. Dezember 2026.",
        "Enjoy it",
        "Tide & Co · desk@tide.example",
    ]


def test_only_who_pays_has_the_card(bureau: Desk, gift: int) -> None:
    for reader, order_id in ((4, gift), (2, gift), (1, gift + 1)):
        with pytest.raises(NotFound, match=f"order {order_id} is not an order of yours"):
            gift_cards.cards_of(bureau.books, reader, order_id)


def test_an_order_for_oneself_has_no_card(bureau: Desk) -> None:
    own = orders.place(bureau.books, Order(Person(subscriber_id=1), (Item(bundle_id=1),))).order_id
    with pytest.raises(NotFound):
        gift_cards.cards_of(bureau.books, 1, own)
