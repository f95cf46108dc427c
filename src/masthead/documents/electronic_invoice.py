r"""The electronic invoice inside a PDF: the XML of Factur-X 1.0, profile EN 16931 (COMFORT).

The syntax is the Cross Industry Invoice of UN/CEFACT (D16B), the meaning that of EN 16931-1, whose
numbers of terms (BT-…) stand beside the elements. Texts are as they are printed; characters that
XML does not allow are escapes, such as ``\x1b``.
"""

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias
from xml.sax.saxutils import escape, quoteattr

from masthead.billing.printed import Line, Payer, PrintedInvoice, Seller, TaxTotal
from masthead.circulation.amounts import decimal
from masthead.contract.printable import printable, single_spaced

FILE_NAME = "factur-x.xml"
"""The name of the XML inside the PDF, which the standard sets."""

_NAMESPACES = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
    "qdt": "urn:un:unece:uncefact:data:standard:QualifiedDataType:100",
}
_GUIDELINE = "urn:cen.eu:en16931:2017"
_TYPES = {"invoice": "380", "receipt": "380", "credit_note": "381"}  # BT-3
_PIECE = "C62"  # UN/ECE Recommendation 20: one
_NOT_XML = re.compile(r"[\ufffe\uffff]")
_REVERSE_CHARGE = "VATEX-EU-AE"
_PLACE_HOLDER = "-"
"""Where the standard asks for a text and there is none."""

_Element: TypeAlias = "tuple[str, str | list[_Maybe]]"
"""A name, with attributes after a space, and its text or the elements inside."""

_Maybe: TypeAlias = "_Element | None"
"""An element, or None where it is left out."""


def xml_of(printed: PrintedInvoice) -> bytes:
    """Return the XML of an invoice, a receipt or a credit note: the same bytes each time."""
    root: _Element = (
        "rsm:CrossIndustryInvoice"
        + "".join(f" xmlns:{name}={quoteattr(urn)}" for name, urn in _NAMESPACES.items()),
        [
            (
                "rsm:ExchangedDocumentContext",
                [
                    (
                        "ram:GuidelineSpecifiedDocumentContextParameter",
                        [("ram:ID", _GUIDELINE)],  # BT-24
                    )
                ],
            ),
            (
                "rsm:ExchangedDocument",
                [
                    _text("ram:ID", printed.number),  # BT-1
                    ("ram:TypeCode", _TYPES[printed.kind]),
                    _day("ram:IssueDateTime", printed.issued_on),  # BT-2
                    *(
                        ("ram:IncludedNote", [_text("ram:Content", note)])  # BT-22
                        for note in printed.notes
                        if note.strip()
                    ),
                ],
            ),
            (
                "rsm:SupplyChainTradeTransaction",
                [
                    *(_line(number, line) for number, line in enumerate(printed.lines, start=1)),
                    _agreement(printed),
                    ("ram:ApplicableHeaderTradeDelivery", []),
                    _settlement(printed),
                ],
            ),
        ],
    )
    return "".join(["<?xml version='1.0' encoding='UTF-8'?>\n", *_written(root)]).encode()


def _line(number: int, line: Line) -> _Element:
    """The price is that of all copies, so that no part of a cent is lost (BT-146, BT-149)."""
    copies = -line.copies if line.net < 0 else line.copies
    return (
        "ram:IncludedSupplyChainTradeLineItem",
        [
            ("ram:AssociatedDocumentLineDocument", [("ram:LineID", str(number))]),  # BT-126
            (
                "ram:SpecifiedTradeProduct",
                [
                    _text("ram:Name", line.description or _PLACE_HOLDER),  # BT-153
                    _text("ram:Description", " · ".join(details_of(line))),  # BT-154
                ],
            ),
            (
                "ram:SpecifiedLineTradeAgreement",
                [
                    (
                        "ram:NetPriceProductTradePrice",
                        [
                            ("ram:ChargeAmount", decimal(abs(line.net))),
                            (f'ram:BasisQuantity unitCode="{_PIECE}"', str(line.copies)),
                        ],
                    )
                ],
            ),
            (
                "ram:SpecifiedLineTradeDelivery",
                [(f'ram:BilledQuantity unitCode="{_PIECE}"', str(copies))],  # BT-129
            ),
            (
                "ram:SpecifiedLineTradeSettlement",
                [
                    (
                        "ram:ApplicableTradeTax",
                        [
                            ("ram:TypeCode", "VAT"),
                            ("ram:CategoryCode", line.category),  # BT-151
                            ("ram:RateApplicablePercent", decimal(line.percent)),  # BT-152
                        ],
                    ),
                    (
                        "ram:SpecifiedTradeSettlementLineMonetarySummation",
                        [("ram:LineTotalAmount", decimal(line.net))],  # BT-131
                    ),
                ],
            ),
        ],
    )


