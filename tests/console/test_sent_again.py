"""Each form that is sent again, or three times at once: it makes its change once."""

# Long because it has one table with a case for each form.

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from masthead.billing.reminding import Level
from masthead.books import (
    cancelling,
    disputes,
    issues,
    mandates,
    moving,
    notes,
    orders,
    payer_payments,
    reader_pauses,
    reminder_levels,
    renewal_consents,
    replacements,
    subscriptions,
)
from masthead.books.moving import Move
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item, Order, Person
from masthead.console.pages import PAGES
from masthead.store import saved_forms
from masthead.store.billing.journal import post
from tests.billing import debits
from tests.billing.bureau import begin, use_currency
from tests.circulation.desk import at_desk
from tests.circulation.two_readers import fill
from tests.console.bookkeeping import put_entries
from tests.console.browser import PASSWORD, SIGN_IN, input_values, serving_console, text_of
from tests.readers_pages import free_title

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx2

    from masthead.store.database import Value
    from tests.circulation.desk import Desk
    from tests.console.browser import Browser, Console
    from tests.servers import Store

SAID = "This was saved already."

NOT_ONCE = {
    "/orders/new": "the order is known by its content: rules, What is sent twice",
    "/subscribers/{id:int}/login": "shows a new secret, which only the newest response has",
    "/partners/rotate": "shows a new secret, which only the newest response has",
    "/partners/new": "shows a new secret, which only the newest response has",
    "/partners/remove": "finds no such partner any more",
    "/partners/rights": "says what it is to be",
    "/partners/access": "says which of the two it is to be",
    "/renewals/send": "responds with a file; other letters are due after it",
    "/replacements/file": "responds with a file; no copy waits after it",
    "/direct-debit/report": "has a file: test_direct_debit sends it twice",
    "/bank/file": "has a file: test_bank_file sends it twice",
    "/issues/{id:int}/file": "responds with a file, and changes nothing",
}


class Case(NamedTuple):
    """A form: the page that shows it, what is typed, and what has happened before.

    ``to`` is where it is sent, if that is not the page. ``confirms``: the page that responds is
    sent, too.
    """

    page: str
    typed: dict[str, str]
    to: str = ""
    confirms: bool = False
    before: Callable[[Desk], object] = fill

    @property
    def path(self) -> str:
        """Where the form is sent."""
        return self.to or self.page


def _sell(desk: Desk) -> None:
    line: dict[str, Value] = {"publication_id": 1, "type": "Print", "issues": 12, "price": 1200}
    desk.put("bundle_lines", bundle_id=1, line_number=1, copies=1, **line)


def _order(desk: Desk) -> None:
    _sell(desk)
    orders.place(desk.books, Order(Person(3), [Item(1)]))


def _pause(desk: Desk) -> None:
    """Ada pauses her subscription on her page."""
    fill(desk)
    reader_pauses.pause(desk.books, 1, 1, "2026-05-01", "2026-05-31")


def _ask(desk: Desk) -> None:
    """Ada writes to the desk."""
    fill(desk)
    desk.put("reader_requests", reader_request_id=1, subscriber_id=1, kind="message", text="Hello")


def _agree(desk: Desk) -> None:
    """Ada agrees to automatic renewal."""
    _sell(desk)
    renewal_consents.give(desk.books, 1, 1, "Yes, each year.")


def _begin_late(desk: Desk) -> None:
    ids: dict[str, Value] = {"subscriber_id": 3, "publication_id": 1, "mailing_address_id": 3}
    gets: dict[str, Value] = {"type": "Print", "copies": 1, "begins_on": "2026-04-01"}
    desk.put("subscriptions", subscription_id=3, **ids, **gets)
    desk.put("terms", term_id=3, subscription_id=3, issues=1, issues_left=1, kind="free")


def _go_away(desk: Desk) -> None:
    away = Move({"address": "3 Pier"}, [1], bills=False, first="2026-05-01", last="2026-05-31")
    moving.move(desk.books, 1, away)


