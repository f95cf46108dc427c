"""The acts of a telephone call, each as the browser of its role sends it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from masthead.books import issues, orders, subscribers
from masthead.circulation.ordering import Item, Order, Person
from masthead.store.passwords import fits
from tests.circulation.desk import at_desk
from tests.circulation.two_readers import fill
from tests.console.browser import input_values, serving_console
from tests.console.conftest import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead.books import Books
    from masthead.store.database import Value
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    """The account, which each test fills."""
    with at_desk(store) as found:
        yield found


@pytest.fixture(autouse=True)
def _filled(desk: Desk) -> None:
    """Ada pays for her subscription 1 and for Ben's 2; both received issue 4."""
    fill(desk)


@pytest.fixture(scope="module")
def console(desk: Desk) -> Iterator[Console]:
    """The console with a clerk, finance and a manager."""
    with serving_console(desk.store) as found:
        for role in ROLES[1:]:
            found.add(role, role)
        yield found


def send(browser: Browser, path: str, **typed: str) -> Any:
    """Fill in the form of a page, look at what will happen if it says so, and save."""
    answer = browser.post(path, {**input_values(browser.get(path).text), **typed})
    if answer.status_code == 200 and 'name="will"' in answer.text:
        answer = browser.post(path, input_values(answer.text))
    return answer


def shown(browser: Browser, answer: Any) -> str:
    """Return the page that follows, with single spaces."""
    assert answer.status_code == 303, answer.text
    return " ".join(browser.get(answer.headers["location"]).text.split())


def test_a_clerk_cancels_and_says_when_it_ends(desk: Desk, console: Console) -> None:
    clerk = console.signed_in("clerk")
    page = " ".join(clerk.get("/subscriptions/1/cancel").text.split())
    assert "Now: the issue of 1 April 2026 is the last" in page
    assert "After Tide 5, the issue of 1 May 2026" in page
    assert "When its issues are used up: 31 January 2027" in page
    said = shown(clerk, send(clerk, "/subscriptions/1/cancel", when="issue:5"))
    assert "Tide (print) of Ada Ames ends after Tide 5, the issue of 1 May 2026" in said
    said = shown(clerk, send(clerk, "/subscriptions/1/uncancel"))
    assert "Tide (print) of Ada Ames goes on as before" in said
    assert desk.table("cancellations") == []
    again = clerk.get("/subscriptions/1/uncancel")
    assert again.status_code == 400
    assert "was not cancelled here: nothing to undo" in again.text


def test_a_cancelling_is_told_of_before_and_after_the_subscription_ends(
    desk: Desk, console: Console
) -> None:
    manager = console.signed_in("manager")
    send(manager, "/subscriptions/1/cancel", when="issue:5", refund="1")
    page = " ".join(manager.get("/subscribers/1").text.split())
    assert "ends after Tide 5, 1 May 2026, what is left then is refunded" in page
    issues.close(desk.books, 5)
    page = " ".join(manager.get("/subscribers/1").text.split())
    assert "ended after Tide 5, 1 May 2026, what was left was refunded" in page


def test_only_who_may_refund_undoes_a_refund(desk: Desk, console: Console) -> None:
    """decisions, "Roles of the console"."""
    clerk, manager = console.signed_in("clerk"), console.signed_in("manager")
    path = "/subscriptions/1/cancel"
    assert "9.63 USD is given back" in shown(manager, send(manager, path, when="now", refund="1"))
    undo = "/subscriptions/1/uncancel"
    refused = send(clerk, undo)
    assert refused.status_code == 400
    assert "9.63 USD was given back with the cancelling: a manager" in refused.text
    assert send(clerk, undo, takes_back="1").status_code == 403
    assert send(manager, undo, takes_back="").status_code == 400
    assert send(manager, undo, takes_back="1").status_code == 303
    assert desk.subscription(1)["cancelled_on"] is None


