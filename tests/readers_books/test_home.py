"""The first page of a reader has what is the reader's, and nothing of anybody else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    erasure,
    invoices,
    issues,
    orders,
    reader_home,
    subscribers,
    subscriptions,
)
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import NotFound
from tests.readers_books.household import ADA, BEN, CORA, DAN, EVE, of, reader, show_bundle

if TYPE_CHECKING:
    from masthead.books.reader_home import Home
    from tests.circulation.desk import Desk


def home(desk: Desk, subscriber_id: int) -> Home:
    return reader_home.home(reader(desk, subscriber_id), subscriber_id)


def test_a_reader_sees_what_is_owed_and_what_comes(household: Desk) -> None:
    found = home(household, ADA)
    (tide,) = found.subscriptions
    assert (tide.publication, tide.state, tide.issues_left, tide.copies) == (
        "Tide",
        "active",
        12,
        1,
    )
    assert (tide.until, tide.begins_on, tide.is_gift) == ("2027-04-30", "2026-04-02", False)
    assert tide.next is not None
    assert (tide.next.name, tide.next.day) == ("Tide 5", "2026-05-01")
    assert [each.day for each in tide.coming] == ["2026-05-01", "2026-06-01", "2026-07-01"]
    assert tide.owed is not None
    assert (tide.owed.cents, tide.owed.number) == (1284, "2026-000001")
    assert (found.owed, found.currency, found.today) == (1284, "USD", "2026-04-15")
    (invoice,) = found.documents
    assert (invoice.number, invoice.kind, invoice.open_cents) == ("2026-000001", "invoice", 1284)
    assert tide.may.address
    assert tide.may.pause
    assert tide.may.cancel == "at_end"
    assert not tide.may.resume
    assert not tide.may.uncancel
    assert not tide.may.renew_off


def test_two_readers_at_one_address_see_only_their_own(household: Desk) -> None:
    ours, theirs = home(household, ADA), home(household, BEN)
    assert [each.subscription_id for each in ours.subscriptions] == [of(household).ada]
    assert [each.subscription_id for each in theirs.subscriptions] == [of(household).ben]
    assert [each.number for each in theirs.documents] == ["2026-000002"]
    assert theirs.owed == 0
    assert ours.subscription(of(household).ben) is None
    assert ours.document(theirs.documents[0].invoice_id) is None


def test_a_donor_sees_the_gift_and_its_price_but_nothing_of_the_recipient(household: Desk) -> None:
    found = home(household, CORA)
    assert found.subscriptions == ()
    (gift,) = found.gifts
    assert (gift.recipient, gift.bundle, gift.cents) == ("Dan Burns", "Tide for a year", 1284)
    assert (gift.owed, gift.has_ended, gift.ordered_on) == (None, False, "2026-04-15")
    assert [each.number for each in found.documents] == ["2026-000003"]
    assert "Elm" not in repr(found)
    assert "dan@example.org" not in repr(found)


def test_a_recipient_sees_the_gift_without_its_price_and_its_donor(household: Desk) -> None:
    found = home(household, DAN)
    (tide,) = found.subscriptions
    assert (tide.is_gift, tide.owed, tide.state) == (True, None, "active")
    assert tide.may.cancel == "no"
    assert tide.may.address
    assert not tide.may.renew
    assert (found.documents, found.gifts, found.owed) == ((), (), 0)
    assert "1284" not in repr(found)
    assert "Cora" not in repr(found)


def test_what_a_donor_has_not_paid_is_not_owed_by_the_recipient(household: Desk) -> None:
    """Ben has a subscription of his own, which Cora's gift extends."""
    gift = Item(bundle_id=1, recipient=Person(subscriber_id=BEN))
    orders.place(household.books, Order(Person(subscriber_id=CORA), (gift,)))
    (tide,) = home(household, BEN).subscriptions
    assert (tide.issues_left, tide.owed) == (24, None)
    orders.place(household.books, Order(Person(subscriber_id=BEN), (Item(bundle_id=1),)))
    found = home(household, BEN)
    (tide,) = found.subscriptions
    assert tide.owed is not None
    assert tide.owed.number == found.documents[0].number
    assert (tide.owed.cents, found.owed) == (1284, 1284)


