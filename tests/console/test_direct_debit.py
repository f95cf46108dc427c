"""Direct debit in the console: mandates of a payer, files for the bank, what came of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.books import payer_payments, payment_reversals
from masthead.books.payer_payments import Incoming
from tests.bank_files.debits import Status, check_schema, held_by, report
from tests.billing import debits
from tests.billing.bureau import order
from tests.billing.debits import DAY, PAYERS, sign
from tests.console.bookkeeping import refused, said, save, send
from tests.console.browser import input_values, text_of

if TYPE_CHECKING:
    import httpx2

    from tests.circulation.desk import Desk
    from tests.console.bookkeeping import Office
    from tests.console.browser import Browser


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """The account in euros, with an invoice of Ada, on the day of its collection's file."""
    debits.fill(bureau)
    order(bureau, 1)
    bureau.to("2026-04-25")
    return bureau


def look(browser: Browser, **typed: str) -> httpx2.Response:
    """Send the form of a debit run."""
    form = input_values(browser.get("/direct-debit").text)
    return browser.post("/direct-debit/new", {**form, **typed})


def hand_in(browser: Browser, **typed: str) -> str:
    """Make a debit run, after a look at it; return the page that follows."""
    looked = look(browser, **typed)
    saved = browser.post("/direct-debit/new", {**input_values(looked.text), **typed})
    assert saved.status_code == 303, text_of(saved.text)
    return said(browser, saved.headers["location"])


def send_file(browser: Browser, text: bytes) -> httpx2.Response:
    """Send a report as the form of the page does."""
    return browser.client.post(
        "/direct-debit/report",
        data=input_values(browser.get("/direct-debit/report").text),
        files={"file": ("report.xml", text)},
        headers={"Sec-Fetch-Site": "same-origin"},
    )


def test_a_mandate_is_added_and_shows_only_the_end_of_its_account(
    collector: Desk, finance: Browser
) -> None:
    page = said(finance, "/subscribers/1/account")
    assert "The payer has no mandate: nothing is collected." in page
    sent = send(finance, "/subscribers/1/mandate", iban=PAYERS[1], signed_on="2026-04-02")
    assert sent.headers["location"] == "/subscribers/1/account"
    page = said(finance, "/subscribers/1/account")
    assert "ends with 4300 2 April 2026 active" in page
    assert PAYERS[1] not in page
    (mandate,) = collector.table("mandates")
    assert mandate["account_holder"] == "Ada Ames"


def test_a_wrong_iban_is_an_error_of_its_field(collector: Desk, finance: Browser) -> None:
    wrong = PAYERS[1].replace("4300", "4301")
    answer = send(finance, "/subscribers/1/mandate", iban=wrong)
    assert "is not an IBAN" in refused(answer)
    assert 'id="iban-error"' in answer.text
    assert "Say from which account" in refused(send(finance, "/subscribers/1/mandate"))
    assert collector.table("mandates") == []


def test_a_mandate_is_ended_and_one_that_rests_is_resumed(
    collector: Desk, finance: Browser
) -> None:
    sign(collector)
    (mandate,) = collector.table("mandates")
    path = f"/mandates/{mandate['mandate_id']}"
    assert "is active" in refused(finance.get(f"{path}/resume"))
    page = save(finance, f"{path}/end", reason="the payer took it back")
    assert "ended 25 April 2026 the payer took it back" in page
    assert "has ended" in refused(finance.get(f"{path}/end"))


def test_invoices_are_handed_in_and_the_file_is_the_bank_s(
    collector: Desk, finance: Browser
) -> None:
    sign(collector)
    page = hand_in(finance, collected_on=DAY)
    assert "Give the file to your bank now." in page
    assert "29 April 2026 1 with the bank For the bank 1 12.84" in page
    assert "2026-000001 Ada Ames with the bank 12.84" in said(finance, "/direct-debit/1")
    assert "29 April 2026 with the bank" in said(finance, "/invoices/1")
    file = finance.get("/direct-debit/1/file")
    check_schema(file.content)
    assert [each.cents for each in held_by(file.content).debits] == [1284]
    assert finance.get("/direct-debit/1/file").content == file.content


def test_what_is_not_in_the_file_is_said_before(collector: Desk, finance: Browser) -> None:
    sign(collector, 1)
    sign(collector, 2)
    order(collector, 2)
    collector.rows(
        "UPDATE invoices SET due_on = '2026-05-01' "
        "WHERE account_id = :account_id AND subscriber_id = 2 RETURNING invoice_id"
    )
    looked = look(finance, collected_on="2026-05-08")
    page = text_of(looked.text)
    assert "1 invoice of 12.84 EUR will be collected on 8 May 2026." in page
    assert "1 invoice was made too late to be announced before that day." in page
    assert collector.table("claims") == []


def test_a_credit_that_pays_before_the_bank_collects_is_said(
    collector: Desk, finance: Browser
) -> None:
    """decisions, "Credit before a direct debit"."""
    sign(collector)
    order(collector, 1)
    collector.rows(
        "UPDATE invoices SET issued_on = '2026-04-15', due_on = '2026-04-29' "
        "WHERE account_id = :account_id RETURNING invoice_id"
    )
    for cents in (1284, 1284, 1500):
        payer_payments.add(collector.books, Incoming(cents), subscriber_id=1)
    for payment in (1, 2):
        payment_reversals.reverse(collector.books, payment)
    page = text_of(look(finance, collected_on=DAY).text)
    assert "1 invoice of 10.68 EUR will be collected on 29 April 2026." in page
    assert "1 invoice is paid by the credit of the payer." in page
    assert collector.table("claims") == []


