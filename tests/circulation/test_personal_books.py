"""A person in the books: what is given out of one, and what erasing leaves to the accounts."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import cancelling, issues, orders, renewals, subscriptions
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import BadInput
from masthead.loading.mail_files import Wanted, write_mail_file
from masthead.loading.subscriber_data import subscriber_data
from masthead.store import erasing

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.books.issues import MailingList
    from tests.circulation.desk import Desk


ADA, BEN = 1, 2
OF_ADA, OF_BEN = 1, 2
"""Their subscriptions; Ada gave Ben his."""

WORD = "Quill"
"""It is in all that is personal of Ada."""

MAY, JUNE = 5, 6
YEAR = 1
REFERENCE = "SHOP-7"
OF_SUBSCRIPTIONS = {
    "subscription_issues": "deliveries",
    "terms": "terms",
    "suspensions": "suspensions",
    "temporary_addresses": "temporary_addresses",
    "renewals_sent": "renewal_letters",
}
"""The tables of the books with rows of a subscription, and what they are called when given out."""

OF_ACCOUNTS = (*OF_SUBSCRIPTIONS, "revenue", "mailing_list_entries", "order_items", "issues")


@pytest.fixture
def desk(shared: Desk) -> Desk:
    """Ada has a year of Tide and gave Ben another; both got May, and a first letter."""
    shared.empty()
    with shared.store.writer() as database, database.transaction():
        database.lock_account(shared.account_id)
        database.change("DELETE FROM erasures")
    shared.to("2026-04-15")
    shared.put("publications", publication_id=1, name="Tide", issues_per_year=12)
    shared.put_many(
        "issues",
        [
            {
                "issue_id": month,
                "publication_id": 1,
                "name": f"No. {month}",
                "date": f"2026-{month:02}-01",
                "closed_at": "2026-01-01 00:00:00" if month < MAY else None,
            }
            for month in range(1, 13)
        ],
    )
    shared.put("bundles", bundle_id=YEAR, name="Tide for a year", price=3600, tax=252)
    shared.put(
        "bundle_lines",
        bundle_id=YEAR,
        line_number=1,
        publication_id=1,
        issues=12,
        type="Print",
        copies=1,
        price=3600,
    )
    shared.put("renewal_efforts", publication_id=1, effort=1, issues_left=11)
    shared.put("renewal_efforts", publication_id=1, effort=2, issues_left=10)
    shared.put_many(
        "subscribers",
        [
            {"subscriber_id": ADA, "first_name": f"{WORD}a", "email": f"ada@{WORD}.example"},
            {"subscriber_id": BEN, "first_name": "Ben", "email": "ben@example.org"},
        ],
    )
    shared.put_many(
        "addresses",
        [
            {"address_id": ADA, "subscriber_id": ADA, "address": f"1 {WORD} Lane", "city": WORD},
            {"address_id": BEN, "subscriber_id": BEN, "address": "2 Road", "city": "Dover"},
        ],
    )
    place(shared, Order(Person(ADA), [Item(YEAR)], reference=REFERENCE, is_paid=True))
    gift = Item(YEAR, recipient=Person(BEN))
    place(shared, Order(Person(ADA), [gift], is_paid=True, notes=WORD))
    close(shared, MAY)
    renewals.send(shared.books, lambda _letters: None)
    elsewhere = {"address": f"9 {WORD} Street", "city": WORD}
    subscriptions.move_for_a_while(shared.books, OF_ADA, elsewhere, "2026-07-01", "2026-08-31")
    subscriptions.suspend(shared.books, OF_ADA, "2026-10-01", "2026-10-31")
    return shared


def place(desk: Desk, order: Order) -> orders.Placed:
    return orders.place(desk.books, order)


def close(desk: Desk, issue_id: int) -> MailingList:
    return issues.close(desk.books, issue_id)


def given_out(desk: Desk, subscriber_id: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(subscriber_data(desk.store, desk.account_id, subscriber_id))
    return found


def erase(desk: Desk) -> dict[str, int]:
    return erasing.erase(desk.store, desk.account_id, ADA, leave_traces=True)


def served(desk: Desk, list_id: int | None) -> list[int]:
    """Return the subscriptions of a list."""
    entries = desk.table("mailing_list_entries")
    return [each["subscription_id"] for each in entries if each["mailing_list_id"] == list_id]


def test_a_person_gets_what_the_books_have_of_each_subscription(desk: Desk) -> None:
    """rules, "Personal data: what is stored"; worked out by hand."""
    (subscription,) = given_out(desk, ADA)["subscriptions"]
    assert subscription["begins_on"] == "2026-04-02"
    assert subscription["cancelled_on"] is None
    (term,) = subscription["terms"]
    assert (term["issues"], term["issues_left"], term["price"]) == ("12", "11", "3600")
    assert (term["kind"], term["paid_on"]) == ("paid", "2026-04-15")
    assert [(r["kind"], r["cents"], r["booked_on"]) for r in term["revenue"]] == [
        ("received", "3600", "2026-04-15"),
        ("earned", "300", "2026-05-01"),
    ]
    (delivery,) = subscription["deliveries"]
    assert (delivery["issue_id"], delivery["address_id"]) == (str(MAY), str(ADA))
    (suspension,) = subscription["suspensions"]
    assert (suspension["from_date"], suspension["to_date"]) == ("2026-10-01", "2026-10-31")
    (elsewhere,) = subscription["temporary_addresses"]
    assert (elsewhere["from_date"], elsewhere["to_date"]) == ("2026-07-01", "2026-08-31")
    (letter,) = subscription["renewal_letters"]
    assert (letter["effort"], letter["sent_on"]) == ("1", "2026-04-15")


def test_all_rows_of_a_person_are_given_out_and_none_of_another(desk: Desk) -> None:
    """rules, "Personal data: what is stored"."""
    given = {whose: given_out(desk, whose)["subscriptions"] for whose in (ADA, BEN)}
    for table, name in OF_SUBSCRIPTIONS.items():
        rows = desk.table(table)
        assert rows, table
        for whose, subscription_id in ((ADA, OF_ADA), (BEN, OF_BEN)):
            (subscription,) = given[whose]
            own = [row for row in rows if row["subscription_id"] == subscription_id]
            assert [
                {name: None if value is None else str(value) for name, value in row.items()}
                for row in own
            ] == [
                {key: None if record[key] is None else str(record[key]) for key in own[0]}
                for record in subscription[name]
            ], table
    assert WORD not in json.dumps(given[BEN])
    desk.put("cancellations", subscription_id=OF_BEN, made_on="2026-04-15", reason="moved abroad")
    (subscription,) = given_out(desk, BEN)["subscriptions"]
    assert [each["reason"] for each in subscription["cancellations"]] == ["moved abroad"]


def test_the_payment_of_an_order_is_given_out(desk: Desk) -> None:
    own, gift = given_out(desk, ADA)["orders"]
    assert (own["external_reference"], own["paid_on"]) == (REFERENCE, "2026-04-15")
    assert (gift["external_reference"], gift["paid_on"]) == (None, "2026-04-15")
    assert [item["refunded"] for item in own["order_items"]] == ["0.00"]


def test_erasing_a_person_leaves_the_accounts_as_they_are(desk: Desk) -> None:
    """decisions, "Personal data: erasing": the money stays, the person goes."""
    before = {table: desk.table(table) for table in OF_ACCOUNTS}
    assert set(erase(desk)) == {"subscribers", "addresses", "orders", "purchases"}
    assert {table: desk.table(table) for table in OF_ACCOUNTS} == before
    assert WORD not in json.dumps(given_out(desk, ADA))
    assert WORD not in json.dumps(desk.everything())
    assert given_out(desk, ADA)["subscriptions"][0]["terms"]


def test_who_is_erased_with_issues_left_is_named_until_the_subscription_is_cancelled(
    desk: Desk,
) -> None:
    """decisions, "Readers who are erased or deleted": what is unearned stays until then."""
    erase(desk)
    made = close(desk, JUNE)
    assert served(desk, made.mailing_list_id) == [OF_BEN]
    assert [(each.subscription_id, each.why) for each in made.held] == [(OF_ADA, "deleted")]
    done = cancelling.cancel(desk.books, OF_ADA, refund=True)
    assert (done.issues, done.refunded, done.tax) == (11, 3300, 231)
    sums = dict.fromkeys(("received", "earned", "refunded"), 0)
    for row in desk.table("revenue"):
        if row["term_id"] == 1:
            sums[row["kind"]] += row["cents"]
    assert sums == {"received": 3600, "earned": 300, "refunded": 3300}


def test_repeating_an_order_restores_no_subscriber(desk: Desk) -> None:
    """rules, "Personal data: later loads": a shop's export still has the order."""
    erase(desk)
    before = desk.everything()
    known = Person(
        None, f"ada@{WORD}.example", f"{WORD}a", address={"address": f"1 {WORD} Lane", "city": WORD}
    )
    again = place(desk, Order(known, [Item(YEAR)], reference=REFERENCE, is_paid=True))
    assert (again.is_known, again.subscriber_id) == (True, ADA)
    assert desk.everything() == before


