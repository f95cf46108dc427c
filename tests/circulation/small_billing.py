"""Billing of the small publisher of ``small_books`` as import files, with a value in each column.

Subscriber 5 has an invoice, a credit note of a part of it, and a payment that came back and was
paid again; its text is awkward. Subscriber 4 has an open invoice and too much money.
"""

from __future__ import annotations

import json

from tests.circulation.csv_text import csv_text
from tests.circulation.small_collecting import COLLECTING

PRINTED = json.dumps(
    {"payer": ['Zoë "Z" Möller', "1 Quay,\n2nd floor"], "note": "<b>'=1+1'</b>\t€ \U0001f4f0"},
    ensure_ascii=False,
)
LONG_PRINTED = json.dumps({"lines": ["Tide, October to September, twelve issues"] * 5_000})
"""About 200 KiB."""


BILLING: dict[str, str] = {
    "billing.csv": "billing_id,begun_on\n1,2025-10-01\n",
    "billing_settings.csv": csv_text(
        ("setting_id", "name", "value"),
        (1, "invoice_number", "{year}-{number:06}"),
        (2, "seller_name", 'Tide & Sons, "Harbour"\n'),
        (3, "language", None),
    ),
    "tax_rates.csv": csv_text(
        ("rate_id", "country", "state", "goods", "percent", "begins_on"),
        (1, "DE", None, "print", 700, "2020-01-01"),
        (2, "DE", None, "digital", 1900, "2020-01-01"),
        (3, "US", "NY", "product", 887, "2025-06-01"),
        (4, "DE", None, "shipping", 0, "2020-01-01"),
    ),
    "shipping_prices.csv": csv_text(
        ("shipping_price_id", "country", "type", "cents", "begins_on"),
        (1, None, "Print", 1200, "2025-01-01"),
        (2, "DE", "Both", 96, "2025-01-01"),
        (3, "DE", "Digital", 0, "2025-01-01"),
    ),
    "payer_details.csv": "subscriber_id,vat_id,by_email\n4,,1\n5,DE136695976,0\n",
    "invoices.csv": csv_text(
        (
            *("invoice_id", "kind", "series", "number", "number_text", "subscriber_id"),
            *("order_id", "of_invoice_id", "issued_on", "due_on", "net", "tax", "total"),
            *("open_cents", "payment_reference", "reason", "printed"),
        ),
        (
            *(1, "invoice", "invoice 2025", 1, "2025-000001", 5, 3, None, "2025-10-15"),
            *("2025-10-29", 3364, 236, 3600, 0, "RF18539007547034", None, PRINTED),
        ),
        (
            *(2, "credit_note", "credit_note 2025", 1, "C2025-000001", 5, 3, 1, "2025-11-02"),
            *(None, 561, 39, 600, 0, None, "An issue was late", PRINTED),
        ),
        (
            *(3, "receipt", "invoice 2025", 2, "2025-000002", 4, None, None, "2025-11-03"),
            *(None, 100, 0, 100, 100, None, None, LONG_PRINTED),
        ),
    ),
    "invoice_lines.csv": csv_text(
        (
            *("invoice_id", "line_number", "order_item_id", "goods", "description", "copies"),
            *("net", "tax", "percent", "category"),
        ),
        (1, 1, 3, "print", "Tide", 2, 3270, 229, 700, "S"),
        (1, 2, None, "shipping", None, 1, 94, 7, 700, "S"),
        (2, 1, 3, "print", "Tide", 1, 561, 39, 700, "S"),
        (3, 1, None, "digital", "Tide", 1, 50, 0, 0, "AE"),
        (3, 2, None, "product", "Mug,\nblue", 1, 25, 0, 0, "Z"),
        (3, 3, None, "fee", "A reminder", 1, 25, 0, 0, "E"),
    ),
    "payments.csv": csv_text(
        (
            *("payment_id", "subscriber_id", "kind", "value_date", "booked_on", "cents", "fee"),
            *("payment_type", "reference", "reverses_id", "reason", "source", "left_cents"),
        ),
        (
            1,
            5,
            "payment",
            "2025-10-20",
            "2025-10-20",
            3000,
            0,
            "Check",
            "No. 7",
            None,
            None,
            "a",
            0,
        ),
        (
            2,
            5,
            "reversal",
            "2025-10-24",
            "2025-10-24",
            -3000,
            450,
            None,
            None,
            1,
            "Bounce",
            "b",
            0,
        ),
        (3, 5, "payment", "2025-10-30", "2025-11-01", 3000, 0, None, None, None, None, None, 0),
        (4, 4, "payment", "2025-11-03", "2025-11-03", 900, 25, "Card", None, None, None, "A", 400),
        (
            5,
            4,
            "paid_back",
            "2025-11-04",
            "2025-11-04",
            -500,
            0,
            None,
            None,
            None,
            "Twin",
            None,
            0,
        ),
    ),
    "allocations.csv": csv_text(
        (
            *("allocation_id", "invoice_id", "kind", "payment_id", "credit_note_id", "cents"),
            "booked_on",
        ),
        (1, 1, "payment", 1, None, 3000, "2025-10-20"),
        (2, 1, "payment", 2, None, -3000, "2025-10-24"),
        (3, 1, "payment", 3, None, 2990, "2025-11-01"),
        (4, 1, "credit_note", None, 2, 600, "2025-11-02"),
        (5, 1, "write_off", None, None, 10, "2025-11-03"),
    ),
    "journal_lines.csv": csv_text(
        (
            *("entry_id", "line_number", "booked_on", "account", "cents", "text"),
            *("invoice_id", "payment_id"),
        ),
        (1, 1, "2025-10-15", "receivables", 3600, "Invoice 2025-000001", 1, None),
        (1, 2, "2025-10-15", "unpaid", -3364, "Invoice 2025-000001", 1, None),
        (1, 3, "2025-10-15", "tax_not_due", -236, None, 1, None),
        (2, 1, "2025-10-20", "bank", 3000, "Payment 1", None, 1),
        (2, 2, "2025-10-20", "prepayments", -3000, "Payment 1", None, 1),
    ),
    "bank_files.csv": csv_text(
        ("bank_file_id", "name", "digest", "iban", "payment_type", "imported_at"),
        (
            1,
            "Ums\u00e4tze, Oktober.xml",
            "ab" * 32,
            "DE89370400440532013000",
            "card",
            "2025-10-30 10:00:00",
        ),
    ),
    "bank_entries.csv": csv_text(
        (
            *("bank_entry_id", "bank_file_id", "fingerprint", "value_date", "cents", "fee"),
            *("status", "subscriber_id", "invoice_id", "payment_id", "name", "iban"),
            *("reference", "end_to_end_id", "return_reason", "reason"),
        ),
        (
            *(
                1,
                1,
                "c" * 32,
                "2025-10-30",
                3000,
                0,
                "settled",
                5,
                1,
                3,
                'Zo\u00eb "Z" M\u00f6ller',
            ),
            *("4300", "RF18 5390 0754 7034, thanks", "E-1", None, None),
        ),
        (
            *(2, 1, "d" * 32, "2025-10-30", -500, 25, "ignored", None, None, None, None, None),
            *(None, None, "MD06", "Moved between\nown accounts, twice"),
        ),
    ),
    "closed_months.csv": "month_id,closed_on\n202509,2025-10-04\n202510,2025-11-05\n",
    **COLLECTING,
}
