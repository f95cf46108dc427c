"""What invoices, payments and revenue add up to, beside the journal (billing, "What must hold").

All amounts are whole cents. A day counts with all that is booked until its end.
"""

from typing import NamedTuple

from masthead.billing.journal_checks import Compared, Sums
from masthead.store.books.operation import Reading


class InvoiceSums(NamedTuple):
    """Invoices and receipts: invoiced = settled + deposits + open + credited + written off.

    ``settled`` was paid of whole invoices, ``deposits`` of others. ``open`` is what is missing.
    ``unpaid_net`` and ``unpaid_tax`` are those of invoices that are not whole, without their credit
    notes. The former is also without what stays revenue: items that had ended before the payment
    came back. ``reminder_fees`` was paid of the fees of reminders that are whole.
    """

    invoiced: int
    settled: int
    deposits: int
    open: int
    credited: int
    written_off: int
    unpaid_net: int
    unpaid_tax: int
    reminder_fees: int


class PaymentSums(NamedTuple):
    """Money: what came and went, its fees, and the credit of payers, which no invoice has."""

    cents: int
    fees: int
    credits: int


def invoice_sums(reading: Reading, day: str) -> InvoiceSums:
    """Return what the invoices issued until a day come to, as of that day."""
    row = reading.row_as(
        InvoiceSums,
        f"""
        SELECT {_sum("w.total")}, {_sum("CASE WHEN w.open = 0 THEN w.paid ELSE 0 END")},
            {_sum("CASE WHEN w.open = 0 THEN 0 ELSE w.paid END")}, {_sum("w.open")},
            {_sum("w.credited")}, {_sum("w.lost")},
            {_sum("CASE WHEN w.open = 0 THEN 0 ELSE w.net END")},
            {_sum("CASE WHEN w.open = 0 THEN 0 ELSE w.tax END")},
            {_sum("CASE WHEN w.open = 0 AND w.order_id IS NULL THEN w.paid ELSE 0 END")}
        FROM (
            SELECT i.order_id, i.total, i.net - coalesce(c.net, 0) AS net,
                i.tax - coalesce(c.tax, 0) AS tax,
                coalesce(a.paid, 0) AS paid, coalesce(a.credited, 0) AS credited,
                coalesce(a.lost, 0) AS lost, i.total - coalesce(a.settled, 0) AS open
            FROM invoices AS i LEFT JOIN (
                SELECT invoice_id, sum(cents) AS settled,
                    sum(CASE WHEN kind = 'payment' THEN cents ELSE 0 END) AS paid,
                    sum(CASE WHEN kind = 'credit_note' THEN cents ELSE 0 END) AS credited,
                    sum(CASE WHEN kind = 'write_off' THEN cents ELSE 0 END) AS lost
                FROM allocations WHERE account_id = :account_id AND booked_on <= :day
                GROUP BY invoice_id) AS a ON a.invoice_id = i.invoice_id
            LEFT JOIN (
                SELECT of_invoice_id, sum(net) AS net, sum(tax) AS tax FROM invoices
                WHERE account_id = :account_id AND kind = 'credit_note' AND issued_on <= :day
                GROUP BY of_invoice_id) AS c ON c.of_invoice_id = i.invoice_id
            WHERE i.account_id = :account_id AND i.kind <> 'credit_note' AND i.issued_on <= :day
            ) AS w
        """,
        day=day,
    )
    assert row is not None
    return row._replace(unpaid_net=row.unpaid_net - _kept_of_unpaid(reading, day))


