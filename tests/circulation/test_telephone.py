"""What the telephone desk does to the books, on both kinds of database, on days that tests set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import cancelling, catalogue, efforts, renewals, subscribers, subscriptions
from masthead.books.subscriptions import How, Values
from masthead.errors import BadInput
from tests.circulation.two_readers import TODAY, fill, refused

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

ELM = {"address": "12 Elm Street", "city": "Salem", "zip_code": "97301"}


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """The account, filled."""
    fill(shared)
    return shared


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
    span = subscriptions.suspend(desk.books, 1, None, "2026-06-15")
    assert (span.first, span.last) == (TODAY, "2026-06-15")
    assert desk.subscription(1)["date_expired"] == "2027-03-31"
    desk.to("2026-05-20")
    ending = subscriptions.resume(desk.books, 1)
    assert ending.last == "2026-05-19"
    assert desk.subscription(1)["date_expired"] == "2027-02-28"
    assert desk.subscription(2)["date_expired"] == "2027-01-31"


def test_what_has_not_begun_is_removed(desk: Desk) -> None:
    subscriptions.suspend(desk.books, 1, "2026-06-01")
    assert subscriptions.resume(desk.books, 1).last is None
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
    subscriptions.suspend(desk.books, 1, "2026-05-01", "2026-05-31")
    assert words in refused(desk, subscriptions.suspend, 1, first, last)


def test_cancelling_without_a_refund_earns_what_is_left(desk: Desk) -> None:
    """circulation, "Money"."""
    cancelled = cancelling.cancel(desk.books, 1, refund=False)
    assert (cancelled.issues, cancelled.refunded, cancelled.earned) == (9, 0, 900)
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
    made = cancelling.cancel(desk.books, 2, refund=True)
    assert (made.issues, made.refunded, made.tax, made.earned) == (9, 900, 63, 0)
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


def test_an_extension_is_a_free_term_after_all_others(desk: Desk) -> None:
    """circulation, "Extension"."""
    term_id = subscriptions.extend(desk.books, 1, 2).term_id
    found = desk.table("terms")[-1]
    assert (found["term_id"], found["kind"], found["price"]) == (term_id, "extension", 0)
    assert (found["issues"], found["issues_left"]) == (2, 2)
    after = desk.subscription(1)
    assert (after["issues"], after["paid_issues_left"]) == (11, 9)
    assert (after["unearned_revenue"], after["begins_on"]) == ("9.00", "2026-02-01")


def test_an_extension_after_the_end_begins_with_the_next_issue(desk: Desk) -> None:
    """circulation, "First issue"."""
    for n, subscription_id in ((50, 60), (51, 61)):
        desk.put(
            "subscriptions",
            subscription_id=subscription_id,
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
            subscription_id=subscription_id,
            issues=left or 1,
            issues_left=left,
            price=0,
            kind="free",
            months=12,
            starts_on="2026-01-01",
        )
    desk.refresh()
    subscriptions.extend(desk.books, 60, 1)
    assert desk.subscription(60)["begins_on"] == "2026-04-02"
    assert "is unlimited" in refused(desk, subscriptions.extend, 61, 1)


def test_numbers_that_are_too_large_are_refused_wherever_they_were_typed(desk: Desk) -> None:
    words = "issues are a number from 1 to 10,000, not 10,001"
    assert refused(desk, subscriptions.extend, 1, 10_001) == words
    assert "not 0" in refused(desk, subscriptions.extend, 1, 0)
    copies = Values(copies=1_000_001, how="free")
    words = "copies are a number from 1 to 1,000,000, not 1,000,001"
    assert refused(desk, subscriptions.set_values, 1, copies) == words


def test_values_that_are_set_are_known_to_searches(desk: Desk) -> None:
    assert subscriptions.set_values(desk.books, 1, Values(copies=3, how="free")).changed == {
        "copies": (1, 3)
    }
    changed = subscriptions.set_values(desk.books, 1, Values("Print", campaign=False))
    assert changed.changed == {"campaign": (1, 0)}
    found = desk.subscription(1)
    assert (found["copies"], found["renew_campaign_active"], found["issues"]) == (3, 0, 9)
    kinds = desk.rows("SELECT copies FROM subscription_kinds WHERE account_id = :account_id")
    assert (3,) in kinds
    commits = desk.rows("SELECT count(*) FROM commits WHERE account_id = :account_id")
    assert not subscriptions.set_values(desk.books, 1, Values(campaign=False)).changed
    assert not subscriptions.set_values(desk.books, 1, Values(copies=3)).changed
    assert desk.rows("SELECT count(*) FROM commits WHERE account_id = :account_id") == commits


@pytest.mark.parametrize(
    ("how", "copies", "words"),
    [
        (None, 50, "say how it comes to 50, by free copies"),
        ("convert", 50, "no whole issue of 50"),
        ("free", 1, "fewer come of converting what is left"),
    ],
)
def test_copies_are_never_more_for_nothing(
    desk: Desk, how: How | None, copies: int, words: str
) -> None:
    """circulation, "Copies"."""
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE terms SET copies = 3, issues_left = 9 WHERE account_id = 1")
    before = desk.table("terms")
    assert words in refused(desk, subscriptions.set_values, 1, Values(copies=copies, how=how))
    assert desk.table("terms") == before


def test_copies_are_converted_or_added(desk: Desk) -> None:
    """decisions, "Copies of a term": issues times copies stay; free copies have a class."""
    first = desk.table("terms")[0]
    left, issues = first["issues_left"], first["issues"]
    subscriptions.set_values(desk.books, 1, Values(copies=2, how="convert"))
    term = desk.table("terms")[0]
    assert (term["copies"], term["issues_left"]) == (2, left // 2)
    assert (term["spread_parts"], term["spread_after"]) == (left, issues - left)
    assert desk.subscription(1)["unearned_revenue"] is not None
    staff = Values(copies=5, how="free", free_class="staff")
    assert subscriptions.set_values(desk.books, 1, staff).changed == {"copies": (2, 5)}
    term = desk.table("terms")[0]
    assert (term["copies"], term["free_copies"], term["free_class"]) == (2, 3, "staff")
    assert "no class of free copies" in refused(
        desk, subscriptions.set_values, 1, Values(copies=6, how="free", free_class="paid")
    )


def test_converting_an_unlimited_term_to_its_own_copies_removes_free_ones(desk: Desk) -> None:
    """circulation, "Copies": a paid unlimited term has no issues to convert into other copies."""
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE terms SET issues = -1, issues_left = -1 WHERE account_id = 1")
    subscriptions.set_values(desk.books, 1, Values(copies=3, how="free"))
    words = refused(desk, subscriptions.set_values, 1, Values(copies=2, how="convert"))
    assert "no issues to convert" in words
    converted = subscriptions.set_values(desk.books, 1, Values(copies=1, how="convert"))
    assert converted.changed == {"copies": (3, 1)}
    term = desk.table("terms")[0]
    assert (term["copies"], term["free_copies"], term["free_class"]) == (1, 0, None)


def test_a_class_of_ones_own_is_added_once_and_known_by_its_name(desk: Desk) -> None:
    """rules, "A class of the publisher's own"."""
    assert "'hotel' is no class" in refused(desk, subscriptions.extend, 1, 1, "hotel")
    assert catalogue.add_class(desk.books, " Hotel  lobby ").key == 1
    term_id = subscriptions.extend(desk.books, 1, 1, "hotel LOBBY").term_id
    (term,) = (row for row in desk.table("terms") if row["term_id"] == term_id)
    assert term["class"] == "Hotel lobby"
    for name in ("hotel lobby", "Staff", "grace", "", "x" * 51, "a\x1b[2Jb"):
        assert "class" in refused(desk, catalogue.add_class, name)


def test_a_new_address_is_the_subscriptions_and_a_temporary_one_is_not(desk: Desk) -> None:
    address_id = subscriptions.move(desk.books, 1, ELM).address_id
    assert desk.subscription(1)["mailing_address_id"] == address_id
    assert desk.subscription(2)["mailing_address_id"] == 2
    found = desk.table("addresses")[-1]
    assert (found["first_name"], found["last_name"], found["city"]) == ("Ada", "Ames", "Salem")
    away = subscriptions.move_for_a_while(desk.books, 1, 1, "2026-05-01", "2026-08-31")
    assert (away.address_id, desk.subscription(1)["mailing_address_id"]) == (1, address_id)
    words = refused(desk, subscriptions.move_for_a_while, 1, ELM, "2026-08-31", "2026-09-30")
    assert "another address from 2026-05-01 to 2026-08-31 already" in words
    desk.to("2026-06-10")
    assert subscriptions.go_back(desk.books, 1).last == "2026-06-09"
    assert desk.table("temporary_addresses")[0]["to_date"] == "2026-06-09"
    assert "has no temporary address" in refused(desk, subscriptions.go_back, 1)


def test_an_address_has_a_street_and_is_the_readers_own(desk: Desk) -> None:
    assert "has a street" in refused(desk, subscriptions.move, 1, {"city": "Salem"})
    assert "has no such address" in refused(desk, subscriptions.move, 1, 2)


def put_invoice(desk: Desk, payer: int) -> None:
    """Give a payer an invoice and a payment."""
    desk.put(
        "invoices",
        **dict.fromkeys(("invoice_id", "number", "net", "tax", "total", "open_cents"), 1),
        **dict.fromkeys(("series", "number_text"), "1"),
        kind="invoice",
        subscriber_id=payer,
        issued_on="2026-01-01",
    )
    desk.put(
        "payments",
        **dict.fromkeys(("payment_id", "cents", "left_cents"), 1),
        **dict.fromkeys(("value_date", "booked_on"), "2026-01-01"),
        kind="payment",
        subscriber_id=payer,
    )


def test_merging_moves_all_and_adds_up(desk: Desk) -> None:
    """circulation, "Extension": issues, copies and money add up to the same."""
    for field in (1, 2):
        desk.put("custom_fields", field_id=field, type="text")
        desk.put("custom_field_answers", subscriber_id=2, field_id=field, text_value="two")
    desk.put("custom_field_answers", subscriber_id=1, field_id=1, text_value="one")
    desk.put("purchases", purchase_id=1, subscriber_id=2)
    put_invoice(desk, 2)
    before = [
        (row["subscription_id"], row["copies"], row["issues"], row["unearned_revenue"])
        for row in desk.table("subscriptions")
    ]
    merged = subscribers.merge(desk.books, 1, 2, keep_both=True)
    assert merged.moved == (1, 1, 0, 1, 1, 0, 0, 1, 1)
    for table in ("subscriptions", "invoices", "payments"):
        assert {row["subscriber_id"] for row in desk.table(table)} == {1}
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
    assert "was deleted on 2026-04-15" in refused(desk, subscribers.merge, 1, 2)
    assert "with the same one" in refused(desk, subscribers.merge, 1, 1)
    desk.put("erasures", subscriber_id=3)
    assert "was erased" in refused(desk, subscribers.merge, 3, 1)


@pytest.mark.parametrize(
    ("kept", "gone", "found"),
    [
        ([], [], []),
        ([], ["DE2"], ["DE2"]),
        (["DE1"], ["DE2"], ["DE1"]),
        ([None], ["DE2"], ["DE2"]),
        (["DE1"], [], ["DE1"]),
    ],
)
def test_merging_keeps_the_vat_number_of_the_kept_one_or_takes_the_other(
    desk: Desk, kept: list[str | None], gone: list[str | None], found: list[str | None]
) -> None:
    """billing, "What is stored"."""
    for subscriber_id, those in ((1, kept), (2, gone)):
        for vat_id in those:
            desk.put("payer_details", subscriber_id=subscriber_id, vat_id=vat_id)
    subscribers.merge(desk.books, 1, 2, keep_both=True)
    rows = [(row["subscriber_id"], row["vat_id"]) for row in desk.table("payer_details")]
    assert rows == [(1, vat_id) for vat_id in found]


def test_there_is_nothing_to_remove_or_resume(desk: Desk) -> None:
    assert "has no effort 4" in refused(desk, efforts.remove, efforts.RENEWAL, 1, 4)
    assert "no publication 9" in refused(desk, renewals.set_effort, renewals.Effort(9, 1, 1))
    assert "has no suspension" in refused(desk, subscriptions.resume, 1)
    with pytest.raises(BadInput):
        subscriptions.move_for_a_while(desk.books, 1, ELM, "2026-05-02", "2026-05-01")
