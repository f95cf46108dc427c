"""The rows of payments, and of the allocations that say which invoice they settle.

The functions run in an operation (``store.books.operation``) or in a reading of one. All amounts
are whole cents.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from masthead.errors import NotFound
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed

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


class Settling(NamedTuple):
    """What an allocation settles of an invoice."""

    invoice_id: int
    kind: AllocationKind
    cents: int
    booked_on: str


_PAYMENT = ", ".join(Payment._fields)
_ALLOCATION = ", ".join(Allocation._fields)


_SOURCES, _CREDITS = "payments_of_sources", "credits_of_payers"
_QUEUED, _SETTLING = "queued_payments", "settling_of_invoices"
"""Memories: payments by their source; payments with credit, of each payer; the rows of payments
that are not written yet; and what settles invoices (:func:`keep`)."""


def keep(
    books: Operation,
    *,
    sources: Mapping[str, Payment | None],
    with_credit: Mapping[int, Iterable[Payment]],
    settling: Mapping[int, list[Settling]],
) -> None:
    """Remember looked-up values until the queued rows are written."""
    books.memory(_SOURCES).update(sources)
    books.memory(_SETTLING).update(settling)
    for payer, own in with_credit.items():
        books.memory(_CREDITS)[payer] = {each.payment_id: each for each in own}


def add_payment(books: Operation, payment: Payment) -> None:
    """Queue a payment."""
    row = books.add("payments", **payment._asdict())
    books.memory(_QUEUED)[payment.payment_id] = row
    if payment.source in books.memory(_SOURCES):
        books.memory(_SOURCES)[payment.source] = payment
    if payment.subscriber_id in books.memory(_CREDITS):
        books.memory(_CREDITS)[payment.subscriber_id][payment.payment_id] = payment


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
        if invoice_id in books.memory(_SETTLING):
            books.memory(_SETTLING)[invoice_id].append(Settling(invoice_id, kind, cents, day))
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
    known: dict[str, Payment | None] = books.memory(_SOURCES)
    return known[source] if source in known else payments_of_sources(books, [source])[source]


def payments_of_sources(books: Reading, sources: Sequence[str]) -> dict[str, Payment | None]:
    """Return the payment of each entry of a bank's file, None if it was not booked."""
    values = {f"v{number}": source for number, source in enumerate(sources)}
    found: dict[str, Payment | None] = dict.fromkeys(sources)
    rows = books.rows_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments
        WHERE account_id = :account_id
            AND source IN ({", ".join(f":{name}" for name in values) or "NULL"})
        """,
        **values,
    )
    return found | {str(each.source): each for each in rows}


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


def same_payments(books: Reading, payment: Payment, first_day: str, last_day: str) -> list[Payment]:
    """Return payments of the same payer, amount, type and reference that have not come back.

    Their value dates are from ``first_day`` to ``last_day``.
    """
    return books.rows_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments AS p
        WHERE p.account_id = :account_id AND p.subscriber_id = :payer AND p.kind = 'payment'
            AND p.cents = :cents AND p.reference = :reference
            AND coalesce(p.payment_type, '') = :payment_type
            AND p.value_date >= :first_day AND p.value_date <= :last_day
            AND NOT EXISTS (SELECT 1 FROM payments AS r
                WHERE r.account_id = :account_id AND r.reverses_id = p.payment_id)
        ORDER BY p.payment_id
        """,
        payer=payment.subscriber_id,
        cents=payment.cents,
        reference=payment.reference,
        payment_type=payment.payment_type or "",
        first_day=first_day,
        last_day=last_day,
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
    known = books.memory(_CREDITS).get(subscriber_id)
    if known is not None:
        return [each for each in known.values() if each.left_cents]
    return with_credit_of_payers(books, [subscriber_id])[subscriber_id]


def with_credit_of_payers(books: Reading, payers: Collection[int]) -> dict[int, list[Payment]]:
    """Return, of each payer, the payments of which something is left, the oldest first."""
    found: dict[int, list[Payment]] = {payer: [] for payer in payers}
    rows = books.rows_as(
        Payment,
        f"""
        SELECT {_PAYMENT} FROM payments
        WHERE account_id = :account_id AND subscriber_id IN ({listed(payers)}) AND left_cents <> 0
        ORDER BY payment_id
        """,
    )
    for each in rows:
        found[each.subscriber_id].append(each)
    return found


def credit_of(books: Reading, subscriber_id: int) -> int:
    """Return the credit of a payer in cents; below 0 if credit was paid back that then bounced."""
    return sum(each.left_cents for each in with_credit(books, subscriber_id))


def change_left(books: Operation, payment_id: int, cents: int) -> None:
    """Add ``cents`` to what is left of a payment, in its row or queued."""
    if not cents:
        return
    row = books.memory(_QUEUED).get(payment_id)
    if row is None:
        books.memory(_CREDITS).clear()
        books.change_later(
            """
            UPDATE payments SET left_cents = left_cents + :cents
            WHERE account_id = :account_id AND payment_id = :payment_id
            """,
            payment_id=payment_id,
            cents=cents,
        )
        return
    row["left_cents"] += cents
    known = books.memory(_CREDITS).get(row["subscriber_id"], {})
    if payment_id in known:
        known[payment_id] = known[payment_id]._replace(left_cents=row["left_cents"])


class Settled(NamedTuple):
    """What settles an invoice, in cents: payments, credit notes, write-offs."""

    paid: int
    credited: int
    written_off: int


def settled_of(books: Reading, invoice_id: int) -> Settled:
    """Return what settles an invoice, by kind."""
    by_kind = Counter[str]()
    for each in _settling(books, invoice_id):
        by_kind[each.kind] += each.cents
    return Settled(by_kind["payment"], by_kind["credit_note"], by_kind["write_off"])


def settling_of_invoices(books: Reading, invoices: Collection[int]) -> dict[int, list[Settling]]:
    """Return what settles each of the invoices, in any order."""
    found: dict[int, list[Settling]] = {each: [] for each in invoices}
    rows = books.rows_as(
        Settling,
        f"""
        SELECT {", ".join(Settling._fields)} FROM allocations
        WHERE account_id = :account_id AND invoice_id IN ({listed(invoices)})
        """,
    )
    for each in rows:
        found[each.invoice_id].append(each)
    return found


def _settling(books: Reading, invoice_id: int) -> list[Settling]:
    known: list[Settling] | None = books.memory(_SETTLING).get(invoice_id)
    return settling_of_invoices(books, [invoice_id])[invoice_id] if known is None else known


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
    return sorted({each.booked_on for each in _settling(books, invoice_id)}, reverse=True)


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
