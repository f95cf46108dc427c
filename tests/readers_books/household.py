"""Readers who must not see each other: two at one address, a donor, a recipient, and others.

Ada and Ben Ames live at one address; Cora gives Tide to Dan. All of them have one subscription of
Tide, but for Cora, who has none, and Eve, who cancelled. It is April 15, and issue 5 comes next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from masthead.books import cancelling, orders, payer_payments, reader_changes
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import MastheadError
from tests.billing import bureau
from tests.readers.pages_role import books_of_reader

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.books.account import Books
    from tests.circulation.desk import Desk

ADA, BEN, CORA, DAN, EVE = 1, 2, 3, 4, 5


class Subscriptions(NamedTuple):
    """The ids of the subscriptions of Ada, Ben, Dan and Eve."""

    ada: int
    ben: int
    dan: int
    eve: int


def fill(desk: Desk) -> None:
    """Write the account's rows and take the orders of the readers."""
    bureau.fill(desk)
    for key, name in ((DAN, "Dan"), (EVE, "Eve")):
        desk.put(
            "subscribers",
            subscriber_id=key,
            first_name=name,
            last_name="Burns",
            renewal_code=f"CODE{key}",
            email=f"{name.lower()}@example.org",
        )
        desk.put(
            "addresses",
            address_id=key,
            subscriber_id=key,
            first_name=name,
            last_name="Burns",
            address=f"{key} Elm",
            city="Cork",
            zip_code="T12",
            country_name="Ireland",
            country_abbreviation="IE",
        )
    for payer, reader in ((ADA, ADA), (BEN, BEN), (CORA, DAN), (EVE, EVE)):
        recipient = Person(subscriber_id=reader)
        placed = orders.place(
            desk.books,
            Order(Person(subscriber_id=payer), (Item(bundle_id=1, recipient=recipient),)),
        )
        if payer != ADA:
            payer_payments.add(desk.books, Incoming(1284), invoice=str(placed.invoice))
    cancelling.cancel(desk.books, of(desk).eve, refund=False)


def of(desk: Desk) -> Subscriptions:
    """Return the subscriptions of the readers."""
    rows = dict(
        desk.rows(
            "SELECT subscriber_id, min(subscription_id) FROM subscriptions "
            "WHERE account_id = :account_id GROUP BY subscriber_id"
        )
    )
    return Subscriptions(rows[ADA], rows[BEN], rows[DAN], rows[EVE])


def reader(desk: Desk, subscriber_id: int) -> Books:
    """Return the books as a reader works in them: on PostgreSQL, as the role of the pages."""
    return books_of_reader(desk, subscriber_id)


def show_bundle(desk: Desk, bundle_id: int = 1, *, renew: int = 1, buy: int = 1) -> None:
    """Let the readers' pages show a bundle."""
    desk.put("reader_bundles", bundle_id=bundle_id, renew=renew, buy=buy, gift=buy)


def refused(desk: Desk, do: Callable[..., Any], *arguments: Any, **named: Any) -> MastheadError:
    """Run an operation that must be refused and change nothing; return the error."""
    before = desk.everything()
    with pytest.raises(MastheadError) as refusal:
        do(*arguments, **named)
    assert desk.everything() == before
    return refusal.value


def undo_newest(desk: Desk) -> None:
    """Undo the newest change of a reader, as a clerk does."""
    ((key,),) = desk.rows(
        "SELECT max(reader_change_id) FROM reader_changes WHERE account_id = :account_id"
    )
    reader_changes.undo(desk.books, key)


def kept(desk: Desk) -> dict[str, list[dict[str, Any]]]:
    """Return all records but the notes of what readers changed, and those that only grow."""
    found = desk.everything()
    for name in ("reader_changes", "mails", "addresses"):
        del found[name]
    return found
