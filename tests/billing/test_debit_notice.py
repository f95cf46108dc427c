"""An invoice says when it is collected (billing, "Direct debit": pre-notification)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.billing.printed import DirectDebit, PrintedInvoice, from_json
from masthead.books import mandates
from masthead.books.payer_payments import Incoming
from masthead.documents.electronic_invoice import xml_of
from tests.billing import debits
from tests.billing.bureau import order, pay
from tests.billing.debits import sign

if TYPE_CHECKING:
    from tests.circulation.desk import Desk


@pytest.fixture
def collector(bureau: Desk) -> Desk:
    """An account that bills in euros and has a creditor identifier."""
    debits.fill(bureau)
    return bureau


def _printed(desk: Desk) -> list[PrintedInvoice]:
    return [from_json(row["printed"], PrintedInvoice) for row in desk.table("invoices")]


def test_an_invoice_names_the_mandate_the_account_and_the_day(collector: Desk) -> None:
    sign(collector)
    order(collector)
    (made,) = _printed(collector)
    assert made.direct_debit == DirectDebit(
        collected_on="2026-04-29",
        mandate="M1-1",
        creditor_id="DE98ZZZ09999999999",
        iban_end="4300",
    )
    xml = xml_of(made).decode()
    assert "<ram:TypeCode>59</ram:TypeCode>" in xml
    assert "<ram:DirectDebitMandateID>M1-1</ram:DirectDebitMandateID>" in xml
    assert "<ram:CreditorReferenceID>DE98ZZZ09999999999</ram:CreditorReferenceID>" in xml
    assert "NL91" not in xml


def test_the_day_is_that_of_the_notice_if_the_invoice_is_due_before(collector: Desk) -> None:
    debits.fill(collector, due_days="3", debit_notice_days="5")
    sign(collector)
    order(collector)
    (made,) = _printed(collector)
    assert made.direct_debit is not None
    assert made.direct_debit.collected_on == "2026-04-20"


def test_what_is_not_collected_names_no_mandate(collector: Desk) -> None:
    order(collector)
    mandates.rest(collector.books, sign(collector))
    order(collector)
    sign(collector, 2)
    order(collector, 2, is_paid=True)
    sign(collector, 3)
    pay(collector, order(collector, 3), Incoming(3000))
    order(collector, 3)
    assert [each.direct_debit is None for each in _printed(collector)] == [
        True,
        True,
        True,
        False,
        True,
    ]


def test_an_account_without_a_creditor_identifier_announces_nothing(collector: Desk) -> None:
    collector.rows(
        "DELETE FROM billing_settings WHERE account_id = :account_id "
        "AND name = 'creditor_id' RETURNING 1"
    )
    sign(collector)
    order(collector)
    assert _printed(collector)[0].direct_debit is None
