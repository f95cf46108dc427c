"""The page of letters: what is due, noting it, and the PDFs of a day (billing, "Documents")."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING

import pytest
from pypdf import PdfReader

from masthead.books import renewals
from tests.billing.bureau import TODAY, order
from tests.billing.outboxes import begin_mail, outbox
from tests.console.bookkeeping import refused, said
from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser

PATH = "/renewals/letters"


@pytest.fixture
def manager(office: Office, bureau: Desk) -> Browser:
    """A browser of a manager, on the day of ``bureau``; Ada and Ben have ordered."""
    order(bureau, 1, is_paid=True)
    order(bureau, 2, is_paid=True)
    return office.console.signed_in("manager")


def looked(browser: Browser, kind: str) -> dict[str, str]:
    """Look at the letters of a kind; return the form by which they are noted."""
    shown = input_values(browser.get(PATH).text)
    return input_values(browser.post(f"{PATH}/send", {**shown, "kind": kind}).text)


def letters_in(browser: Browser, kind: str) -> int:
    answer = browser.get(f"{PATH}/pdf", kind=kind, day=TODAY, part="1")
    assert answer.headers["content-type"] == "application/pdf"
    return len(PdfReader(BytesIO(answer.content)).pages)


def test_letters_are_noted_after_a_look_and_come_as_pdf(bureau: Desk, manager: Browser) -> None:
    """decisions, "Letters that the console notes"."""
    begin_mail(bureau, 2)
    form = looked(manager, "welcome")
    assert (form["kind"], form["sure"]) == ("welcome", "1")
    order(bureau, 3)
    assert "other letters are due now" in refused(manager.post(f"{PATH}/send", form)).lower()
    assert bureau.table("letters") == []
    done = manager.post(f"{PATH}/send", looked(manager, "welcome"))
    page = said(manager, done.headers["location"])
    assert "2 welcome letters written, 1 more by email." in page
    assert "Welcome letters of 15 April 2026" in page
    assert "2 letters on paper" in page
    assert letters_in(manager, "welcome") == 2
    form = {**input_values(manager.get(PATH).text), "kind": "welcome"}
    assert "No welcome letter is due." in text_of(manager.post(f"{PATH}/send", form).text)


def test_renewal_letters_are_sent_as_pdf(bureau: Desk, manager: Browser) -> None:
    renewals.set_effort(bureau.books, renewals.Effort(1, 1, 12))
    begin_mail(bureau, 2)
    typed = {**input_values(manager.get("/renewals").text), "publication": "", "as": "pdf"}
    shown = manager.post("/renewals/send", typed)
    assert "queued as mails for readers who want email" in text_of(shown.text)
    form = input_values(shown.text)
    order(bureau, 3, is_paid=True)
    assert "Other letters are due now" in refused(manager.post("/renewals/send", form))
    done = manager.post("/renewals/send", input_values(manager.post("/renewals/send", typed).text))
    page = said(manager, done.headers["location"])
    assert "3 letters of renewal noted as sent." in page
    assert "Renewal letters of 15 April 2026" in page
    assert letters_in(manager, "renewal") == 2
    assert [kind for (kind,) in outbox(bureau, "kind")].count("renewal") == 1
    assert manager.post("/renewals/send", form).status_code == 409


def test_what_is_asked_for_wrongly_is_refused(bureau: Desk, manager: Browser) -> None:
    for query in ({"kind": "poem", "day": TODAY}, {"kind": "welcome", "day": "x"}, {}):
        for page in ("day", "pdf"):
            assert manager.get(f"{PATH}/{page}", **query).status_code == 404
    assert manager.post(f"{PATH}/send", {"kind": "renewal"}).status_code == 404
    assert manager.get(f"{PATH}/pdf", kind="welcome", day=TODAY, part="x").status_code == 404
    later = manager.get(f"{PATH}/day", kind="welcome", day="2026-04-16")
    assert "16 April 2026 is still to come" in refused(later)
    assert "No letter of this day is on paper." in said(
        manager, f"{PATH}/day?kind=cancellation&day={TODAY}"
    )
    bureau.connection.change("DELETE FROM billing_settings WHERE name = 'seller_name'")
    form = input_values(manager.get(PATH).text)
    assert "The letterhead needs" in refused(
        manager.post(f"{PATH}/send", {**form, "kind": "welcome"})
    )
