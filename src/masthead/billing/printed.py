"""What an invoice, a receipt or a credit note prints, as one typed record (billing, "Invoice").

The record is made once, when the invoice is made, and stored as JSON. Documents are made from it
alone, so that the document of an old invoice stays the same. All amounts are whole cents, all
percentages hundredths of a percent (19 percent is 1900), and all days are texts ``YYYY-MM-DD``.
The amounts of a credit note are positive: they say what is taken back.
"""

from collections.abc import Iterable
from typing import Literal, TypeVar

import msgspec

Kind = Literal["invoice", "receipt", "credit_note"]
"""The kinds of documents. A receipt is an invoice that is paid when it is made."""

Language = Literal["en", "de"]
"""The languages in which documents are printed."""

Category = Literal["S", "Z", "E", "AE"]
"""The categories of tax in EN 16931 (UNCL5305): standard rate, zero rate, exempt, and reverse
charge."""

Goods = Literal["print", "digital", "product", "shipping"]
"""The classes of goods that have tax rates of their own (billing, "Tax")."""

LineGoods = Literal["print", "digital", "product", "shipping", "fee"]
"""What a line can be for: goods, or the fee of a reminder, which has no tax."""

_REASONS: dict[tuple[str, str], str] = {
    ("en", "E"): "Exempt from tax.",
    ("de", "E"): "Steuerfreier Umsatz.",
    ("en", "AE"): "Reverse charge: the recipient is liable for the tax.",
    ("de", "AE"): "Steuerschuldnerschaft des Leistungsempfängers (Reverse Charge).",
}

_REASONS_OF_FEES: dict[Language, str] = {
    "en": "Compensation for late payment, which is not subject to tax.",
    "de": "Schadensersatz wegen Zahlungsverzugs, nicht steuerbar.",
}


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of what is printed. A field that has its default is left out of the JSON."""


class Seller(Record, frozen=True, kw_only=True):
    """The publisher, as the settings of the account named it when the invoice was made.

    ``country`` is the code of ISO 3166-1 with two letters, also for a payer.
    """

    name: str
    street: str = ""
    city: str = ""
    postal_code: str = ""
    country: str = ""
    vat_id: str = ""
    tax_number: str = ""
    email: str = ""
    iban: str = ""
    bic: str = ""
    bank: str = ""


class Payer(Record, frozen=True, kw_only=True):
    """The person or the business to whom the document is addressed.

    ``address_lines`` are the lines of the street, without city and country.
    """

    subscriber_id: int
    name: str = ""
    company: str = ""
    address_lines: tuple[str, ...] = ()
    city: str = ""
    state: str = ""
    postal_code: str = ""
    country: str = ""
    country_name: str = ""
    vat_id: str = ""


class Line(Record, frozen=True, kw_only=True):
    """A line of a document.

    ``net`` and ``tax`` are for all copies. ``first_issue`` and ``last_issue`` are the names of
    issues; ``period`` is a text, such as ``2026-12-01 to 2027-11-30``. ``reader`` is the name of
    the person who gets the copies, '' for the payer.
    """

    description: str
    publication: str = ""
    first_issue: str = ""
    last_issue: str = ""
    period: str = ""
    reader: str = ""
    copies: int = 1
    net: int
    tax: int
    percent: int
    category: Category
    goods: LineGoods

    @property
    def total(self) -> int:
        """The amount with tax, in cents."""
        return self.net + self.tax


class TaxTotal(Record, frozen=True, kw_only=True):
    """The sum of the lines of one category and one percentage.

    ``reason`` is the sentence that says why there is no tax: required for E and AE.
    """

    category: Category
    percent: int
    net: int
    tax: int
    reason: str = ""


class DirectDebit(Record, frozen=True, kw_only=True):
    """How an invoice is collected, which the payer reads beforehand (billing, "Direct debit").

    ``collected_on`` is the first day on which the bank may collect it. ``mandate`` is the reference
    of the payer's mandate, and ``iban_end`` has the last four characters of the payer's IBAN.
    """

    collected_on: str
    mandate: str
    creditor_id: str
    iban_end: str


class PrintedInvoice(Record, frozen=True, kw_only=True):
    """Everything that an invoice, a receipt or a credit note prints.

    ``corrects`` is the number of the invoice that a credit note takes back, ``corrects_issued_on``
    its day, and ``reason`` why. ``payment_reference`` is a creditor reference of ISO 11649.
    ``notes`` are sentences below the totals. ``prices_with_tax`` says whether the lines show
    amounts with tax. ``prepaid`` is what was paid before the document was made, such as by a credit
    of the payer, and ``waived`` a rest within the tolerance, which is not to be paid.
    ``direct_debit`` is None if the payer transfers the money.
    """

    kind: Kind
    number: str
    issued_on: str
    due_on: str | None = None
    paid_on: str | None = None
    seller: Seller
    payer: Payer
    language: Language
    currency: str
    prices_with_tax: bool = True
    order_reference: str = ""
    lines: tuple[Line, ...]
    tax_totals: tuple[TaxTotal, ...]
    net: int
    tax: int
    total: int
    prepaid: int = 0
    waived: int = 0
    payment_type: str = ""
    payment_reference: str = ""
    corrects: str = ""
    corrects_issued_on: str | None = None
    reason: str = ""
    notes: tuple[str, ...] = ()
    direct_debit: DirectDebit | None = None

    @property
    def due(self) -> int:
        """What the payer has to pay, in cents: nothing if the document is a receipt or paid."""
        if self.paid_on or self.kind == "receipt":
            return 0
        return self.total - self.prepaid - self.waived


_ENCODER = msgspec.json.Encoder()
_Printed = TypeVar("_Printed", bound=msgspec.Struct)


def tax_totals(lines: Iterable[Line], language: Language) -> tuple[TaxTotal, ...]:
    """Return the sums of lines by category and percentage, the highest percentage first."""
    sums: dict[tuple[Category, int], list[int]] = {}
    with_goods = set()
    for line in lines:
        if line.goods != "fee":
            with_goods.add((line.category, line.percent))
        found = sums.setdefault((line.category, line.percent), [0, 0])
        found[0] += line.net
        found[1] += line.tax
    order: list[Category] = ["S", "Z", "E", "AE"]
    return tuple(
        TaxTotal(
            category=category,
            percent=percent,
            net=net,
            tax=tax,
            reason=reason_of(category, language, is_fee=(category, percent) not in with_goods),
        )
        for (category, percent), (net, tax) in sorted(
            sums.items(), key=lambda each: (order.index(each[0][0]), -each[0][1])
        )
    )


def reason_of(category: Category, language: Language, *, is_fee: bool = False) -> str:
    """Return the sentence that says why a category has no tax; '' for categories without one.

    ``is_fee``: only fees of reminders have it.
    """
    if is_fee and category == "E":
        return _REASONS_OF_FEES[language]
    return _REASONS.get((language, category), "")


def to_json(printed: msgspec.Struct) -> str:
    """Return the JSON of a record: its fields in their order, those with their default left out."""
    return _ENCODER.encode(printed).decode()


def from_json(text: str, kind: type[_Printed]) -> _Printed:
    """Return the record of a kind that ``to_json`` wrote. Raises ValueError for any other text."""
    return msgspec.json.decode(text, type=kind)
