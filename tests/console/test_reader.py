"""The page of a reader: what a clerk reads to a caller, without a click."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import complaints, moving, notes, orders, payments, renewals, subscriptions
from masthead.books.account import Books
from masthead.circulation.ordering import Item, Order, Person
from masthead.store.audit import Actor
from tests.circulation.desk import at_desk
from tests.circulation.two_readers import TODAY, fill
from tests.console.browser import serving_console
from tests.console.conftest import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store

ADA, BEN = "/subscribers/1", "/subscribers/2"
LONG = "x" * 50


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """An account for this file."""
    with at_desk(store) as desk:
        yield desk


@pytest.fixture(scope="module")
def console(desk: Desk) -> Iterator[Console]:
    """Its console, with an operator of each role."""
    with serving_console(desk.store) as console:
        for role in ROLES:
            console.add(role, role)
        yield console


@pytest.fixture
def books(desk: Desk) -> Books:
    """The books, filled: ada pays for her subscription and for ben's."""
    fill(desk)
    desk.put(
        "bundle_lines",
        bundle_id=1,
        line_number=1,
        publication_id=1,
        issues=12,
        type="Print",
        copies=1,
        price=1200,
    )
    with desk.store.writer() as database, database.transaction():
        database.lock_account(desk.account_id)
        database.change("DELETE FROM audit")
    return Books(desk.store, desk.account_id, Actor("clerk", "console: test"))


class Desks(dict[str, "Browser"]):
    """The browsers of roles, each signed in when it is first used."""

    def __init__(self, console: Console) -> None:
        """Sign in to this console."""
        super().__init__()
        self._console = console

    def __missing__(self, role: str) -> Browser:
        """Sign in."""
        self[role] = self._console.signed_in(role)
        return self[role]


@pytest.fixture
def browsers(console: Console, books: Books) -> dict[str, Browser]:
    """A browser of each role, whose session begins on the day of the books."""
    assert books.account_id == 1
    return Desks(console)


