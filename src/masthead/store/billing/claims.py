"""The rows of claims: invoices that were handed to the bank (billing, "Direct debit").

The functions run in an operation (``store.books.operation``) or in a reading of one. All amounts
are whole cents. ``store.billing.debit_runs`` makes them.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from masthead.billing.mandates import Scheme, SequenceType
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed

ClaimStatus = Literal["sent", "paid", "returned", "cancelled"]


class Claim(NamedTuple):
    """An invoice that was handed in; ``payment_id`` is None until the bank has collected it."""

    claim_id: int
    debit_run_id: int
    invoice_id: int
    mandate_id: int
    subscriber_id: int
    cents: int
    end_to_end_id: str
    sequence: SequenceType
    status: ClaimStatus
    payment_id: int | None
    returned_on: str | None
    return_reason: str | None
    fee: int


_CLAIM = ", ".join(f"c.{name}" for name in Claim._fields)


class Selection(NamedTuple):
    """Which claims of a run: those of a scheme and a sequence, with a status; None: of all."""

    run_id: int
    scheme: Scheme | None = None
    sequence: SequenceType | None = None
    status: ClaimStatus | None = None


def claims_of(books: Reading, which: Selection, *, after: int, limit: int) -> list[Claim]:
    """Return claims of a run after an id, by id."""
    wanted: dict[str, str] = {
        name: value
        for name, value in (("sequence", which.sequence), ("status", which.status))
        if value is not None
    }
    conditions = "".join(f" AND c.{name} = :{name}" for name in wanted)
    if which.scheme is not None:
        wanted["scheme"] = which.scheme
        conditions += """ AND EXISTS (SELECT 1 FROM mandates AS m
            WHERE m.account_id = :account_id AND m.mandate_id = c.mandate_id
                AND m.scheme = :scheme)"""
    return books.rows_as(
        Claim,
        f"""
        SELECT {_CLAIM} FROM claims AS c
        WHERE c.account_id = :account_id AND c.debit_run_id = :run_id
            AND c.claim_id > :after{conditions}
        ORDER BY c.claim_id LIMIT :most
        """,
        run_id=which.run_id,
        after=after,
        most=limit,
        **wanted,
    )


def claims_named(books: Reading, end_to_end_ids: Sequence[str]) -> dict[str, Claim]:
    """Return the claims with end-to-end ids, by these."""
    values = {f"v{number}": text for number, text in enumerate(end_to_end_ids)}
    if not values:
        return {}
    marks = ", ".join(f":{name}" for name in values)
    rows = books.rows_as(
        Claim,
        f"""
        SELECT {_CLAIM} FROM claims AS c
        WHERE c.account_id = :account_id AND c.end_to_end_id IN ({marks})
        """,
        **values,
    )
    return {each.end_to_end_id: each for each in rows}


def claim_of_payment(books: Reading, payment_id: int) -> Claim | None:
    """Return the claim whose money a payment is, None if it is no direct debit."""
    return books.row_as(
        Claim,
        f"""
        SELECT {_CLAIM} FROM claims AS c
        WHERE c.account_id = :account_id AND c.payment_id = :payment_id
        """,
        payment_id=payment_id,
    )


def settled_claims_of(books: Reading, mandates: Iterable[int]) -> list[Claim]:
    """Return the claims of mandates that were paid or returned, by mandate, the oldest first.

    Those of runs before the mandate had its present status do not count.
    """
    return books.rows_as(
        Claim,
        f"""
        SELECT {_CLAIM} FROM claims AS c
        JOIN mandates AS m ON m.account_id = :account_id AND m.mandate_id = c.mandate_id
        JOIN debit_runs AS r ON r.account_id = :account_id AND r.debit_run_id = c.debit_run_id
        WHERE c.account_id = :account_id AND c.mandate_id IN ({listed(mandates)})
            AND c.status IN ('paid', 'returned') AND m.status = 'active'
            AND substr(r.created_at, 1, 10) >= m.status_since
        ORDER BY c.mandate_id, c.claim_id
        """,
    )


def mark_paid(books: Operation, claim_id: int, payment_id: int) -> None:
    """Queue that the bank has collected a claim."""
    books.change_later(
        """
        UPDATE claims SET status = 'paid', payment_id = :payment_id
        WHERE account_id = :account_id AND claim_id = :claim_id
        """,
        claim_id=claim_id,
        payment_id=payment_id,
    )


def mark_returned(books: Operation, claim_id: int, day: str, reason: str | None, fee: int) -> None:
    """Queue that a claim came back."""
    books.change_later(
        """
        UPDATE claims SET status = 'returned', returned_on = :day, return_reason = :reason,
            fee = :fee
        WHERE account_id = :account_id AND claim_id = :claim_id
        """,
        claim_id=claim_id,
        day=day,
        reason=reason,
        fee=fee,
    )
