"""Opening the books: what the former system's numbers become (circulation, "Two modes …")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import issues, renewals, subscriptions
from masthead.books.issues import Grace
from masthead.books.opening import Balance, NextIssue, Sent, account_of, open_books, undo_opening
from masthead.circulation.opening import Choices
from masthead.errors import BadInput, MastheadError
from masthead.store import audit
from tests.circulation.desk import Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store


@pytest.fixture
def desk(store: Store) -> Iterator[Desk]:
    """An account whose data came from files; it is noon on 2026-03-10."""
    with at_desk(store) as found:
        with found.store.writer() as database, database.transaction():
            database.change("DELETE FROM books")
        found.put("publications", publication_id=1, name="Tide")
        found.put("publications", publication_id=2, name="Harbour", unlimited_term_months=24)
        found.put_many(
            "issues",
            [
                {"issue_id": n, "publication_id": 1, "name": f"No. {n}", "date": f"2026-0{n}-01"}
                for n in range(1, 7)
            ],
        )
        found.put("issues", issue_id=20, publication_id=2, name="Autumn", date="2026-09-01")
        found.put("subscribers", subscriber_id=1, first_name="Ann", last_name="Orr")
        found.to("2026-03-10")
        yield found


def subscribe(desk: Desk, number: int, publication: int = 1, **values: int | str | None) -> None:
    """Add a subscription as a file brings it."""
    desk.put(
        "subscriptions",
        subscription_id=number,
        subscriber_id=1,
        publication_id=publication,
        type="Print",
        copies=1,
        **values,
    )


def test_the_books_begin_with_what_the_files_said(desk: Desk) -> None:
    """decisions, "Opening terms"; by hand: the figures stay, and the expiry is the books'."""
    subscribe(desk, 1, issues=4, paid_issues_left=3, unearned_revenue="10.50")
    subscribe(desk, 2, issues=2, unearned_revenue="6")
    subscribe(desk, 3, issues=0, date_expired="2025-12-31")
    subscribe(desk, 4, 2, issues=-1, unearned_revenue="24.00")
    opened = open_books(desk.books)
    assert opened.balances == [
        Balance(1, "Tide", 2, 5, 1, 0, 1650),
        Balance(2, "Harbour", 1, 0, 0, 1, 2400),
    ]
    assert opened.closed_issues == 3
    assert [
        (t["subscription_id"], t["issues"], t["issues_left"], t["price"], t["paid_on"], t["months"])
        for t in desk.table("terms")
    ] == [
        (1, 3, 3, 1050, "2026-03-10", None),
        (1, 1, 1, 0, None, None),
        (2, 2, 2, 600, "2026-03-10", None),
        (4, -1, -1, 2400, "2026-03-10", 24),
    ]
    assert {term["kind"] for term in desk.table("terms")} == {"opening"}
    assert [(r["term_id"], r["kind"], r["cents"]) for r in desk.table("revenue")] == [
        (1, "received", 1050),
        (3, "received", 600),
        (4, "received", 2400),
    ]
    assert [
        (
            s["issues"],
            s["paid_issues_left"],
            s["unearned_revenue"],
            s["begins_on"],
            s["date_expired"],
        )
        for s in desk.table("subscriptions")
    ] == [
        # Issues of April to July; the first one that does not come is that of August.
        (4, 3, "10.50", "2026-03-02", "2026-07-31"),
        (2, 2, "6.00", "2026-03-02", "2026-05-31"),
        # Nothing tells when it ended, so that of the file stays.
        (0, 0, "0.00", None, "2025-12-31"),
        (-1, None, "24.00", "2026-03-10", None),
    ]
    closed = [issue["issue_id"] for issue in desk.table("issues") if issue["closed_at"]]
    assert closed == [1, 2, 3]
    assert account_of(desk.books).opened_on == "2026-03-10"
    with desk.store.writer() as database:
        *_, entry = audit.entries(database, account_id=desk.account_id)
    assert "3 subscriptions with issues left, 40.50 USD unearned" in entry.summary


