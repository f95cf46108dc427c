"""The record of everything that a document prints, and its JSON (billing, "Invoice")."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing.printed import (
    Language,
    Line,
    Payer,
    PrintedInvoice,
    Seller,
    TaxTotal,
    from_json,
    tax_totals,
    to_json,
)
from tests.billing.invoices_of import LINES, PRINTED

_LINE = Line(description="A year", net=1000, tax=190, percent=1900, category="S", goods="print")
_INVOICE = PrintedInvoice(
    kind="invoice",
    number="2026-000001",
    issued_on="2026-11-28",
    seller=Seller(name="Verlag"),
    payer=Payer(subscriber_id=7),
    language="de",
    currency="EUR",
    lines=(_LINE,),
    tax_totals=(TaxTotal(category="S", percent=1900, net=1000, tax=190),),
    net=1000,
    tax=190,
    total=1190,
)


@given(PRINTED)
def test_a_record_comes_back_from_its_json_as_it_was(printed: PrintedInvoice) -> None:
    text = to_json(printed)
    assert from_json(text, PrintedInvoice) == printed
    assert to_json(from_json(text, PrintedInvoice)) == text


def test_the_json_has_the_fields_in_their_order_without_those_that_have_their_default() -> None:
    assert to_json(_INVOICE) == (
        '{"kind":"invoice","number":"2026-000001","issued_on":"2026-11-28",'
        '"seller":{"name":"Verlag"},"payer":{"subscriber_id":7},"language":"de",'
        '"currency":"EUR","lines":[{"description":"A year","net":1000,"tax":190,'
        '"percent":1900,"category":"S","goods":"print"}],'
        '"tax_totals":[{"category":"S","percent":1900,"net":1000,"tax":190}],'
        '"net":1000,"tax":190,"total":1190}'
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [("kind", "reminder"), ("net", 10.5), ("net", "1000"), ("language", "fr"), ("colour", "red")],
)
def test_a_text_of_another_form_is_refused(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=field if field == "colour" else rf"\$\.{field}"):
        from_json(json.dumps(json.loads(to_json(_INVOICE)) | {field: value}), PrintedInvoice)


def test_a_text_that_is_no_json_is_refused() -> None:
    with pytest.raises(ValueError, match="JSON is malformed"):
        from_json("{kind}", PrintedInvoice)


@given(st.lists(LINES))
def test_the_totals_of_the_tax_add_up_to_the_lines(lines: list[Line]) -> None:
    totals = tax_totals(lines, "en")
    assert sum(each.net for each in totals) == sum(each.net for each in lines)
    assert sum(each.tax for each in totals) == sum(each.tax for each in lines)
    assert len({(each.category, each.percent) for each in totals}) == len(totals)


def test_the_totals_are_ordered_by_category_and_percentage_and_have_their_reason() -> None:
    seven, exempt, reverse = (
        msgspec.structs.replace(_LINE, percent=percent, category=category, tax=0)
        for percent, category in [(700, "S"), (0, "E"), (0, "AE")]
    )
    totals = tax_totals([reverse, exempt, seven, _LINE, _LINE], "de")
    assert [(each.category, each.percent, each.net, each.reason) for each in totals] == [
        ("S", 1900, 2000, ""),
        ("S", 700, 1000, ""),
        ("E", 0, 1000, "Steuerfreier Umsatz."),
        ("AE", 0, 1000, "Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge)."),
    ]


@pytest.mark.parametrize(
    ("language", "reason"),
    [
        ("en", "Compensation for late payment, which is not subject to tax."),
        ("de", "Schadensersatz wegen Zahlungsverzugs, nicht steuerbar."),
    ],
)
def test_the_fee_of_a_reminder_has_a_reason_of_its_own(language: Language, reason: str) -> None:
    """billing, "Reminders": it is no turnover, so that it is not merely exempt."""
    fee = msgspec.structs.replace(_LINE, percent=0, category="E", tax=0, goods="fee")
    assert [each.reason for each in tax_totals([fee], language)] == [reason]
    exempt = msgspec.structs.replace(fee, goods="print")
    assert reason not in {each.reason for each in tax_totals([fee, exempt], language)}


def test_what_is_paid_is_not_due() -> None:
    assert _INVOICE.due == 1190
    assert msgspec.structs.replace(_INVOICE, prepaid=190).due == 1000
    assert msgspec.structs.replace(_INVOICE, paid_on="2026-11-28").due == 0
    assert msgspec.structs.replace(_INVOICE, kind="receipt").due == 0
