"""The qualification of the small publisher of ``small_books``, with a value in each column.

Tide is free to those who qualify. Subscriber 3 answered twice.
"""

from __future__ import annotations

from tests.circulation.csv_text import csv_text

QUALIFICATION: dict[str, str] = {
    "qualification_forms.csv": csv_text(
        ("publication_id", "months", "fills", "type", "agreed_text"),
        (1, 24, "class", "Both", 'I want "Tide", free'),
    ),
    "qualification_questions.csv": csv_text(
        ("publication_id", "field_id", "position", "required", "allow_other"),
        (1, 1, 2, 1, 0),
        (1, 2, 1, 0, 1),
    ),
    "audit_classes.csv": csv_text(
        ("audit_class_id", "publication_id", "position", "code", "name", "served", "quota"),
        (1, 1, 1, "chief", "Zoë & Söhne", 1, 5000),
        (2, 1, 2, "unclassified", None, 0, None),
        (3, 1, None, "old", "Not used any more", 0, None),
    ),
    "audit_class_conditions.csv": csv_text(
        ("audit_class_id", "field_id", "option_ids"), (1, 1, "10|11")
    ),
    "request_types.csv": csv_text(
        ("request_type_id", "code", "name", "position", "is_request"),
        (1, "web", "Request on the web", 1, 1),
        (2, "list", "From a list", 2, 0),
    ),
    "qualifications.csv": csv_text(
        (
            *("qualification_id", "subscriber_id", "publication_id", "subscription_id"),
            *("qualified_on", "valid_until", "request_type", "audit_class_id", "new_class_id"),
            *(
                "disqualified",
                "answers",
                "taken_by",
                "evidence",
                "external_reference",
                "recorded_at",
            ),
        ),
        (
            *(1, 3, 1, 3, "2023-10-02", "2025-10-01", "list", 3, 1, 1),
            *('{"1":{"options":[10],"text":""}}', None, None, None, "2025-11-03 09:00:00"),
        ),
        (
            *(2, 3, 1, 3, "2025-10-20", "2027-10-19", "web", 1, None, 0, None, "ben"),
            *('{"address": "192.0.2.7"}', "call-7", "2025-11-03 09:00:00"),
        ),
        (
            *(3, 6, 1, None, "2025-10-20", "2027-10-19", "web", 2, None, 0, *[None] * 4),
            "2025-11-03 09:00:00",
        ),
    ),
    "qualified_subscriptions.csv": csv_text(
        (
            *("subscription_id", "publication_id", "qualification_id", "audit_class_id"),
            *("class_position", "request_position", "qualified_on", "valid_until", "served"),
            "lapsed_by",
        ),
        (3, 1, 2, 1, 1, 1, "2025-10-20", "2027-10-19", 0, 2),
    ),
    "audit_figures.csv": csv_text(
        (
            *("issue_id", "position", "part", "key1", "key2", "key3", "subscriptions", "copies"),
            *("printed", "digital"),
        ),
        (10, 1, "class", "chief", "web", "1", 2, 3, 2, 1),
        (10, 2, "state", "NY", None, None, 1, 1, 1, 0),
    ),
    "requalification_efforts.csv": csv_text(
        ("publication_id", "effort", "days_before", "way"),
        (1, 1, 90, "email"),
        (1, 2, 30, "letter"),
    ),
    "requalifications_sent.csv": csv_text(
        ("qualification_id", "effort", "sent_on"), (1, 1, "2025-10-01")
    ),
}
