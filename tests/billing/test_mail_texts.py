"""The words of mails with invoices, receipts and credit notes (billing, "E-mail")."""

from __future__ import annotations

import pytest
from hypothesis import given

from masthead.billing.mail_retries import TRIES_MAX, delay_after
from masthead.billing.mail_texts import amount_of, day_of, words_of
from masthead.billing.printed import DirectDebit, Payer, PrintedInvoice, Seller
from masthead.mail.messages import Message, bytes_of
from tests.billing.invoices_of import PRINTED

SELLER = Seller(
    name="Tide Press",
    street="1 Quay",
    city="Dublin",
    country="IE",
    iban="DE89370400440532013000",
    email="desk@example.org",
    tax_number="1234567A",
)
INVOICE = PrintedInvoice(
    kind="invoice",
    number="2026-000001",
    issued_on="2026-04-15",
    due_on="2026-04-29",
    seller=SELLER,
    payer=Payer(subscriber_id=1, name="Ada Ames"),
    language="en",
    currency="EUR",
    lines=(),
    tax_totals=(),
    net=123_400,
    tax=0,
    total=123_400,
    prepaid=3_400,
    payment_reference="RF192026000001",
)


def changed(**fields: object) -> PrintedInvoice:
    """Return the invoice with other fields."""
    return PrintedInvoice(
        **{name: getattr(INVOICE, name) for name in INVOICE.__struct_fields__} | fields
    )


def test_an_invoice_says_what_is_due_when_and_how() -> None:
    words = words_of(INVOICE)
    assert words.subject == "Invoice 2026-000001 from Tide Press"
    assert words.text == (
        "Good day Ada Ames,\n\n"
        "attached is invoice 2026-000001 of 15 April 2026 for 1,234.00 EUR.\n"
        "1,200.00 EUR is due on 29 April 2026.\n"
        "Please transfer it to DE89 3704 0044 0532 0130 00, with the reference RF19 2026 0000 01.\n"
        "\nQuestions? Write to desk@example.org.\n\n"
        "Tide Press\n1 Quay\nDublin\n1234567A\n"
    )


def test_an_invoice_in_german() -> None:
    words = words_of(changed(language="de"))
    assert words.subject == "Rechnung 2026-000001 von Tide Press"
    assert "anbei erhalten Sie die Rechnung 2026-000001 vom 15.04.2026" in words.text
    assert "1.200,00 EUR sind fällig am 29.04.2026." in words.text


def test_a_receipt_and_a_credit_note_ask_for_no_money() -> None:
    receipt = words_of(changed(kind="receipt", paid_on="2026-04-15", due_on=None))
    assert receipt.text.splitlines()[2:4] == [
        "attached is receipt 2026-000001 of 15 April 2026 for 1,234.00 EUR. It is paid.",
        "",
    ]
    note = words_of(changed(kind="credit_note", number="C-1", corrects="2026-000001", due_on=None))
    assert note.subject == "Credit note C-1 from Tide Press"
    assert "takes back a part or all of invoice 2026-000001." in note.text
    assert "due" not in note.text


def test_an_invoice_that_is_collected_says_when_and_asks_for_no_transfer() -> None:
    """billing, "Direct debit": the invoice says when it will be collected."""
    debit = DirectDebit(
        collected_on="2026-04-29", mandate="M-7", iban_end="3201", creditor_id="DE98ZZZ09999999999"
    )
    text = words_of(changed(direct_debit=debit)).text
    assert (
        "We collect 1,200.00 EUR on 29 April 2026, or a few days later, from your account that "
        "ends in 3201, by the mandate M-7 (our creditor identifier is DE98ZZZ09999999999).\n"
    ) in text
    assert "transfer" not in text
    assert "am 29.04.2026" in words_of(changed(direct_debit=debit, language="de")).text


def test_an_invoice_that_credit_paid_has_nothing_left_to_pay() -> None:
    assert "Nothing is left to pay." in words_of(changed(prepaid=123_400)).text


@given(PRINTED)
def test_each_document_has_words_that_a_mail_can_have(printed: PrintedInvoice) -> None:
    words = words_of(printed)
    assert len(words.subject.splitlines()) == 1
    assert words.text.endswith("\n")
    content = bytes_of(
        Message("a@b.org", "", "c@d.org", words.subject, words.text, "<1@b.org>", 0, "en")
    )
    assert content.isascii()


@pytest.mark.parametrize(
    ("cents", "english", "german"),
    [(-5, "-0.05 EUR", "-0,05 EUR"), (123_456_789, "1,234,567.89 EUR", "1.234.567,89 EUR")],
)
def test_an_amount_has_the_form_of_its_language(cents: int, english: str, german: str) -> None:
    assert amount_of(cents, "EUR", "en") == english
    assert amount_of(cents, "EUR", "de") == german
    assert day_of("2026-04-05", "de") == "05.04.2026"


def test_the_delay_grows_until_the_last_try() -> None:
    delays = [delay_after(tries) for tries in range(1, TRIES_MAX + 1)]
    assert delays[-1] is None
    numbers = [each for each in delays if each is not None]
    assert len(numbers) == TRIES_MAX - 1
    assert numbers == sorted(numbers)
    assert numbers[0] == 600
    assert 2 * 86_400 < sum(numbers) < 3 * 86_400