def _bill(desk: Desk, **settings: str) -> None:
    """Begin billing; Cora has invoice 1, which is open, and Ben paid 2, with a credit of 7.16."""
    begin(desk, **settings)
    _sell(desk)
    orders.place(desk.books, Order(Person(3), [Item(1)]))
    orders.place(desk.books, Order(Person(2), [Item(1)]))
    payer_payments.add(desk.books, Incoming(2_000), subscriber_id=2)


def _owe(desk: Desk) -> None:
    """Begin billing, and let the open invoice of Cora be due for a reminder."""
    _bill(desk)
    reminder_levels.set_level(desk.books, Level(1, 1, 100, "nothing", None))
    with desk.connection.transaction():
        desk.connection.change("UPDATE invoices SET due_on = '2026-03-01'")


def _bill_since_march(desk: Desk) -> None:
    """Begin billing on March 1; what the readers paid on April 1 is in the journal."""
    begin(desk, begun_on="2026-03-01")
    with desk.books.change() as change:
        post(change, "2026-04-01", "opening", [("deferred", -2400), ("opening", 2400)])


def _read_bank(desk: Desk) -> None:
    """Begin billing, and read two entries of the bank: one that is proposed, one unknown."""
    _bill(desk)
    put_entries(desk)


def _collect(desk: Desk) -> None:
    """Begin billing in euros; Cora has signed a mandate, and her invoice can be collected."""
    use_currency(desk, "EUR")
    _bill(desk, **debits.SETTINGS)
    desk.rows(
        "UPDATE invoices SET issued_on = '2026-04-01', due_on = '2026-04-15' "
        "WHERE account_id = :account_id RETURNING invoice_id"
    )
    debits.sign(desk, 3)


def _rest(desk: Desk) -> None:
    _collect(desk)
    mandates.rest(desk.books, desk.table("mandates")[0]["reference"])


def _hand_in(desk: Desk) -> None:
    _collect(desk)
    debits.run(desk)


def _mail(desk: Desk) -> None:
    """Begin billing; a mail to Cora failed, another waits, and her address is on hold."""
    _bill(desk)
    mail: dict[str, Any] = {
        "subscriber_id": 3,
        "address": "cora@example.org",
        "kind": "invoice",
        "invoice_id": 1,
    }
    mail |= {"queued_at": "2026-04-10 12:00:00", "due_at": "2026-04-10 12:00:00", "tries": 0}
    desk.put("mails", mail_id=1, status="failed", **mail)
    desk.put("mails", mail_id=2, status="queued", **mail)
    desk.put("held_addresses", held_address_id=1, address="x@example.org", held_on="2026-04-01")


TO = {"address": "12 Elm Street", "city": "Salem", "when": "now"}


def _free(desk: Desk) -> None:
    """Tide is free to those who qualify."""
    fill(desk)
    free_title.fill(desk)