def test_a_payment_has_its_day_and_reference_and_is_no_part(desk: Desk, console: Console) -> None:
    desk.put(
        "bundle_lines",
        bundle_id=1,
        line_number=1,
        publication_id=1,
        type="Print",
        issues=12,
        price=1200,
        copies=1,
    )
    orders.place(desk.books, Order(Person(3), [Item(1)]))
    clerk = console.signed_in("clerk")
    path = "/orders/2/pay"
    assert input_values(clerk.get(path).text)["amount"] == "12.84"
    for typed, field in (
        ({"amount": "5"}, "amount"),
        ({"paid_on": "2026-04-14"}, "paid_on"),
        ({"paid_on": "2026-04-16"}, "paid_on"),
    ):
        refused = send(clerk, path, **typed)
        assert refused.status_code == 400
        assert f'<a href="#{field}">' in " ".join(refused.text.split())
    page = shown(clerk, send(clerk, path, paid_on="2026-04-15", reference="T-17"))
    assert "12.84 USD was paid." in page
    assert "T-17" in page
    late = clerk.get(path)
    assert late.status_code == 400
    assert "was paid on 15 April 2026" in " ".join(late.text.split())


def test_an_order_is_disputed_by_a_clerk_and_settled_by_finance(
    desk: Desk, console: Console
) -> None:
    clerk, finance = console.signed_in("clerk"), console.signed_in("finance")
    assert send(clerk, "/orders/1/dispute").status_code == 400
    page = shown(clerk, send(clerk, "/orders/1/dispute", dispute="never ordered"))
    assert "never ordered" in page
    assert "/orders/1/settle" not in page
    assert send(finance, "/orders/1/settle").status_code == 400
    page = shown(finance, send(finance, "/orders/1/settle", result="rejected"))
    assert "settled 15 April 2026, rejected" in page
    assert desk.table("orders")[0]["dispute_result"] == "rejected"


def test_what_is_given_back_is_chosen_by_the_name_of_the_item(desk: Desk, console: Console) -> None:
    finance = console.signed_in("finance")
    page = " ".join(finance.get("/orders/1/refund").text.split())
    name = (
        r'<option value="\d+">Tide for a year: at most 12\.84 USD, of which 9\.63 USD is unearned'
    )
    assert len(re.findall(name, page)) == 2
    line: dict[str, Value] = {"publication_id": 1, "issues": 3, "type": "Print", "copies": 1}
    desk.put("bundle_lines", bundle_id=1, line_number=1, price=1200, **line)
    unpaid = orders.place(desk.books, Order(Person(1), [Item(1)])).order_id
    page = finance.get(f"/orders/{unpaid}/refund").text
    assert ">Tide for a year: no money to give back<" in " ".join(page.split())


def test_a_lost_copy_is_sent_again(desk: Desk, console: Console) -> None:
    clerk, manager = console.signed_in("clerk"), console.signed_in("manager")
    assert "Tide 4 (1 April 2026)" in clerk.get("/subscriptions/1/replacement").text
    page = shown(clerk, send(clerk, "/subscriptions/1/replacement", issue="4"))
    assert "Tide, Tide 4 (1 April 2026): 1 copy goes to Ada Ames again" in page
    assert "Ada Ames" in clerk.get("/replacements").text
    desk.rows("UPDATE issues SET name = date WHERE issue_id = 4 RETURNING issue_id")
    assert ">Tide, 1 April 2026<" in clerk.get("/replacements").text
    assert clerk.post("/replacements/file", {"form": "csv"}).status_code == 403
    assert 'action="/replacements/file" hx-boost="false"' in manager.get("/replacements").text
    rows = manager.post("/replacements/file", {"form": "csv"}).text.splitlines()
    assert len(rows) == 2
    assert "1 Oak" in rows[1]
    (file,) = desk.table("replacements")
    again = manager.post("/replacements/file", {"written_at": str(file["written_at"])})
    assert again.text.splitlines() == rows
    none = manager.post("/replacements/file", {"form": "csv"})
    assert none.status_code == 400
    assert "no copies wait" in none.text.lower()
    send(clerk, "/subscriptions/2/replacement", issue="4")
    assert clerk.post("/replacements/2/remove").status_code == 303
    assert len(desk.table("replacements")) == 1