def text_of(browser: Browser, path: str) -> str:
    """Return the words of a page as a person reads them."""
    page = browser.get(path)
    assert page.status_code == 200, page.text
    main = page.text[page.text.index("<main") : page.text.index("</main>")]
    main = re.sub(r"<textarea.*?</textarea>", "", main, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", main))


def test_the_page_says_what_comes_next_and_who_paid(browsers: dict[str, Browser]) -> None:
    """decisions, "The page of a reader"; worked out by hand."""
    page = text_of(browsers["viewer"], BEN)
    assert "Until 31 January 2027, 9 more issues" in page
    assert "Comes next Tide 5, 1 May 2026: 1 copy to 2 Oak, 10001" in page
    assert "Paid by Ada Ames" in page
    assert "Tide 4 1 copy" not in page
    assert "Nothing was paid, and nothing is owed." in page
    page = text_of(browsers["viewer"], ADA)
    assert "Paid 25.68 USD on 10 January 2026." in page
    assert "Paid by" not in page


def test_suspensions_and_temporary_addresses_change_what_comes_next(
    books: Books, browsers: dict[str, Browser]
) -> None:
    subscriptions.suspend(books, 1, "2026-05-01", "2026-05-31")
    away = {"address": "1 Palm Court", "city": "Key West"}
    subscriptions.move_for_a_while(books, 1, away, "2026-06-01", "2026-06-30")
    page = text_of(browsers["clerk"], ADA)
    assert "Comes next Tide 6, 1 June 2026: 1 copy to Ada Ames, 1 Palm Court, Key West" in page
    assert "1 June 2026 to 30 June 2026" in page
    assert "Suspended 1 May 2026 to 31 May 2026" in page
    assert "Tide is suspended from 1 May 2026 to 31 May 2026" in page
    assert re.search(
        r'button main" href="/subscriptions/1/resume"', browsers["clerk"].get(ADA).text
    )


def test_what_is_owed_stands_there_until_it_is_paid(
    books: Books, browsers: dict[str, Browser]
) -> None:
    placed = orders.place(books, Order(Person(3), [Item(1)]))
    clerk, path = browsers["clerk"], "/subscribers/3"
    page = text_of(clerk, path)
    assert "Owes 12.84 USD for the order of 15 April 2026 ." in page
    assert "not paid" in page
    assert f'button main" href="/orders/{placed.order_id}/pay"' in clerk.get(path).text
    payments.pay(books, placed.order_id, payments.Payment("Check", reference="No. 7"))
    page = text_of(clerk, path)
    assert "Owes" not in page
    assert "Paid 12.84 USD on 15 April 2026 by Check." in page
    assert (
        "Paid 12.84 USD by Check For the order of 15 April 2026: Tide for a year. Reference: No. 7"
        in page
    )


def test_orders_of_the_former_system_are_told_apart_from_payments(
    desk: Desk, books: Books, browsers: dict[str, Browser]
) -> None:
    """The books were opened with what the files said; that is no payment of that day."""
    desk.put(
        "orders", order_id=0, subscriber_id=3, order_date="2025-01-01 08:00:00", grand_total="9"
    )
    desk.connection.change("UPDATE books SET last_order_before = 0")
    desk.put(
        "subscriptions",
        subscription_id=3,
        subscriber_id=3,
        publication_id=1,
        issues=2,
        copies=1,
        type="Print",
        begins_on="2026-01-01",
    )
    desk.put(
        "terms",
        term_id=3,
        subscription_id=3,
        issues=2,
        issues_left=2,
        price=500,
        paid_on="2026-01-01",
        kind="opening",
    )
    page = text_of(browsers["finance"], "/subscribers/3")
    desk.connection.change("UPDATE books SET last_order_before = NULL")
    assert (
        "From before 1 January 2026: 1 order of 9.00 USD in all. The former system did not" in page
    )
    assert "5.00 USD was paid before 1 January 2026 for issues after that day." in page
    assert "opening" not in page


def test_the_last_letter_is_explained(
    desk: Desk, books: Books, browsers: dict[str, Browser]
) -> None:
    desk.put("renewal_efforts", publication_id=1, effort=1, issues_left=9)
    desk.put("renewal_efforts", publication_id=1, effort=2, issues_left=3)
    renewals.send(books, lambda _letters: None)
    page = text_of(browsers["viewer"], ADA)
    assert (
        "Last letter 15 April 2026: renewal letter 1 of 2, sent when 9 issues were left, because "
        "the subscription ends on 31 January 2027" in page
    )
    assert "Renewal letter 1 for Tide" in page


def test_the_timeline_has_everything_newest_first_with_names(
    desk: Desk, books: Books, browsers: dict[str, Browser]
) -> None:
    notes.add(books, 1, "Calls <b>at</b> noon\nand reads ❤")
    complaints.answer(books, 1, 4, "damaged", "nothing", "Torn")
    subscriptions.set_values(books, 1, subscriptions.Values(copies=2, how="free"))
    elm = {"address": "12 Elm", "zip_code": "97301", "city": "Salem"}
    moving.move(books, 1, moving.Move(elm, (1,), bills=True))
    desk.to("2026-04-16")
    browsers.clear()
    subscriptions.extend(books, 1, 1)
    clerk = browsers["clerk"]
    page = text_of(clerk, ADA)
    assert "copies from now on of Tide; bills from now on of Tide, another subscription" in page
    happened = page[page.index("What happened") :]
    wanted = [
        "Tide got 1 free issue",
        "Tide, Tide 4 was damaged Nothing was done. Torn",
        "Note Calls &lt;b&gt;at&lt;/b&gt; noon and reads ❤",
        "Tide, Tide 4 1 April 2026".replace(" 1 April 2026", ""),
        "Paid 25.68 USD",
    ]
    places = [happened.index(each) for each in wanted]
    assert places[0] < places[1]
    assert places[-1] == max(places)
    page = page.replace("another subscription", "")
    assert not re.search(r"subscriptions? \d|subscriber \d|term \d|order \d", page)
    only = text_of(clerk, f"{ADA}?kind=note")
    assert "Calls" in only
    assert "Paid 25.68 USD by" not in only
    assert "was damaged" not in only


def test_the_timeline_has_the_times_of_the_account(
    desk: Desk, books: Books, browsers: dict[str, Browser]
) -> None:
    def set_time_zone(name: str) -> None:
        with desk.store.writer() as database:
            database.change("UPDATE accounts SET time_zone = :name", name=name)

    set_time_zone("Pacific/Auckland")
    notes.add(books, 1, "Calls")
    subscriptions.extend(books, 1, 1)
    page = browsers["clerk"].get(ADA).text
    set_time_zone("UTC")
    by_clerk = r'"when">([^<]*):[0-9]+ · clerk</p><p class="title">(?:<a [^>]*>)?(\w+)'
    times = re.findall(by_clerk, page)
    assert {title for _, title in times} == {"Note", "Tide"}
    assert len({hour for hour, _ in times}) == 1


def test_a_note_is_added_in_place_and_corrected_by_who_may(
    books: Books, desk: Desk, browsers: dict[str, Browser]
) -> None:
    clerk, finance, manager = (browsers[role] for role in ("clerk", "finance", "manager"))
    assert clerk.post(f"{ADA}/notes", {"text": "first\r\n\r\nsecond"}).status_code == 303
    assert [row["text"] for row in desk.table("notes")] == ["first\n\nsecond"]
    assert "Note: correct it" in clerk.get(ADA).text
    assert "Note: correct it" not in finance.get(ADA).text
    assert finance.post("/notes/1/edit", {"text": "no"}).status_code == 400
    assert clerk.post("/notes/1/edit", {"text": "better"}).status_code == 303
    desk.to("2026-04-17")
    browsers.clear()
    clerk, manager = browsers["clerk"], browsers["manager"]
    assert clerk.post("/notes/1/edit", {"text": "later"}).status_code == 400
    assert manager.post("/notes/1/edit", {"text": "best"}).status_code == 303
    assert [row["text"] for row in desk.table("notes")] == ["best"]
    empty = clerk.post(f"{ADA}/notes", {"text": " "})
    assert empty.status_code == 400
    assert "The note has no text" in empty.text
    too_long = clerk.post(f"{ADA}/notes", {"text": "y" * 10_001})
    assert too_long.status_code == 400
    assert "y" * 10_001 in too_long.text


def test_a_complaint_is_noted_once(books: Books, desk: Desk, browsers: dict[str, Browser]) -> None:
    """Pressing twice neither extends twice nor hides that it was noted."""
    clerk, path = browsers["clerk"], "/subscriptions/1/complaint"
    seen = re.search(r'name="seen"\s+value="([^"]*)"', clerk.get(path).text)
    assert seen
    form = {
        "seen": seen[1].replace("&#34;", '"'),
        "issue": "4",
        "kind": "lost",
        "answer": "extended",
    }
    assert clerk.post(path, {**form, "issue": ""}).status_code == 400
    assert clerk.post(path, form).status_code == 303
    assert clerk.post(path, form).status_code == 409
    assert desk.subscription(1)["issues"] == 10
    assert len(desk.table("complaints")) == 1
    page = " ".join(clerk.get("/issues/4").text.split())
    assert re.search(r"Ada Ames</a></th> <td [^>]*>lost</td><td [^>]*>extended</td>", page), page


def test_what_a_role_may_not_do_is_no_button(browsers: dict[str, Browser]) -> None:
    viewer = browsers["viewer"].get(ADA).text
    assert 'class="button' not in viewer.replace('class="button" href="/subscribers/1?all', "")
    assert "Refunds: finance or a manager." in viewer
    assert "Erasing all data of a reader: a manager." in browsers["clerk"].get(ADA).text
    assert "Refunds: finance" not in browsers["finance"].get(ADA).text
    assert "/subscriptions/1/suspend" in browsers["clerk"].get(ADA).text
    assert "/subscriptions/1/suspend" not in browsers["finance"].get(ADA).text


def test_a_page_of_many_subscriptions_folds_those_that_ended(
    desk: Desk, browsers: dict[str, Browser]
) -> None:
    """Names without a space, and a reader without a name, have pages too."""
    desk.put("subscribers", subscriber_id=4)
    desk.put("subscribers", subscriber_id=5, first_name=LONG, last_name=LONG)
    desk.put_many(
        "subscriptions",
        [
            {
                "subscription_id": n,
                "subscriber_id": 5,
                "publication_id": 1,
                "issues": 0,
                "copies": 1,
                "type": "Print",
                "cancelled_on": TODAY if n > 11 else None,
            }
            for n in range(10, 40)
        ],
    )
    desk.put_many("orders", [{"order_id": n, "subscriber_id": 5} for n in range(100, 600)])
    assert "Reader without a name" in text_of(browsers["clerk"], "/subscribers/4")
    page = browsers["clerk"].get("/subscribers/5").text
    shown, _, folded = page.partition("<summary>28 ended subscriptions")
    assert shown.count('id="subscription-') == 2
    assert folded.count('id="subscription-') == 28
    assert folded.count('<li class="order">') <= 30
    assert f"{LONG} {LONG}" in page