def test_a_day_on_which_nothing_can_be_collected_is_refused(
    collector: Desk, finance: Browser
) -> None:
    for day, sentence in (
        (DAY, "No invoice can be collected on 29 April 2026."),
        ("2026-04-25", "the bank cannot collect on"),
        ("", "Say on which day the bank collects."),
    ):
        answer = look(finance, collected_on=day)
        assert sentence.lower() in refused(answer).lower()
    assert collector.table("debit_runs") == []


def test_what_changes_between_looking_and_saving_is_looked_at_again(
    collector: Desk, finance: Browser
) -> None:
    sign(collector)
    order(collector, 2)
    collector.rows(
        "UPDATE invoices SET issued_on = '2026-04-15', due_on = '2026-04-29' "
        "WHERE account_id = :account_id RETURNING invoice_id"
    )
    looked = look(finance, collected_on=DAY)
    sign(collector, 2)
    will = re.findall(r'name="will" value="([^"]*)"', looked.text)[0]
    saved = look(finance, collected_on=DAY, sure="1", will=will)
    assert saved.status_code == 409
    assert "look again at what is collected" in refused(saved)
    assert collector.table("claims") == []


def test_the_bank_has_collected(collector: Desk, finance: Browser) -> None:
    sign(collector)
    hand_in(finance, collected_on=DAY)
    collector.to("2026-04-30")
    finance.sign_in("finance")
    page = save(finance, "/direct-debit/1/collected", value_date=DAY)
    assert "1 payment of 12.84 EUR is booked." in page
    assert "1 collected" in page
    assert [row["value_date"] for row in collector.table("payments")] == [DAY]
    assert (
        "nothing of this run is with the bank"
        in refused(finance.get("/direct-debit/1/collected")).lower()
    )


def test_a_file_that_the_bank_never_got_is_cancelled_after_a_look(
    collector: Desk, finance: Browser
) -> None:
    sign(collector)
    hand_in(finance, collected_on=DAY)
    assert "The bank never got it" in said(finance, "/direct-debit/1")
    looked = send(finance, "/direct-debit/1/cancel")
    assert "1 invoice of 12.84 EUR can be handed in again." in text_of(looked.text)
    assert [row["status"] for row in collector.table("claims")] == ["sent"]
    page = save(finance, "/direct-debit/1/cancel")
    assert "1 invoice of 12.84 EUR can be handed in again." in page
    assert "1 cancelled" in page
    assert "File for the bank" not in page
    assert [row["status"] for row in collector.table("claims")] == ["cancelled"]
    assert "1 invoice of 12.84 EUR will be collected" in text_of(
        look(finance, collected_on=DAY).text
    )


def test_a_claim_that_came_back_says_why(collector: Desk, finance: Browser) -> None:
    sign(collector)
    hand_in(finance, collected_on=DAY)
    collector.rows(
        "UPDATE claims SET status = 'returned', returned_on = '2026-04-30', "
        "return_reason = 'AM04 insufficient funds' WHERE account_id = :account_id "
        "RETURNING claim_id"
    )
    assert "came back AM04 insufficient funds, 30 April 2026" in said(finance, "/direct-debit/1")
    assert "came back AM04 insufficient funds" in said(finance, "/invoices/1")


def test_what_the_bank_refused_is_shown_before_it_is_taken_back(
    collector: Desk, finance: Browser
) -> None:
    sign(collector)
    hand_in(finance, collected_on=DAY)
    (claim,) = collector.table("claims")
    message = str(claim["end_to_end_id"]).rpartition("-")[0]
    own = Status(str(claim["end_to_end_id"]), "AC04")
    both = report(message, claims=[own, Status("OTHER-1")]).encode()
    page = text_of(send_file(finance, both).text)
    assert "1 invoice of 12.84 EUR comes back, 1 claim of others was not handed in" in page
    others = report(message, claims=[Status("OTHER-1")]).encode()
    assert "names OTHER-1, which this account never" in refused(send_file(finance, others))
    text = report(message, claims=[own]).encode()
    shown = send_file(finance, text)
    page = text_of(shown.text)
    assert "1 invoice of 12.84 EUR comes back." in page
    assert "2026-000001 AC04 the account is closed 12.84" in page
    assert collector.table("claims")[0]["status"] == "sent"
    sure = {**input_values(shown.text), "sure": "1"}
    for _ in range(2):
        done = finance.post("/direct-debit/report", sure)
        assert done.headers["location"] == "/direct-debit"
    assert "1 came back" in said(finance, "/direct-debit")
    assert "There is nothing new in the report" in refused(send_file(finance, text))


def test_a_file_that_is_no_report_is_refused(collector: Desk, finance: Browser) -> None:
    assert collector.table("claims") == []
    for sent in (b"", b"no report", b"<?xml version='1.0'?><Document/>"):
        assert refused(send_file(finance, sent))
    form = input_values(finance.get("/direct-debit/report").text)
    assert "Choose the report" in refused(finance.post("/direct-debit/report", form))


def test_others_look_and_read_who_collects(collector: Desk, office: Office) -> None:
    sign(collector)
    for role in ("viewer", "clerk"):
        browser = office.console.signed_in(role)
        for path in ("/direct-debit", "/subscribers/1/account"):
            page = browser.get(path).text
            assert "finance or a manager." in page
            assert not re.search(r'href="/(mandates/|subscribers/1/mandate)', page)
