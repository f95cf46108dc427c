"""Renewal letters: the effort that fits, the addressee, and the bundle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import catalogue, issues, orders, renewals
from masthead.circulation.ordering import NOBODY, Item, Order, Person
from masthead.errors import MastheadError
from tests.circulation.desk import Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store.database import Value
    from tests.servers import Store


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """A monthly of which nothing is closed yet; five issues for 10.00 and tax 0.70; readers."""
    with at_desk(store) as desk:
        desk.to("2026-01-10")
        desk.put("publications", publication_id=1, name="Tide", issues_per_year=12)
        for n in range(1, 8):
            desk.put("issues", issue_id=n, publication_id=1, name=f"{n}", date=f"2026-0{n + 1}-01")
        desk.put("bundles", bundle_id=1, name="Five of Tide", price=1000, tax=70)
        line: dict[str, Value] = {"publication_id": 1, "issues": 5, "type": "Print", "copies": 1}
        desk.put("bundle_lines", bundle_id=1, line_number=1, price=1000, **line)
        for n, name in enumerate(("Ada", "Ben"), 1):
            desk.put("subscribers", subscriber_id=n, first_name=name, last_name="Ames")
            desk.put("addresses", address_id=n, subscriber_id=n, address=f"{n} Oak", city="Bath")
        yield desk


def order(desk: Desk, payer: int, reader: int | None = None) -> None:
    """Order five issues, paid; of another reader, as a gift."""
    recipient = NOBODY if reader is None else Person(reader)
    orders.place(desk.books, Order(Person(payer), [Item(1, recipient=recipient)], is_paid=True))


def letters(desk: Desk) -> list[dict[str, Any]]:
    """Return the letters that are due, and note them as sent."""
    rows: list[renewals.Letter] = []
    renewals.send(desk.books, rows.extend)
    return [dict(zip(renewals.LETTER, row, strict=True)) for row in rows]


def effort(desk: Desk, number: int, left: int, *bundle: Any) -> None:
    renewals.set_effort(desk.books, renewals.Effort(1, number, left, *bundle))


def refusal(desk: Desk, *point: Any) -> str:
    with pytest.raises(MastheadError) as caught:
        effort(desk, *point)
    return str(caught.value)


def test_who_is_late_gets_the_effort_that_fits_now_once(desk: Desk) -> None:
    """circulation, "Renewals"; rules, "The effort that fits"."""
    for number, left in enumerate((7, 4, 3, 0), 1):
        effort(desk, number, left)
    order(desk, 1)
    sent = []
    for issue_id in range(1, 7):
        sent.append([(letter["effort"], letter["issues_left"]) for letter in letters(desk)])
        assert letters(desk) == []
        issues.close(desk.books, issue_id)
    assert sent == [[(1, 5)], [(2, 4)], [(3, 3)], [], [], [(4, 0)]]


def test_the_letters_of_a_file_are_counted_and_known_again(desk: Desk) -> None:
    """rules, "The letters' file"."""
    digest = "0" * 64
    effort(desk, 1, 7)
    order(desk, 1)
    assert not renewals.is_noted(desk.books, digest)
    one = renewals.send(desk.books, lambda _letters: digest).sentence
    assert one == f"1 letter of renewal was written out, into the file with SHA-256 {digest}"
    assert renewals.is_noted(desk.books, digest)
    order(desk, 2)
    effort(desk, 2, 6)
    many = renewals.send(desk.books, lambda _letters: None, 1).sentence
    assert many == "2 letters of renewal of publication 1 were written out"


def test_efforts_are_due_in_the_order_of_their_numbers(desk: Desk) -> None:
    """rules, "The effort that fits"."""
    effort(desk, 1, 3)
    effort(desk, 2, 1)
    for number, left, why in (
        (3, 1, "effort 3 is due at 1 issue left: effort 2, which comes before it, is due earlier"),
        (1, 1, "effort 2 is due at 1 issue left: effort 1, which comes before it, is due earlier"),
        (2, 3, "not at 3 issues left"),
    ):
        assert why in refusal(desk, number, left)
    effort(desk, 2, 2)


def test_a_letter_has_the_bundle_of_its_effort(desk: Desk) -> None:
    """circulation, "Renewals": a bundle, a key code, and what it costs the reader with tax."""
    desk.put("bundles", bundle_id=2, name="A mug", price=1, tax=0)
    effort(desk, 1, 5, 1, "R1-2026")
    columns = ("bundle", "bundle_price", "bundle_tax", "bundle_total", "key_code")
    order(desk, 1)
    (letter,) = letters(desk)
    assert [letter[n] for n in columns] == ["Five of Tide", "10.00", "0.70", "10.70", "R1-2026"]
    order(desk, 2)
    catalogue.retire(desk.books, "bundle", 1)
    (letter,) = letters(desk)
    assert [letter[n] for n in columns] == [None, None, None, None, "R1-2026"]
    for bundle_id, why in ((1, "is retired"), (2, "gives nothing"), (99, "no bundle 99")):
        assert why in refusal(desk, 1, 5, bundle_id)
    effort(desk, 1, 5)
    assert [each.bundle_id for each, _ in renewals.efforts(desk.books)] == [None]


def test_a_letter_has_name_and_address_of_one_place(desk: Desk) -> None:
    """circulation, "The mail file": an address without a name has the subscriber's name."""
    effort(desk, 1, 5)
    order(desk, 1)
    found = []
    for names in ((None, None, None), (None, "Smith", None), ("", "", "Library")):
        with desk.store.writer() as database, database.transaction():
            database.change(
                "UPDATE addresses SET first_name = :first, last_name = :last, company = :company "
                "WHERE account_id = 1 AND address_id = 1",
                **dict(zip(("first", "last", "company"), names, strict=True)),
            )
            database.change("DELETE FROM renewals_sent WHERE account_id = 1")
        (letter,) = letters(desk)
        found.append([letter[n] or "" for n in ("first_name", "last_name", "company")])
    assert found == [["Ada", "Ames", ""], ["", "Smith", ""], ["Ada", "Ames", "Library"]]


def test_the_letter_goes_to_the_reader_who_has_ever_paid_and_else_to_the_payer(desk: Desk) -> None:
    """circulation, "Order": gift or not; rules, "The reader's own terms"."""
    effort(desk, 1, 9)
    order(desk, 1, reader=2)
    columns = ("to_subscriber_id", "is_gift", "first_name", "address")
    (letter,) = letters(desk)
    assert [letter[n] for n in columns] == [1, 1, "Ada", "1 Oak"]
    for issue_id in range(1, 4):
        issues.close(desk.books, issue_id)
    order(desk, 2)
    (letter,) = letters(desk)
    assert [letter[n] for n in columns] == [2, 0, "Ben", "2 Oak"]
    order(desk, 1, reader=2)
    for issue_id in range(4, 8):
        issues.close(desk.books, issue_id)
    (letter,) = letters(desk)
    assert [letter[n] for n in columns] == [2, 0, "Ben", "2 Oak"]
