"""The page Log: what was done, in names that lead to their pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.store import audit
from tests.billing.bureau import order
from tests.console.bookkeeping import said

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser


def log(desk: Desk, summary: str, user: str = "ada") -> None:
    """Add an entry."""
    with desk.store.writer() as connection, connection.transaction():
        audit.record(connection, audit.Actor(user, "order pay"), summary, account_id=1)


def test_the_log_names_readers_subscriptions_and_titles(bureau: Desk, finance: Browser) -> None:
    """decisions, "The page of a reader": the log itself has ids alone."""
    key = order(bureau)
    entries = {
        f"order {key} of subscriber 1: 12.84 USD; subscription 1": (
            f"order {key} of Ada Ames : 12.84 USD; Tide (print) of Ada Ames"
        ),
        "subscribers 2, 3 moved": "Ben Ames , Cora Ames moved",
        "issue 5 (Tide Tide 5) was closed with list 7": (
            "Tide 5 (1 May 2026) was closed with list 7"
        ),
        "effort 2 of publication 1 asks by letter": "effort 2 of Tide asks by letter",
        "readers see bundle 1: buy": "readers see Tide for a year: buy",
    }
    for summary in entries:
        log(bureau, summary)
    page = said(finance, "/audit")
    for named in entries.values():
        assert named in page
    shown = finance.get("/audit").text
    assert 'href="/subscribers/2"' in shown
    assert f'href="/orders/{key}"' in shown


def test_the_log_keeps_ids_of_what_is_gone(bureau: Desk, finance: Browser) -> None:
    log(bureau, "order 907 of subscriber 908: subscription 909, issue 910, bundle 911")
    page = finance.get("/audit").text
    assert "order 907 of subscriber 908: subscription 909, issue 910, bundle 911" in page


def test_what_a_reader_did_has_the_name_of_the_reader(bureau: Desk, finance: Browser) -> None:
    log(bureau, "subscriber 2 wrote a message (request 1)", "reader 2")
    log(bureau, "subscriber 2: changed email", "reader 1")
    page = said(finance, "/audit")
    assert "Ben Ames wrote a message (request 1) Ben Ames" in page
    assert "Ben Ames : changed email Ada Ames" in page
    page = said(finance, "/subscribers/2")
    assert "· the reader The reader wrote a message" in page
    assert "· another reader The reader: changed email" in page
    assert "reader 2" not in page


def test_an_issue_that_is_named_by_its_day_has_it_once(bureau: Desk, finance: Browser) -> None:
    bureau.rows(
        "UPDATE issues SET name = '1 May 2026' WHERE account_id = :account_id AND issue_id = 5 "
        "RETURNING issue_id"
    )
    log(bureau, "issue 5 (Tide 1 May 2026) was closed with list 7")
    assert "Tide 1 May 2026 was closed with list 7" in said(finance, "/audit")
