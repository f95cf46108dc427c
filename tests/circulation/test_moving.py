"""A reader who moves, and a reader whose name is corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import moving, subscribers, subscriptions
from masthead.books.moving import Move
from tests.circulation.two_readers import TODAY, fill, refused

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

ELM = {"address": "12 Elm Street", "city": "Salem", "zip_code": "97301"}
SEA = {"address": "5 Sea Road", "city": "Ocean", "zip_code": "97302"}


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """Ada has subscriptions 1 and 3, and pays for 2, which is Ben's."""
    fill(shared)
    shared.put(
        "subscriptions",
        subscription_id=3,
        subscriber_id=1,
        publication_id=1,
        mailing_address_id=1,
        copies=1,
        type="Both",
        issues=0,
    )
    return shared


def goes_to(desk: Desk, subscription_id: int) -> tuple[object, object]:
    """Return the mailing and the billing address of a subscription."""
    found = desk.subscription(subscription_id)
    return found["mailing_address_id"], found["billing_address_id"]


def away(desk: Desk) -> list[tuple[object, ...]]:
    """Return the temporary addresses."""
    names = ("subscription_id", "address_id", "from_date", "to_date")
    return sorted(tuple(row[name] for name in names) for row in desk.table("temporary_addresses"))


def test_a_reader_moves_with_all_copies_and_bills_in_one_step(desk: Desk) -> None:
    """decisions, "What moves with a reader"."""
    subscriptions.move_for_a_while(desk.books, 1, SEA, "2026-07-01", "2026-07-31")
    assert [each.subscription_id for each in moving.movable(desk.books, 1)] == [1, 3]
    done = moving.move(desk.books, 1, Move(ELM, (1, 3), bills=True))
    new = done.address_id
    assert done.sentence == (
        f"subscriber 1 moves to address {new}; copies from now on of subscriptions 1, 3; bills "
        "from now on of subscriptions 1, 2, 3"
    )
    assert [goes_to(desk, n) for n in (1, 2, 3)] == [(new, new), (2, new), (new, new)]
    address = desk.table("addresses")[-1]
    assert (address["first_name"], address["last_name"]) == ("Ada", "Ames")
    assert away(desk) == [(1, new - 1, "2026-07-01", "2026-07-31")]
    last = desk.rows("SELECT summary FROM audit WHERE account_id = :account_id ORDER BY entry_id")
    assert last[-1] == (done.sentence,)


def test_a_move_of_one_subscription_leaves_the_others_and_the_bills(desk: Desk) -> None:
    done = moving.move(desk.books, 1, Move({**ELM, "last_name": "Reception"}, (3,)))
    assert [goes_to(desk, n) for n in (1, 3)] == [(1, 1), (done.address_id, None)]
    assert desk.table("addresses")[-1]["last_name"] == "Reception"


def test_a_move_from_a_later_day_keeps_the_former_address_until_then(desk: Desk) -> None:
    subscriptions.move_for_a_while(desk.books, 1, SEA, "2026-05-01", "2026-05-31")
    done = moving.move(desk.books, 1, Move(ELM, (1,), first="2026-07-01"))
    assert goes_to(desk, 1) == (done.address_id, 1)
    sea = done.address_id - 1
    assert away(desk) == [
        (1, 1, TODAY, "2026-04-30"),
        (1, 1, "2026-06-01", "2026-06-30"),
        (1, sea, "2026-05-01", "2026-05-31"),
    ]


def test_a_move_for_a_while_changes_no_address_for_good(desk: Desk) -> None:
    done = moving.move(desk.books, 1, Move(ELM, (1, 3), first="2026-07-01", last="2026-07-31"))
    assert done.sentence.endswith("from 2026-07-01 to 2026-07-31 of subscriptions 1, 3")
    assert goes_to(desk, 1) == (1, 1)
    assert away(desk) == [(n, done.address_id, "2026-07-01", "2026-07-31") for n in (1, 3)]


def test_a_move_that_cannot_be_is_refused(desk: Desk) -> None:
    subscriptions.move_for_a_while(desk.books, 1, SEA, "2026-05-01", "2026-05-31")
    for wanted, words in (
        (Move(ELM, ()), "say what goes"),
        (Move(ELM, (2,)), "Tide (print) is not a subscription of Ada Ames"),
        (Move({"city": "Salem"}, (1,)), "the street of the address is missing"),
        (Move(ELM, (1,), first="2026-04-14"), "is past"),
        (Move(ELM, (1,), first="2026-04-01", last="2026-04-14"), "2026-04-14 is past"),
        (Move(ELM, (1,), last="2026-05-01"), "from which day"),
        (Move(ELM, (1,), first="2026-08-02", last="2026-08-01"), "before it begins"),
        (Move(ELM, (1,), first="2026-05-31", last="2026-06-01"), "has another address from"),
        (Move(ELM, (1,), bills=True, first="2026-08-01", last="2026-08-02"), "bills go there"),
    ):
        assert words in refused(desk, moving.move, 1, wanted)


def test_a_corrected_name_is_corrected_on_the_labels_that_have_it(desk: Desk) -> None:
    desk.put("addresses", address_id=20, subscriber_id=1, first_name="Ada", last_name="Ames")
    desk.put("addresses", address_id=21, subscriber_id=1, last_name="Reception")
    assert subscribers.labels(desk.books, 1) == 1
    done = subscribers.edit(desk.books, 1, {"last_name": "Byron"}, labels_too=True)
    assert done.sentence == "subscriber 1: changed last_name, and the name on 1 address"
    names = {row["address_id"]: row["last_name"] for row in desk.table("addresses")}
    assert (names[20], names[21], names[1]) == ("Byron", "Reception", None)
    subscribers.edit(desk.books, 1, {"last_name": "Lovelace"})
    assert desk.table("addresses")[3]["last_name"] == "Byron"
    assert subscribers.labels(desk.books, 1) == 0


def test_what_goes_to_an_address_is_said(desk: Desk) -> None:
    assert subscribers.address(desk.books, 1).goes_there == (
        "copies and bills of Tide (print), bills of Tide (print), "
        "copies of Tide (print and digital)"
    )