CASES = {
    "a note": Case("/subscribers/1", {"text": "Called."}, "/subscribers/1/notes"),
    "a corrected note": Case(
        "/notes/1/edit", {"text": "Called."}, before=lambda desk: notes.add(desk.books, 1, "Cald.")
    ),
    "a move": Case("/subscribers/1/move", TO),
    "a corrected name": Case("/subscribers/1/edit", {"last_name": "Byron"}),
    "a corrected address": Case("/addresses/1/edit", {"city": "Dover"}),
    "a complaint": Case(
        "/subscriptions/1/complaint", {"issue": "4", "kind": "lost", "answer": "extended"}
    ),
    "a complaint with a copy": Case(
        "/subscriptions/1/complaint", {"issue": "4", "kind": "lost", "answer": "sent_again"}
    ),
    "a copy again": Case("/subscriptions/1/replacement", {"issue": "4"}),
    "no copy again": Case(
        "/replacements",
        {},
        "/replacements/1/remove",
        before=lambda desk: replacements.send_again(desk.books, 1, 4, 1),
    ),
    "a qualification": Case(
        "/subscribers/1/qualify?publication=1",
        {"q1": "11", "on": "2026-04-01", "request_type": "telephone"},
        "/subscribers/1/qualify",
        confirms=True,
        before=_free,
    ),
    "an extension": Case("/subscriptions/1/extend", {"issues": "2"}),
    "a consent": Case("/subscriptions/1/consent", {"bundle": "1", "words": "Yes."}, before=_sell),
    "a stopped renewal": Case("/subscriptions/1/stop-renewal", {}, before=_agree),
    "other copies": Case("/subscriptions/1/set", {"type": "Print", "copies": "2", "how": "free"}),
    "a suspension": Case("/subscriptions/1/suspend", {"from_date": "2026-05-01"}),
    "the end of a suspension": Case(
        "/subscriptions/1/resume",
        {"from_date": "2026-06-01"},
        before=lambda desk: subscriptions.suspend(desk.books, 1, "2026-05-01"),
    ),
    "the usual address": Case("/subscriptions/1/usual-address", {}, before=_go_away),
    "a cancelling": Case("/subscriptions/1/cancel", {"when": "now", "refund": ""}, confirms=True),
    "an undone cancelling": Case(
        "/subscriptions/1/uncancel",
        {},
        before=lambda desk: cancelling.cancel(desk.books, 1, refund=False),
    ),
    "a payment": Case("/orders/2/pay", {}, before=_order),
    "a refund": Case("/orders/1/refund", {"item": "1"}, confirms=True),
    "an allowance": Case("/orders/1/allowance", {"item": "1", "amount": "1"}, confirms=True),
    "a dispute": Case("/orders/1/dispute", {"dispute": "never ordered"}),
    "a settled dispute": Case(
        "/orders/1/settle",
        {"result": "rejected"},
        confirms=True,
        before=lambda desk: disputes.dispute(desk.books, 1, "never ordered", None),
    ),
    "a merge": Case(
        "/subscribers/1/merge", {"other_id": "3", "kept": "", "keep_both": ""}, confirms=True
    ),
    "an erasure": Case("/subscribers/1/erase", {"name": "Ada Ames", "money": "earn"}),
    "a closing": Case("/issues/5", {"grace_issues": "0"}, "/issues/5/close", confirms=True),
    "a gap list": Case(
        "/issues/4",
        {},
        "/issues/4/gap",
        confirms=True,
        before=_begin_late,
    ),
    "a reopening": Case(
        "/issues/5",
        {},
        "/issues/5/reopen",
        confirms=True,
        before=lambda desk: issues.close(desk.books, 5),
    ),
    "a payment of an invoice": Case("/invoices/1/payment", {}, before=_bill),
    "a cancelled invoice": Case(
        "/invoices/1/cancel", {"reason": "a mistake"}, confirms=True, before=_bill
    ),
    "a credit": Case(
        "/invoices/2/credit", {"item": "4", "amount": "1"}, confirms=True, before=_bill
    ),
    "a write-off": Case("/invoices/1/write-off", {"then": "end"}, confirms=True, before=_bill),
    "payments": Case(
        "/payments/new",
        {"for_1": "2026-000001", "amount_1": "5", "for_2": "cora", "amount_2": "2"},
        confirms=True,
        before=_bill,
    ),
    "a credit that is paid back": Case("/subscribers/2/pay-back", {}, before=_bill),
    "a payment that came back": Case(
        "/payments/1/back", {"reason": "bounced"}, confirms=True, before=_bill
    ),
    "a proposed payment": Case("/bank/1/confirm", {}, confirms=True, before=_read_bank),
    "an assigned payment": Case(
        "/bank/2/assign", {"invoice": "2026-000001"}, confirms=True, before=_read_bank
    ),
    "a split payment": Case(
        "/bank/2/split",
        {"invoice_1": "2026-000001", "amount_1": "3", "payer_2_id": "1", "amount_2": "2"},
        confirms=True,
        before=_read_bank,
    ),
    "an ignored entry": Case(
        "/bank/2/ignore", {"reason": "a fee"}, confirms=True, before=_read_bank
    ),
    "a mail that is sent again": Case("/mails/1/retry", {}, confirms=True, before=_mail),
    "a mail that is not sent": Case("/mails/2/cancel", {}, confirms=True, before=_mail),
    "a released address": Case("/held-addresses/1/release", {}, confirms=True, before=_mail),
    "a closed month": Case(
        "/month-end",
        {"month": "2026-03"},
        "/month-end/close",
        confirms=True,
        before=_bill_since_march,
    ),
    "a mandate": Case(
        "/subscribers/2/mandate", {"iban": debits.PAYERS[2], "scheme": "core"}, before=_bill
    ),
    "the end of a mandate": Case("/mandates/1/end", {}, confirms=True, before=_collect),
    "a mandate that is resumed": Case("/mandates/1/resume", {}, before=_rest),
    "a debit run": Case(
        "/direct-debit",
        {"collected_on": "2026-04-29"},
        "/direct-debit/new",
        confirms=True,
        before=_collect,
    ),
    "a run that was collected": Case(
        "/direct-debit/1/collected", {"value_date": "2026-04-15"}, confirms=True, before=_hand_in
    ),
    "a run that the bank never got": Case(
        "/direct-debit/1/cancel", {}, confirms=True, before=_hand_in
    ),
    "a level of reminders": Case("/reminders/1/level", {"days": "10", "remove": ""}, before=_bill),
    "reminders": Case("/reminders", {}, "/reminders/send", confirms=True, before=_owe),
    "settings of the readers' pages": Case("/readers-pages/settings", {"site": "tide"}),
    "what readers do with a bundle": Case("/readers-pages/bundles/1", {"buy": "1"}),
    "an undone change of a reader": Case("/reader-changes/1/undo", {}, before=_pause),
    "an answered request": Case("/reader-requests/1/answer", {}, before=_ask),
    "welcome letters": Case(
        "/renewals/letters",
        {"kind": "welcome"},
        "/renewals/letters/send",
        confirms=True,
        before=_bill,
    ),
    "an effort": Case("/renewals/1/effort", {"effort": "1", "issues_left": "3", "remove": ""}),
    "an effort of a free title": Case(
        "/qualification/1/effort",
        {"effort": "1", "days_before": "60", "way": "letter", "remove": ""},
        before=_free,
    ),
}


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
    """The console with a manager."""
    with serving_console(desk.store) as found:
        found.add("manager")
        yield found


