"""Refusals by role, by account, and for an account whose books are elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.console.pages import PAGES
from masthead.store import accounts
from tests.console.browser import input_values
from tests.console.conftest import ROLES
from tests.store.catalogue import COUNTERS

if TYPE_CHECKING:
    import httpx2

    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console

EVERYBODY: set[str] = set(ROLES)
COUNTER = {"clerk", "manager"}
MONEY = {"clerk", "finance", "manager"}
BOOKKEEPING = {"finance", "manager"}
MANAGER = {"manager"}
# Typed by hand from the issue, and not made from what the console itself goes by.
MAY: dict[str, set[str]] = {
    "/": EVERYBODY,
    "/find": EVERYBODY,
    "/find/suggestions": EVERYBODY,
    "/find/people": EVERYBODY,
    "/subscribers/{id:int}": EVERYBODY,
    "/subscribers/{id:int}/edit": COUNTER,
    "/subscribers/{id:int}/notes": MONEY,
    "/notes/{id:int}/edit": MONEY,
    "/subscriptions/{id:int}/complaint": COUNTER,
    "/subscribers/{id:int}/merge": COUNTER,
    "/subscribers/{id:int}/move": COUNTER,
    "/subscribers/{id:int}/login": COUNTER,
    "/subscribers/{id:int}/erase": MANAGER,
    "/subscribers/{id:int}/qualifications": EVERYBODY,
    "/subscribers/{id:int}/qualify": COUNTER,
    "/qualification": EVERYBODY,
    "/qualification/{id:int}/lapses": EVERYBODY,
    "/addresses/{id:int}/edit": COUNTER,
    "/subscriptions/{id:int}/set": COUNTER,
    "/subscriptions/{id:int}/suspend": COUNTER,
    "/subscriptions/{id:int}/resume": COUNTER,
    "/subscriptions/{id:int}/cancel": COUNTER,
    "/subscriptions/{id:int}/uncancel": COUNTER,
    "/subscriptions/{id:int}/extend": COUNTER,
    "/subscriptions/{id:int}/consent": COUNTER,
    "/subscriptions/{id:int}/stop-renewal": COUNTER,
    "/subscriptions/{id:int}/address": COUNTER,
    "/subscriptions/{id:int}/temporary-address": COUNTER,
    "/subscriptions/{id:int}/usual-address": COUNTER,
    "/subscriptions/{id:int}/replacement": COUNTER,
    "/replacements": EVERYBODY,
    "/replacements/file": MANAGER,
    "/replacements/{id:int}/remove": COUNTER,
    "/orders/new": MONEY,
    "/orders/{id:int}": EVERYBODY,
    "/orders/{id:int}/pay": MONEY,
    "/orders/{id:int}/refund": {"finance", "manager"},
    "/orders/{id:int}/allowance": {"finance", "manager"},
    "/orders/{id:int}/dispute": MONEY,
    "/orders/{id:int}/settle": {"finance", "manager"},
    "/money": EVERYBODY,
    "/invoices/{id:int}": EVERYBODY,
    "/invoices/{id:int}/pdf": EVERYBODY,
    "/invoices/{id:int}/payment": BOOKKEEPING,
    "/invoices/{id:int}/cancel": BOOKKEEPING,
    "/invoices/{id:int}/credit": BOOKKEEPING,
    "/invoices/{id:int}/write-off": BOOKKEEPING,
    "/bank": EVERYBODY,
    "/bank/file": BOOKKEEPING,
    "/bank/{id:int}/confirm": BOOKKEEPING,
    "/bank/{id:int}/assign": BOOKKEEPING,
    "/bank/{id:int}/split": BOOKKEEPING,
    "/bank/{id:int}/ignore": BOOKKEEPING,
    "/direct-debit": EVERYBODY,
    "/direct-debit/new": BOOKKEEPING,
    "/direct-debit/report": BOOKKEEPING,
    "/direct-debit/{id:int}": EVERYBODY,
    "/direct-debit/{id:int}/file": BOOKKEEPING,
    "/direct-debit/{id:int}/cancel": BOOKKEEPING,
    "/direct-debit/{id:int}/collected": BOOKKEEPING,
    "/subscribers/{id:int}/mandate": BOOKKEEPING,
    "/mandates/{id:int}/end": BOOKKEEPING,
    "/mandates/{id:int}/resume": BOOKKEEPING,
    "/mail": EVERYBODY,
    "/mails/{id:int}/retry": BOOKKEEPING,
    "/mails/{id:int}/cancel": BOOKKEEPING,
    "/held-addresses/{id:int}/release": BOOKKEEPING,
    "/reminders": EVERYBODY,
    "/reminders/send": BOOKKEEPING,
    "/reminders/letters": BOOKKEEPING,
    "/reminders/{id:int}/level": BOOKKEEPING,
    "/month-end": EVERYBODY,
    "/month-end/close": BOOKKEEPING,
    "/month-end/journal": BOOKKEEPING,
    "/payments/new": BOOKKEEPING,
    "/payments/{id:int}/back": BOOKKEEPING,
    "/subscribers/{id:int}/account": EVERYBODY,
    "/subscribers/{id:int}/pay-back": BOOKKEEPING,
    "/this-month/{kind}": EVERYBODY,
    "/issues": EVERYBODY,
    "/issues/{id:int}": EVERYBODY,
    "/issues/{id:int}/close": MANAGER,
    "/issues/{id:int}/gap": MANAGER,
    "/issues/{id:int}/reopen": MANAGER,
    "/issues/{id:int}/file": MANAGER,
    "/renewals": EVERYBODY,
    "/renewals/automatic": EVERYBODY,
    "/renewals/letters": EVERYBODY,
    "/renewals/letters/send": MANAGER,
    "/renewals/letters/day": MANAGER,
    "/renewals/letters/pdf": MANAGER,
    "/renewals/send": MANAGER,
    "/renewals/sent": MANAGER,
    "/renewals/{id:int}/effort": MANAGER,
    "/qualification/{id:int}/effort": MANAGER,
    "/reports": EVERYBODY,
    "/reports/{kind}": EVERYBODY,
    "/reports/{kind}/csv": EVERYBODY,
    "/reports/{kind}/xlsx": EVERYBODY,
    "/reports/{kind}/plot.svg": EVERYBODY,
    "/lists": EVERYBODY,
    "/lists/{id:int}": EVERYBODY,
    "/partners": EVERYBODY,
    "/partners/access": MANAGER,
    "/partners/new": MANAGER,
    "/partners/remove": MANAGER,
    "/partners/rights": MANAGER,
    "/partners/rotate": MANAGER,
    "/readers-pages": EVERYBODY,
    "/readers-pages/look.css": EVERYBODY,
    "/readers-pages/logo": EVERYBODY,
    "/readers-pages/settings": MANAGER,
    "/readers-pages/bundles/{id:int}": MANAGER,
    "/reader-requests/{id:int}/answer": COUNTER,
    "/reader-changes/{id:int}/undo": COUNTER,
    "/loads": EVERYBODY,
    "/feed": EVERYBODY,
    "/audit": {"finance", "manager"},
}
NOT_OF_THE_BOOKS = {
    *("/partners/access", "/partners/new", "/partners/remove", "/partners/rights"),
    *("/partners/rotate", "/readers-pages/settings"),
}
CHANGES = [page.path for page in PAGES if page.method == "POST"]
WITH_ID = [(page.method, page.path) for page in PAGES if "{id:int}" in page.path]
NOT_HERE = 901
"""The id of everything that account 2 has."""


def path_of(path: str, key: object = 1) -> str:
    """Return a path with an id in its place."""
    return path.replace("{id:int}", str(key)).replace("{kind}", "liability")


def ask(browser: Browser, method: str, path: str, **form: str) -> httpx2.Response:
    """Ask for a page, or send its form."""
    return browser.get(path) if method == "GET" else browser.post(path, form)


def dump(desk: Desk) -> dict[str, list[tuple[object, ...]]]:
    """Return every row of every table but the sessions."""
    with desk.store.writer() as database:
        sqlite = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        postgresql = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema"
        names = database.rows(sqlite if database.dialect == "sqlite" else postgresql)
        return {
            name: sorted(database.rows(f"SELECT * FROM {name}"), key=repr)
            for (name,) in names
            if name not in {*COUNTERS, "heartbeat"}
        }


@pytest.fixture(scope="module")
def browsers(console: Console) -> dict[str, Browser]:
    """A browser of each role."""
    return {role: console.signed_in(role) for role in ROLES}


def test_each_page_is_in_the_table_of_roles() -> None:
    """A new page says here who may use it."""
    assert {page.path for page in PAGES} == MAY.keys()


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_refused_exactly_what_it_may_not_do(
    browsers: dict[str, Browser], role: str
) -> None:
    """The issue's table; nothing that is posted here is complete enough to change anything."""
    for page in PAGES:
        answer = ask(browsers[role], page.method, path_of(page.path, 12345))
        is_refused = answer.status_code == 403
        assert is_refused == (role not in MAY[page.path]), (page.path, answer.text)
        if is_refused:
            assert f"As {role} you cannot" in answer.text
            assert re.search(r"Who may: [a-z, ]*a manager\.", answer.text)


