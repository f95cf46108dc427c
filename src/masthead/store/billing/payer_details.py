"""How a payer gets documents (billing, "E-mail"). VAT numbers are in ``store.billing.rates``."""

from masthead.store.books.operation import Operation, Reading


def wants_email(reading: Reading, subscriber_id: int) -> bool:
    """Return whether the documents of a payer go by email."""
    return bool(
        reading.value_as(
            int,
            """
            SELECT by_email FROM payer_details
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            """,
            subscriber_id=subscriber_id,
        )
    )


def set_by_email(change: Operation, subscriber_id: int, *, by_email: bool) -> None:
    """Set whether the documents of a payer go by email."""
    change.change(
        """
        INSERT INTO payer_details (account_id, subscriber_id, by_email)
        VALUES (:account_id, :subscriber_id, :by_email)
        ON CONFLICT (account_id, subscriber_id) DO UPDATE SET by_email = excluded.by_email
        """,
        subscriber_id=subscriber_id,
        by_email=int(by_email),
    )