@pytest.fixture
def browser(console: Console) -> Browser:
    """A browser of the manager."""
    return console.signed_in("manager")


def filled_in(desk: Desk, browser: Browser, case: Case) -> dict[str, str]:
    """Return the form of a case as it is sent for the last time."""
    if case.before is not fill:
        case.before(desk)
        desk.refresh()
    form = {**input_values(browser.get(case.page).text), **case.typed}
    if case.confirms:
        looked = send(browser, case, form)
        assert looked.status_code == 200, text_of(looked.text)
        form = {**form, **input_values(looked.text), **case.typed, "sure": "1"}
    return form


def send(browser: Browser, case: Case, form: dict[str, str]) -> httpx2.Response:
    return browser.post(case.path, form, token=form["form_token"])


def entries(desk: Desk) -> int:
    """Return the number of entries in the audit log, one for each change."""
    return len(desk.connection.rows("SELECT at FROM audit"))


@pytest.mark.parametrize("name", CASES)
def test_a_form_that_is_sent_again_leads_to_where_it_led(
    desk: Desk, browser: Browser, name: str
) -> None:
    """decisions, "A form is saved once"."""
    case = CASES[name]
    form = filled_in(desk, browser, case)
    begun = entries(desk)
    first = send(browser, case, form)
    assert first.status_code == 303, text_of(first.text)
    saved = desk.everything()
    again = send(browser, case, form)
    assert again.status_code == 303, text_of(again.text)
    assert again.headers["location"] == first.headers["location"]
    assert SAID in text_of(browser.get(again.headers["location"]).text)
    assert desk.everything() == saved
    assert entries(desk) == begun + 1


@pytest.mark.parametrize("name", CASES)
def test_a_form_that_is_sent_three_times_at_once_is_saved_once(
    desk: Desk, browser: Browser, name: str
) -> None:
    """decisions, "A form is saved once"."""
    case = CASES[name]
    form = filled_in(desk, browser, case)
    begun = entries(desk)
    with ThreadPoolExecutor(3) as people:
        responses = list(people.map(lambda _: send(browser, case, form), range(3)))
    assert [each.status_code for each in responses] == [303] * 3
    assert len({each.headers["location"] for each in responses}) == 1
    assert entries(desk) == begun + 1


