"""Electronic invoices keep the rules of EN 16931 (billing, "What must hold", 3)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from masthead.billing.printed import Line, PrintedInvoice, tax_totals
from masthead.documents.electronic_invoice import xml_of
from masthead.documents.samples import BUSINESS, invoice, invoice_samples, without_tax
from tests.documents.schematron import judged

_SOLD = invoice("invoice", "en").lines


def _free(line: Line) -> Line:
    return replace(line, tax=0, percent=0, category="Z")


_FEE = Line(description="Reminder fee", net=500, tax=0, percent=0, category="E", goods="fee")
_REVERSED = tuple(map(without_tax, _SOLD))
SAMPLES = {
    **dict(invoice_samples()),
    "reverse charge, credited": invoice("credit_note", "en", lines=_REVERSED, payer=BUSINESS),
    "reverse charge, paid": invoice("receipt", "de", lines=_REVERSED, payer=BUSINESS),
    "one of two rates credited": invoice("credit_note", "en", lines=_SOLD[1:2]),
    "two rates and no tax": invoice("invoice", "de", lines=(*_SOLD, _free(_SOLD[0]))),
    "no tax": invoice("invoice", "en", lines=tuple(map(_free, _SOLD)), currency="USD"),
    "a fee alone": invoice("invoice", "en", lines=(_FEE,)),
    "paid in part": replace(invoice("invoice", "de"), prepaid=1_000),
    "waived in part": replace(invoice("invoice", "de"), prepaid=1_000, waived=30),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_no_rule_of_the_standard_is_broken(name: str) -> None:
    found = judged(xml_of(SAMPLES[name]))
    assert found.broken == []
    assert found.rules > 70


def _wrong(**changes: object) -> PrintedInvoice:
    return replace(SAMPLES["invoice-en"], **changes)


@pytest.mark.parametrize(
    ("printed", "rule"),
    [
        (_wrong(total=1), "BR-CO-15"),
        (_wrong(net=1), "BR-CO-10"),
        (_wrong(tax_totals=tax_totals(_SOLD[:1], "en")), "BR-CO-14"),
        (_wrong(number=""), "BR-02"),
        (_wrong(payer=BUSINESS, lines=_REVERSED), "BR-AE-01"),
    ],
)
def test_the_rules_find_what_is_wrong(printed: PrintedInvoice, rule: str) -> None:
    assert [said for said in judged(xml_of(printed)).broken if f"[{rule}]" in said]