def test_a_subscription_without_an_issue_yet_has_nothing_to_complain_about(
    desk: Desk, console: Console
) -> None:
    desk.put(
        "subscriptions",
        subscription_id=9,
        subscriber_id=3,
        publication_id=1,
        type="Print",
        issues=1,
        copies=1,
    )
    clerk = console.signed_in("clerk")
    page = clerk.get("/subscribers/3").text
    assert "/subscriptions/9/suspend" in page
    assert "/subscriptions/9/complaint" not in page
    assert "/subscriptions/9/replacement" not in page
    answer = clerk.get("/subscriptions/9/complaint")
    assert answer.status_code == 400
    assert "No issue came yet, so a complaint is about none: write a note" in answer.text


def test_a_reader_moves_by_one_form(desk: Desk, console: Console) -> None:
    clerk = console.signed_in("clerk")
    path = "/subscribers/1/move"
    form = input_values(clerk.get(path).text)
    assert (form["subscription_1"], form["bills"]) == ("1", "1")
    to = {"address": "12 Elm Street", "city": "Salem", "zip_code": "97301"}
    for typed, field in (
        ({}, "address"),
        ({**to, "when": "day"}, "from_date"),
        ({**to, "from_date": "2026-05-01"}, "from_date"),
        ({**to, "when": "day", "from_date": "2026-05-01", "to_date": "2026-05-31"}, "to_date"),
        ({**to, "when": "while", "from_date": "2026-05-01"}, "to_date"),
    ):
        refused = clerk.post(path, {**form, "when": "now", **typed})
        assert refused.status_code == 400
        assert f'<a href="#{field}">' in " ".join(refused.text.split())
    page = shown(clerk, clerk.post(path, {**form, "when": "now", **to}))
    assert "Tide (print) goes to 12 Elm Street, Salem from now on; bills go there" in page
    found = desk.subscription(1)
    assert found["mailing_address_id"] == found["billing_address_id"] == 4
    days = {"when": "while", "from_date": "2026-05-01", "to_date": "2026-05-31"}
    page = shown(clerk, clerk.post(path, {**form, **days, **to, "address": "3 Pier"}))
    assert "from 1 May 2026 to 31 May 2026, and then back." in page
    assert desk.subscription(1)["billing_address_id"] == 4
    one = clerk.get("/subscriptions/2/temporary-address").text
    assert 'action="/subscribers/2/move"' in one
    assert re.search(r'value="while" checked', one)


def test_a_name_is_corrected_on_the_labels_too(desk: Desk, console: Console) -> None:
    clerk = console.signed_in("clerk")
    path = "/subscribers/1/edit"
    assert "labels_too" not in clerk.get(path).text
    here = {"country_name": "Canada", "country_abbreviation": "CA"}
    desk.put("addresses", address_id=9, subscriber_id=1, first_name="Ada", last_name="Ames", **here)
    assert "Ada Ames, Canada <" in " ".join(clerk.get("/subscribers/1").text.split())
    assert input_values(clerk.get(path).text)["labels_too"] == "1"
    page = shown(clerk, send(clerk, path, last_name="Byron", labels_too="1"))
    assert "Ada Byron: corrected the last name on 1 address too" in page
    assert desk.table("addresses")[-1]["last_name"] == "Byron"
    assert "copies and bills of Tide (print)" in clerk.get("/addresses/1/edit").text


def test_a_new_code_and_a_new_password_are_shown_once(desk: Desk, console: Console) -> None:
    """decisions, "A reader's new login"."""
    clerk = console.signed_in("clerk")
    path = "/subscribers/1/login"
    page = clerk.post(path, {"what": "code"}).text
    code = desk.table("subscribers")[0]["renewal_code"]
    assert f'class="secret">{code}<' in " ".join(page.split())
    page = clerk.post(path, {"what": "password"}).text
    (password,) = re.findall(r'class="secret">(\w+)<', page)
    assert fits(password, str(desk.table("subscribers")[0]["password_hash"]))
    assert password not in clerk.get(path).text
    assert clerk.post(path, {"what": "mail"}).status_code == 400