def test_each_form_is_saved_once_or_says_why_not() -> None:
    sent = {page.path for page in PAGES if page.method == "POST"}
    once = {
        "/".join("{id:int}" if part.isdigit() else part for part in case.path.split("/"))
        for case in CASES.values()
    }
    assert once | NOT_ONCE.keys() == sent
    assert not once & NOT_ONCE.keys()


def test_an_order_that_is_sent_three_times_at_once_is_saved_once(
    desk: Desk, browser: Browser
) -> None:
    """rules, "What is sent twice"; the new reader is added once, too."""
    _order(desk)
    payer = {"payer_first_name": "Tom", "payer_last_name": "Twice", "payer_city": "Hull"}
    case = Case("/orders/new", {"bundle": "1", "payer_address": "2 Quay", **payer})
    looked = browser.post(case.path, case.typed)
    form = {**input_values(looked.text), "sure": "1"}
    with ThreadPoolExecutor(3) as people:
        responses = list(people.map(lambda _: send(browser, case, form), range(3)))
    assert [each.headers.get("location") for each in responses] == ["/orders/3"] * 3
    assert [row["first_name"] for row in desk.table("subscribers")].count("Tom") == 1


def test_a_form_that_failed_can_be_sent_again(desk: Desk, browser: Browser) -> None:
    case = CASES["an extension"]
    form = filled_in(desk, browser, case)
    assert send(browser, case, {**form, "issues": "none"}).status_code == 400
    assert send(browser, case, form).headers["location"] == "/subscribers/1"
    assert SAID not in browser.get("/subscribers/1").text
    assert desk.subscription(1)["issues"] == 11


def test_what_is_typed_anew_is_another_form(desk: Desk, browser: Browser) -> None:
    """Also in a page to which a browser went back."""
    case = CASES["a note"]
    form = filled_in(desk, browser, case)
    for text in ("Called.", "Called again.", "Called."):
        assert send(browser, case, {**form, "text": text}).status_code == 303
    assert [row["text"] for row in desk.table("notes")] == ["Called.", "Called again."]


def test_a_form_that_had_been_saved_is_not_saved_again_after_another_sign_in(
    desk: Desk, browser: Browser
) -> None:
    """decisions, "A form whose session had ended"."""
    case = CASES["a complaint"]
    form = filled_in(desk, browser, case)
    assert send(browser, case, form).status_code == 303
    browser.client.cookies.delete("masthead_session")
    browser.client.cookies.set("masthead_session", "1.ended")
    ended = send(browser, case, form)
    assert ended.status_code == 401
    signed_in = {**input_values(ended.text), "name": "manager", "password": PASSWORD}
    assert browser.post(SIGN_IN, signed_in, token="").status_code == 303
    kept = browser.get(case.page).text
    again = browser.post(case.path, {**input_values(kept), **case.typed})
    assert again.status_code == 303
    assert len(desk.table("complaints")) == 1


def test_a_saved_form_is_forgotten_after_a_day(desk: Desk, browser: Browser) -> None:
    for day in ("2026-04-15", "2026-04-17"):
        desk.to(day)
        browser.sign_in("manager")
        case = CASES["a note"]
        assert send(browser, case, filled_in(desk, browser, case)).status_code == 303
    noted = desk.connection.rows("SELECT saved_at FROM saved_forms WHERE account_id = 1")
    assert all(desk.now - at < saved_forms.KEPT_US for (at,) in noted)


def test_a_form_is_known_in_its_own_account_only(desk: Desk) -> None:
    form = saved_forms.SavedForm("form", "/")
    with desk.store.writer() as connection, connection.transaction():
        saved_forms.note(connection, 1, form, desk.now)
        assert saved_forms.path_after(connection, 1, "form") == "/"
        assert saved_forms.path_after(connection, 2, "form") is None