def _kept_of_unpaid(reading: Reading, day: str) -> int:
    """Return the net that ended items keep in invoices that are not whole as of a day."""
    waiting = """
        i.account_id = :account_id AND i.kind <> 'credit_note' AND i.issued_on <= :day
        AND i.total <> coalesce((SELECT sum(a.cents) FROM allocations AS a
            WHERE a.account_id = :account_id AND a.invoice_id = i.invoice_id
                AND a.booked_on <= :day), 0)"""
    terms = reading.value_as(
        int,
        f"""
        SELECT {_sum("CASE r.kind WHEN 'received' THEN r.cents ELSE -r.cents END")}
        FROM invoices AS i
        JOIN order_items AS o ON o.account_id = :account_id AND o.order_id = i.order_id
        JOIN terms AS t ON t.account_id = :account_id AND t.order_item_id = o.order_item_id
        JOIN revenue AS r ON r.account_id = :account_id AND r.term_id = t.term_id
            AND r.kind <> 'earned' AND r.booked_on <= :day
        WHERE {waiting}
        """,
        day=day,
    )
    products = reading.value_as(
        int,
        f"""
        SELECT {_sum("l.net - coalesce(c.net, 0)")}
        FROM invoices AS i
        JOIN order_items AS o ON o.account_id = :account_id AND o.order_id = i.order_id
            AND o.product_id IS NOT NULL AND o.is_dropped = 0
        JOIN invoice_lines AS l ON l.account_id = :account_id AND l.invoice_id = i.invoice_id
            AND l.order_item_id = o.order_item_id
        LEFT JOIN (
            SELECT b.order_item_id, sum(b.net) AS net FROM invoices AS n
            JOIN invoice_lines AS b ON b.account_id = :account_id AND b.invoice_id = n.invoice_id
            WHERE n.account_id = :account_id AND n.kind = 'credit_note' AND n.issued_on <= :day
            GROUP BY b.order_item_id) AS c ON c.order_item_id = o.order_item_id
        WHERE {waiting} AND (c.net IS NOT NULL OR substr(o.refund_date, 1, 10) <= :day)
        """,
        day=day,
    )
    return (terms or 0) + (products or 0)


def payment_sums(reading: Reading, day: str) -> PaymentSums:
    """Return what was paid until a day, without the allocations until then."""
    row = reading.row_as(
        tuple[int, int],
        f"""
        SELECT {_sum("cents")}, {_sum("fee")} FROM payments
        WHERE account_id = :account_id AND booked_on <= :day
        """,
        day=day,
    )
    allocated = reading.value_as(
        int,
        f"""
        SELECT {_sum("cents")} FROM allocations
        WHERE account_id = :account_id AND kind = 'payment' AND booked_on <= :day
        """,
        day=day,
    )
    cents, fees = row or (0, 0)
    return PaymentSums(cents, fees, cents - (allocated or 0))


def liability(reading: Reading, day: str) -> int:
    """Return what is owed to readers at the end of a day, as the liability report counts it."""
    found = reading.value_as(
        int,
        f"""
        SELECT {_sum("CASE WHEN kind = 'received' THEN cents ELSE -cents END")} FROM revenue
        WHERE account_id = :account_id AND booked_on <= :day
        """,
        day=day,
    )
    return found or 0


def sums_of(reading: Reading, day: str) -> Sums:
    """Return what invoices, payments and revenue come to at the end of a day."""
    return Sums(
        *invoice_sums(reading, day),
        *payment_sums(reading, day),
        liability(reading, day),
    )


def stored_columns(reading: Reading, day: str) -> list[Compared]:
    """Compare the stored columns ``open_cents`` and ``left_cents`` with what they follow from."""
    owed = reading.value_as(
        int,
        f"SELECT {_sum('open_cents')} FROM invoices WHERE account_id = :account_id",
    )
    left = reading.value_as(
        int, f"SELECT {_sum('left_cents')} FROM payments WHERE account_id = :account_id"
    )
    return [
        Compared("open", owed or 0, invoice_sums(reading, day).open, "the allocations"),
        Compared("credit", left or 0, payment_sums(reading, day).credits, "the allocations"),
    ]


def _sum(what: str) -> str:
    return f"CAST(coalesce(sum({what}), 0) AS BIGINT)"