@pytest.mark.parametrize("ended", [None, "2025-06-30"])
def test_grace_asks_for_the_last_issue_and_not_for_the_end_in_the_file(
    desk: Desk, ended: str | None
) -> None:
    """circulation, "Close", 2; decisions, "What follows is the books' from their opening on"."""
    desk.put("addresses", address_id=1, subscriber_id=1, address="1 Quay")
    subscribe(desk, 1, date_expired=ended, renew_campaign_active=1, mailing_address_id=1)
    desk.put("subscription_issues", subscription_id=1, issue_id=3)
    open_books(desk.books)
    assert desk.subscription(1)["date_expired"] == "2026-03-31"
    grace = Grace(1, "2026-03-01")
    assert issues.close(desk.books, 4, grace).entries == 1


def test_a_delivered_issue_and_all_before_it_are_closed(desk: Desk) -> None:
    """Otherwise it could be delivered again, or be closed after a later one."""
    subscribe(desk, 1, issues=4)
    desk.put("subscription_issues", subscription_id=1, issue_id=5)
    assert open_books(desk.books).closed_issues == 5
    assert desk.subscription(1)["begins_on"] == "2026-05-02"


def test_all_kinds_are_named_and_nothing_is_opened(desk: Desk) -> None:
    """Kind by kind, in one run: issues without a date too, which have no place in the order."""
    for number in (11, 12, 13, 14, 15, 16):
        subscribe(desk, number, issues=4, paid_issues_left=5)
    subscribe(desk, 2, date_expired="2026-06-30")
    desk.put("subscribers", subscriber_id=2, last_name="Lee\x1b[2J")
    desk.put(
        "subscriptions", subscription_id=1, subscriber_id=2, publication_id=1, issues=1, type="Both"
    )
    subscribe(desk, 3, issues=0, unearned_revenue="1.00")
    desk.put("issues", issue_id=9, publication_id=1, name="Some day")
    before = desk.everything()
    with pytest.raises(BadInput) as refusal:
        open_books(desk.books)
    undated, paid, nothing_paid, dated, copies, end = str(refusal.value).splitlines()
    assert undated.endswith("1 issue, such as 9; give each a date")
    assert "1 subscription, such as 3 Ann Orr (issues 0, unearned_revenue 1.00)" in nothing_paid
    assert "6 subscriptions, such as 11 Ann Orr (issues 4, paid_issues_left 5), " in paid
    assert " 15 Ann Orr (" in paid
    assert " 16 Ann Orr (" not in paid
    assert "such as 2 Ann Orr (date_expired 2026-06-30); give" in dated
    assert "such as 1 Lee\\x1b[2J (issues 1); give" in copies
    assert end == "the books stay closed: load corrected rows, or say how these are taken"
    assert desk.everything() == before


def test_choices_open_what_the_files_describe_in_part(desk: Desk) -> None:
    """Issues of April to June are planned; the others are reckoned, 12 a year."""
    desk.put("issues", issue_id=9, publication_id=1, name="March again", date="2026-03-10")
    for number, day in ((1, "2026-06-01"), (2, "2026-07-31"), (3, "2026-08-01"), (4, "2026-03-31")):
        subscribe(desk, number, date_expired=day, paid_issues_left=0)
    subscribe(desk, 5, 2, date_expired="2026-09-01", unearned_revenue="1.00")
    subscribe(desk, 6, issues=2, cancelled_on="2026-02-01", renew_campaign_active=1)
    subscribe(desk, 7)
    subscribe(desk, 8, issues=9, date_expired="2026-05-31")
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE subscriptions SET copies = 0, type = NULL")
    choices = Choices(issues_from_dates=True, cancelled="serve", copies=2, type="Digital")
    opened = open_books(desk.books, choices)
    assert [(t["subscription_id"], t["issues"], t["copies"]) for t in desk.table("terms")] == [
        (1, 3, 2),
        (2, 4, 2),
        (3, 5, 2),
        (5, 1, 2),
        (6, 2, 2),
        (8, 9, 2),
    ]
    assert [
        (s["issues"], s["copies"], s["type"], s["begins_on"], s["date_expired"], s["cancelled_on"])
        for s in desk.table("subscriptions")
    ] == [
        (3, 2, "Digital", "2026-03-11", "2026-06-30", None),
        (4, 2, "Digital", "2026-03-11", "2026-07-31", None),
        (5, 2, "Digital", "2026-03-11", "2026-08-31", None),
        (0, 2, "Digital", None, "2026-03-31", None),
        (1, 2, "Digital", "2026-03-10", "2026-09-30", None),
        (2, 2, "Digital", "2026-03-11", "2026-05-31", None),
        (0, 2, "Digital", None, None, None),
        (9, 2, "Digital", "2026-03-11", "2026-12-31", None),
    ]
    (ending,) = desk.table("cancellations")
    assert (ending["subscription_id"], ending["made_on"]) == (6, "2026-02-01")
    *notes, a_year = opened.notes
    assert [note.partition(":")[0].split()[0] for note in notes] == ["the", "no", "issues"]
    assert a_year.startswith("after the planned issues, so many a year were counted: ")
    for issue in (4, 5):
        issues.close(desk.books, issue)
    assert desk.subscription(6)["cancelled_on"] == "2026-03-10"
    assert desk.subscription(6)["renew_campaign_active"] == 0


