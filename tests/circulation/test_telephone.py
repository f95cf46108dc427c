"""What the telephone desk does to the books, on both kinds of database, on days that tests set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.errors import BadInput, MastheadError
from masthead.store.books import (
    addressing,
    cancelling,
    extending,
    joining,
    renewing,
    reports,
    subscription,
    suspending,
)
from masthead.store.books.classes import add_own_class
from masthead.store.books.copies import How, set_copies
from masthead.store.books.operation import operation
from tests.circulation.desk import DEED, Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from masthead.store.database import Value
    from tests.servers import Store

TODAY = "2026-04-15"
ELM = {"address": "12 Elm Street", "city": "Salem", "zip_code": "97301"}


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account; each test fills it anew."""
    with at_desk(store) as found:
        yield found


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """Three issues are closed and three to come; ada pays for two, ben gets one from her."""
    shared.empty()
    shared.to(TODAY)
    shared.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    shared.put("list_downloads", mailing_list_id=1, name="Tide")
    shared.put_many(
        "issues",
        [
            {
                "issue_id": n,
                "publication_id": 1,
                "name": f"Tide {n}",
                "date": f"2026-0{n}-01",
                "closed_at": "2026-01-01 00:00:00" if n < 5 else None,
                "mailing_list_id": 1 if n in {2, 3, 4} else None,
            }
            for n in range(1, 8)
        ],
    )
    shared.put("bundles", bundle_id=1, name="Tide for a year", price=1200, tax=84)
    for n, name in enumerate(("Ada", "Ben", "Cora"), 1):
        shared.put(
            "subscribers",
            subscriber_id=n,
            first_name=name,
            last_name="Ames",
            renewal_code=f"CODE{n}",
            email=f"{name.lower()}@example.org",
        )
        shared.put("addresses", address_id=n, subscriber_id=n, address=f"{n} Oak", zip_code="10001")
    shared.put(
        "orders",
        order_id=1,
        subscriber_id=1,
        billing_address_id=1,
        paid_on="2026-01-10",
        sub_total="24",
        tax_total="1.68",
        grand_total="25.68",
    )
    item: dict[str, Value] = {"order_id": 1, "bundle_id": 1, "sub_total": "12", "tax_total": "0.84"}
    for n in (1, 2):
        shared.put("order_items", order_item_id=n, grand_total="12.84", **item)
        shared.put(
            "subscriptions",
            subscription_id=n,
            subscriber_id=n,
            publication_id=1,
            mailing_address_id=n,
            billing_address_id=1,
            copies=1,
            type="Print",
            begins_on="2026-02-01",
            renew_campaign_active=1,
        )
        shared.put(
            "terms",
            term_id=n,
            subscription_id=n,
            order_item_id=n,
            issues=12,
            issues_left=9,
            price=1200,
            paid_on="2026-01-10",
            kind="paid",
        )
        received = {"subscription_id": n, "mailing_list_id": 1, "term_id": n, "address_id": n}
        shared.put_many("subscription_issues", [{**received, "issue_id": i} for i in (2, 3, 4)])
        shared.put_many(
            "revenue",
            [
                {
                    "revenue_id": 10 * n + i,
                    "term_id": n,
                    "kind": "earned" if i else "received",
                    "cents": 300 if i else 1200,
                    "booked_on": "2026-04-01",
                }
                for i in (0, 1)
            ],
        )
    shared.refresh()
    return shared