def details_of(line: Line) -> list[str]:
    """Return what a line says besides its description: publication, issues, period, reader."""
    issues = [each for each in (line.first_issue, line.last_issue) if each.strip()]
    if len(issues) == 2 and issues[0] == issues[1]:
        issues = issues[:1]
    named = "" if line.publication in line.description else line.publication
    details = [named, " \u2013 ".join(issues), line.period, line.reader]
    return [each for each in details if each.strip()]


def _agreement(printed: PrintedInvoice) -> _Element:
    return (
        "ram:ApplicableHeaderTradeAgreement",
        [
            _seller(printed.seller),
            _payer(printed.payer, printed.seller.country),
            _within(
                "ram:BuyerOrderReferencedDocument",
                _text("ram:IssuerAssignedID", printed.order_reference),  # BT-13
            ),
        ],
    )


def _seller(seller: Seller) -> _Element:
    return (
        "ram:SellerTradeParty",
        [
            _text("ram:Name", seller.name or _PLACE_HOLDER),  # BT-27
            _within(
                "ram:DefinedTradeContact",
                _within(
                    "ram:EmailURIUniversalCommunication",
                    _text("ram:URIID", seller.email),  # BT-43
                ),
            ),
            _address(seller.postal_code, [seller.street], seller.city, seller.country),
            _within(
                "ram:URIUniversalCommunication",
                _text('ram:URIID schemeID="EM"', seller.email),  # BT-34
            ),
            _registration("VA", seller.vat_id),  # BT-31
            _registration("FC", seller.tax_number),  # BT-32
        ],
    )


def _payer(payer: Payer, country: str) -> _Element:
    """A payer without a country is taken to be in that of the seller."""
    return (
        "ram:BuyerTradeParty",
        [
            ("ram:ID", str(payer.subscriber_id)),  # BT-46
            _text("ram:Name", payer.company or payer.name or _PLACE_HOLDER),  # BT-44
            _within(
                "ram:DefinedTradeContact",
                _text("ram:PersonName", payer.name if payer.company else ""),  # BT-56
            ),
            _address(
                payer.postal_code,
                payer.address_lines,
                payer.city,
                payer.country or country,
                payer.state,
            ),
            _registration("VA", payer.vat_id),  # BT-48
        ],
    )


def _address(
    postal_code: str, lines: Iterable[str], city: str, country: str, state: str = ""
) -> _Element:
    first, second, *more = [*(each for each in lines if each.strip()), "", ""]
    return (
        "ram:PostalTradeAddress",
        [
            _text("ram:PostcodeCode", postal_code),
            _text("ram:LineOne", first),
            _text("ram:LineTwo", second),
            _text("ram:LineThree", ", ".join(each for each in more if each)),
            _text("ram:CityName", city),
            _text("ram:CountryID", country.upper()),
            _text("ram:CountrySubDivisionName", state),
        ],
    )


def _registration(scheme: str, number: str) -> _Maybe:
    kept = number.replace(" ", "") if scheme == "VA" else number
    return _within("ram:SpecifiedTaxRegistration", _text(f'ram:ID schemeID="{scheme}"', kept))


