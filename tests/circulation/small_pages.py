"""The readers' pages of the small publisher of ``small_books``, with a value in each column."""

from __future__ import annotations

from tests.circulation.csv_text import csv_text

PAGES: dict[str, str] = {
    "page_settings.csv": csv_text(
        ("setting_id", "name", "value"), (1, "site", "tide"), (2, "name", "Tide &\nSöhne")
    ),
    "reader_bundles.csv": csv_text(("bundle_id", "renew", "buy", "gift"), (1, 1, 0, 1)),
    "reader_changes.csv": csv_text(
        (
            *("reader_change_id", "subscriber_id", "subscription_id", "kind", "made_at"),
            *("before", "after", "undone_at", "undone_by"),
        ),
        (
            *(1, 4, 4, "pause", "2025-11-03 09:00:00", None, '{"from": "2025-12-01"}'),
            *("2025-11-04 09:00:00", "ben"),
        ),
        (
            *(2, 4, None, "contact", "2025-11-05 09:00:00", '{"last_name": "Möller"}'),
            *('{"last_name": "Zoë"}', None, None),
        ),
    ),
    "reader_consents.csv": csv_text(
        ("reader_consent_id", "subscriber_id", "purpose", "given_at", "ended_at"),
        (1, 4, "news", "2025-11-03 09:00:00", "2025-11-04 09:00:00"),
    ),
    "reader_requests.csv": csv_text(
        (
            *("reader_request_id", "subscriber_id", "subscription_id", "issue_id", "kind"),
            *("text", "made_at", "answered_at", "answered_by"),
        ),
        (
            *(1, 4, 4, 10, "missing_copy", 'Not here, "again"'),
            *("2025-11-03 09:00:00", "2025-11-04 09:00:00", "ben"),
        ),
        (2, 5, None, None, "erasure", None, "2025-11-03 09:00:00", None, None),
    ),
}
