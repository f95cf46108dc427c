"""An issue is reopened after an order that came since it was closed."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from masthead.books import catalogue, complaints, issues, orders, payments
from masthead.circulation.ordering import Item, Order, Person
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.store.books.issue_references import REFERENCES
from tests.circulation.desk import Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.store.database import Value
    from tests.servers import Store


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """Ada has one issue left, which is that of February, and is paid."""
    with at_desk(store) as found:
        found.to("2026-01-15")
        found.put("publications", publication_id=1, name="Tide")
        closed = {"closed_at": "2026-01-01 00:00:00"}
        found.put("issues", issue_id=1, publication_id=1, name="1", date="2026-01-01", **closed)
        found.put("issues", issue_id=2, publication_id=1, name="2", date="2026-02-01")
        found.put("subscribers", subscriber_id=1, last_name="Ames")
        found.put("addresses", address_id=1, subscriber_id=1, address="1 Quay")
        found.put(
            "subscriptions",
            subscription_id=1,
            subscriber_id=1,
            publication_id=1,
            mailing_address_id=1,
            type="Print",
            copies=1,
            begins_on="2026-01-02",
            renew_campaign_active=1,
        )
        paid: dict[str, Value] = {"price": 300, "paid_on": "2026-01-01", "kind": "opening"}
        found.put("terms", term_id=1, subscription_id=1, issues=1, issues_left=1, **paid)
        booked: dict[str, Value] = {"kind": "received", "cents": 300, "booked_on": "2026-01-01"}
        found.put("revenue", revenue_id=1, term_id=1, **booked)
        found.put("bundles", bundle_id=1, name="Tide for a year", price=3500, tax=0)
        line: dict[str, Value] = {"issues": 12, "type": "Print", "copies": 1, "price": 3500}
        found.put("bundle_lines", bundle_id=1, line_number=1, publication_id=1, **line)
        found.refresh()
        yield found


def state(desk: Desk) -> tuple[str, str, str, list[int]]:
    """Return when the subscription begins and ends, what is unearned, and what each term has."""
    row = desk.subscription(1)
    left = [term["issues_left"] for term in desk.table("terms")]
    return row["begins_on"], row["date_expired"], row["unearned_revenue"], left


def test_an_order_since_stays_and_begins_with_the_issue_that_is_open_again(desk: Desk) -> None:
    """rules, "Reopening and an order since"."""
    issues.close(desk.books, 2)
    orders.place(desk.books, Order(Person(1), [Item(1)], is_paid=True))
    closed = state(desk)
    assert closed == ("2026-02-02", "2027-02-28", "35.00", [0, 12])
    issues.reopen(desk.books, 2)
    assert state(desk) == ("2026-02-01", "2027-02-28", "38.00", [1, 12])
    assert issues.close(desk.books, 2).entries == 1
    begins, *others = state(desk)
    assert (begins, others) == ("2026-02-01", [*closed[1:]])


def test_what_is_taken_back_is_taken_back_where_it_was_booked(desk: Desk) -> None:
    """rules, "What a reopening takes back": what was on credit was earned by the payment."""
    placed = orders.place(desk.books, Order(Person(1), [Item(1, is_new=True)]))
    issues.close(desk.books, 2)
    payments.pay(desk.books, placed.order_id)
    assert earned(desk) == {"2026-01-15": 291}
    issues.reopen(desk.books, 2)
    assert earned(desk) == {"2026-01-15": 0}
    issues.close(desk.books, 2)
    assert earned(desk) == {"2026-01-15": 0, "2026-02-01": 291}
    issues.reopen(desk.books, 2)
    assert earned(desk) == {"2026-01-15": 0, "2026-02-01": 0}


def test_an_issue_is_earned_on_the_day_on_which_it_is_mailed(desk: Desk) -> None:
    """rules, "The day on which an issue is mailed": known before it is closed, and final."""
    catalogue.set_issue(desk.books, 2, {"mailed_on": "2026-01-28"})
    issues.close(desk.books, 2)
    assert earned(desk, 1) == {"2026-01-28": 300}
    with pytest.raises(BadInput, match="closed"):
        catalogue.set_issue(desk.books, 2, {"mailed_on": "2026-01-29"})


@pytest.fixture
def free(desk: Desk) -> Desk:
    """A free title, whose only issue, 3, Ada gets."""
    desk.put("publications", publication_id=2, name="Ebb")
    desk.put("issues", issue_id=3, publication_id=2, name="1", date="2026-02-01")
    desk.put("bundles", bundle_id=2, name="Ebb for free", price=0, tax=0)
    line: dict[str, Value] = {"issues": 2, "type": "Print", "copies": 1, "price": 0}
    desk.put("bundle_lines", bundle_id=2, line_number=1, publication_id=2, **line)
    orders.place(desk.books, Order(Person(1), [Item(2)]))
    issues.close(desk.books, 3)
    return desk


def test_an_issue_that_was_reopened_can_be_taken_out_of_the_plan(free: Desk) -> None:
    issues.reopen(free.books, 3)
    catalogue.remove_issue(free.books, 3)
    assert [row["issue_id"] for row in free.table("issues")] == [1, 2]


def test_an_issue_that_was_complained_about_stays_in_the_plan(free: Desk) -> None:
    """decisions, "An issue with complaints stays in the plan"."""
    complaints.answer(free.books, 2, 3, "lost", "nothing")
    issues.reopen(free.books, 3)
    said = "issue 3 was closed once, and a reader complained about it: it stays in the plan"
    with pytest.raises(BadInput, match=said):
        catalogue.remove_issue(free.books, 3)


def test_an_issue_of_which_a_reader_missed_a_copy_stays_in_the_plan(free: Desk) -> None:
    free.put(
        "reader_requests",
        reader_request_id=1,
        subscriber_id=1,
        subscription_id=2,
        issue_id=3,
        kind="missing_copy",
    )
    issues.reopen(free.books, 3)
    with pytest.raises(BadInput, match="a reader missed a copy: it stays in the plan"):
        catalogue.remove_issue(free.books, 3)


def test_all_that_refers_to_an_issue_is_looked_at_before_it_is_taken_out_of_the_plan() -> None:
    referring = {
        (name, column)
        for name, table in TABLES_BY_NAME.items()
        for column, other in table.references.items()
        if other == "issues"
    }
    assert referring == {*REFERENCES, ("cancellations", "after_issue_id")}


def earned(desk: Desk, term_id: int = 2) -> dict[str, int]:
    """Return what a term has earned, by the day on which it was booked."""
    found: Counter[str] = Counter()
    for row in desk.table("revenue"):
        if (row["term_id"], row["kind"]) == (term_id, "earned"):
            found[row["booked_on"]] += row["cents"]
    return dict(found)
