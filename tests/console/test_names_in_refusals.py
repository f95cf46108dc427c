"""What the console refuses, it names as people do, and never by an id, on both stores."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import (
    cancelling,
    disputes,
    notes,
    orders,
    renewals,
    replacements,
    subscribers,
    subscriptions,
)
from masthead.circulation.ordering import Item, Order, Person
from masthead.console.pages import PAGES
from tests.circulation.desk import at_desk
from tests.circulation.two_readers import fill
from tests.console.browser import input_values, serving_console

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx2

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store

_ID = re.compile(
    r"\b(subscription|issue|order|subscriber|term|opening|payment|bundle|item|note) \d+",
    re.IGNORECASE,
)
_ALERT = re.compile(r'<div class="notice bad" role="alert" id="errors".*?</div>', re.DOTALL)
_MAIN = re.compile(r"<main.*</main>", re.DOTALL)
_NOBODYS = "77777"


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """Readers and orders that refuse what is asked of them; each line below says why."""
    with at_desk(store) as found:
        fill(found)
        _fill(found)
        yield found


def _fill(desk: Desk) -> None:
    desk.put("publications", publication_id=2, name="Gale", issues_per_year=4)
    desk.put("issues", issue_id=20, publication_id=2, name="Winter", date="2026-12-01")
    line = {"line_number": 1, "publication_id": 1, "copies": 1, "price": 1200}
    desk.put("bundle_lines", bundle_id=1, **line, type="Print", issues=12)
    for n, is_active in ((2, 1), (3, 0)):
        desk.put("bundles", bundle_id=n, name="All of Tide", price=1200, tax=84, active=is_active)
        desk.put("bundle_lines", bundle_id=n, **line, type="Digital", issues=-1, months=12)
    dale = {"last_name": "Dale"}
    desk.put("subscribers", subscriber_id=4, first_name="Dora", **dale)  # merged below
    desk.put("subscribers", subscriber_id=5, first_name="Eve", **dale)
    desk.put("subscribers", subscriber_id=6, first_name="Finn", **dale, delete_date="2026-03-02")
    for n in (7, 8):  # share an email address
        desk.put("subscribers", subscriber_id=n, first_name=f"G{n}", **dale, email="g@example.org")
    desk.put(
        "subscriptions",
        subscription_id=9,
        subscriber_id=7,
        publication_id=1,
        copies=1,
        type="Print",
    )  # has no issues
    books, year, forever = desk.books, Item(1), Item(2)
    orders.place(books, Order(Person(3), [year], is_paid=True))  # 2, of subscription 10
    orders.place(books, Order(Person(3), [forever], reference="R-1"))  # 3, of subscription 11
    orders.place(books, Order(Person(5), [year]))  # 4, of subscription 12
    orders.place(books, Order(Person(8), [year, year], is_paid=True))  # 5, of subscription 13
    orders.place(books, Order(Person(7), [year._replace(is_new=True)]))  # 6, of subscription 14
    with desk.connection.transaction():
        desk.connection.lock_account(1)
        desk.connection.change("UPDATE books SET last_order_before = 1 WHERE account_id = 1")
    subscriptions.suspend(books, 10, "2026-06-01", "2026-07-01")
    away = {"address": "1 Dock", "zip_code": "10002"}
    subscriptions.move_for_a_while(books, 10, away, "2026-06-01", "2026-07-01")
    cancelling.cancel(books, 12, refund=False)
    cancelling.cancel(books, 13, refund=False, at_end=True)
    disputes.dispute(books, 6, "never ordered")
    replacements.send_again(books, 1, 4)
    subscribers.merge(books, 3, 4)
    notes.add(books, 1, "rang")
    renewals.set_effort(books, renewals.Effort(1, 1, 3))


@pytest.fixture(scope="module")
def console(desk: Desk) -> Iterator[Console]:
    with serving_console(desk.store) as found:
        for role in ("clerk", "manager"):
            found.add(role, role)
        yield found


@pytest.fixture(scope="module")
def manager(console: Console) -> Browser:
    return console.signed_in("manager")


def refused(browser: Browser, path: str, **typed: str) -> str:
    """Fill in the form of a page and send it; return the text of what is wrong."""
    shown = browser.get(path)
    answer: httpx2.Response = browser.post(path, {**input_values(shown.text), **typed})
    assert answer.status_code in {400, 404, 409}, answer.text
    found = _ALERT.search(answer.text) or _MAIN.search(answer.text)
    assert found, answer.text
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", found[0])).split())


NEW = "/orders/new"
_SET = {"type": "Print", "campaign": "1"}
_EFFORT = {"effort": "2", "remove": ""}
_OVERLAP = {"from_date": "2026-06-05", "to_date": "2026-06-06"}
REFUSALS: tuple[tuple[str, dict[str, str], str], ...] = (
    # Subscriptions.
    (
        "/subscriptions/12/set",
        _SET | {"copies": "2"},
        "Tide (print) was cancelled on 15 April 2026",
    ),
    ("/subscriptions/13/set", _SET, "Tide (print) was cancelled, and is still to end"),
    ("/subscriptions/1/set", _SET | {"copies": "3"}, "Tide (print) gets 1 copy of each issue"),
    ("/subscriptions/1/set", _SET | {"copies": "99", "how": "convert"}, "no whole issue of 99"),
    (
        "/subscriptions/11/set",
        _SET | {"type": "Digital", "copies": "3", "how": "convert"},
        "Tide (digital) is unlimited and earned by months",
    ),
    ("/subscriptions/9/set", _SET | {"copies": "3", "how": "free"}, "Tide (print) has no issues"),
    ("/subscriptions/10/suspend", _OVERLAP, "Tide (print) is suspended from 1 June 2026"),
    ("/subscriptions/1/resume", {}, "Tide (print) has no suspension that lasts until today"),
    ("/subscriptions/1/usual-address", {}, "Tide (print) has no temporary address"),
    ("/subscriptions/11/extend", {"issues": "1"}, "Tide (digital) is unlimited"),
    ("/subscriptions/12/cancel", {"when": "now"}, "was cancelled on 15 April 2026 already"),
    ("/subscriptions/1/uncancel", {}, "Tide (print) was not cancelled here"),
    ("/subscriptions/1/replacement", {"issue": "5"}, "Tide (print) has not received Tide 5 (1 May"),
    ("/subscriptions/1/replacement", {"issue": "4"}, "Tide 4 (1 April 2026) waits"),
    ("/subscriptions/1/replacement", {"issue": "3", "copies": "5"}, "so many came"),
    (
        "/subscriptions/1/complaint",
        {"issue": "5", "kind": "lost", "answer": "nothing"},
        "Tide (print) did not receive Tide 5 (1 May 2026)",
    ),
    # Readers.
    ("/subscribers/4/edit", {"last_name": "x"}, "Dora Dale was deleted on 15 April 2026"),
    ("/subscribers/4/login", {"what": "code"}, "Dora Dale was deleted on 15 April 2026"),
    ("/subscribers/4/erase", {"name": "Dora Dale"}, "Dora Dale was deleted on 15 April 2026"),
    ("/subscribers/4/notes", {"text": "rang"}, "Dora Dale was deleted on 15 April 2026"),
    ("/subscribers/1/merge", {"other_id": "4"}, "Dora Dale was deleted on 15 April 2026"),
    ("/subscribers/1/merge", {"other_id": "1"}, "A reader cannot be merged with the same one"),
    ("/subscribers/1/merge", {"other_id": _NOBODYS}, "There is no such reader"),
    ("/subscribers/5/login", {"what": "password"}, "Eve Dale has no email address"),
    (
        "/subscribers/3/move",
        _OVERLAP
        | {"subscription_10": "1", "when": "while", "address": "2 Bay", "zip_code": "10001"},
        "Tide (print) has another address from 1 June 2026 to 1 July 2026",
    ),
    # A new order.
    (
        NEW,
        {"payer_id": "2", "bundle": "1", "first_issue": "20"},
        "Gale Winter (1 December 2026)",
    ),
    (NEW, {"payer_id": "2", "bundle": "1", "first_issue": "5"}, "Tide (print) has issues left"),
    (
        NEW,
        {"payer_id": "2", "bundle": "1", "first_issue": "2"},
        "Tide 2 (1 February 2026) is",
    ),
    (NEW, {"payer_id": "2", "bundle": "1", "first_issue": "1"}, "Tide 1 (1 January 2026) was"),
    (NEW, {"payer_id": "2", "bundle": "1", "first_issue": _NOBODYS}, "There is no such issue"),
    (
        NEW,
        {"payer_id": "1", "bundle": "1", "to_1_id": "3", "to_1_subscription": "2"},
        "Tide (print) is a subscription of Ben Ames, and not of Cora Ames",
    ),
    (
        NEW,
        {"payer_id": "5", "bundle": "1", "to_1_subscription": "12"},
        "Tide (print) was cancelled",
    ),
    (
        NEW,
        {"payer_id": "3", "bundle": "1", "to_1_subscription": "11"},
        "The order gives nothing of Tide (digital)",
    ),
    (NEW, {"payer_id": "3", "bundle": "1", "to_1_subscription": _NOBODYS}, "no such subscription"),
    (NEW, {"payer_id": "3", "bundle": "2"}, "Tide (digital) is unlimited"),
    (NEW, {"payer_id": "6", "bundle": "1"}, "Finn Dale was deleted on 2 March 2026"),
    (NEW, {"payer_id": _NOBODYS, "bundle": "1"}, "There is no such reader"),
    (
        NEW,
        {"payer_id": "1", "payer_address_id": "2", "bundle": "1"},
        "Ada Ames has no such address",
    ),
    (NEW, {"payer_email": "g@example.org", "bundle": "1"}, "2 readers have this email address"),
    (
        NEW,
        {"payer_id": "2", "bundle": "1", "reference": "R-1"},
        "The order of 15 April 2026 has the reference 'R-1'",
    ),
    (NEW, {"payer_id": "2", "bundle": "3"}, "All of Tide is retired"),
    (NEW, {"payer_id": "2", "bundle": _NOBODYS}, "There is no such bundle in the catalogue"),
    # Orders.
    ("/orders/1/pay", {}, "This order is from before the books were opened"),
    ("/orders/2/pay", {}, "This order was paid on 15 April 2026"),
    ("/orders/3/pay", {"amount": "1"}, "12.84 USD is due for the order, not 1.00 USD"),
    ("/orders/4/pay", {"amount": ""}, "The order of 15 April 2026 has nothing left to pay for"),
    ("/orders/3/allowance", {"amount": "1"}, "The order of 15 April 2026 is not paid"),
    ("/orders/2/allowance", {"amount": "99"}, "An allowance for the item is more than 0"),
    ("/orders/2/refund", {"amount": "99"}, "more than can be refunded of the item"),
    ("/orders/2/refund", {"item": _NOBODYS}, "The order has no such item"),
    ("/orders/5/refund", {"amount": "1"}, "The order has 2 items: choose one of them"),
    ("/orders/6/dispute", {"dispute": "x"}, "The order of 15 April 2026 is disputed since"),
    ("/orders/2/settle", {"result": "upheld"}, "The order of 15 April 2026 is not disputed"),
    # Issues.
    ("/issues/6/close", {}, "Tide 6 (1 June 2026) cannot be closed before Tide 5 (1 May 2026)"),
    ("/issues/4/close", {}, "Tide 4 (1 April 2026) is closed already"),
    ("/issues/5/gap", {}, "Tide 5 (1 May 2026) is not closed"),
    ("/issues/5/reopen", {}, "Tide 5 (1 May 2026) is not closed"),
    ("/issues/3/reopen", {}, "is not the latest closed issue: that is Tide 4 (1 April 2026)"),
    ("/issues/5/file", {"form": "csv"}, "Tide 5 (1 May 2026) is not closed"),
    ("/issues/4/file", {"form": "csv", "list": _NOBODYS}, "This list is none of Tide 4"),
    # Renewals.
    (
        "/renewals/1/effort",
        _EFFORT | {"issues_left": "5"},
        ": letter 1, which comes before it, is due earlier",
    ),
    ("/renewals/1/effort", _EFFORT | {"remove": "1"}, "The publication has no letter 2"),
    (
        "/renewals/2/effort",
        _EFFORT | {"issues_left": "1", "bundle_id": "1"},
        "The bundle gives nothing of the publication",
    ),
)


@pytest.mark.parametrize(("path", "typed", "said"), REFUSALS)
def test_what_is_refused_is_named_as_people_do(
    manager: Browser, path: str, typed: dict[str, str], said: str
) -> None:
    """decisions, "Errors name what they are about"."""
    wrong = refused(manager, path, **typed)
    assert said in wrong
    assert not _ID.search(wrong), wrong
    assert _NOBODYS not in wrong


def test_a_note_of_somebody_else_is_not_named_by_its_number(console: Console) -> None:
    wrong = refused(console.signed_in("clerk"), "/notes/1/edit", text="rang twice")
    assert "The note is of ada and of 15 April 2026" in wrong


@pytest.mark.parametrize(
    "path",
    sorted({page.path for page in PAGES if "{id:int}" in page.path and page.method == "POST"}),
)
def test_an_id_that_nobody_has_is_not_repeated(manager: Browser, path: str) -> None:
    wrong = refused(manager, path.replace("{id:int}", _NOBODYS), what="code", form="csv", text="x")
    assert not _ID.search(wrong), wrong
    assert _NOBODYS not in wrong