def test_a_credit_note_is_among_the_documents(household: Desk) -> None:
    number = home(household, ADA).documents[0].number
    invoices.cancel(household.books, number, reason="ordered twice")
    found = home(household, ADA)
    assert [(each.kind, each.cents, each.open_cents) for each in found.documents] == [
        ("credit_note", 1284, 0),
        ("invoice", 1284, 0),
    ]
    assert found.owed == 0


def test_what_a_recipient_is_called_later_is_not_told_to_the_donor(household: Desk) -> None:
    subscribers.edit(household.books, DAN, {"last_name": "Secret", "email": "new@example.org"})
    (gift,) = home(household, CORA).gifts
    assert gift.recipient == "Dan Burns"


def test_a_cancelled_subscription_has_ended(household: Desk) -> None:
    (tide,) = home(household, EVE).subscriptions
    assert tide.state == "ended"
    assert tide.cancelled is not None
    assert tide.cancelled.ended_on == "2026-04-15"
    assert (tide.next, tide.coming) == (None, ())
    assert not tide.may.pause
    assert not tide.may.address
    assert tide.may.cancel == "no"
    assert not tide.may.renew


@pytest.mark.parametrize("subscriber_id", [DAN, EVE])
@pytest.mark.parametrize(("renew", "buy"), [(1, 0), (0, 1)])
def test_only_what_readers_see_can_be_renewed_bought_or_given(
    household: Desk, subscriber_id: int, renew: int, buy: int
) -> None:
    """Recipients of gifts can renew; Eve, who cancelled, buys again."""
    show_bundle(household, renew=renew, buy=buy)
    found = home(household, subscriber_id)
    renews = renew and subscriber_id == DAN
    assert [each.may.renew for each in found.subscriptions] == [bool(renews)]
    assert (found.offered.buy, found.offered.gift) == (bool(buy), bool(buy))


@pytest.mark.parametrize("subscriber_id", [ADA, 99])
def test_erased_and_unknown_readers_see_the_same_nothing(
    household: Desk, subscriber_id: int
) -> None:
    erasure.erase(household.books, ADA, "earn")
    with pytest.raises(NotFound) as refusal:
        home(household, subscriber_id)
    assert str(refusal.value) == f"account 1 has no subscriber {subscriber_id}"


def test_of_merged_readers_only_the_kept_one_sees_anything(household: Desk) -> None:
    subscribers.merge(household.books, ADA, BEN)
    with pytest.raises(NotFound):
        home(household, BEN)
    found = home(household, ADA)
    assert [each.issues_left for each in found.subscriptions] == [24]
    assert len(found.documents) == 2


def test_pauses_and_addresses_for_a_while_say_when(household: Desk) -> None:
    key = of(household).ada
    subscriptions.suspend(household.books, key, "2026-05-20", "2026-06-10")
    away = {"address": "9 Bay", "city": "Galway"}
    subscriptions.move_for_a_while(household.books, key, away, "2026-04-10", "2026-05-10")
    (tide,) = home(household, ADA).subscriptions
    assert [(each.first, each.last, each.is_now) for each in tide.pauses] == [
        ("2026-05-20", "2026-06-10", False)
    ]
    assert [(each.line, each.is_now) for each in tide.temporary] == [
        ("Ada Ames, 9 Bay, Galway", True)
    ]
    assert [(each.day, each.is_paused) for each in tide.coming] == [
        ("2026-05-01", False),
        ("2026-06-01", True),
        ("2026-07-01", False),
    ]
    assert tide.may.resume


def test_issues_that_came_are_listed_and_can_be_missing(household: Desk) -> None:
    issues.close(household.books, 5)
    (tide,) = home(household, ADA).subscriptions
    assert [(each.name, each.day, each.copies) for each in tide.received] == [
        ("Tide 5", "2026-05-01", 1)
    ]
    assert tide.may.missing_copy
    assert tide.state == "waits"
    (other,) = home(household, BEN).subscriptions
    assert (other.state, other.issues_left) == ("active", 11)


def test_another_account_has_none_of_it(household: Desk) -> None:
    with pytest.raises(NotFound):
        reader_home.home(type(household.books)(household.store, 77), ADA)


def test_documents_that_are_switched_off_are_not_there(household: Desk) -> None:
    household.put("page_settings", setting_id=1, name="documents", value="no")
    found = home(household, ADA)
    assert (found.documents, found.owed) == ((), 1284)