def test_a_reader_is_erased_by_who_types_the_name(desk: Desk, console: Console) -> None:
    manager = console.signed_in("manager")
    path = "/subscribers/1/erase"
    assert "These subscriptions end now" in manager.get(path).text
    for typed, field in (
        ({"name": "Ada", "money": "earn"}, "name"),
        ({"name": "Ada Ames"}, "money"),
    ):
        refused = manager.post(path, typed)
        assert refused.status_code == 400
        assert f'<a href="#{field}">' in " ".join(refused.text.split())
    assert manager.post(path, {"name": " ada  ames", "money": "refund"}).status_code == 303
    assert desk.table("subscribers")[0]["last_name"] is None
    assert desk.subscription(1)["issues"] == 0
    assert manager.get(path).status_code == 400


def test_a_reader_without_a_name_is_erased_by_the_company(desk: Desk, console: Console) -> None:
    desk.put("subscribers", subscriber_id=8)
    desk.put("addresses", address_id=8, subscriber_id=8, company="Alder Ltd")
    manager = console.signed_in("manager")
    page = manager.post("/subscribers/8/erase", {"name": "8"}).text
    assert "Type “Alder Ltd” to confirm." in page
    erased = shown(manager, manager.post("/subscribers/8/erase", {"name": "alder ltd"}))
    assert '<p class="title">Erased the reader</p>' in erased
    page = shown(
        manager, send(manager, "/subscribers/3/edit", first_name="", last_name="", email="")
    )
    assert "The reader: corrected the first name, last name" in page


def test_a_reader_who_is_merged_meanwhile_is_not_erased(
    desk: Desk, console: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is to be erased would stay, as that of the reader who is kept."""
    names = subscribers.names

    def names_before_merging(books: Books, subscriber_id: int) -> subscribers.Texts:
        found = names(books, subscriber_id)
        monkeypatch.setattr(subscribers, "names", names)
        subscribers.merge(desk.books, 1, 3)
        return found

    manager = console.signed_in("manager")
    token = manager.token()
    monkeypatch.setattr(subscribers, "names", names_before_merging)
    refused = manager.post("/subscribers/3/erase", {"name": "Cora Ames"}, token=token)
    assert refused.status_code == 400
    assert "Cora Ames was deleted" in refused.text
    (cora,) = (row for row in desk.table("subscribers") if row["subscriber_id"] == 3)
    assert cora["first_name"] == "Cora"


def test_a_letter_is_chosen_by_what_it_is_and_changed(console: Console) -> None:
    """The console calls efforts letters; the next number that is free is a new one."""
    manager = console.signed_in("manager")
    path = "/renewals/1/effort"
    typed = {"remove": "", "issues_left": "3", "key_code": "R1", "bundle_id": ""}
    assert '<option value="1">Letter 1: a new one</option>' in manager.get(path).text
    page = shown(manager, send(manager, path, effort="1", **typed))
    assert "Letter 1: at 3 issues left, with the code R1." in page
    page = manager.get(path).text
    assert "Letter 1: at 3 issues left, with the code R1</option>" in page
    assert "Letter 2: a new one</option>" in page
    late = typed | {"issues_left": "0"}
    page = shown(manager, send(manager, path, effort="2", **late))
    assert "Letter 2: with the last issue, with the code R1." in page
    page = shown(manager, send(manager, path, effort="1", remove="1"))
    assert "Letter 1 was removed." in page
    assert "Letter 1: a new one</option>" in manager.get(path).text


def test_a_dispute_is_told_without_the_number_of_the_order(console: Console) -> None:
    clerk = console.signed_in("clerk")
    page = shown(clerk, send(clerk, "/orders/1/dispute", dispute="Not ordered"))
    assert "The order is disputed since 15 April 2026." in page
