"""The answers that a reader gives on the readers' pages, each with its day.

The functions run in an operation (``store.books.operation``) or in a reading of one.
"""

from collections.abc import Mapping
from typing import Any

from masthead.store.books.operation import Operation, Reading


def stored_answers(reading: Reading, subscriber_id: int) -> dict[int, dict[str, Any]]:
    """Return the answers of a reader by the id of the field: options, text and day."""
    rows = reading.rows(
        """
        SELECT field_id, option_ids, text_value, answered_on FROM custom_field_answers
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    )
    names = ("option_ids", "text_value", "answered_on")
    return {field_id: dict(zip(names, own, strict=True)) for field_id, *own in sorted(rows)}


def write(
    change: Operation, subscriber_id: int, answers: Mapping[int, Mapping[str, Any] | None]
) -> None:
    """Replace answers by the ids of their fields; None removes one, as before any answer."""
    for field_id, answer in answers.items():
        change.change(
            """
            DELETE FROM custom_field_answers WHERE account_id = :account_id
                AND subscriber_id = :subscriber_id AND field_id = :field_id
            """,
            subscriber_id=subscriber_id,
            field_id=field_id,
        )
        if answer is not None:
            change.add(
                "custom_field_answers", subscriber_id=subscriber_id, field_id=field_id, **answer
            )
    change.change(
        """
        UPDATE subscribers SET custom_fields_commit_id = :commit_id
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
        commit_id=change.commit_id,
    )