def _settlement(printed: PrintedInvoice) -> _Element:
    paid = printed.total - printed.due
    debit = printed.direct_debit
    return (
        "ram:ApplicableHeaderTradeSettlement",
        [
            _text("ram:CreditorReferenceID", debit.creditor_id if debit else ""),  # BT-90
            _text("ram:PaymentReference", printed.payment_reference),  # BT-83
            ("ram:InvoiceCurrencyCode", printed.currency),  # BT-5
            _payment_means(printed),
            *(_tax(total) for total in printed.tax_totals),
            _terms(printed),
            (
                "ram:SpecifiedTradeSettlementHeaderMonetarySummation",
                [
                    ("ram:LineTotalAmount", decimal(printed.net)),  # BT-106
                    ("ram:TaxBasisTotalAmount", decimal(printed.net)),  # BT-109
                    (
                        f"ram:TaxTotalAmount currencyID={quoteattr(printed.currency)}",
                        decimal(printed.tax),  # BT-110
                    ),
                    ("ram:GrandTotalAmount", decimal(printed.total)),  # BT-112
                    ("ram:TotalPrepaidAmount", decimal(paid)) if paid else None,  # BT-113
                    ("ram:DuePayableAmount", decimal(printed.due)),  # BT-115
                ],
            ),
            _within(
                "ram:InvoiceReferencedDocument",
                _text("ram:IssuerAssignedID", printed.corrects),  # BT-25
                _day("ram:FormattedIssueDateTime", printed.corrects_issued_on, "qdt"),  # BT-26
            )
            if printed.corrects
            else None,
        ],
    )


def _payment_means(printed: PrintedInvoice) -> _Maybe:
    iban = printed.seller.iban.replace(" ", "")
    if printed.kind != "invoice" or printed.due <= 0 or not iban:
        return None
    if printed.direct_debit is not None:
        # UNCL 4461: a SEPA direct debit. The whole IBAN of the payer (BT-91) is not printed.
        return ("ram:SpecifiedTradeSettlementPaymentMeans", [("ram:TypeCode", "59")])
    return (
        "ram:SpecifiedTradeSettlementPaymentMeans",
        [
            # UNCL 4461: a SEPA credit transfer, or another credit transfer (BT-81).
            ("ram:TypeCode", "58" if printed.currency == "EUR" else "30"),
            (
                "ram:PayeePartyCreditorFinancialAccount",
                [
                    _text("ram:IBANID", iban),  # BT-84
                    _text("ram:AccountName", printed.seller.name),  # BT-85
                ],
            ),
            _within(
                "ram:PayeeSpecifiedCreditorFinancialInstitution",
                _text("ram:BICID", printed.seller.bic.replace(" ", "")),  # BT-86
            ),
        ],
    )


def _tax(total: TaxTotal) -> _Element:
    return (
        "ram:ApplicableTradeTax",
        [
            ("ram:CalculatedAmount", decimal(total.tax)),  # BT-117
            ("ram:TypeCode", "VAT"),
            _text("ram:ExemptionReason", total.reason),  # BT-120
            ("ram:BasisAmount", decimal(total.net)),  # BT-116
            ("ram:CategoryCode", total.category),  # BT-118
            ("ram:ExemptionReasonCode", _REVERSE_CHARGE) if total.category == "AE" else None,
            ("ram:RateApplicablePercent", decimal(total.percent)),  # BT-119
        ],
    )


def _terms(printed: PrintedInvoice) -> _Maybe:
    return _within(
        "ram:SpecifiedTradePaymentTerms",
        _text("ram:Description", printed.reason),  # BT-20
        _day("ram:DueDateDateTime", printed.due_on),  # BT-9
        _text(
            "ram:DirectDebitMandateID",  # BT-89
            printed.direct_debit.mandate if printed.direct_debit else "",
        ),
    )


def _text(name: str, text: str) -> _Maybe:
    kept = printable(single_spaced(text))
    return (name, _NOT_XML.sub("\ufffd", kept)) if kept else None


def _day(name: str, day: str | None, prefix: str = "udt") -> _Maybe:
    """Return the element of a day in the form 102 of UN/EDIFACT: ``20261231``."""
    if not day:
        return None
    return (name, [(f'{prefix}:DateTimeString format="102"', day.replace("-", ""))])


def _within(name: str, *inside: _Maybe) -> _Maybe:
    """Return an element, or None if there is nothing inside."""
    kept: list[_Maybe] = [each for each in inside if each]
    return (name, kept) if kept else None


def _written(element: _Element, indent: str = "") -> Iterator[str]:
    name, content = element
    end = name.partition(" ")[0]
    if isinstance(content, str):
        yield f"{indent}<{name}>{escape(content)}</{end}>\n"
    elif not any(content):
        yield f"{indent}<{name}/>\n"
    else:
        yield f"{indent}<{name}>\n"
        for each in content:
            if each:
                yield from _written(each, f"{indent}  ")
        yield f"{indent}</{end}>\n"
