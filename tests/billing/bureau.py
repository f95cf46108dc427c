"""An account that bills: a monthly magazine, a mug, three payers, and no order yet.

Tide costs 12.00 and 0.84 tax for twelve issues, the mug 9.00 and 0.63 tax.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import invoices, orders, payer_payments
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import MastheadError

if TYPE_CHECKING:
    from collections.abc import Callable

    from masthead.books.invoices import Shown
    from masthead.books.payer_payments import Incoming
    from tests.circulation.desk import Desk

TODAY = "2026-04-15"
SETTINGS = {
    "seller_name": "Tide Press",
    "seller_street": "1 Quay",
    "seller_city": "Dublin",
    "seller_country": "IE",
    "seller_tax_number": "1234567A",
}


def fill(desk: Desk, **settings: str) -> None:
    """Write the account's rows; billing began on April 1, and no month is closed."""
    desk.empty()
    use_currency(desk, "USD")
    desk.to(TODAY)
    desk.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    desk.put_many(
        "issues",
        [
            {
                "issue_id": n,
                "publication_id": 1,
                "name": f"Tide {n}",
                "date": f"{2026 + (n - 1) // 12}-{(n - 1) % 12 + 1:02}-01",
                "closed_at": "2026-04-01 00:00:00" if n <= 4 else None,
            }
            for n in range(1, 25)
        ],
    )
    desk.put("bundles", bundle_id=1, name="Tide for a year", price=1200, tax=84)
    desk.put(
        "bundle_lines",
        bundle_id=1,
        line_number=1,
        publication_id=1,
        issues=12,
        type="Print",
        copies=1,
        price=1200,
    )
    desk.put("products", product_id=1, name="Mug", price=900, tax=63)
    for n, name in enumerate(("Ada", "Ben", "Cora"), 1):
        desk.put(
            "subscribers",
            subscriber_id=n,
            first_name=name,
            last_name="Ames",
            renewal_code=f"CODE{n}",
            email=f"{name.lower()}@example.org",
        )
        desk.put(
            "addresses",
            address_id=n,
            subscriber_id=n,
            address=f"{n} Oak",
            city="Cork",
            zip_code="T12",
            country_name="Ireland",
            country_abbreviation="IE",
        )
    begin(desk, **settings)


def use_currency(desk: Desk, currency: str) -> None:
    """Let the account have a currency."""
    desk.rows(
        "UPDATE accounts SET currency = :currency WHERE account_id = :account_id "
        "RETURNING account_id",
        currency=currency,
    )


def begin(desk: Desk, *, begun_on: str = "2026-04-01", **settings: str) -> None:
    """Note that an account bills since a day, with the settings of its seller."""
    desk.put("billing", billing_id=1, begun_on=begun_on)
    desk.put_many(
        "billing_settings",
        [
            {"setting_id": n, "name": name, "value": value}
            for n, (name, value) in enumerate({**SETTINGS, **settings}.items(), 1)
        ],
    )


def order(desk: Desk, payer: int = 1, *items: Item, is_paid: bool = False) -> int:
    """Take an order, by default of a year of Tide; return its id."""
    wanted = items or (Item(bundle_id=1),)
    placed = orders.place(desk.books, Order(Person(subscriber_id=payer), wanted, is_paid=is_paid))
    return placed.order_id


def number_of(desk: Desk, order_id: int) -> str:
    """Return the number of the invoice or receipt of an order."""
    ((number,),) = desk.rows(
        "SELECT number_text FROM invoices WHERE account_id = :account_id "
        "AND order_id = :order_id AND kind <> 'credit_note'",
        order_id=order_id,
    )
    return str(number)


def shown(desk: Desk, order_id: int) -> Shown:
    """Return the invoice of an order."""
    return invoices.show(desk.books, number_of(desk, order_id))


def pay(desk: Desk, order_id: int, incoming: Incoming) -> payer_payments.Received:
    """Book a payment of the invoice of an order."""
    return payer_payments.add(desk.books, incoming, invoice=number_of(desk, order_id))


def money(desk: Desk, order_id: int) -> dict[str, int]:
    """Return what the terms of an order received, earned and gave back, by kind."""
    rows = desk.rows(
        """
        SELECT r.kind, CAST(sum(r.cents) AS BIGINT) FROM revenue AS r
        JOIN terms AS t ON t.account_id = r.account_id AND t.term_id = r.term_id
        JOIN order_items AS i
            ON i.account_id = t.account_id AND i.order_item_id = t.order_item_id
        WHERE r.account_id = :account_id AND i.order_id = :order_id GROUP BY r.kind
        """,
        order_id=order_id,
    )
    return {kind: cents for kind, cents in rows if cents}


def accounts(desk: Desk) -> dict[str, int]:
    """Return the balance of each account of the journal, without what deliveries earned."""
    rows = desk.rows(
        "SELECT account, CAST(sum(cents) AS BIGINT) FROM journal_lines "
        "WHERE account_id = :account_id GROUP BY account"
    )
    return {account: cents for account, cents in rows if cents}


def refused(desk: Desk, do: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """Run an operation that must be refused and change nothing; return the sentence."""
    before = desk.everything()
    with pytest.raises(MastheadError) as refusal:
        do(desk.books, *arguments, **named)
    assert desk.everything() == before
    return str(refusal.value)