def test_what_a_role_cannot_do_is_not_shown_as_a_button(browsers: dict[str, Browser]) -> None:
    """decisions, "Roles of the console"."""
    for page in (
        "/",
        "/subscribers/1",
        "/orders/1",
        "/issues/1",
        "/renewals",
        "/partners",
        "/audit",
    ):
        for role, browser in browsers.items():
            answer = browser.get(page)
            if answer.status_code == 403:
                continue
            text = answer.text.partition('<main id="main"')[2]
            offered = re.findall(r'(?:href|action)="(/[^"?#]*)', text)
            for path in offered:
                for known, roles in MAY.items():
                    pattern = re.sub(r"\\\{[^}]*\\\}", "[^/]+", re.escape(known))
                    if re.fullmatch(pattern, path) and known != "/orders/{id:int}":
                        assert role in roles, (page, role, path)


def test_another_accounts_ids_are_not_there(browsers: dict[str, Browser], desk: Desk) -> None:
    """Account 2 has each of them: the answer is that of an id that nobody has."""
    before = dump(desk)
    form = {"sure": "1", "form": "csv", "copies": "2", "kept": "1", "issues": "1"}
    browsers["manager"].get("/find")  # it shows the message of an earlier change
    for method, path in WITH_ID:
        theirs = ask(browsers["manager"], method, path_of(path, NOT_HERE), **form)
        nobodys = ask(browsers["manager"], method, path_of(path, 77_777), **form)
        assert theirs.status_code == nobodys.status_code, (method, path)
        assert theirs.status_code in {400, 404}, (method, path)
        assert _numberless(theirs.text) == _numberless(nobodys.text), (method, path)
        assert "Neighbour" not in theirs.text, (method, path)
    assert dump(desk) == before


