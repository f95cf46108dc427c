"""What operations of the books do for a reader as the role of the readers' pages.

They are those that the pages are made of, on both kinds of database. The ids that a reader must not
reach are those of another reader, which the role does not even see.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import (
    cancelling,
    invoices,
    orders,
    payer_details,
    reader_home,
    renewal_consents,
    replacements,
    subscribers,
    subscriptions,
)
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import MastheadError
from tests.billing import bureau
from tests.circulation.desk import at_desk
from tests.readers.pages_role import books_of_reader
from tests.store.conftest import ON_POSTGRESQL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.books.account import Books
    from tests.circulation.desk import Desk
    from tests.servers import Store

AWAY = {"address": "9 Elm", "city": "Cork", "zip_code": "T9", "country_name": "Ireland"}
GIL = Person(first_name="Gil", last_name="Gray", email="gil@example.org", address=AWAY)


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account, which each test fills for itself."""
    with at_desk(store) as found:
        yield found


@pytest.fixture
def books_of(shared: Desk) -> Callable[[int], Books]:
    """The books of a reader, as the role of the pages."""
    return lambda reader_id: books_of_reader(shared, reader_id)


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """An account in which two readers have ordered a year of Tide, and one issue came."""
    bureau.fill(shared)
    for payer in (1, 2):
        bureau.order(shared, payer)
    shared.put_many("subscription_issues", [{"subscription_id": n, "issue_id": 4} for n in (1, 2)])
    return shared


def year_of_tide(recipient: Person | None = None) -> Order:
    item = Item(bundle_id=1, recipient=recipient) if recipient else Item(bundle_id=1)
    return Order(Person(subscriber_id=1), (item,))


DONE: dict[str, Callable[[Books, int], Any]] = {
    "a pause": lambda books, n: subscriptions.suspend(books, n, "2026-06-01", "2026-07-01"),
    "an address": lambda books, n: subscriptions.move(books, n, AWAY),
    "a temporary address": lambda books, n: subscriptions.move_for_a_while(
        books, n, AWAY, "2026-06-01", "2026-06-20"
    ),
    "a name": lambda books, n: subscribers.edit(books, n, {"last_name": "Ash"}),
    "a city": lambda books, n: subscribers.edit_address(books, n, {"city": "Dublin"}),
    "another copy": lambda books, n: replacements.send_again(books, n, 4),
    "invoices by mail": lambda books, n: payer_details.deliver(books, n, by_email=True),
    "a consent": lambda books, n: renewal_consents.give(books, n, 1, "I agree"),
    "a cancelling": lambda books, n: cancelling.cancel(books, n, refund=False, at_end=True),
    "a cancelling with a refund": lambda books, n: cancelling.cancel(books, n, refund=True),
}


@pytest.mark.parametrize("what", DONE)
def test_a_reader_does_for_the_own_records_what_a_clerk_could(
    desk: Desk, books_of: Callable[[int], Books], what: str
) -> None:
    """decisions, "The role of the readers' pages": it has all rights that the pages need."""
    before = desk.everything()
    DONE[what](books_of(1), 1)
    assert desk.everything() != before
    ((name,),) = desk.rows(
        "SELECT user_name FROM audit WHERE account_id = :account_id ORDER BY entry_id DESC LIMIT 1"
    )
    assert name == "reader 1"


@ON_POSTGRESQL
@pytest.mark.parametrize("what", DONE)
def test_an_operation_that_forgets_the_reader_does_not_find_the_record(
    desk: Desk, books_of: Callable[[int], Books], what: str
) -> None:
    """decisions, "The role of the readers' pages": clerks' operations look at no reader."""
    before = desk.everything()
    with pytest.raises(MastheadError, match=r"has no|there is no"):
        DONE[what](books_of(1), 2)
    assert desk.everything() == before


def test_a_reader_orders_and_gives(desk: Desk, books_of: Callable[[int], Books]) -> None:
    """The recipient is new, and the numbers and ids follow those of other readers."""
    own = orders.place(books_of(1), year_of_tide())
    gift = orders.place(books_of(1), year_of_tide(GIL))
    assert (own.order_id, gift.order_id) == (3, 4)
    assert (own.subscriptions, gift.subscriptions) == ((1,), (3,))
    assert desk.subscription(3)["subscriber_id"] == 4
    assert bureau.number_of(desk, gift.order_id) == "2026-000004"
    assert invoices.show(books_of(1), "2026-000004").invoice.order_id == 4


def test_the_home_of_a_donor_has_the_name_of_the_recipient(
    desk: Desk, books_of: Callable[[int], Books]
) -> None:
    orders.place(books_of(1), year_of_tide(GIL))
    (gift,) = reader_home.home(books_of(1), 1).gifts
    assert (gift.order_id, gift.recipient) == (3, "Gil Gray")
    assert reader_home.home(books_of(2), 2).gifts == ()
    (received,) = reader_home.home(books_of(4), 4).subscriptions
    assert received.is_gift
    assert received.owed is None
    assert desk.subscription(3)["subscriber_id"] == 4


@ON_POSTGRESQL
def test_the_donor_no_longer_sees_the_recipient(
    desk: Desk, books_of: Callable[[int], Books]
) -> None:
    """decisions, "The role of the readers' pages": a donor and a recipient see exactly theirs."""
    orders.place(books_of(1), year_of_tide(GIL))
    with books_of(1).read() as reading:
        assert reading.rows("SELECT subscriber_id FROM subscribers") == [(1,)]
        assert reading.rows("SELECT subscription_id FROM subscriptions ORDER BY 1") == [(1,), (3,)]
    with books_of(4).read() as reading:
        assert reading.rows("SELECT subscriber_id FROM subscribers") == [(4,)]
        assert reading.rows("SELECT order_id FROM orders") == []
        assert reading.rows("SELECT subscription_id FROM terms") == [(3,)]
    assert desk.subscription(3)["subscriber_id"] == 4
