"""The records of the tables of billing, which only an account with open books has.

``masthead.contract.records`` lists them among the tables (billing, "What is stored"). Amounts are
whole cents, and percentages hundredths of a percent: 700 is 7 %.
"""

from typing import Annotated

from msgspec import Struct

from masthead.contract import kinds
from masthead.contract.books import Cents, Copies, Count, Medium, Price, RequiredDate
from masthead.contract.file_kinds import Range
from masthead.contract.kinds import Missing
from masthead.contract.shapes import Bit, DateOrNull, DateTime, IdOrNull, Key, TextOrNull

INVOICE_KINDS = ("invoice", "receipt", "credit_note")
PAYMENT_KINDS = ("payment", "reversal", "paid_back")
ALLOCATION_KINDS = ("payment", "credit_note", "write_off")
GOODS = ("print", "digital", "product", "shipping")
"""The classes of goods that tax rates tell apart."""

LINE_GOODS = (*GOODS, "fee")
"""The goods of a line of an invoice: the fee of a reminder is no goods, and has no tax."""

TAX_CATEGORIES = ("S", "Z", "E", "AE")
"""The codes of EN 16931: standard rate, zero rate, exempt, and reverse charge."""

WHOLE = 10_000
"""A hundred percent, in hundredths of a percent."""

BANK_ENTRY_STATES = ("settled", "proposed", "unknown", "taken", "ignored")

RequiredText = Annotated[str, kinds.Text()]
Country = Annotated[str, kinds.Text(2)]
CountryOrNull = Annotated[str | None, kinds.Text(2), Missing.NULL]
Percent = Annotated[int, Range(0, WHOLE, unit="hundredths of a percent")]
Goods = Annotated[str, kinds.OneOf(*GOODS)]
LineGoods = Annotated[str, kinds.OneOf(*LINE_GOODS)]
TaxCategory = Annotated[str, kinds.OneOf(*TAX_CATEGORIES)]
InvoiceKind = Annotated[str, kinds.OneOf(*INVOICE_KINDS)]
PaymentKind = Annotated[str, kinds.OneOf(*PAYMENT_KINDS)]
AllocationKind = Annotated[str, kinds.OneOf(*ALLOCATION_KINDS)]
BankEntryState = Annotated[str, kinds.OneOf(*BANK_ENTRY_STATES)]
Month = Annotated[int, Range(100_001, 999_912, unit="month `YYYYMM`")]


class Billing(Struct):
    """The one row of an account whose orders are billed (billing, "Invoice")."""

    billing_id: Key
    begun_on: RequiredDate


class BillingSetting(Struct):
    """A setting of billing that was set; the others have their defaults."""

    setting_id: Key
    name: RequiredText
    value: TextOrNull


class TaxRate(Struct):
    """The tax rate of a class of goods in a country, or in one of its states, from a day on."""

    rate_id: Key
    country: Country
    state: TextOrNull
    goods: Goods
    percent: Percent
    begins_on: RequiredDate


class ShippingPrice(Struct):
    """The price of shipping one ordered copy to a country, from a day on.

    ``type`` is that of the line of the bundle. ``country`` is null for all countries that have no
    price of their own.
    """

    shipping_price_id: Key
    country: CountryOrNull
    type: Medium
    cents: Price
    begins_on: RequiredDate


class PayerDetails(Struct):
    """What billing knows about a subscriber who pays; erasing blanks the VAT number.

    If ``by_email`` is set, documents go by email.
    """

    subscriber_id: Key
    vat_id: TextOrNull
    by_email: Bit


class Invoice(Struct):
    """An invoice, a receipt or a credit note, whose rows never change.

    ``number_text`` is ``number`` in the form that is printed. A ``series`` has no gaps.
    ``of_invoice_id`` is the invoice that a credit note takes back. ``open_cents`` is what is not
    settled. ``printed`` is everything that is printed, as JSON; it is null once the payer is
    erased.
    """

    invoice_id: Key
    kind: InvoiceKind
    series: RequiredText
    number: Count
    number_text: RequiredText
    subscriber_id: Key
    order_id: IdOrNull
    of_invoice_id: IdOrNull
    issued_on: RequiredDate
    due_on: DateOrNull
    net: Count
    tax: Count
    total: Count
    open_cents: Count
    payment_reference: TextOrNull
    reason: TextOrNull
    printed: TextOrNull


class InvoiceLine(Struct):
    """A line of an invoice, with its tax."""

    invoice_id: Key
    line_number: Key
    order_item_id: IdOrNull
    goods: LineGoods
    description: TextOrNull
    copies: Copies
    net: Count
    tax: Count
    percent: Percent
    category: TaxCategory


class Payment(Struct):
    """Money that a payer has paid, got back, or that was taken back; rows never change.

    ``cents`` are negative if the money went out. ``reverses_id`` is the payment that a reversal
    takes back. ``source`` identifies the entry of a bank statement that the payment came with.
    ``left_cents`` is what is not allocated.
    """

    payment_id: Key
    subscriber_id: Key
    kind: PaymentKind
    value_date: RequiredDate
    booked_on: RequiredDate
    cents: Count
    fee: Cents
    payment_type: TextOrNull
    reference: TextOrNull
    reverses_id: IdOrNull
    reason: TextOrNull
    source: TextOrNull
    left_cents: Count


class Allocation(Struct):
    """Cents of a payment, a credit note or a write-off that settle an invoice; rows never change.

    Negative cents take an earlier allocation back.
    """

    allocation_id: Key
    invoice_id: Key
    kind: AllocationKind
    payment_id: IdOrNull
    credit_note_id: IdOrNull
    cents: Count
    booked_on: RequiredDate


class JournalLine(Struct):
    """A line of a balanced entry of the journal: positive cents are debit, negative ones credit.

    ``account`` is the name of a setting without ``journal.``, such as ``receivables``. ``text``
    names no person.
    """

    entry_id: Key
    line_number: Key
    booked_on: RequiredDate
    account: RequiredText
    cents: Count
    text: TextOrNull
    invoice_id: IdOrNull
    payment_id: IdOrNull


class ClosedMonth(Struct):
    """A month, ``YYYYMM``, into which nothing is booked any more."""

    month_id: Month
    closed_on: RequiredDate


class BankFile(Struct):
    """A file of a bank, shop or card provider of which an entry was new.

    ``digest`` is the SHA-256 of its bytes. ``iban`` is the account that it names. ``payment_type``
    is how its entries were paid, such as ``card``; null is a transfer.
    """

    bank_file_id: Key
    name: RequiredText
    digest: RequiredText
    iban: TextOrNull
    payment_type: TextOrNull
    imported_at: DateTime


class BankEntry(Struct):
    """A movement of the publisher's account, as a file told it.

    ``fingerprint`` is the same in each file that has the entry. ``subscriber_id`` and
    ``invoice_id`` are those that it settled, or that are proposed. ``iban`` has only the last four
    characters of the other side's account. ``reason`` says why the entry was ignored.
    """

    bank_entry_id: Key
    bank_file_id: Key
    fingerprint: RequiredText
    value_date: RequiredDate
    cents: Count
    fee: Cents
    status: BankEntryState
    subscriber_id: IdOrNull
    invoice_id: IdOrNull
    payment_id: IdOrNull
    name: TextOrNull
    iban: TextOrNull
    reference: TextOrNull
    end_to_end_id: TextOrNull
    return_reason: TextOrNull
    reason: TextOrNull