def _numberless(page: str) -> str:
    return page.replace("901", "77777")


@pytest.mark.parametrize("key", [0, 2**63 - 1, 2**63, 10**30, "9" * 5_000])
def test_an_id_that_is_too_large_is_not_there(browsers: dict[str, Browser], key: object) -> None:
    for path in [path for method, path in WITH_ID if method == "GET"]:
        answer = browsers["manager"].get(path_of(path, key))
        assert answer.status_code in {400, 404}, (path, answer.text)


def test_the_search_finds_nothing_of_another_account(browsers: dict[str, Browser]) -> None:
    for text in ("Neighbour", "901", "9 Lane"):
        page = browsers["manager"].get("/find", q=text).text
        assert not re.search(r"/(subscribers|orders)/901", page)


def test_what_is_asked_for_with_get_changes_nothing(
    browsers: dict[str, Browser], desk: Desk
) -> None:
    before = dump(desk)
    for path in [page.path for page in PAGES if page.method == "GET"]:
        answer = browsers["manager"].get(path_of(path), sure="1", on="0", first_name="Eve")
        assert answer.status_code in {200, 400, 404}, (path, answer.text)
    assert dump(desk) == before


# Books elsewhere.


@pytest.fixture(scope="module")
def elsewhere(console: Console) -> Browser:
    """A manager of account 2, which gets its data from files."""
    return console.signed_in("elsewhere", account_id=2)


def test_where_the_books_are_elsewhere_nothing_writes_and_a_sentence_says_why(
    elsewhere: Browser, desk: Desk
) -> None:
    before = dump(desk)
    for path in [each for each in CHANGES if each not in NOT_OF_THE_BOOKS]:
        answer = elsewhere.post(path_of(path, NOT_HERE), {"sure": "1"})
        assert answer.status_code == 409, path
        assert "books of this account are kept elsewhere" in answer.text, path
    assert dump(desk) == before


@pytest.mark.parametrize(
    "path",
    ["/", "/find", f"/subscribers/{NOT_HERE}", "/lists", "/partners", "/loads", "/feed", "/audit"],
)
def test_where_the_books_are_elsewhere_all_that_reads_is_there(
    elsewhere: Browser, path: str
) -> None:
    answer = elsewhere.get(path)
    assert answer.status_code == 200, answer.text
    assert "its data comes from files" in answer.text
    main = answer.text.partition('<main id="main"')[2]
    assert not re.search(r'href="/[^"]*/(edit|merge|suspend|cancel|extend|pay|refund)"', main)


def test_partners_access_is_switched_where_the_books_are_elsewhere_too(
    elsewhere: Browser, desk: Desk
) -> None:
    assert elsewhere.post("/partners/access", {"on": "1"}).status_code == 303
    with desk.store.reader() as connection:
        connection.set_tenant(2)
        assert accounts.settings_of(connection, 2)["api_active"] == 1


def test_a_new_pair_of_a_partner_is_shown_once(elsewhere: Browser, desk: Desk) -> None:
    asked = elsewhere.post("/partners/rotate")
    assert asked.status_code == 200
    given = elsewhere.post("/partners/rotate", input_values(asked.text) | {"sure": "1"})
    with desk.store.reader() as connection:
        connection.set_tenant(2)
        settings = accounts.settings_of(connection, 2)
    for name in ("api_key", "api_login"):
        assert str(settings[name]) in given.text
        assert str(settings[name]) not in elsewhere.get("/partners").text
