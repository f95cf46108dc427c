"""The mails about the readers' pages: what they say, to whom they go, and what they never do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.printed import Language
from masthead.billing.reader_mails import (
    VALUES,
    Confirmed,
    language_of,
    words_of_confirmation,
    words_of_link,
)
from masthead.books import (
    Books,
    billing_settings,
    mail_sending,
    page_settings,
    reader_mails,
    subscribers,
)
from masthead.store.sign_in_links import LINK_US
from tests.billing.outboxes import MAIL_FROM
from tests.billing.outboxes import outbox as mails_of
from tests.mail.servers import post_office

if TYPE_CHECKING:
    from email.message import EmailMessage

    from tests.circulation.desk import Desk

LANGUAGES: tuple[Language, ...] = get_args(Language)
KINDS: tuple[Confirmed, ...] = get_args(Confirmed)
URL = "https://pages.example/tide/sign-in/link/abcDEF"
GIVEN: dict[str, Any] = {
    "publication": "Tide",
    "called": "Ada Ash",
    "email": "ada@ash.example",
    "address": "Ada Ames\n1 Oak\nCork",
    "begins_on": "2026-05-01",
    "bills_from": "2026-04-15",
    "first": "2026-04-20",
    "last": "2026-05-10",
    "until": "2027-01-31",
    "ended_on": "2026-04-21",
    "bundle": "Tide for a year",
    "words": "Yes, go on",
    "number": "17",
    "total": 1284,
    "recipient": "Ben Birch",
    "issue": "Tide 4",
}


@pytest.fixture
def press(bureau: Desk) -> Desk:
    """The account that bills; it sends mails, and its pages have a name and a contact."""
    values = {"mail_from": MAIL_FROM, "mail_sending": "yes"}
    billing_settings.set_values(bureau.books, values)
    page_settings.set_values(bureau.books, {"name": "Tide & Co", "contact": "desk@tide.example"})
    return bureau


def sent(desk: Desk) -> list[EmailMessage]:
    """Send what is queued to a server, and return what that has."""
    with post_office() as (office, server):
        mail_sending.send(desk.books, server)
    return [mail.message for mail in office.mails]


def text_of(message: EmailMessage) -> str:
    body = message.get_body()
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


def confirm(books: Books, kind: Confirmed, values: dict[str, Any], **options: Any) -> int | None:
    with books.change() as change:
        return reader_mails.confirmation(change, 1, kind, values, **options)


def link(books: Books, subscriber_id: int = 1, **options: Any) -> int | None:
    with books.change() as change:
        return reader_mails.sign_in_link(change, subscriber_id, URL, **options)


def test_a_link_arrives_with_its_limits(press: Desk) -> None:
    link(press.books)
    with press.books.change() as change:
        reader_mails.password_link(change, 1, URL, language="de")
    english, german = sent(press)
    assert english["From"] == f'"Tide & Co" <{MAIL_FROM}>'.replace('"', "")
    assert english["To"] == "ada@example.org"
    assert english["Subject"] == "Sign in to Tide & Co"
    assert english["Content-Language"] == "en"
    assert f"\n{URL}\n" in text_of(english)
    assert "It works once, within 30 minutes" in text_of(english)
    assert german["Subject"] == "Passwort für Tide & Co setzen"
    assert german["Content-Language"] == "de"
    assert text_of(german).startswith("Guten Tag Ada Ames,\n")


def test_a_link_that_ended_before_it_was_sent_does_not_arrive(press: Desk) -> None:
    """decisions, "Links by email": a mail that has waited for 30 minutes is cancelled."""
    link(press.books)
    confirm(press.books, "uncancel", {"publication": "Tide"})
    press.now += LINK_US
    link(press.books)
    assert [mail["Subject"][:7] for mail in sent(press)] == ["Your su", "Sign in"]
    assert mails_of(press, "status", "error") == [
        ("cancelled", "its link does not work any more"),
        ("sent", None),
        ("sent", None),
    ]


def test_a_confirmation_says_what_was_done_and_whom_to_ask(press: Desk) -> None:
    values = {"publication": "Tide", "first": "2026-04-15", "until": "2027-03-01"}
    confirm(press.books, "cancel", values)
    (mail,) = sent(press)
    assert mail["Subject"] == "Your cancellation of Tide"
    assert text_of(mail).splitlines() == [
        "Good day Ada Ames,",
        "",
        "we confirm that you cancelled your subscription to Tide on 15 April 2026.",
        "It ends on 1 March 2027.",
        "Until then you receive the issues as before. It is not renewed.",
        "",
        "That was not you? Write to desk@tide.example at once.",
        "Questions? Write to desk@tide.example.",
        "",
        "Tide & Co",
    ]


@pytest.mark.parametrize("kind", ["address", "subscription_address"])
def test_a_later_address_says_from_which_day_on_it_holds(kind: Confirmed) -> None:
    values = {"publication": "Tide", "address": "1 Oak", "begins_on": "2026-06-01"}
    english, german = (said(kind, each, values)[1] for each in LANGUAGES)
    assert "It holds from 1 June 2026 on.\nUntil then, we send to your former address." in english
    assert "Sie gilt ab dem 01.06.2026.\nBis dahin liefern wir an Ihre" in german
    assert "Until then" not in said(kind, "en", {**values, "begins_on": None})[1]


def test_the_language_is_that_of_the_page_or_the_first_one_of_the_pages(press: Desk) -> None:
    page_settings.set_values(press.books, {"languages": "fr,de,en"})
    confirm(press.books, "uncancel", {"publication": "Tide"})
    confirm(press.books, "uncancel", {"publication": "Tide"}, language="en")
    page_settings.set_values(press.books, {"languages": "fr"})
    confirm(press.books, "uncancel", {"publication": "Tide"})
    assert [each["Content-Language"] for each in sent(press)] == ["de", "en", "en"]


def test_a_reader_who_wants_no_invoices_by_mail_gets_these(press: Desk) -> None:
    press.put("payer_details", subscriber_id=1, by_email=0)
    assert link(press.books) is not None
    assert mails_of(press, "kind", "address", "invoice_id") == [
        ("sign_in_link", "ada@example.org", None)
    ]


def test_nothing_is_queued_for_whom_no_mail_can_reach(press: Desk) -> None:
    press.put("held_addresses", held_address_id=1, address="ada@example.org", held_on="2026-04-01")
    assert link(press.books) is None
    subscribers.edit(press.books, 2, {"email": ""})
    assert link(press.books, 2) is None
    assert link(press.books, 99) is None
    subscribers.merge(press.books, 1, 3)
    assert link(press.books, 3) is None
    assert mails_of(press, "kind") == []


def test_without_an_address_from_which_mails_go_nothing_is_queued(bureau: Desk) -> None:
    assert link(bureau.books) is None
    assert mails_of(bureau, "kind") == []


def test_an_account_that_bills_nobody_sends_them_too(shared: Desk) -> None:
    """Mail needs only the address from which it goes."""
    shared.empty()
    shared.to("2026-04-15")
    shared.put("subscribers", subscriber_id=1, first_name="Ada", email="ada@example.org")
    values = {"mail_from": MAIL_FROM, "mail_sending": "yes"}
    billing_settings.set_values(shared.books, values)
    page_settings.set_values(shared.books, {"name": "Tide"})
    confirm(shared.books, "password", {"first": "2026-04-15"})
    (mail,) = sent(shared)
    assert mail["From"] == f"Tide <{MAIL_FROM}>"
    assert "a new password for your login was set on 15 April 2026." in text_of(mail)


def test_a_mail_goes_with_its_operation(press: Desk) -> None:
    with press.books.change(dry_run=True) as change:
        assert reader_mails.sign_in_link(change, 1, URL) is not None
    assert mails_of(press, "kind") == []


def test_names_cannot_add_headers_or_lines(press: Desk) -> None:
    """Whatever a reader is called, and whatever a publication is called."""
    evil = "Ada\r\nBcc: all@example.org\r\n\r\nHello"
    press.connection.change("UPDATE subscribers SET first_name = :name", name=evil)
    confirm(press.books, "pause", {**GIVEN, "publication": evil})
    (mail,) = sent(press)
    assert mail["Bcc"] is None
    assert mail["To"] == "ada@example.org"
    assert mail["Subject"].startswith("Your pause of Ada Bcc: all@example.org Hello")
    assert "\nBcc:" not in text_of(mail)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", KINDS)
def test_each_confirmation_names_what_is_given(kind: Confirmed, language: Language) -> None:
    words = words_of_confirmation(
        kind,
        language,
        GIVEN,
        publisher="Tide",
        name="Ada Ames",
        contact="desk@tide.example",
        currency="EUR",
    )
    assert "{" not in words.subject + words.text
    shown = {"address": "1 Oak", "total": "12"}
    for name in VALUES[kind]:
        value = shown.get(name, str(GIVEN[name]))
        assert name in DAYS or value in words.subject + words.text, name
    assert language_of(words.text) == language


DAYS = {"begins_on", "bills_from", "first", "last", "until", "ended_on"}


def test_both_languages_name_the_same_values() -> None:
    for kind in KINDS:
        for name in VALUES[kind]:
            for language in LANGUAGES:
                assert said(kind, language, GIVEN) != said(kind, language, {**GIVEN, name: None})


def said(kind: Confirmed, language: Language, values: dict[str, Any]) -> tuple[str, str]:
    return words_of_confirmation(
        kind, language, values, publisher="", name="", contact="", currency="EUR"
    )


def test_an_issue_that_is_named_by_its_day_is_named_in_the_language() -> None:
    values = {"publication": "Tide", "issue": "2026-05-01"}
    assert "is missing: 1 May 2026.\n" in said("missing_copy", "en", values)[1]
    assert "fehlt: 01.05.2026.\n" in said("missing_copy", "de", values)[1]


@given(st.sampled_from(LANGUAGES), st.text(), st.text(), st.text())
def test_a_subject_has_one_line_whatever_names_have(
    language: Language, publisher: str, name: str, url: str
) -> None:
    words = words_of_link("sign_in_link", language, publisher=publisher, name=name, url=url)
    assert len(words.subject.splitlines()) == 1
    assert language_of(words.text) == language
    confirmed = words_of_confirmation(
        "uncancel",
        language,
        {"publication": publisher},
        publisher=publisher,
        name=name,
        contact=url,
        currency="EUR",
    )
    assert len(confirmed.subject.splitlines()) == 1
    assert language_of(confirmed.text) == language
