"""Cancelling at the telephone: what is said, refused and shown. The model has the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import cancelling, catalogue, issues, orders, refunds, subscribers
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import MastheadError
from masthead.store.books.expiry_counts import expiring_now, expiring_then, schedules
from tests.circulation.desk import Desk
from tests.console.browser import input_values, serving_console
from tests.long import SHORT_ON_SQLITE
from tests.servers import masthead

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store.database import Value
    from tests.servers import Store


@pytest.fixture
def url(store: Store) -> Iterator[str]:
    url = store.new_database("cancelling")
    yield url
    store.drop_database(url)


@pytest.fixture
def desk(url: str) -> Iterator[Desk]:
    """A monthly with three issues to come; a reader with five for 10.00 and tax 0.70."""
    desk = Desk(url)
    fill(desk)
    yield desk
    desk.leave()


def fill(desk: Desk) -> None:
    desk.to("2026-01-10")
    desk.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    for n in range(1, 4):
        desk.put("issues", issue_id=n, publication_id=1, name=f"No. {n}", date=f"2026-0{n + 1}-01")
    desk.put("bundles", bundle_id=1, name="Five of Tide", price=1000, tax=70)
    line: dict[str, Value] = {"publication_id": 1, "issues": 5, "type": "Print", "copies": 1}
    desk.put("bundle_lines", bundle_id=1, line_number=1, price=1000, **line)
    desk.put("subscribers", subscriber_id=1, first_name="Ada", last_name="Ames")
    desk.put("addresses", address_id=1, subscriber_id=1, address="1 Oak", city="Bath")

    orders.place(desk.books, Order(Person(1), [Item(1)], is_paid=True))


def refusal(desk: Desk, do: Callable[..., Any], *given: Any, **named: Any) -> str:
    with pytest.raises(MastheadError) as caught:
        do(desk.books, *given, **named)
    return str(caught.value)


def of_books(desk: Desk) -> dict[str, Any]:
    """Return the sums of revenue, and all else that undoing restores."""
    sums: dict[str, int] = {}
    for row in desk.table("revenue"):
        sums[row["kind"]] = sums.get(row["kind"], 0) + row["cents"]
    tables = ("terms", "order_items", "orders", "subscriptions", "cancellations", "cancelled_terms")
    found: dict[str, Any] = {name: desk.table(name) for name in tables}
    return {**found, "revenue": {kind: cents for kind, cents in sums.items() if cents}}


@pytest.mark.parametrize(
    "wanted", [{"after_issue": 2}, {"at_end": True}, {"after_issue": 2, "refund": True}]
)
def test_the_same_cancelling_again_on_a_day_changes_nothing(
    desk: Desk, wanted: dict[str, Any]
) -> None:
    wanted = {"refund": False, **wanted}
    noted = "SELECT summary FROM audit WHERE account_id = :account_id"
    first = cancelling.cancel(desk.books, 1, **wanted)
    before = desk.rows(noted), desk.table("cancellations"), desk.table("subscriptions")
    assert cancelling.cancel(desk.books, 1, **wanted) == first
    assert before == (desk.rows(noted), desk.table("cancellations"), desk.table("subscriptions"))
    cancelling.cancel(desk.books, 1, refund=False, after_issue=3)
    assert desk.table("cancellations") != before[1]


def test_it_is_undone_exactly_until_the_next_issue_is_closed(desk: Desk) -> None:
    """rules, "How it is undone"."""
    before = of_books(desk)
    for refund in (True, False):
        cancelling.cancel(desk.books, 1, refund=refund)
        assert desk.subscription(1)["issues"] == 0
        desk.to("2026-01-20")
        cancelling.uncancel(desk.books, 1)
        assert of_books(desk) == before
    assert "was not cancelled" in refusal(desk, cancelling.uncancel, 1)
    cancelling.cancel(desk.books, 1, refund=False)
    assert "an order begins" in refusal(desk, cancelling.cancel, 1, refund=True)
    issues.close(desk.books, 1)
    said = refusal(desk, cancelling.uncancel, 1)
    assert said.startswith("Tide (print) was cancelled on 2026-01-20, and No. 1 of 2026-02-01")


def test_after_an_issue_it_ends_with_its_closing(desk: Desk) -> None:
    """decisions, "When it ends"; its last day is that before the first issue that is not sent."""
    assert desk.subscription(1)["date_expired"] == "2026-06-30"
    made = cancelling.cancel(desk.books, 1, refund=True, after_issue=2)
    assert made.later == "after Tide No. 2 (2026-03-01)"
    found = desk.subscription(1)
    assert (found["date_expired"], found["issues"]) == ("2026-03-31", 5)
    assert found["renew_campaign_active"] == 0
    with desk.store.reader() as connection:
        connection.set_tenant(1)
        with connection.snapshot():
            now = expiring_now(connection, 1)
            assert now == expiring_then(connection, 1, "2026-01-10", schedules(connection, 1))
    assert [f"{each.expires}" for each in now] == ["2026-03-31"]
    again = cancelling.cancel(desk.books, 1, refund=True, after_issue=2)
    assert again == made, "it takes the place of the other one"
    assert desk.table("cancellations")[0]["campaign"] == 1
    assert "undo that first" in refusal(desk, catalogue.remove_issue, 2)
    for issue_id in (1, 2, 3):
        issues.close(desk.books, issue_id)
    got = [row["issue_id"] for row in desk.table("subscription_issues")]
    assert got == [1, 2]
    assert desk.subscription(1)["cancelled_on"] == "2026-01-10"
    (item,) = desk.table("order_items")
    assert item["refunded"] == 642, "600 of 1000 are unearned, and 42 is their tax"


def test_at_its_end_it_leaves_the_campaign_and_an_order_undoes_that(desk: Desk) -> None:
    """decisions, "When it ends"."""
    cancelling.cancel(desk.books, 1, refund=False, at_end=True)
    assert desk.subscription(1)["renew_campaign_active"] == 0

    placed = orders.place(desk.books, Order(Person(1), [Item(1)], is_paid=True))
    assert placed.sentence.endswith("; subscription 1; subscription 1 was cancelled, and goes on")
    assert desk.subscription(1)["renew_campaign_active"] == 1
    assert desk.table("cancellations") == []
    again = orders.place(desk.books, Order(Person(1), [Item(1)], is_paid=True))
    assert again.sentence.endswith("; subscription 1")


def test_a_reason_is_one_of_the_publishers(desk: Desk) -> None:
    """rules, "How it is undone"."""
    assert "(none)" in refusal(desk, cancelling.cancel, 1, refund=False, reason="moved")
    assert catalogue.add_reason(desk.books, " moved  abroad ").key == 1
    assert "already" in refusal(desk, catalogue.add_reason, "Moved abroad")
    assert "1 to 100 characters" in refusal(desk, catalogue.add_reason, " ")
    cancelling.cancel(desk.books, 1, refund=False, reason="MOVED abroad")
    catalogue.remove_reason(desk.books, 1)
    assert "has no reason 1" in refusal(desk, catalogue.remove_reason, 1)
    assert desk.table("cancellations")[0]["reason"] == "moved abroad"


def test_after_an_allowance_no_refund_is_left_where_cancelling_is_undone(desk: Desk) -> None:
    """rules, "How it is undone"."""
    refunds.allow(desk.books, 1, 1, 107)
    cancelling.cancel(desk.books, 1, refund=True)
    assert desk.table("order_items")[0]["refund_date"] is not None
    cancelling.uncancel(desk.books, 1)
    item = desk.table("order_items")[0]
    assert (item["refunded"], item["refund_date"]) == (107, None)


def test_money_that_went_another_way_since_is_not_undone(desk: Desk) -> None:
    """rules, "How it is undone"."""
    cancelling.cancel(desk.books, 1, refund=False)
    refund: dict[str, Value] = {"revenue_id": 99, "term_id": 1, "kind": "refunded", "cents": 1}
    desk.put("revenue", booked_on="2026-01-10", **refund)
    assert "paid or refunded since" in refusal(desk, cancelling.uncancel, 1)


@SHORT_ON_SQLITE
def test_the_commands_cancel_and_undo(desk: Desk, url: str) -> None:
    def run(*given: object, exit_status: int = 0) -> str:
        found = masthead(*given, "--account=1", database=url, exit_status=exit_status)
        return found.stderr if exit_status else found.stdout

    assert run("catalogue", "reason", "list").startswith("no reasons")
    assert (
        run("catalogue", "reason", "add", "moved") == "reason 1 for cancelling was added: moved\n"
    )
    assert run("catalogue", "reason", "list") == "1\tmoved\n"
    cancel = ("subscription", "cancel", 1)
    both = run(*cancel, "--after-issue=2", "--at-end", exit_status=2)
    assert "not both" in both
    assert "nothing is left" in run(*cancel, "--refund", "--at-end", exit_status=1)
    said = "subscription 1 is cancelled: it ends after Tide No. 2 (2026-03-01)"
    assert run(*cancel, "--after-issue=2", "--reason=moved", "--dry-run").splitlines() == [
        f"{said}, and what is unearned then is earned, because: moved",
        "nothing was changed: this was a dry run",
    ]
    assert "has no issue 9" in run(*cancel, "--after-issue=9", exit_status=1)
    run(*cancel, "--after-issue=2", "--reason=moved", "--refund")
    shown = run("subscription", "show", 1)
    assert ", after No. 2 of 2026-03-01, refunded: moved\n" in shown
    assert run("subscription", "uncancel", 1) == "the cancelling of subscription 1 was undone\n"
    assert run("catalogue", "reason", "remove", 1) == "reason 1 for cancelling was removed\n"


@SHORT_ON_SQLITE
def test_the_console_cancels_with_a_reason_and_undoes(desk: Desk) -> None:
    catalogue.add_reason(desk.books, "moved")
    with serving_console(desk.store) as console:
        console.add("clerk", "clerk")
        browser = console.signed_in("clerk")
        path = "/subscriptions/1/cancel"
        page = browser.get(path).text
        assert 'value="moved"' in page
        assert "After No. 2, the issue of 1 March 2026" in page
        typed = {**input_values(page), "when": "issue:2", "reason": "moved"}
        form = browser.post(path, typed)
        assert "It can be undone until the next issue" in form.text
        saved = browser.post(path, input_values(form.text))
        assert saved.status_code == 303
        (made,) = desk.table("cancellations")
        assert (made["after_issue_id"], made["reason"]) == (2, "moved")
        shown = browser.get("/subscribers/1").text
        assert "Undo the cancelling" in shown
        undo = "/subscriptions/1/uncancel"
        assert browser.post(undo, input_values(browser.get(undo).text)).status_code == 303
    assert desk.table("cancellations") == []


def test_what_is_merged_into_another_one_does_not_end_by_itself(desk: Desk) -> None:
    """decisions, "When it ends"."""
    desk.put("subscribers", subscriber_id=2, first_name="A.", last_name="Ames")
    desk.put("addresses", address_id=2, subscriber_id=2, address="1 Oak", city="Bath")

    orders.place(desk.books, Order(Person(2), [Item(1)], is_paid=True))
    cancelling.cancel(desk.books, 2, refund=True, after_issue=2)
    subscribers.merge(desk.books, 1, 2)
    assert desk.table("cancellations") == []
    assert (desk.subscription(1)["issues"], desk.subscription(1)["date_expired"]) == (
        10,
        "2026-11-30",
    )
    assert "was not cancelled" in refusal(desk, cancelling.uncancel, 2)


def test_merging_into_a_cancelled_subscription_ends_nothing(desk: Desk) -> None:
    """decisions, "When it ends"."""
    desk.put("subscribers", subscriber_id=2, first_name="A.", last_name="Ames")
    desk.put("addresses", address_id=2, subscriber_id=2, address="1 Oak", city="Bath")
    desk.put("subscribers", subscriber_id=3, first_name="Ada", last_name="Aimes")
    desk.put("addresses", address_id=3, subscriber_id=3, address="1 Oak", city="Bath")

    for reader in (2, 3):
        orders.place(desk.books, Order(Person(reader), [Item(1)], is_paid=True))
    for subscription in (1, 2):
        cancelling.cancel(desk.books, subscription, refund=False, after_issue=2)
    subscribers.merge(desk.books, 1, 2)
    assert [row["subscription_id"] for row in desk.table("cancellations")] == [1]
    assert desk.subscription(1)["issues"] == 10
    subscribers.merge(desk.books, 1, 3)
    assert desk.table("cancellations") == []
    found = desk.subscription(1)
    assert (found["issues"], found["renew_campaign_active"]) == (15, 1)
    assert found["date_expired"] == "2027-04-30"


def test_a_refund_is_taken_back_only_by_who_says_so(desk: Desk) -> None:
    """decisions, "Roles of the console"."""
    assert cancelling.undoing(desk.books, 1).why_not.endswith(
        "was not cancelled here: nothing to undo"
    )
    done = cancelling.cancel(desk.books, 1, refund=True)
    cents = done.refunded + done.tax
    assert cents > 0
    assert cancelling.undoing(desk.books, 1) == ("", cents)
    with pytest.raises(MastheadError, match="was given back with the cancelling"):
        cancelling.uncancel(desk.books, 1, takes_back=False)
    cancelling.uncancel(desk.books, 1)
    cancelling.cancel(desk.books, 1, refund=False)
    assert cancelling.undoing(desk.books, 1) == ("", 0)
    cancelling.uncancel(desk.books, 1, takes_back=False)
    assert desk.table("cancellations") == []
