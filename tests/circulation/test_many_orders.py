"""Many orders in one operation: the same rows as one by one, by few statements, on both stores.

What they share is kept in the operation (rules, "What an operation has yet to write").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import Books, subscriptions
from masthead.books.order_files import take_many
from masthead.circulation.ordering import Item, Order, Person
from masthead.store.books.derived_values import refresh_subscriptions
from masthead.store.books.operation import Operation, operation
from tests.circulation.desk import ACTOR, Desk
from tests.circulation.statements import counting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from masthead.books.orders import Placed


YEAR, BOTH, FREE, MUG = 1, 2, 3, 1
READERS = 200
OAK = {"address": "3 Oak Lane", "city": "Dover", "zip_code": "19901"}
STATEMENTS_MAX = 0.5
"""For each order; it was 26 when every row was written by itself."""


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account, filled."""
    fill(shared)
    return shared


def fill(shared: Desk) -> None:
    """Two publications with issues until April closed; some had two and two of grace."""
    shared.empty()
    shared.to("2026-04-15")
    shared.put("list_downloads", mailing_list_id=1, name="Tide")
    for n in (1, 2):
        shared.put("publications", publication_id=n, name=f"P{n}", grace_counts=1)
        shared.put_many(
            "issues",
            [
                {
                    "issue_id": 10 * n + month,
                    "publication_id": n,
                    "name": f"No. {month}",
                    "date": f"2026-{month:02}-01",
                    "closed_at": "2026-01-01 00:00:00" if month < 5 else None,
                    "mailing_list_id": 1 if month < 5 else None,
                }
                for month in range(1, 10)
            ],
        )
    for bundle, lines in ((YEAR, (1,)), (BOTH, (1, 2)), (FREE, (1,))):
        price = 0 if bundle == FREE else 3500
        shared.put("bundles", bundle_id=bundle, name=f"B{bundle}", price=price, tax=price // 10)
        for number, publication in enumerate(lines, 1):
            shared.put(
                "bundle_lines",
                bundle_id=bundle,
                line_number=number,
                publication_id=publication,
                issues=12,
                type="Print",
                copies=bundle,
                price=price if number == 1 else 0,
            )
    shared.put("products", product_id=MUG, name="Mug", price=900)
    numbers = range(1, READERS + 1)
    shared.put_many(
        "subscribers",
        [{"subscriber_id": n, "email": f"r{n}@example.org", "last_name": f"L{n}"} for n in numbers],
    )
    shared.put_many(
        "addresses",
        [{"address_id": n, "subscriber_id": n, "address": f"{n} Elm"} for n in numbers],
    )
    odd = [n for n in numbers if n % 2]
    shared.put_many(
        "subscriptions",
        [
            {
                "subscription_id": n,
                "subscriber_id": n,
                "publication_id": 1,
                "mailing_address_id": n,
                "copies": 1,
                "type": "Print",
                "begins_on": "2026-01-01",
            }
            for n in odd
        ],
    )
    shared.put_many(
        "terms",
        [
            {"term_id": n, "subscription_id": n, "issues": 2, "issues_left": 0, "kind": "free"}
            for n in odd
        ],
    )
    shared.put_many(
        "subscription_issues",
        [
            {
                "subscription_id": n,
                "issue_id": 10 + month,
                "mailing_list_id": 1,
                "term_id": n if month < 3 else None,
                "is_grace": int(month >= 3),
            }
            for n in odd[:5]
            for month in range(1, 5)
        ],
    )
    shared.refresh()


def reader(number: int, **more: Any) -> Person:
    """A reader who is there."""
    return Person(email=f"r{number}@example.org", last_name=f"L{number}", **more)


def new(name: str) -> Person:
    """A person without a subscriber before the first order."""
    return Person(email=f"{name}@example.org", last_name=name, address=OAK)


ORDERS: Sequence[Order] = [
    Order(new("ann"), (Item(bundle_id=YEAR),), reference="W1", is_paid=True),
    Order(new("ann"), (Item(bundle_id=BOTH),), reference="W2"),
    Order(new("ann"), (Item(bundle_id=YEAR, is_new=True),), reference="W3", is_paid=True),
    Order(Person(subscriber_id=READERS + 1), (Item(product_id=MUG),), is_paid=True),
    # Late, so that the two issues of grace come out of it; the next finds a term before it.
    Order(reader(1), (Item(bundle_id=YEAR),), reference="W4", is_paid=True, payment_type="card"),
    Order(reader(1, address=OAK), (Item(bundle_id=YEAR),), reference="W5", is_paid=True),
    Order(reader(2), (Item(bundle_id=YEAR, recipient=new("bob")), Item(bundle_id=FREE))),
    Order(reader(2), (Item(bundle_id=YEAR, recipient=new("bob")),), is_paid=True),
    Order(new("bob"), (Item(bundle_id=BOTH), Item(bundle_id=YEAR)), reference="W6"),
    Order(reader(4), (Item(bundle_id=YEAR, first_issue=14), Item(product_id=MUG))),
    Order(reader(4), (Item(bundle_id=YEAR, recipient=Person(address=OAK)),), reference="W7"),
    Order(reader(3), (Item(bundle_id=FREE),)),
    # There already: not taken again, but paid now.
    Order(new("ann"), (Item(bundle_id=BOTH),), reference="w2", is_paid=True),
    Order(reader(5), (Item(bundle_id=YEAR),), reference="W8", is_paid=True),
]


def tables(desk: Desk) -> dict[str, list[dict[str, Any]]]:
    """Return the records of all tables, without what is drawn by chance."""
    found = desk.everything()
    for row in found["subscribers"]:
        del row["renewal_code"]
    return found


def together(books: Operation, orders: Sequence[Order]) -> list[Placed]:
    """Place orders in one operation."""
    placed = take_many(books, orders)
    refresh_subscriptions(books, {key for each in placed for key in each.subscriptions})
    return placed


def test_orders_that_come_together_leave_what_they_leave_one_by_one(desk: Desk) -> None:
    """The ids are the same, and a new reader of one order is found by the next."""
    with operation(desk.store, 1, ACTOR) as books:
        placed = together(books, ORDERS)
    found = tables(desk)
    assert [each.is_known for each in placed].count(True) == 1
    assert sum(row["term_id"] is not None for row in found["subscription_issues"]) == 5 * 2 + 3 * 2
    fill(desk)
    alone = []
    for order in ORDERS:
        with operation(desk.store, 1, ACTOR) as books:
            alone += together(books, [order])
    assert placed == alone
    assert tables(desk) == found


def test_many_orders_cost_few_statements(desk: Desk) -> None:
    """Of somebody new, of a reader who renews or begins, and of products; all of them paid."""
    orders = [
        order
        for n in range(1, READERS + 1)
        for order in (
            Order(reader(n), (Item(bundle_id=YEAR),), reference=f"A{n}", is_paid=True),
            Order(new(f"n{n}"), (Item(bundle_id=BOTH), Item(product_id=MUG)), is_paid=True),
        )
    ]
    with operation(desk.store, 1, ACTOR) as books:
        with counting() as counts:
            together(books, orders)
        assert counts.sent < STATEMENTS_MAX * len(orders)


def test_ids_are_shared_with_statements_that_write_by_themselves(
    desk: Desk,
) -> None:
    """Each user of the connection sees the rows that were handed over."""
    with operation(desk.store, 1, ACTOR) as books:
        first = together(books, ORDERS[:2])
        subscriptions.extend(Books(desk.store, 1, within=books), 1, 3)
        again = together(books, ORDERS[2:3])
    terms = desk.table("terms")
    assert len({row["term_id"] for row in terms}) == len(terms)
    assert [row["kind"] for row in terms][-5:] == ["paid", "paid", "free", "extension", "paid"]
    assert first[0].subscriber_id == again[0].subscriber_id