def test_issues_that_are_paid_may_be_worth_nothing(desk: Desk) -> None:
    """decisions, "Opening terms": the former system need not say what is unearned."""
    subscribe(desk, 1, issues=4, paid_issues_left=3)
    desk.put("addresses", address_id=1, subscriber_id=1, address="1 Quay")
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE subscriptions SET mailing_address_id = 1")
    opened = open_books(desk.books)
    assert opened.balances[0] == Balance(1, "Tide", 1, 3, 1, 0, 0)
    assert desk.table("revenue") == []
    found = desk.subscription(1)
    assert (found["issues"], found["paid_issues_left"], found["unearned_revenue"]) == (4, 3, "0.00")
    issues.close(desk.books, 4)
    (entry,) = desk.table("mailing_list_entries")
    assert entry["is_paid"] == 1
    assert desk.subscription(1)["paid_issues_left"] == 2
    assert desk.table("revenue") == []


def test_a_dry_run_has_the_balances_and_changes_nothing(desk: Desk) -> None:
    subscribe(desk, 1, issues=4, paid_issues_left=3, unearned_revenue="10.50")
    subscribe(desk, 2, 2, issues=1)
    desk.put("subscription_issues", subscription_id=1, issue_id=3)
    desk.put("subscription_issues", subscription_id=2, issue_id=20)
    desk.put("publications", publication_id=3, name="Gale")
    desk.put("issues", issue_id=30, publication_id=3, name="Far", date="2190-01-01")
    subscribe(desk, 3, 3, issues=1)
    desk.put("list_downloads", mailing_list_id=7, name="No. 3", is_gap=0, date_created="2026-03-01")
    desk.put("mailing_list_entries", mailing_list_id=7, subscription_id=1, copies=5)
    before = desk.everything()
    dry = open_books(desk.books, dry_run=True)
    held = {"no address": 1}
    assert dry.next_issues == [
        NextIssue("Tide", "No. 4, 2026-04-01", 0, 0, 0, held, Sent("list No. 3", 1, 5)),
        NextIssue("Harbour", "not planned, 2026-10-01", 0, 0, 0, held, Sent("Autumn", 1, 1)),
        NextIssue("Gale", "Far, 2190-01-01", 0, 0, 0, held, None),
    ]
    assert desk.everything() == before
    assert open_books(desk.books) == dry._replace(next_issues=())
    assert desk.everything() != before


def test_books_are_opened_once(desk: Desk) -> None:
    open_books(desk.books)
    before = desk.everything()
    with pytest.raises(MastheadError, match="open"):
        open_books(desk.books)
    assert desk.everything() == before


