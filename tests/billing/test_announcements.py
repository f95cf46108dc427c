"""Announcements of automatic renewal: by email, by letter, and what they say (billing)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from masthead.billing.announcement_mails import words_of_announcement
from masthead.billing.printed import Payer, Seller
from masthead.billing.printed_announcements import PrintedAnnouncement
from masthead.books import (
    announcement_letters,
    billing_settings,
    orders,
    payer_details,
    renewal_consents,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item, Order, Person
from masthead.errors import BadInput
from masthead.loading.letter_pdfs import write_announcements
from tests.billing.bureau import pay
from tests.billing.debits import collect
from tests.billing.renewing import (
    ANNOUNCED,
    RENEWED,
    SHORT,
    WORDS,
    YEAR,
    night,
    orders_of,
    reader,
    sell_two_issues,
)

if TYPE_CHECKING:
    from pathlib import Path

    from masthead.billing.printed import Language
    from tests.circulation.desk import Desk


@pytest.fixture(autouse=True)
def _sold(bureau: Desk) -> None:
    sell_two_issues(bureau)


def _letters(desk: Desk, day: str | None = None) -> list[PrintedAnnouncement]:
    with announcement_letters.selected(desk.books, day) as found:
        return [*found.letters]


def _mailed(desk: Desk, payer: int) -> None:
    billing_settings.set_values(desk.books, {"mail_from": "post@tide.example"})
    payer_details.deliver(desk.books, payer, by_email=True)


def test_a_letter_says_what_renews_when_and_for_how_much(bureau: Desk) -> None:
    one = reader(bureau, copies=2)
    night(bureau, ANNOUNCED)
    (letter,) = _letters(bureau)
    assert (letter.subscription_id, letter.publication, letter.bundle) == (
        one,
        "Tide",
        "Tide for a year",
    )
    assert (letter.issues, letter.copies, letter.until) == (12, 2, "2026-06-30")
    assert (letter.renews_on, letter.stop_until) == (RENEWED, "2026-05-17")
    assert (letter.net, letter.tax, letter.total) == (2400, 168, 2568)
    assert (letter.consent_on, letter.consent) == ("2026-04-15", WORDS)
    assert letter.seller.name == "Tide Press"
    assert letter.payer.name == "Ada Ames"
    assert letter.payer.address_lines == ("1 Oak",)
    assert (letter.reader, letter.renewal_code) == ("", "CODE1")


def test_the_giver_gets_the_letter_of_a_gift(bureau: Desk) -> None:
    gift = Order(Person(subscriber_id=1), (Item(bundle_id=SHORT, recipient=Person(2)),))
    one = orders.place(bureau.books, gift).begun[0]
    pay(bureau, orders_of(bureau, one)[0], Incoming(214))
    renewal_consents.give(bureau.books, one, YEAR, WORDS)
    night(bureau, ANNOUNCED)
    (letter,) = _letters(bureau)
    assert (letter.payer.name, letter.payer.address_lines) == ("Ada Ames", ("1 Oak",))
    assert letter.reader == "Ben Ames"


def test_who_pays_by_direct_debit_reads_the_mandate(bureau: Desk) -> None:
    collect(bureau)
    _with_mandate(bureau)
    (letter,) = _letters(bureau)
    assert (letter.mandate, letter.iban_end) == ("M-1", "3000")


def test_an_account_that_does_not_collect_announces_an_invoice_despite_a_mandate(
    bureau: Desk,
) -> None:
    """decisions, "How a reader with a mandate pays": without euros, nothing is collected."""
    _with_mandate(bureau)
    (letter,) = _letters(bureau)
    assert (letter.mandate, letter.iban_end) == ("", "")


def _with_mandate(desk: Desk) -> None:
    """Announce the renewal of a payer with a mandate."""
    reader(desk)
    desk.put(
        "mandates",
        mandate_id=1,
        subscriber_id=1,
        reference="M-1",
        scheme="core",
        iban_end="3000",
        signed_on="2026-01-01",
        status="active",
        status_since="2026-01-01",
    )
    night(desk, ANNOUNCED)


def test_who_wants_e_mail_gets_the_announcement_by_it(bureau: Desk) -> None:
    reader(bureau, 1)
    reader(bureau, 2)
    _mailed(bureau, 2)
    announced, _ = night(bureau, ANNOUNCED)
    assert announced.sentence == "2 renewals were announced, of 25.68 USD in all, 1 by email"
    mails = [row for row in bureau.table("mails") if row["kind"] == "announcement"]
    assert [(row["address"], row["status"]) for row in mails] == [("ben@example.org", "queued")]
    assert "renews automatically on 18 May 2026" in mails[0]["text"]
    assert [each.payer.subscriber_id for each in _letters(bureau)] == [1]


def test_a_mail_that_failed_becomes_a_letter(bureau: Desk) -> None:
    reader(bureau)
    _mailed(bureau, 1)
    night(bureau, ANNOUNCED)
    assert _letters(bureau) == []
    bureau.connection.change("UPDATE mails SET status = 'held' WHERE account_id = 1")
    assert [each.payer.subscriber_id for each in _letters(bureau)] == [1]


def test_a_mail_that_waits_is_not_sent_after_stopping(bureau: Desk) -> None:
    one = reader(bureau)
    _mailed(bureau, 1)
    night(bureau, ANNOUNCED)
    renewal_consents.stop(bureau.books, one)
    mails = [row for row in bureau.table("mails") if row["kind"] == "announcement"]
    assert [row["status"] for row in mails] == ["cancelled"]
    assert _letters(bureau) == []


def test_the_letters_of_a_day_are_written_again_as_pdf(bureau: Desk, tmp_path: Path) -> None:
    reader(bureau, 1)
    reader(bureau, 2)
    night(bureau, ANNOUNCED)
    bureau.to("2026-04-25")
    for name in ("one.pdf", "again.pdf"):
        found, files = write_announcements(bureau.books, tmp_path / name, ANNOUNCED)
        assert (found.number, files) == (2, [tmp_path / name])
        assert files[0].read_bytes().startswith(b"%PDF-")
    assert (tmp_path / "one.pdf").read_bytes() == (tmp_path / "again.pdf").read_bytes()
    found, files = write_announcements(bureau.books, tmp_path / "none.pdf")
    assert (found.number, files) == (0, [])
    with pytest.raises(BadInput, match="is still to come"):
        write_announcements(bureau.books, tmp_path / "later.pdf", "2026-05-01")


def _printed(language: Language, **more: Any) -> PrintedAnnouncement:
    return PrintedAnnouncement(
        subscription_id=1,
        announced_on=ANNOUNCED,
        seller=Seller(name="Tide\nPress", city="Dublin"),
        payer=Payer(subscriber_id=7, name="Ada Ames"),
        language=language,
        currency="EUR",
        publication="Tide",
        bundle="Tide for a year",
        issues=12,
        copies=2,
        until="2026-06-30",
        renews_on=RENEWED,
        stop_until="2026-05-17",
        net=120000,
        tax=8400,
        consent_on="2026-04-15",
        consent="yes",
        **more,
    )


def test_a_mail_says_how_to_stop_the_renewal() -> None:
    words = words_of_announcement(_printed("en"))
    assert words.subject == "Your subscription to Tide renews on 18 May 2026"
    assert words.text == (
        "Good day Ada Ames,\n\n"
        "your subscription to Tide renews automatically on 18 May 2026, as you agreed on "
        "15 April 2026.\n"
        "Without the renewal, it lasts until 30 June 2026.\n\n"
        "Renewed by: Tide for a year\nIssues: 12\nCopies of each issue: 2\n"
        "Price: 1,284.00 EUR, of which VAT 84.00 EUR\n\n"
        "You receive an invoice then.\n"
        "You can stop the renewal until 17 May 2026: answer this mail with your subscriber number "
        "7. You give no reason, and it costs nothing.\n"
        "You agreed with these words: yes\n\n"
        "Tide Press\nDublin\n"
    )


def test_a_mail_is_in_the_language_of_the_documents() -> None:
    words = words_of_announcement(_printed("de", mandate="M-1", iban_end="3000", reader="Ben"))
    assert words.subject == "Ihr Abonnement Tide verlängert sich am 18.05.2026"
    assert "Für: Ben\n" in words.text
    assert "mit dem Mandat M-1 von Ihrem Konto …3000 ein" in words.text
    assert "1.284,00 EUR, darin MwSt. 84,00 EUR" in words.text
