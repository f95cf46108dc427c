"""Collecting of the small publisher of ``small_books``, with a value in each column.

Subscriber 5 has a mandate with a collection that came back, and an email that was sent; subscriber
4 has a reminder with a fee.
"""

from __future__ import annotations

from tests.circulation.csv_text import csv_text

IBAN = "DE89370400440532013000"

COLLECTING: dict[str, str] = {
    "mandates.csv": csv_text(
        (
            *("mandate_id", "subscriber_id", "reference", "scheme", "account_holder", "iban"),
            *("iban_end", "bic", "signed_on", "status", "status_since", "reason", "used_on"),
        ),
        (
            *(1, 4, "TIDE-0001", "b2b", None, None, None, None),
            *("2025-10-01", "ended", "2025-11-10", None, None),
        ),
        (
            *(2, 5, "TIDE-0002", "core", 'Zoë "Z" Möller', IBAN, "3000", "COBADEFFXXX"),
            *("2025-10-01", "resting", "2025-11-10", "Two returns,\nin a row", "2025-11-05"),
        ),
    ),
    "debit_runs.csv": csv_text(
        (
            *("debit_run_id", "created_at", "collected_on", "message_id", "version", "claims"),
            *("cents", "creditor"),
        ),
        (
            *(1, "2025-11-01 09:00:00", "2025-11-05", "MSG-1", "pain.008.001.08", 2, 3100),
            '{"name": "Tide & Söhne"}',
        ),
    ),
    "claims.csv": csv_text(
        (
            *("claim_id", "debit_run_id", "invoice_id", "mandate_id", "subscriber_id", "cents"),
            *("end_to_end_id", "sequence", "status", "payment_id", "returned_on"),
            *("return_reason", "fee"),
        ),
        (1, 1, 1, 2, 5, 3000, "E-1", "FRST", "returned", 1, "2025-11-07", "AM04", 300),
        (2, 1, 3, 1, 4, 100, "E-2", "RCUR", "sent", None, None, None, 0),
    ),
    "reminder_levels.csv": csv_text(
        ("level", "days", "fee", "then_do", "text"),
        (1, 14, 0, "nothing", None),
        (2, 28, 250, "stop", "Dear payer,\nplease pay"),
        (9, 60, 0, "write_off", None),
    ),
    "reminders.csv": csv_text(
        (
            *("reminder_id", "invoice_id", "subscriber_id", "level", "reminded_on", "fee"),
            *("fee_invoice_id", "read_until", "printed"),
        ),
        (1, 3, 4, 2, "2025-11-20", 250, 3, "2025-11-18", '{"payer": "Zoë"}'),
    ),
    "renewal_consents.csv": csv_text(
        (
            *("consent_id", "subscription_id", "subscriber_id", "bundle_id", "given_on", "words"),
            *("source", "stopped_on", "stop_reason"),
        ),
        (1, 1, 1, 1, "2025-11-03", None, None, None, None),
        (2, 4, 4, 1, "2025-10-01", 'I "agree",\nyes', "web", "2025-11-02", "She asked for it"),
    ),
    "announced_renewals.csv": csv_text(
        (
            *("announcement_id", "consent_id", "subscription_id", "term_id", "bundle_id", "price"),
            *("tax", "announced_on", "renews_on", "status", "order_id", "reason"),
        ),
        (
            *(1, 2, 4, 1, 1, 3600, 252, "2025-10-10", "2025-11-10", "refused", 1),
            "the offer is no longer sold",
        ),
    ),
    "mails.csv": csv_text(
        (
            *("mail_id", "subscriber_id", "address", "kind", "subject", "text", "invoice_id"),
            *("reminder_id", "subscription_id", "status", "queued_at", "due_at", "tries"),
            *("sent_at", "error", "message_id"),
        ),
        (
            *(1, 1, None, "welcome", None, None, None, None, 1, "queued"),
            *("2025-11-20 09:00:00", "2025-11-20 09:00:00", 0, None, None, None),
        ),
        (
            *(2, 4, "zoe@example.org", "reminder", "Reminder", "Dear Zoë,\n…", 3, 1, 4),
            *("sent", "2025-11-20 09:00:00", "2025-11-20 09:00:00", 2, "2025-11-20 09:05:00"),
            *("450 later, please", "<1@tide.example>"),
        ),
    ),
    "held_addresses.csv": csv_text(
        ("held_address_id", "subscriber_id", "address", "held_on", "reason", "bounces"),
        (1, 4, "old@example.org", "2025-11-21", "550 no such user", 2),
    ),
    "letters.csv": csv_text(
        (
            *("letter_id", "kind", "subscription_id", "subscriber_id", "written_on"),
            "by_email",
        ),
        (1, "welcome", 1, 1, "2025-10-20", 1),
    ),
}
