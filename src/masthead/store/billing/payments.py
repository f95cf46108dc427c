"""The rows of payments, and of the allocations that say which invoice they settle.

The functions run in an operation (``store.books.operation``) or in a reading of one. All amounts
are whole cents.
"""

from typing import Literal, NamedTuple

from masthead.errors import NotFound
from masthead.store.books.operation import Operation, Reading

PaymentKind = Literal["payment", "reversal", "paid_back"]
AllocationKind = Literal["payment", "credit_note", "write_off"]


class Payment(NamedTuple):
    """Money that came (above 0) or went (below 0), with the day on which it did.

    ``fee`` is what the bank or the card provider kept. ``reverses_id`` is the payment that a
    reversal takes back. ``source`` identifies the entry of a bank's file. ``left_cents`` is the
    payer's credit: what is neither allocated nor paid back.
    """

    payment_id: int
    subscriber_id: int
    kind: PaymentKind
    value_date: str
    booked_on: str
    cents: int
    fee: int
    payment_type: str | None
    reference: str | None
    reverses_id: int | None
    reason: str | None
    source: str | None
    left_cents: int


class Allocation(NamedTuple):
    """What settles a part of an invoice: a payment, a credit note, or a write-off.

    ``cents`` is below 0 where it is taken back.
    """

    allocation_id: int
    invoice_id: int
    kind: AllocationKind
    payment_id: int | None
    credit_note_id: int | None
    cents: int
    booked_on: str


_PAYMENT = ", ".join(Payment._fields)
_ALLOCATION = ", ".join(Allocation._fields)


def add_payment(books: Operation, payment: Payment) -> None:
    """Queue a payment."""
    books.add("payments", **payment._asdict())


def allocate(
    books: Operation,
    invoice_id: int,
    kind: AllocationKind,
    cents: int,
    day: str,
    *,
    payment_id: int | None = None,
    credit_note_id: int | None = None,
) -> None:
    """Queue an allocation of ``cents`` to an invoice; 0 cents are not written."""
    if cents:
        books.add(
            "allocations",
            allocation_id=books.new_id("allocations"),
            invoice_id=invoice_id,
            kind=kind,
            payment_id=payment_id,
            credit_note_id=credit_note_id,
            cents=cents,
            booked_on=day,
        )


def find_payment(books: Reading, payment_id: int) -> Payment:
    """Return a payment. Raises NotFound if there is none."""
    found = books.row_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments
        WHERE account_id = :account_id AND payment_id = :payment_id
        """,
        payment_id=payment_id,
    )
    if found is None:
        raise NotFound(f"there is no payment {payment_id}", code="unknown_payment")
    return found


def payment_of_source(books: Reading, source: str) -> Payment | None:
    """Return the payment of an entry of a bank's file, None if it was not booked."""
    return books.row_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments WHERE account_id = :account_id AND source = :source
        """,
        source=source,
    )


def reversal_of(books: Reading, payment_id: int) -> Payment | None:
    """Return the reversal of a payment, None if it was not reversed."""
    return books.row_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments
        WHERE account_id = :account_id AND reverses_id = :payment_id
        """,
        payment_id=payment_id,
    )


def payments_of(books: Reading, subscriber_id: int) -> list[Payment]:
    """Return all payments of a payer, the oldest first."""
    return books.rows_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        ORDER BY payment_id
        """,
        subscriber_id=subscriber_id,
    )


def with_credit(books: Reading, subscriber_id: int) -> list[Payment]:
    """Return the payments of a payer of which something is left, the oldest first."""
    return books.rows_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND left_cents <> 0
        ORDER BY payment_id
        """,
        subscriber_id=subscriber_id,
    )


def credit_of(books: Reading, subscriber_id: int) -> int:
    """Return the credit of a payer in cents; below 0 if credit was paid back that then bounced."""
    return sum(each.left_cents for each in with_credit(books, subscriber_id))


def change_left(books: Operation, payment_id: int, cents: int) -> None:
    """Add ``cents`` to what is left of a payment."""
    if cents:
        books.change(
            """
            UPDATE payments SET left_cents = left_cents + :cents
            WHERE account_id = :account_id AND payment_id = :payment_id
            """,
            payment_id=payment_id,
            cents=cents,
        )


class Settled(NamedTuple):
    """What settles an invoice, in cents: payments, credit notes, write-offs."""

    paid: int
    credited: int
    written_off: int


def settled_of(books: Reading, invoice_id: int) -> Settled:
    """Return what settles an invoice, by kind."""
    rows = dict(
        books.rows_as(
            tuple[str, int],
            """
            SELECT kind, CAST(sum(cents) AS BIGINT) FROM allocations
            WHERE account_id = :account_id AND invoice_id = :invoice_id GROUP BY kind
            """,
            invoice_id=invoice_id,
        )
    )
    return Settled(rows.get("payment", 0), rows.get("credit_note", 0), rows.get("write_off", 0))


def paid_by(books: Reading, invoice_id: int) -> list[tuple[int, int]]:
    """Return the payments that settle an invoice, the newest first, each with its cents."""
    return books.rows_as(
        tuple[int, int],
        """
        SELECT payment_id, CAST(sum(cents) AS BIGINT) FROM allocations
        WHERE account_id = :account_id AND invoice_id = :invoice_id AND kind = 'payment'
        GROUP BY payment_id HAVING sum(cents) <> 0 ORDER BY payment_id DESC
        """,
        invoice_id=invoice_id,
    )


def invoices_paid_by(books: Reading, payment_id: int) -> list[tuple[int, int]]:
    """Return the invoices that a payment settles, by id, each with the cents allocated."""
    return books.rows_as(
        tuple[int, int],
        """
        SELECT invoice_id, CAST(sum(cents) AS BIGINT) FROM allocations
        WHERE account_id = :account_id AND payment_id = :payment_id AND kind = 'payment'
        GROUP BY invoice_id HAVING sum(cents) <> 0 ORDER BY invoice_id
        """,
        payment_id=payment_id,
    )


def days_of(books: Reading, invoice_id: int) -> list[str]:
    """Return the days on which something settled an invoice, the newest first."""
    rows = books.rows_as(
        tuple[str],
        """
        SELECT DISTINCT booked_on FROM allocations
        WHERE account_id = :account_id AND invoice_id = :invoice_id ORDER BY booked_on DESC
        """,
        invoice_id=invoice_id,
    )
    return [day for (day,) in rows]


def allocations_of(books: Reading, invoice_id: int) -> list[Allocation]:
    """Return the allocations of an invoice, the oldest first."""
    return books.rows_as(
        Allocation,
        f"""
        SELECT {_ALLOCATION} FROM allocations
        WHERE account_id = :account_id AND invoice_id = :invoice_id ORDER BY allocation_id
        """,
        invoice_id=invoice_id,
    )