def done(desk: Desk, do: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """Run an operation."""
    with operation(desk.store, desk.account_id, DEED) as books:
        return do(books, *arguments, **named)


def refused(desk: Desk, do: Callable[..., Any], *arguments: Any, **named: Any) -> str:
    """Run an operation that must be refused and change nothing; return the sentence."""
    before = desk.everything()
    with pytest.raises(MastheadError) as refusal:
        done(desk, do, *arguments, **named)
    assert desk.everything() == before
    return str(refusal.value)


def balance(desk: Desk, term_id: int) -> dict[str, int]:
    """Return the sums of a term's revenue by kind."""
    rows = desk.rows(
        "SELECT kind, sum(cents) FROM revenue WHERE account_id = :account_id AND term_id = :term "
        "GROUP BY kind",
        term=term_id,
    )
    return {kind: int(cents) for kind, cents in rows}


def test_a_suspension_moves_the_end_and_is_ended_early(desk: Desk) -> None:
    """circulation, "Expiry"."""
    assert desk.subscription(1)["date_expired"] == "2027-01-31"
    span = done(desk, suspending.suspend, 1, None, "2026-06-15")
    assert (span.first, span.last) == (TODAY, "2026-06-15")
    assert desk.subscription(1)["date_expired"] == "2027-03-31"
    desk.to("2026-05-20")
    ending = done(desk, suspending.resume, 1)
    assert ending.last == "2026-05-19"
    assert desk.subscription(1)["date_expired"] == "2027-02-28"
    assert desk.subscription(2)["date_expired"] == "2027-01-31"


def test_what_has_not_begun_is_removed(desk: Desk) -> None:
    done(desk, suspending.suspend, 1, "2026-06-01")
    assert done(desk, suspending.resume, 1).last is None
    assert desk.table("suspensions") == []


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("2026-04-01", None, "the issue of 2026-04-01 is closed"),
        ("2026-06-01", "2026-05-01", "before it begins"),
        ("2026-05-10", "2026-05-20", "is suspended from 2026-05-01 to 2026-05-31 already"),
        ("2026-04-20", None, "is suspended from 2026-05-01 to 2026-05-31 already"),
    ],
)
def test_a_suspension_begins_after_the_newest_issue_and_overlaps_none(
    desk: Desk, first: str, last: str | None, words: str
) -> None:
    done(desk, suspending.suspend, 1, "2026-05-01", "2026-05-31")
    assert words in refused(desk, suspending.suspend, 1, first, last)


def test_cancelling_without_a_refund_earns_what_is_left(desk: Desk) -> None:
    """circulation, "Money"."""
    cancelled = done(desk, cancelling.cancel, 1, refund=False)
    assert cancelled == (9, 0, 0, 900, None)
    assert balance(desk, 1) == {"received": 1200, "earned": 1200}
    found = desk.subscription(1)
    assert (found["issues"], found["unearned_revenue"]) == (0, "0.00")
    assert found["cancelled_on"] == TODAY
    assert [row["refund_date"] for row in desk.table("order_items")] == [None, None]
    assert desk.table("terms")[0]["ended_at"] == "2026-04-15 12:00:00"
    assert desk.table("terms")[1]["ended_at"] is None
    assert "was cancelled on 2026-04-15" in refused(desk, cancelling.cancel, 1, refund=True)


def test_cancelling_with_a_refund_gives_back_what_is_unearned_and_its_tax(desk: Desk) -> None:
    """circulation, "Money"."""
    assert done(desk, cancelling.cancel, 2, refund=True) == (9, 900, 63, 0, None)
    assert balance(desk, 2) == {"received": 1200, "earned": 300, "refunded": 900}
    first, second = desk.table("order_items")
    assert (first["refunded"], first["refund_date"]) == (0, None)
    assert (second["refunded"], second["refund_date"]) == (963, "2026-04-15 12:00:00")
    order, subscribed = desk.rows(
        """SELECT o.commit_id, s.commit_id FROM orders AS o
        JOIN subscriptions AS s ON s.account_id = o.account_id AND s.subscription_id = 2
        WHERE o.account_id = :account_id"""
    )[0]
    assert order == subscribed


def test_an_extension_is_free_and_behind_all_others(desk: Desk) -> None:
    """circulation, "Extension"."""
    term_id = done(desk, extending.extend, 1, 2)
    found = desk.table("terms")[-1]
    assert (found["term_id"], found["kind"], found["price"]) == (term_id, "extension", 0)
    assert (found["issues"], found["issues_left"]) == (2, 2)
    after = desk.subscription(1)
    assert (after["issues"], after["paid_issues_left"]) == (11, 9)
    assert (after["unearned_revenue"], after["begins_on"]) == ("9.00", "2026-02-01")


