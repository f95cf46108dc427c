"""A row in each table that has rows of readers, for several readers of one account."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.billing.bureau import fill

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

DAY = "2026-04-15"


def rows_of(n: int) -> dict[str, dict[str, Any]]:
    """Return a row of each table for the reader ``n``, whose other ids are ``n`` too.

    They come in the order in which they can be written.
    """
    reader, subscription, order = {"subscriber_id": n}, {"subscription_id": n}, {"order_id": n}
    cents: dict[str, Any] = {"net": 1, "tax": 0}
    return {
        "payer_details": {**reader, "by_email": 1},
        "erasures": {**reader, "erased_at": None},
        "notes": {"note_id": n, **reader},
        "custom_field_answers": {**reader, "field_id": 1, "text_value": "x"},
        "subscriptions": {**subscription, **reader, "publication_id": 1},
        "orders": {**order, **reader},
        "purchases": {"purchase_id": n, **reader},
        "order_items": {"order_item_id": n, **order, "bundle_id": 1},
        "terms": {
            "term_id": n,
            **subscription,
            "order_item_id": n,
            "issues": 12,
            "issues_left": 11,
            "kind": "new",
        },
        "revenue": {"revenue_id": n, "term_id": n, "kind": "earned", "cents": 1, "booked_on": DAY},
        "subscription_issues": {**subscription, "issue_id": 1, "mailing_list_id": 1},
        "mailing_list_entries": {"mailing_list_id": 1, **subscription},
        "suspensions": {"suspension_id": n, **subscription, "from_date": DAY},
        "temporary_addresses": {
            "temporary_address_id": n,
            **subscription,
            "address_id": n,
            "from_date": DAY,
            "to_date": DAY,
        },
        "replacements": {"replacement_id": n, **subscription, "issue_id": 1, "asked_on": DAY},
        "complaints": {
            "complaint_id": n,
            **reader,
            **subscription,
            "issue_id": 1,
            "kind": "lost",
            "answer": "nothing",
        },
        "cancellations": {**subscription, "made_on": DAY},
        "cancelled_terms": {"term_id": n, "issues_left": 1},
        "renewals_sent": {"term_id": n, "effort": 1, **subscription, "sent_on": DAY},
        "invoices": {
            "invoice_id": n,
            "kind": "invoice",
            "series": "S",
            "number": n,
            "number_text": f"S-{n}",
            **reader,
            **order,
            "issued_on": DAY,
            **cents,
            "total": 1,
            "open_cents": 1,
        },
        "invoice_lines": {
            "invoice_id": n,
            "line_number": 1,
            "goods": "print",
            **cents,
            "percent": 0,
            "category": "Z",
        },
        "payments": {
            "payment_id": n,
            **reader,
            "kind": "payment",
            "value_date": DAY,
            "booked_on": DAY,
            "cents": 1,
            "left_cents": 0,
        },
        "allocations": {
            "allocation_id": n,
            "invoice_id": n,
            "kind": "payment",
            "payment_id": n,
            "cents": 1,
            "booked_on": DAY,
        },
        "journal_lines": {
            "entry_id": n,
            "line_number": 1,
            "booked_on": DAY,
            "account": "bank",
            "cents": 1,
            "payment_id": n,
        },
        "bank_entries": {
            "bank_entry_id": n,
            "bank_file_id": 1,
            "fingerprint": f"f{n}",
            "value_date": DAY,
            "cents": 1,
            "status": "settled",
            **reader,
        },
        "mandates": {
            "mandate_id": n,
            **reader,
            "reference": f"M{n}",
            "scheme": "core",
            "signed_on": DAY,
            "status": "active",
            "status_since": DAY,
        },
        "claims": {
            "claim_id": n,
            "debit_run_id": 1,
            "invoice_id": n,
            "mandate_id": n,
            **reader,
            "cents": 1,
            "end_to_end_id": f"E{n}",
            "sequence": "RCUR",
            "status": "sent",
        },
        "reminders": {
            "reminder_id": n,
            "invoice_id": n,
            **reader,
            "level": 1,
            "reminded_on": DAY,
        },
        "renewal_consents": {
            "consent_id": n,
            **subscription,
            **reader,
            "bundle_id": 1,
            "given_on": DAY,
        },
        "announced_renewals": {
            "announcement_id": n,
            "consent_id": n,
            **subscription,
            "term_id": n,
            "bundle_id": 1,
            "price": 1,
            "tax": 0,
            "announced_on": DAY,
            "renews_on": DAY,
            "status": "announced",
        },
        "mails": {"mail_id": n, **reader, "kind": "invoice", "status": "queued"},
        "held_addresses": {"held_address_id": n, **reader, "address": f"h{n}", "held_on": DAY},
        "letters": {
            "letter_id": n,
            "kind": "welcome",
            **subscription,
            **reader,
            "written_on": DAY,
        },
        "reader_changes": {"reader_change_id": n, **reader, "kind": "pause"},
        "reader_consents": {"reader_consent_id": n, **reader, "purpose": "news"},
        "reader_requests": {"reader_request_id": n, **reader, "kind": "message"},
        "qualifications": {
            "qualification_id": n,
            **reader,
            **subscription,
            "publication_id": 1,
            "qualified_on": DAY,
            "valid_until": DAY,
            "request_type": "web",
            "recorded_at": DAY,
        },
        "qualified_subscriptions": {
            **subscription,
            "publication_id": 1,
            "qualification_id": n,
            "qualified_on": DAY,
            "valid_until": DAY,
        },
        "reader_sessions": {
            "token_hash": f"t{n}",
            **reader,
            "login_mark": "m",
            "begun_at": 1,
            "used_at": 1,
        },
        "sign_in_links": {
            "token_hash": f"t{n}",
            "browser_hash": f"b{n}",
            **reader,
            "purpose": "sign_in",
            "made_at": 1,
        },
        "entitlement_codes": {"code_hash": f"c{n}", **reader, "made_at": 1},
    }


def fill_each_table(desk: Desk) -> None:
    """Write the account of ``tests.billing.bureau``, and rows of its first two readers."""
    fill(desk)
    desk.put("custom_fields", field_id=1, name="trade", type="text")
    desk.put("list_downloads", mailing_list_id=1, name="Tide 1")
    desk.put("qualification_forms", publication_id=1)
    desk.put("bank_files", bank_file_id=1, name="f", digest="d")
    desk.put(
        "debit_runs",
        debit_run_id=1,
        collected_on=DAY,
        message_id="m",
        version="pain.008.001.08",
        claims=1,
        cents=1,
    )
    both = [rows_of(n) for n in (1, 2)]
    for table in both[0]:
        desk.put_many(table, [each[table] for each in both])
