"""The electronic invoice in a PDF (billing, "Invoice": EN 16931, Factur-X)."""

from decimal import Decimal
from io import BytesIO
from xml.etree import ElementTree as ET

import facturx
import msgspec
import pytest
from hypothesis import given, settings
from pypdf import PdfReader

from masthead.billing.printed import PrintedInvoice, tax_totals
from masthead.circulation.amounts import decimal
from masthead.documents.electronic_invoice import xml_of
from masthead.documents.rendering import Renderer
from masthead.documents.samples import BUSINESS, PAYER, invoice, invoice_samples
from tests.billing.invoices_of import PRINTED

SAMPLES = dict(invoice_samples())
INVOICE = SAMPLES["invoice-de"]
_RAM = "{urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100}"


def _texts(xml: bytes, path: str) -> list[str]:
    names = "/".join(f"{_RAM}{name}" for name in path.split("/"))
    return [each.text or "" for each in ET.fromstring(xml).findall(f".//{names}")]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_pdf_has_a_valid_electronic_invoice_inside(renderer: Renderer, name: str) -> None:
    printed = SAMPLES[name]
    pdf = renderer.pdf(printed)
    file_name, xml = facturx.get_xml_from_pdf(pdf)
    assert file_name == "factur-x.xml"
    assert xml == xml_of(printed)
    assert facturx.xml_check_xsd(xml, flavor="factur-x", level="en16931")


def test_the_metadata_say_what_is_inside(renderer: Renderer) -> None:
    reader = PdfReader(BytesIO(renderer.pdf(INVOICE)), strict=True)
    packet = reader.root_object["/Metadata"].get_object().get_data()  # type: ignore[union-attr]
    root = ET.fromstring(packet)
    fx = "{urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#}"
    assert {each.tag.removeprefix(fx): each.text for each in root.findall(f".//{fx}*")} == {
        "DocumentFileName": "factur-x.xml",
        "DocumentType": "INVOICE",
        "Version": "1.0",
        "ConformanceLevel": "EN 16931",
    }
    pdfaid = "{http://www.aiim.org/pdfa/ns/id/}"
    assert [each.text for each in root.findall(f".//{pdfaid}*")] == ["3", "A"]
    relation = reader.root_object["/AF"][0].get_object()["/AFRelationship"]  # type: ignore[index]
    assert relation == "/Alternative"
    assert reader.metadata is not None
    assert reader.metadata.title == "Feldpost Verlag GmbH 2026-000123"
    assert str(reader.metadata.creation_date) == "2026-11-28 00:00:00+00:00"


@settings(deadline=None)
@given(PRINTED)
def test_every_invoice_that_has_what_the_standard_asks_for_is_valid(
    printed: PrintedInvoice,
) -> None:
    printed = msgspec.structs.replace(
        printed,
        number=f"N{printed.number}",
        seller=msgspec.structs.replace(printed.seller, country="DE"),
        lines=printed.lines or INVOICE.lines,
        tax_totals=printed.tax_totals or INVOICE.tax_totals,
        corrects_issued_on="2026-01-01",
    )
    assert facturx.xml_check_xsd(xml_of(printed), flavor="factur-x", level="en16931")


def test_the_values_are_those_of_the_invoice() -> None:
    xml = xml_of(INVOICE)
    total = "SpecifiedTradeSettlementHeaderMonetarySummation"
    assert _texts(xml, f"{total}/LineTotalAmount") == ["121.10"]
    assert _texts(xml, f"{total}/TaxTotalAmount") == ["10.90"]
    assert _texts(xml, f"{total}/GrandTotalAmount") == ["132.00"]
    assert _texts(xml, f"{total}/DuePayableAmount") == ["132.00"]
    assert _texts(xml, "PaymentReference") == ["RF46 2026 0001 23".replace(" ", "")]
    assert _texts(xml, "IBANID") == ["DE02120300000000202051"]
    assert _texts(xml, "SpecifiedTradeSettlementPaymentMeans/TypeCode") == ["58"]
    assert _texts(xml, "BuyerTradeParty/Name") == ["Johanna Kessler"]
    assert _texts(xml, "SpecifiedTradeProduct/Name") == [
        "Jahresabonnement",
        "Digitalausgabe",
        "Versand",
    ]
    assert b'<udt:DateTimeString format="102">20261212<' in xml


