"""Forms of readers that are sent twice: what they confirm arrives once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import issues, mail_sending
from tests.billing.outboxes import begin_mail
from tests.console.browser import input_values
from tests.mail.servers import post_office
from tests.readers_books.household import BEN, show_bundle
from tests.readers_pages.house import HIDDEN, said_after, text_of

if TYPE_CHECKING:
    from tests.readers_pages.house import House

ADDRESS = {
    "last_name": "Ames",
    "address": "7 Elm",
    "city": "Berlin",
    "zip_code": "10115",
    "country": "DE",
    "when": "issue",
}
FORMS: list[tuple[str, dict[str, str], str]] = [
    ("missing?issue=5", {"issue": "5"}, "A copy of Tide is on its way"),
    ("address", {**ADDRESS, "issue": "6"}, "The address of your subscription to Tide"),
    ("pause", {"first": "2026-06-01", "last": "2026-06-20"}, "Your pause of Tide"),
    ("renew?offer=1", {"offer": "1", "payment": "invoice"}, "Your order: Tide for a year"),
    (
        "renewal",
        {"bundle": "1", "agreed": "1"},
        "Your subscription to Tide renews automatically",
    ),
    ("cancel", {}, "Your cancellation of Tide"),
]
"""Pages of a subscription, what is typed, and the subject of the mail that confirms it."""


def test_each_is_confirmed_once(house: House) -> None:
    """Readers' pages, "Mails"; decisions, "A form is saved once"."""
    desk = house.desk
    begin_mail(desk)
    show_bundle(desk)
    issues.close(desk.books, 5)
    desk.to("2026-05-20")
    browser = house.signed_in(BEN)
    for page, typed, subject in FORMS:
        path = f"subscriptions/{house.subscriptions.ben}/{page}"
        shown = input_values(browser.get(path).text)
        form = {name: text for name, text in shown.items() if name in HIDDEN} | typed
        path = path.partition("?")[0]
        answer = browser.post(path, form, token="")
        if answer.status_code == 200:
            form = {**input_values(answer.text), **typed, "change": ""}
            answer = browser.post(path, form, token="")
        assert answer.status_code == 303, (page, text_of(answer))
        again = browser.post(path, form, token="")
        assert "This was saved already." in said_after(browser, again), page
        subjects = [str(each["subject"]) for each in desk.table("mails")]
        assert subjects.count(subject) == 1, (page, subjects)
    with post_office() as (office, server):
        for _ in range(2):
            mail_sending.send(desk.books, server)
    assert [each.message["Subject"] for each in office.mails] == [each for *_, each in FORMS]