def test_an_extension_after_the_end_begins_with_the_next_issue(desk: Desk) -> None:
    """circulation, "First issue"."""
    for n, subscriptions in ((50, 60), (51, 61)):
        desk.put(
            "subscriptions",
            subscription_id=subscriptions,
            subscriber_id=3,
            publication_id=1,
            copies=1,
            type="Digital",
            begins_on="2026-02-01",
        )
        left = 0 if n == 50 else -1
        desk.put(
            "terms",
            term_id=n,
            subscription_id=subscriptions,
            issues=left or 1,
            issues_left=left,
            price=0,
            kind="free",
            months=12,
            starts_on="2026-01-01",
        )
    desk.refresh()
    done(desk, extending.extend, 60, 1)
    assert desk.subscription(60)["begins_on"] == "2026-04-02"
    assert "is unlimited" in refused(desk, extending.extend, 61, 1)


def test_values_that_are_set_are_known_to_searches(desk: Desk) -> None:
    assert done(desk, set_copies, 1, 3, "free") == (1, 3)
    changed = done(desk, subscription.set_values, 1, {"type": "Print", "campaign": 0})
    assert changed == {"campaign": (1, 0)}
    found = desk.subscription(1)
    assert (found["copies"], found["renew_campaign_active"], found["issues"]) == (3, 0, 9)
    kinds = desk.rows("SELECT copies FROM subscription_kinds WHERE account_id = :account_id")
    assert (3,) in kinds
    commits = desk.rows("SELECT count(*) FROM commits WHERE account_id = :account_id")
    assert done(desk, subscription.set_values, 1, {"campaign": 0}) == {}
    assert done(desk, set_copies, 1, 3) == (3, 3)
    assert desk.rows("SELECT count(*) FROM commits WHERE account_id = :account_id") == commits


@pytest.mark.parametrize(
    ("how", "copies", "words"),
    [
        (None, 50, "say how it comes to 50, with --free"),
        ("convert", 50, "no whole issue of 50"),
        ("free", 1, "fewer are what --convert gives"),
    ],
)
def test_copies_are_never_more_for_nothing(
    desk: Desk, how: How | None, copies: int, words: str
) -> None:
    """circulation, "Copies"."""
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE terms SET copies = 3, issues_left = 9 WHERE account_id = 1")
    before = desk.table("terms")
    assert words in refused(desk, set_copies, 1, copies, how)
    assert desk.table("terms") == before