@pytest.mark.parametrize("name", SAMPLES)
def test_the_sums_follow_the_rules_of_the_standard(name: str) -> None:
    """EN 16931-1, BR-CO-10 and BR-CO-13 to BR-CO-17."""
    xml = xml_of(SAMPLES[name])
    total = "SpecifiedTradeSettlementHeaderMonetarySummation"

    def amounts(path: str) -> list[Decimal]:
        return [Decimal(text) for text in _texts(xml, path)]

    lines = amounts("SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount")
    (net,), (basis,) = amounts(f"{total}/LineTotalAmount"), amounts(f"{total}/TaxBasisTotalAmount")
    (tax,), (grand,) = amounts(f"{total}/TaxTotalAmount"), amounts(f"{total}/GrandTotalAmount")
    (due,), paid = amounts(f"{total}/DuePayableAmount"), amounts(f"{total}/TotalPrepaidAmount")
    assert sum(lines) == net == basis
    assert basis + tax == grand
    assert grand - sum(paid) == due
    of_tax = "ApplicableHeaderTradeSettlement/ApplicableTradeTax"
    taxes = amounts(f"{of_tax}/CalculatedAmount")
    assert sum(taxes) == tax
    bases, rates = amounts(f"{of_tax}/BasisAmount"), amounts(f"{of_tax}/RateApplicablePercent")
    for of_one, base, rate in zip(taxes, bases, rates, strict=True):
        assert abs(of_one - base * rate / 100) <= Decimal("0.01")


def test_a_receipt_is_an_invoice_that_is_paid() -> None:
    xml = xml_of(SAMPLES["receipt-en"])
    assert _texts(xml, "TotalPrepaidAmount") == ["132.00"]
    assert _texts(xml, "DuePayableAmount") == ["0.00"]
    assert not _texts(xml, "SpecifiedTradeSettlementPaymentMeans/TypeCode")


def test_a_credit_note_names_the_invoice_and_the_reason() -> None:
    xml = xml_of(SAMPLES["credit_note-de"])
    assert b"<ram:TypeCode>381</ram:TypeCode>" in xml
    assert _texts(xml, "InvoiceReferencedDocument/IssuerAssignedID") == ["2026-000123"]
    assert b'<qdt:DateTimeString format="102">20261102<' in xml
    assert _texts(xml, "SpecifiedTradePaymentTerms/Description") == [
        "Die Bestellung wurde widerrufen."
    ]


def test_a_business_under_reverse_charge_is_named_with_its_number_and_the_reason() -> None:
    xml = xml_of(SAMPLES["reverse-charge-de"])
    of_tax = "ApplicableHeaderTradeSettlement/ApplicableTradeTax"
    assert _texts(xml, f"{of_tax}/CategoryCode") == ["AE"]
    assert _texts(xml, f"{of_tax}/ExemptionReasonCode") == ["VATEX-EU-AE"]
    assert _texts(xml, f"{of_tax}/ExemptionReason") == [
        "Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge)."
    ]
    assert _texts(xml, "BuyerTradeParty/Name") == [BUSINESS.company]
    assert _texts(xml, "BuyerTradeParty/DefinedTradeContact/PersonName") == [BUSINESS.name]
    assert _texts(xml, "BuyerTradeParty/SpecifiedTaxRegistration/ID") == [BUSINESS.vat_id]


@pytest.mark.parametrize(("category", "percent"), [("Z", 0), ("E", 0), ("S", 550)])
def test_each_category_has_its_rate(category: str, percent: int) -> None:
    line = msgspec.structs.replace(INVOICE.lines[0], tax=0, percent=percent)
    line = msgspec.structs.replace(line, category=category)
    printed = invoice("invoice", "en", lines=(line,))
    xml = xml_of(printed)
    of_tax = "ApplicableHeaderTradeSettlement/ApplicableTradeTax"
    assert _texts(xml, f"{of_tax}/CategoryCode") == [category]
    assert _texts(xml, f"{of_tax}/RateApplicablePercent") == [decimal(percent)]
    reasons = [each.reason for each in tax_totals([line], "en") if each.reason]
    assert _texts(xml, f"{of_tax}/ExemptionReason") == reasons
    assert facturx.xml_check_xsd(xml, flavor="factur-x", level="en16931")


def test_a_line_that_takes_something_off_has_copies_below_zero() -> None:
    """EN 16931-1, BR-27: a price is never below zero."""
    line = msgspec.structs.replace(INVOICE.lines[0], net=-500, tax=-35)
    xml = xml_of(invoice("invoice", "de", lines=(*INVOICE.lines, line)))
    assert _texts(xml, "NetPriceProductTradePrice/ChargeAmount")[-1] == "5.00"
    assert _texts(xml, "BilledQuantity")[-1] == "-2"
    assert _texts(xml, "SpecifiedTradeSettlementLineMonetarySummation/LineTotalAmount")[-1] == (
        "-5.00"
    )


def test_hostile_text_stays_text() -> None:
    name = "</ram:Name><x> &amp; \x1b \ufffe <!-- ]]>"
    payer = msgspec.structs.replace(PAYER, name=name)
    xml = xml_of(msgspec.structs.replace(INVOICE, payer=payer))
    assert _texts(xml, "BuyerTradeParty/Name") == ["</ram:Name><x> &amp; \\x1b \ufffd <!-- ]]>"]
    assert facturx.xml_check_xsd(xml, flavor="factur-x", level="en16931")