def test_who_is_erased_orders_nothing_and_gets_no_new_address(desk: Desk) -> None:
    """decisions, "Personal data: erasing": what is blank stays blank."""
    erase(desk)
    before = desk.everything()
    with pytest.raises(BadInput, match="the reader was deleted on 2026-04-15"):
        place(desk, Order(Person(ADA), [Item(YEAR)]))
    to = {"address": f"3 {WORD} Row", "city": WORD}
    with pytest.raises(BadInput, match="the reader was deleted on 2026-04-15"):
        subscriptions.move(desk.books, OF_ADA, to)
    with pytest.raises(BadInput, match="the reader was deleted on 2026-04-15"):
        subscriptions.move_for_a_while(desk.books, OF_ADA, to, "2026-11-01", "2026-11-30")
    assert desk.everything() == before


def test_the_letter_of_a_gift_goes_to_the_reader_when_the_donor_is_erased(desk: Desk) -> None:
    def letters() -> list[tuple[Any, ...]]:
        with renewals.written_letters(desk.books) as found:
            named = [dict(zip(renewals.LETTER, row, strict=True)) for row in found.rows]
        return [
            (row["subscription_id"], row["to_subscriber_id"], row["city"])
            for row in named
            if row["subscription_id"] == OF_BEN
        ]

    for effort, left in ((1, 12), (2, 11)):
        renewals.set_effort(desk.books, renewals.Effort(1, effort, left))
    assert letters() == [(OF_BEN, ADA, WORD)]
    erase(desk)
    assert letters() == [(OF_BEN, BEN, "Dover")]


def test_a_mail_file_keeps_the_row_of_an_erased_reader_without_the_person(
    desk: Desk, tmp_path: Path
) -> None:
    """circulation, "What must hold": a list's entries, its count and its file's rows are one."""
    erase(desk)
    path = tmp_path / "may.csv"
    count = write_mail_file(desk.books, Wanted(MAY), path)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert count == len(rows) == 2
    assert sorted(row["city"] for row in rows) == ["", "Dover"]


def test_an_issue_that_an_erased_reader_got_can_be_reopened(desk: Desk) -> None:
    """circulation, "Reopen": the term gets its issue back, and the next closing leaves it there."""
    erase(desk)
    issues.reopen(desk.books, MAY)
    assert [term["issues_left"] for term in desk.table("terms")] == [12, 12]
    assert served(desk, close(desk, MAY).mailing_list_id) == [OF_BEN]
