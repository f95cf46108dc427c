"""Who a payer is, and what a payer was billed and paid (billing, "What must hold")."""

from collections.abc import Collection

from masthead.billing.payer_statements import Movement
from masthead.errors import no_subscriber
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed


def kept_payers(reading: Reading, ids: Collection[int]) -> dict[int, int]:
    """Return the payers whom ids mean, by id: for a merged subscriber, the one who is kept.

    Ids of nobody are left out.
    """
    if not ids:
        return {}
    rows = reading.rows_as(
        tuple[int, int],
        f"""
        SELECT subscriber_id, coalesce(merged_into, subscriber_id) FROM subscribers
        WHERE account_id = :account_id AND subscriber_id IN ({listed(ids)})
        """,
    )
    return dict(rows)


def kept_payer(reading: Reading, subscriber_id: int) -> int:
    """Return the payer whom an id means, also a deleted one. Raises NotFound if there is none."""
    kept = kept_payers(reading, [subscriber_id])
    if subscriber_id not in kept:
        raise no_subscriber(reading.account_id, subscriber_id)
    return kept[subscriber_id]


def movements_of(reading: Reading, subscriber_id: int) -> list[Movement]:
    """Return the movements of a payer by day; within a day, invoices come before payments.

    An invoice has its day, a payment its value date, a write-off the day to which it is booked.
    """
    return reading.rows_as(
        Movement,
        """
        SELECT m.day, m.kind, m.number, coalesce(m.about, ''), m.cents FROM (
            SELECT i.issued_on AS day, i.kind, i.number_text AS number,
                CASE WHEN i.kind = 'credit_note' THEN (SELECT o.number_text FROM invoices AS o
                    WHERE o.account_id = :account_id AND o.invoice_id = i.of_invoice_id)
                    WHEN EXISTS (SELECT 1 FROM reminders AS r
                        WHERE r.account_id = :account_id AND r.fee_invoice_id = i.invoice_id)
                    THEN 'reminder fee' ELSE i.reason END AS about,
                CASE WHEN i.kind = 'credit_note' THEN -abs(i.total) ELSE i.total END AS cents,
                0 AS place, i.invoice_id AS id
            FROM invoices AS i
            WHERE i.account_id = :account_id AND i.subscriber_id = :subscriber_id
            UNION ALL
            SELECT p.value_date, p.kind, CAST(p.payment_id AS TEXT),
                coalesce(p.reference, p.reason, p.payment_type), -p.cents, 1, p.payment_id
            FROM payments AS p
            WHERE p.account_id = :account_id AND p.subscriber_id = :subscriber_id
            UNION ALL
            SELECT a.booked_on, 'write_off', w.number_text, '', -a.cents, 2, a.allocation_id
            FROM invoices AS w JOIN allocations AS a
                ON a.account_id = :account_id AND a.invoice_id = w.invoice_id
            WHERE w.account_id = :account_id AND w.subscriber_id = :subscriber_id
                AND a.kind = 'write_off') AS m
        ORDER BY m.day, m.place, m.id
        """,
        subscriber_id=subscriber_id,
    )
