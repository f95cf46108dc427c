"""Orders: what they bring to readers, terms, purchases and money, on both stores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import issues, orders, payments, refunds
from masthead.books.issues import Grace
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import MastheadError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.circulation.desk import Desk


TODAY = "2026-04-15"
YEAR, BOTH, ENDLESS, MUG, RETIRED, FREE = 1, 2, 3, 1, 4, 5
ADA, BEN = Person(1), Person(2)
OAK = {"address": "3 Oak Lane", "city": "Dover"}


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """Two publications, of which issues up to April are closed; ada and ben, without anything."""
    shared.empty()
    shared.to(TODAY)
    for n, name in enumerate(("Tide", "Ebb"), 1):
        shared.put("publications", publication_id=n, name=name, issues_per_year=12)
    shared.put("list_downloads", mailing_list_id=1, name="Tide")
    for publication in (1, 2):
        shared.put_many(
            "issues",
            [
                {
                    "issue_id": 10 * publication + month,
                    "publication_id": publication,
                    "name": f"No. {month}",
                    "date": f"2026-{month:02}-01",
                    "closed_at": "2026-01-01 00:00:00" if month < 5 else None,
                    "mailing_list_id": 1 if month < 5 else None,
                }
                for month in range(1, 10)
            ],
        )
    for bundle, name, price, tax, active in (
        (YEAR, "Tide for a year", 3500, 245, 1),
        (BOTH, "Tide and Ebb", 6000, 420, 1),
        (ENDLESS, "Tide for life", 30000, 2100, 1),
        (RETIRED, "Tide, half a year", 2000, 140, 0),
        (FREE, "Tide, for friends", 0, 0, 1),
    ):
        shared.put("bundles", bundle_id=bundle, name=name, price=price, tax=tax, active=active)
    names = ["bundle_id", "line_number", "publication_id", "issues", "type", "copies", "price"]
    lines = (
        (YEAR, 1, 1, 12, "Print", 2, 3500),
        (BOTH, 1, 1, 12, "Print", 1, 3500),
        (BOTH, 2, 2, 6, "Digital", 1, 2500),
        (ENDLESS, 1, 1, -1, "Print", 1, 30000),
        (RETIRED, 1, 1, 6, "Print", 1, 2000),
        (FREE, 1, 1, 3, "Print", 1, 0),
    )
    shared.put_many("bundle_lines", [dict(zip(names, line, strict=True)) for line in lines])
    shared.put("products", product_id=MUG, name="Mug", price=900, tax=63)
    for n, name in enumerate(("Ada", "Ben"), 1):
        shared.put(
            "subscribers",
            subscriber_id=n,
            first_name=name,
            last_name="Ames",
            renewal_code=f"CODE{n}",
            email=f"{name.lower()}@example.org",
        )
        shared.put("addresses", address_id=n, subscriber_id=n, address=f"{n} Elm", city="Salem")
    return shared


def order(payer: Person, *items: Item, **named: Any) -> Order:
    return Order(payer, items, **named)


def place(desk: Desk, ordered: Order) -> orders.Placed:
    """Place an order; return what it was."""
    return orders.place(desk.books, ordered)


def pay(desk: Desk, order_id: int) -> payments.Paid:
    """Book the payment of an order."""
    return payments.pay(desk.books, order_id)


def refund(
    desk: Desk, order_id: int, item_id: int | None = None, cents: int | None = None
) -> refunds.Refunded:
    """Refund an item."""
    return refunds.refund(desk.books, order_id, item_id, cents)


def refused(desk: Desk, do: Callable[..., Any], *arguments: Any) -> str:
    """Do what must be refused and change nothing; return the sentence."""
    before = desk.everything()
    with pytest.raises(MastheadError) as refusal:
        do(desk, *arguments)
    assert desk.everything() == before
    return str(refusal.value)


def close(desk: Desk, issue: int, grace: int = 0) -> None:
    """Close an issue."""
    issues.close(desk.books, issue, Grace(grace, "2026-01-01" if grace else None))


def money(desk: Desk) -> list[tuple[int, str, int, str]]:
    """Return term, kind, cents and day of what was booked."""
    rows = desk.table("revenue")
    return [(row["term_id"], row["kind"], row["cents"], row["booked_on"]) for row in rows]


def test_an_order_begins_a_subscription(desk: Desk) -> None:
    """circulation, "Order" and "First issue"."""
    placed = place(desk, order(ADA, Item(YEAR), is_paid=True, payment_type="check", notes="hello"))
    assert placed == orders.Placed(1, False, True, 1, (1,), 3745, "USD", begun=(1,))
    (found,) = desk.table("orders")
    assert found["order_date"].startswith(f"{TODAY} ")
    assert [found[name] for name in ("sub_total", "tax_total", "grand_total")] == [
        "35",
        "2.45",
        "37.45",
    ]
    assert (found["is_gift"], found["paid_on"], found["payment_type"]) == (0, TODAY, "check")
    assert (found["mailing_address_id"], found["billing_address_id"]) == (1, 1)
    (purchase,) = desk.table("purchases")
    assert (purchase["bundle_id"], purchase["total"], purchase["invoice_id"]) == (1, "37.45", "1")
    assert (purchase["notes"], purchase["shipping_address_id"]) == ("hello", 1)
    began = desk.subscription(1)
    assert {
        "subscriber_id": 1,
        "issues": 12,
        "paid_issues_left": 12,
        "unearned_revenue": "35.00",
        "copies": 2,
        "type": "Print",
        "date_created": TODAY,
        "begins_on": "2026-04-02",
        "date_expired": "2027-04-30",
        "renew_campaign_active": 1,
        "last_purchase_id": 1,
        "last_purchase_bundle_id": YEAR,
        "mailing_address_id": 1,
        "billing_address_id": 1,
    }.items() <= began.items()
    assert money(desk) == [(1, "received", 3500, TODAY)]


def test_an_order_extends_the_newest_subscription_of_the_same_type(desk: Desk) -> None:
    """circulation, "Order": the newest one that is not cancelled; addresses only where named."""
    place(desk, order(ADA, Item(YEAR)))
    place(desk, order(ADA, Item(YEAR, is_new=True)))
    moved = Person(1, address=OAK)
    assert place(desk, order(ADA, Item(FREE))).subscriptions == (2,)
    extended = desk.subscription(2)
    assert (extended["issues"], extended["copies"], extended["date_last_renewed"]) == (15, 2, TODAY)
    assert extended["mailing_address_id"] == 1
    assert place(desk, order(moved, Item(FREE))).subscriptions == (2,)
    assert desk.subscription(2)["billing_address_id"] == 3
    with desk.store.writer() as database, database.transaction():
        database.change(
            "UPDATE subscriptions SET cancelled_on = '2026-04-01' WHERE subscription_id = 2"
        )
    assert place(desk, order(ADA, Item(FREE))).subscriptions == (1,)
    assert place(desk, order(BEN, Item(FREE))).subscriptions == (3,)


def test_two_lines_for_one_subscription_extend_it_twice(desk: Desk) -> None:
    placed = place(desk, order(ADA, Item(YEAR), Item(BOTH), Item(product_id=MUG), is_paid=True))
    assert (placed.subscriptions, placed.cents) == ((1, 2), 3745 + 6420 + 963)
    terms = desk.table("terms")
    assert [(row["subscription_id"], row["order_item_id"], row["issues"]) for row in terms] == [
        (1, 1, 12),
        (1, 2, 12),
        (2, 2, 6),
    ]
    assert [row["type"] for row in desk.table("subscriptions")] == ["Print", "Digital"]
    assert [row["copies"] for row in terms] == [2, 1, 1]
    assert desk.subscription(1)["copies"] == 2
    assert [row["purchase_id"] for row in desk.table("order_items")] == [1, 2, None]
    assert money(desk) == [
        (n, "received", cents, TODAY) for n, cents in ((1, 3500), (2, 3500), (3, 2500))
    ]


def test_a_gift_is_billed_to_the_donor_and_sent_to_the_recipient(desk: Desk) -> None:
    """circulation, "Order"."""
    gift = Item(YEAR, recipient=Person(email="cleo@example.org", last_name="Day", address=OAK))
    placed = place(desk, order(ADA, gift))
    assert placed.subscriber_id == 1
    found = desk.subscription(1)
    assert (found["subscriber_id"], found["mailing_address_id"]) == (3, 3)
    assert found["billing_address_id"] == 1
    new = desk.table("subscribers")[2]
    assert (new["email"], new["last_name"]) == ("cleo@example.org", "Day")
    assert len(new["renewal_code"]) == 5
    assert [row["is_gift"] for row in (*desk.table("orders"), *desk.table("purchases"))] == [1, 1]
    assert desk.table("purchases")[0]["subscriber_id"] == 1
    again = order(ADA, Item(YEAR, recipient=Person(email="CLEO@example.org")))
    assert place(desk, again).subscriptions == (1,)
    assert desk.subscription(1)["issues"] == 24


def test_a_discount_is_spread_over_the_lines(desk: Desk) -> None:
    """circulation, "What is stored in addition": the last line takes the remainder."""
    place(desk, order(ADA, Item(BOTH, price=1001, tax=0), is_paid=True))
    assert [row["price"] for row in desk.table("terms")] == [583, 418]
    (item,) = desk.table("order_items")
    assert (item["sub_total"], item["grand_total"]) == ("10.01", "10.01")


@pytest.mark.parametrize(
    ("late_start", "first_issue", "begins"),
    [
        ("next", None, "2026-04-02"),
        ("current", None, "2026-04-01"),
        ("next", 14, "2026-04-01"),
        ("next", 17, "2026-07-01"),
    ],
)
def test_the_first_issue_is_the_next_one_or_the_newest_or_a_named_one(
    desk: Desk, late_start: str, first_issue: int | None, begins: str
) -> None:
    """circulation, "First issue"; rules, "Where a subscription begins"."""
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE publications SET late_start = :s", s=late_start)
    place(desk, order(ADA, Item(YEAR, first_issue=first_issue), is_paid=True))
    assert desk.subscription(1)["begins_on"] == begins
    made = issues.make_gap_list(desk.books, 14)
    assert made.entries == (begins == "2026-04-01")


def test_a_first_issue_before_the_newest_closed_one_is_refused(desk: Desk) -> None:
    said = refused(desk, place, order(ADA, Item(YEAR, first_issue=13)))
    assert said == (
        "Tide No. 3 (2026-03-01) is before 2026-04-01: the newest closed issue is the earliest "
        "with which a subscription can begin"
    )
    assert "is no issue of what is ordered" in refused(
        desk, place, order(ADA, Item(YEAR, first_issue=25))
    )
    # The rows of the first item are waiting to be written then.
    assert "is before 2026-04-01" in refused(
        desk, place, order(ADA, Item(YEAR), Item(YEAR, first_issue=13, is_new=True))
    )
    assert "has no issue 99" in refused(desk, place, order(ADA, Item(YEAR, first_issue=99)))
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE issues SET mailing_list_id = NULL WHERE issue_id = 14")
    said = refused(desk, place, order(ADA, Item(YEAR, first_issue=14)))
    assert said == "Tide No. 4 (2026-04-01) was closed without a mailing list, so no reader gets it"
    place(desk, order(ADA, Item(YEAR)))
    assert "begin a new subscription beside it" in refused(
        desk, place, order(ADA, Item(YEAR, first_issue=17))
    )


def test_a_renewal_after_a_gap_begins_with_the_next_issue(desk: Desk) -> None:
    """circulation, "First issue"."""
    place(desk, order(ADA, Item(FREE)))
    for issue in (15, 16, 17, 18):
        close(desk, issue)
    assert desk.subscription(1)["issues"] == 0
    place(desk, order(ADA, Item(YEAR)))
    assert desk.subscription(1)["begins_on"] == "2026-08-02"


def test_an_unpaid_order_is_served_for_its_credit_and_earns_when_it_is_paid(desk: Desk) -> None:
    """circulation, "Money"."""
    place(desk, order(ADA, Item(YEAR)))
    assert (desk.subscription(1)["paid_issues_left"], money(desk)) == (0, [])
    assert desk.subscription(1)["unearned_revenue"] == "0.00"
    close(desk, 15)
    made = issues.close(desk.books, 16, dry_run=True)
    assert [(each.subscription_id, each.why) for each in made.held] == [(1, "unpaid")]
    desk.to("2026-06-02")
    assert pay(desk, 1) == payments.Paid(1, 3500, 291, (1,), "USD")
    assert money(desk) == [(1, "received", 3500, "2026-06-02"), (1, "earned", 291, "2026-06-02")]
    found = desk.subscription(1)
    assert (found["paid_issues_left"], found["unearned_revenue"]) == (11, "32.09")
    assert "was paid on 2026-06-02 already" in refused(desk, pay, 1)
    assert "has no order 9" in refused(desk, pay, 9)


@pytest.mark.parametrize("grace_counts", [0, 1])
def test_a_late_renewal_takes_over_the_issues_of_grace_where_they_count(
    desk: Desk, grace_counts: int
) -> None:
    """circulation, "Late renewal"."""
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE publications SET grace_counts = :n", n=grace_counts)
    place(desk, order(ADA, Item(FREE)))
    for issue in (15, 16, 17):
        close(desk, issue)
    for issue in (18, 19):
        close(desk, issue, grace=2)
    desk.to("2026-09-10")
    place(desk, order(ADA, Item(YEAR), is_paid=True))
    found = desk.subscription(1)
    if grace_counts:
        assert (found["issues"], found["unearned_revenue"]) == (10, "29.17")
        assert money(desk) == [
            (2, "received", 3500, "2026-09-10"),
            (2, "earned", 583, "2026-09-10"),
        ]
    else:
        assert (found["issues"], found["unearned_revenue"]) == (12, "35.00")


def test_the_same_reference_is_never_taken_twice(desk: Desk) -> None:
    """circulation, "Order": upper and lower case are the same, and a payment may come later."""
    ordered = order(ADA, Item(YEAR), reference="Shop-1")
    place(desk, ordered)
    before = desk.everything()
    assert place(desk, ordered._replace(reference="SHOP-1")).is_known
    assert desk.everything() == before
    other = ordered._replace(items=(Item(FREE),))
    assert refused(desk, place, other) == (
        "the order of 2026-04-15 has the reference 'Shop-1' and other content: give the other "
        "order another reference, or refund that one"
    )
    placed = place(desk, ordered._replace(is_paid=True))
    assert (placed.is_known, placed.was_paid) == (True, True)
    assert desk.subscription(1)["paid_issues_left"] == 12
    assert not place(desk, ordered._replace(is_paid=True)).was_paid


def test_a_refund_gives_back_what_is_unearned_with_its_tax(desk: Desk) -> None:
    """circulation, "Money": refund after three of twelve issues."""
    place(desk, order(ADA, Item(YEAR), is_paid=True))
    for issue in (15, 16, 17):
        close(desk, issue)
    desk.to("2026-07-20")
    done = refund(desk, 1)
    # 35.00 - 8.75 = 26.25 is unearned; its tax is 2.45 * 26.25 / 35.00 = 1.8375.
    assert (done.cents, done.tax, done.taken_back, done.kept, done.issues) == (2809, 184, 0, 0, 9)
    found = desk.subscription(1)
    assert (found["issues"], found["unearned_revenue"], found["date_expired"]) == (
        0,
        "0.00",
        "2026-07-31",
    )
    (item,) = desk.table("order_items")
    assert (item["refunded"], item["refund_date"][:10]) == (2809, "2026-07-20")
    assert money(desk)[-1] == (1, "refunded", 2625, "2026-07-20")
    assert "was refunded or cancelled before" in refused(desk, refund, 1)


@pytest.mark.parametrize(
    ("cents", "refunded", "earned"), [(3745, 3500, -875), (1070, 1000, 1625), (0, 0, 2625)]
)
def test_a_refund_beyond_what_is_unearned_is_taken_back_and_the_rest_is_earned(
    desk: Desk, cents: int, refunded: int, earned: int
) -> None:
    """circulation, "Money"."""
    place(desk, order(ADA, Item(YEAR), is_paid=True))
    for issue in (15, 16, 17):
        close(desk, issue)
    assert "at most 37.45" in refused(desk, refund, 1, None, 3746)
    refund(desk, 1, None, cents)
    sums = {
        kind: sum(row[2] for row in money(desk) if row[1] == kind)
        for kind in ("earned", "refunded")
    }
    assert sums == {"earned": 875 + earned, "refunded": refunded}
    assert desk.subscription(1)["unearned_revenue"] == "0.00"


def test_an_unpaid_order_is_refunded_with_nothing(desk: Desk) -> None:
    place(desk, order(ADA, Item(YEAR)))
    assert "the order is not paid" in refused(desk, refund, 1, None, 100)
    assert refund(desk, 1).cents == 0
    assert "has nothing left to pay for" in refused(desk, pay, 1)


def test_a_product_brings_no_term_and_is_refunded_whole(desk: Desk) -> None:
    place(desk, order(ADA, Item(product_id=MUG), Item(YEAR), is_paid=True, is_fulfilled=True))
    mug, year = desk.table("order_items")
    assert (mug["fulfilled_date"][:10], year["fulfilled_date"]) == (TODAY, None)
    assert [row["order_item_id"] for row in desk.table("terms")] == [2]
    assert "choose one of them" in refused(desk, refund, 1)
    assert refund(desk, 1, 1).cents == 963
    assert desk.table("order_items")[0]["refund_date"][:10] == TODAY


def test_an_unlimited_term_is_earned_by_months(desk: Desk) -> None:
    """circulation, "Money": -1 issues, and null for what is not counted."""
    place(desk, order(ADA, Item(ENDLESS), is_paid=True))
    found = desk.subscription(1)
    assert (found["issues"], found["paid_issues_left"], found["date_expired"]) == (-1, None, None)
    assert found["unearned_revenue"] == "300.00"
    for issue in (15, 16, 17):
        close(desk, issue)
    assert desk.subscription(1)["issues"] == -1
    assert desk.subscription(1)["unearned_revenue"] == "250.00"


IMPOSSIBLE = [
    (order(ADA), "at least one bundle or product"),
    (order(ADA, Item(RETIRED)), "Tide, half a year is retired"),
    (order(ADA, Item(99)), "has no bundle 99"),
    (order(ADA, Item(product_id=99)), "has no product 99"),
    (order(Person(99), Item(YEAR)), "has no subscriber 99"),
    (order(Person(), Item(YEAR)), "nobody pays for it"),
    (order(Person(1, address_id=2), Item(YEAR)), "has no such address"),
    (order(ADA, Item(YEAR, price=-1)), "below 0"),
    (order(ADA, Item(YEAR, recipient=Person(99))), "has no subscriber 99"),
    (order(Person(last_name="x" * 51), Item(YEAR)), "last_name longer than"),
]


def test_an_order_that_cannot_be_is_refused_and_changes_nothing(desk: Desk) -> None:
    for ordered, said in IMPOSSIBLE:
        assert said in refused(desk, place, ordered)


def test_a_deleted_subscriber_orders_nothing(desk: Desk) -> None:
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE subscribers SET delete_date = '2026-02-01' WHERE subscriber_id = 1")
    assert "was deleted on 2026-02-01" in refused(desk, place, order(ADA, Item(YEAR)))