def test_copies_are_converted_or_added(desk: Desk) -> None:
    """decisions, "Copies of a term": issues times copies stay; free copies have a class."""
    first = desk.table("terms")[0]
    left, issues = first["issues_left"], first["issues"]
    done(desk, set_copies, 1, 2, "convert")
    term = desk.table("terms")[0]
    assert (term["copies"], term["issues_left"]) == (2, left // 2)
    assert (term["spread_parts"], term["spread_after"]) == (left, issues - left)
    assert desk.subscription(1)["unearned_revenue"] is not None
    assert done(desk, set_copies, 1, 5, "free", "staff") == (2, 5)
    term = desk.table("terms")[0]
    assert (term["copies"], term["free_copies"], term["free_class"]) == (2, 3, "staff")
    assert "no class of free copies" in refused(desk, set_copies, 1, 6, "free", "paid")


def test_a_class_of_ones_own_is_added_once_and_known_by_its_name(desk: Desk) -> None:
    """decisions, "A class of the publisher's own"."""
    assert "'hotel' is no class" in refused(desk, extending.extend, 1, 1, "hotel")
    assert done(desk, add_own_class, " Hotel  lobby ") == 1
    term_id = done(desk, extending.extend, 1, 1, "hotel LOBBY")
    (term,) = (row for row in desk.table("terms") if row["term_id"] == term_id)
    assert term["class"] == "Hotel lobby"
    for name in ("hotel lobby", "Staff", "grace", "", "x" * 51, "a\x1b[2Jb"):
        assert "class" in refused(desk, add_own_class, name)


def test_a_new_address_is_the_subscriptions_and_a_temporary_one_is_not(desk: Desk) -> None:
    address_id = done(desk, addressing.move, 1, ELM)
    assert desk.subscription(1)["mailing_address_id"] == address_id
    assert desk.subscription(2)["mailing_address_id"] == 2
    found = desk.table("addresses")[-1]
    assert (found["first_name"], found["last_name"], found["city"]) == ("Ada", "Ames", "Salem")
    away = done(desk, addressing.move_for_a_while, 1, 1, "2026-05-01", "2026-08-31")
    assert (away, desk.subscription(1)["mailing_address_id"]) == (1, address_id)
    words = refused(desk, addressing.move_for_a_while, 1, ELM, "2026-08-31", "2026-09-30")
    assert "another address from 2026-05-01 to 2026-08-31 already" in words
    desk.to("2026-06-10")
    assert done(desk, addressing.go_back, 1).last == "2026-06-09"
    assert desk.table("temporary_addresses")[0]["to_date"] == "2026-06-09"
    assert "has no temporary address" in refused(desk, addressing.go_back, 1)


def test_an_address_has_a_street_and_is_the_readers_own(desk: Desk) -> None:
    assert "has a street" in refused(desk, addressing.move, 1, {"city": "Salem"})
    assert "has no address 2" in refused(desk, addressing.move, 1, 2)


def test_merging_moves_all_and_adds_up(desk: Desk) -> None:
    """circulation, "Extension": issues, copies and money add up to the same."""
    for field in (1, 2):
        desk.put("custom_fields", field_id=field, type="text")
        desk.put("custom_field_answers", subscriber_id=2, field_id=field, text_value="two")
    desk.put("custom_field_answers", subscriber_id=1, field_id=1, text_value="one")
    desk.put("purchases", purchase_id=1, subscriber_id=2)
    before = [
        (row["subscription_id"], row["copies"], row["issues"], row["unearned_revenue"])
        for row in desk.table("subscriptions")
    ]
    joined = done(desk, joining.join, 1, 2, keep_both=True)
    assert joined.moved == (1, 1, 0, 1, 1)
    assert {row["subscriber_id"] for row in desk.table("subscriptions")} == {1}
    after = [
        (row["subscription_id"], row["copies"], row["issues"], row["unearned_revenue"])
        for row in desk.table("subscriptions")
    ]
    assert after == before
    kept, gone, _ = desk.table("subscribers")
    assert (kept["delete_date"], gone["delete_date"]) == (None, "2026-04-15 12:00:00")
    assert (kept["merged_into"], gone["merged_into"]) == (None, 1)
    answers = [
        (row["subscriber_id"], row["text_value"]) for row in desk.table("custom_field_answers")
    ]
    assert answers == [(1, "one"), (1, "two")]
    assert [row["moved_after"] for row in desk.table("terms")] == [None, 1]
    assert "was deleted on 2026-04-15" in refused(desk, joining.join, 1, 2)
    assert "into itself" in refused(desk, joining.join, 1, 1)
    desk.put("erasures", subscriber_id=3)
    assert "was erased" in refused(desk, joining.join, 3, 1)


def letters_of(desk: Desk) -> list[dict[str, Any]]:
    """Return the letters that are due."""
    with operation(desk.store, desk.account_id, None, dry_run=True) as books:
        rows = list(renewing.letters(books.connection, books.account_id, books.today))
    return [dict(zip(renewing.LETTER, row, strict=True)) for row in rows]


def with_left(desk: Desk, left: int) -> None:
    """Let so many issues be left of both subscriptions."""
    with desk.store.writer() as database, database.transaction():
        database.change(
            "UPDATE terms SET issues_left = :n WHERE account_id = 1 AND kind = 'paid'", n=left
        )
    desk.refresh()


def efforts(desk: Desk, *points: int) -> None:
    """Set the efforts of the publication, numbered from 1."""
    for effort, point in enumerate(points, 1):
        done(desk, renewing.set_effort, renewing.Point(1, effort, point))


def test_the_donor_of_a_gift_gets_the_letter(desk: Desk) -> None:
    """circulation, "Renewals"."""
    efforts(desk, 3)
    assert letters_of(desk) == []
    with_left(desk, 3)
    own, gift = letters_of(desk)
    assert (own["subscription_id"], own["is_gift"], own["to_subscriber_id"]) == (1, 0, 1)
    assert (gift["subscription_id"], gift["is_gift"], gift["to_subscriber_id"]) == (2, 1, 1)
    assert (gift["reader_first_name"], gift["first_name"]) == ("Ben", "Ada")
    assert (gift["renewal_code"], gift["address"]) == ("CODE1", "1 Oak")
    assert own["issues_left"] == 3


def test_free_copies_and_refunded_renewals_do_not_begin_the_letters_anew(desk: Desk) -> None:
    """decisions, "The present term of letters"."""
    efforts(desk, 9, 1)
    with_left(desk, 3)
    done(desk, renewing.record_sent)
    assert letters_of(desk) == []
    done(desk, extending.extend, 1, 1)
    assert letters_of(desk) == []
    desk.put("orders", order_id=2, subscriber_id=2, order_date=f"{TODAY} 10:00:00")
    desk.put("order_items", order_item_id=3, order_id=2, bundle_id=1)
    renewal: dict[str, Value] = {"subscription_id": 2, "order_item_id": 3, "kind": "free"}
    ended: dict[str, Value] = {"issues_left": 0, "ended_at": f"{TODAY} 12:00:00"}
    desk.put("terms", term_id=90, issues=12, price=0, **renewal, **ended)
    assert letters_of(desk) == []
    assert renewed(desk) == 0
    desk.put("terms", term_id=91, issues=1, issues_left=1, price=0, **renewal)
    assert renewed(desk) == 1
    assert [(each["subscription_id"], each["effort"]) for each in letters_of(desk)] == [(2, 1)]


def renewed(desk: Desk) -> int:
    """Return how many subscriptions were renewed by the first letter."""
    with desk.store.reader() as connection:
        connection.set_tenant(desk.account_id)
        return reports.efforts(connection, desk.account_id, TODAY)[0].renewed


def test_after_the_last_issue_those_that_were_closed_count_down(desk: Desk) -> None:
    """decisions, "A letter's point below zero": grace that nobody has paid for does not count."""
    efforts(desk, -2)
    with_left(desk, 0)
    assert letters_of(desk) == []
    with desk.store.writer() as database, database.transaction():
        at = "2026-04-02 00:00:00"
        database.change("UPDATE issues SET closed_at = :at WHERE issue_id IN (5, 6)", at=at)
        database.change(
            "DELETE FROM subscription_issues WHERE subscription_id = 2 AND issue_id = 4"
        )
        database.change(
            "UPDATE subscription_issues SET is_grace = 1, term_id = NULL WHERE account_id = 1 "
            "AND subscription_id = 1 AND issue_id IN (3, 4)"
        )
    left = {letter["subscription_id"]: letter["issues_left"] for letter in letters_of(desk)}
    assert left == {1: -4, 2: -3}


@pytest.mark.parametrize("why", ["campaign", "cancelled", "suspended", "deleted", "unlimited"])
def test_who_is_not_written_to(desk: Desk, why: str) -> None:
    """circulation, "Renewals"."""
    efforts(desk, 3)
    with_left(desk, 3)
    if why == "campaign":
        done(desk, subscription.set_values, 1, {"campaign": 0})
    elif why == "cancelled":
        done(desk, cancelling.cancel, 1, refund=False)
    elif why == "suspended":
        done(desk, suspending.suspend, 1)
    elif why == "unlimited":
        with desk.store.writer() as database, database.transaction():
            database.change(
                "UPDATE terms SET issues = -1, issues_left = -1, months = 12, "
                "starts_on = '2026-01-10' WHERE account_id = 1 AND term_id = 1"
            )
        desk.refresh()
    else:
        done(desk, joining.join, 3, 2)
        with desk.store.writer() as database, database.transaction():
            database.change(
                "UPDATE subscribers SET delete_date = '2026-04-01 00:00:00' "
                "WHERE account_id = 1 AND subscriber_id = 1"
            )
    (left,) = letters_of(desk)
    assert left["subscription_id"] == 2
    if why == "deleted":
        assert left["to_subscriber_id"] == 3, "a donor who is deleted gets no letter"


def test_there_is_nothing_to_remove_or_resume(desk: Desk) -> None:
    assert "has no effort 4" in refused(desk, renewing.remove_effort, 1, 4)
    assert "no publication 9" in refused(desk, renewing.set_effort, renewing.Point(9, 1, 1))
    assert "has no suspension" in refused(desk, suspending.resume, 1)
    with pytest.raises(BadInput):
        done(desk, addressing.move_for_a_while, 1, ELM, "2026-05-02", "2026-05-01")