def test_who_had_the_last_issue_not_long_ago_is_written_to(desk: Desk) -> None:
    """circulation, "Renewals": an empty term since a day; rules, "An empty opening term"."""
    for number, issue_id, values in (
        (1, 2, {}),
        (2, 1, {}),
        (3, 3, {"issues": 2}),
        (4, None, {}),
    ):
        subscribe(desk, number, renew_campaign_active=1, **values)
        if issue_id is not None:
            desk.put("subscription_issues", subscription_id=number, issue_id=issue_id)
    opened = open_books(desk.books, renew_since="2026-02-01")
    assert opened.to_renew == 1
    assert [each.subscriptions for each in opened.balances] == [1, 0]
    terms = desk.table("terms")
    assert [(t["subscription_id"], t["issues"], t["kind"]) for t in terms] == [
        (3, 2, "opening"),
        (1, 0, "opening"),
    ]
    renewals.set_effort(desk.books, renewals.Effort(1, 1, 3))
    renewals.set_effort(desk.books, renewals.Effort(1, 2, -1))
    assert renewals.due(desk.books) == [renewals.Due(1, 1, 1), renewals.Due(1, 2, 1)]
    issues.close(desk.books, 4)


def test_an_unused_opening_can_be_undone(desk: Desk) -> None:
    """rules, "An opening that is undone": then the files, loaded again, say it all."""
    subscribe(desk, 1, issues=4, paid_issues_left=3, unearned_revenue="10.50")
    subscribe(desk, 2, issues=2, paid_issues_left=2, unearned_revenue="0.00")
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE subscriptions SET cancelled_on = '2026-01-01' WHERE issues = 2")
    before = desk.everything()
    opened = open_books(desk.books, Choices(cancelled="serve"))
    undo_opening(desk.books, dry_run=True)
    assert account_of(desk.books).opened_on
    undo_opening(desk.books)
    assert account_of(desk.books).opened_on is None
    expiries = [s["date_expired"] for s in desk.table("subscriptions")]
    assert expiries == ["2026-07-31", "2026-05-31"]
    with desk.store.writer() as database, database.transaction():
        database.change("UPDATE subscriptions SET date_expired = NULL")
    assert desk.everything() == before
    assert open_books(desk.books, Choices(cancelled="serve")) == opened


def test_a_used_opening_cannot_be_undone(desk: Desk) -> None:
    """The sentence names what was done."""
    desk.put("addresses", address_id=1, subscriber_id=1, address="1 Quay")
    subscribe(desk, 1, issues=4, mailing_address_id=1)
    open_books(desk.books)
    issues.close(desk.books, 4)
    before = desk.everything()
    with pytest.raises(BadInput, match="an issue was closed since the books were opened"):
        undo_opening(desk.books)
    assert desk.everything() == before
    issues.reopen(desk.books, 4)
    subscriptions.suspend(desk.books, 1, "2026-04-01", "2026-05-01")
    with pytest.raises(BadInput, match="a subscription was suspended since"):
        undo_opening(desk.books)


@pytest.mark.parametrize(
    ("table", "row"),
    [
        ("billing", {"billing_id": 1, "begun_on": "2026-03-01"}),
        ("billing_settings", {"setting_id": 1, "name": "due_days", "value": "30"}),
        (
            "tax_rates",
            {
                "rate_id": 1,
                "country": "DE",
                "goods": "print",
                "percent": 700,
                "begins_on": "2026-01-01",
            },
        ),
        (
            "shipping_prices",
            {"shipping_price_id": 1, "type": "Print", "begins_on": "2026-01-01"},
        ),
        ("payer_details", {"subscriber_id": 1, "vat_id": "DE136695976"}),
        (
            "mandates",
            {
                "mandate_id": 1,
                "subscriber_id": 1,
                "reference": "M-1",
                "scheme": "core",
                "signed_on": "2026-03-01",
                "status": "active",
                "status_since": "2026-03-01",
            },
        ),
        ("reminder_levels", {"level": 1, "days": 14, "then_do": "nothing"}),
        ("mails", {"mail_id": 1, "kind": "welcome", "status": "queued"}),
        ("held_addresses", {"held_address_id": 1, "held_on": "2026-03-01"}),
    ],
)
def test_an_opening_with_billing_cannot_be_undone(
    desk: Desk, table: str, row: dict[str, Any]
) -> None:
    """rules, "An opening that is undone": what was set would be lost."""
    open_books(desk.books)
    desk.put(table, **row)
    with pytest.raises(BadInput, match="billing was set up since the books were opened"):
        undo_opening(desk.books)
    assert len(desk.table(table)) == 1
