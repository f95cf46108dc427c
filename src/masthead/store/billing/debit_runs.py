"""The debit runs: making one, listing them, and what their files hold (billing, "Direct debit").

The functions run in an operation (``store.books.operation``) or in a reading of one. A run of
200,000 invoices is made by a few statements. All amounts are whole cents.
"""

from collections.abc import Iterator
from typing import NamedTuple

from masthead.bank_files.pain008 import Batch, Debit, Version
from masthead.billing.mandates import Scheme, SequenceType, batch_id
from masthead.errors import BadInput, NotFound
from masthead.store.billing.claims import ClaimStatus
from masthead.store.billing.sealed import unseal_iban
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation, Reading

_AT_ONCE = 500
"""The number of claims that are read together."""


class Run(NamedTuple):
    """A run: its file's id and version, how much was handed in, and the creditor as JSON."""

    debit_run_id: int
    created_at: str
    collected_on: str
    message_id: str
    version: Version
    claims: int
    cents: int
    creditor: str


class Part(NamedTuple):
    """The claims of a run of one scheme, sequence and status: their number and sum.

    ``was_paid`` says whether they have a payment.
    """

    scheme: Scheme
    sequence: SequenceType
    status: ClaimStatus
    was_paid: bool
    claims: int
    cents: int


_RUN = ", ".join(f"r.{name}" for name in Run._fields)

_DUE = """
    FROM invoices AS i
    JOIN mandates AS m ON m.account_id = :account_id AND m.subscriber_id = i.subscriber_id
        AND m.status = 'active' AND m.iban IS NOT NULL
    WHERE i.account_id = :account_id AND i.kind = 'invoice' AND i.open_cents > 0
        AND i.due_on <= :day AND i.issued_on <= :issued_by
        AND NOT EXISTS (SELECT 1 FROM claims AS c
            WHERE c.account_id = :account_id AND c.invoice_id = i.invoice_id AND c.status = 'sent')
        AND NOT EXISTS (SELECT 1 FROM mandates AS n
            WHERE n.account_id = :account_id AND n.subscriber_id = i.subscriber_id
                AND n.status = 'active' AND n.iban IS NOT NULL AND n.mandate_id > m.mandate_id)
    """
"""The open invoices that are due on a day and were announced, with the newest active mandate of
their payer; no invoice that is with the bank."""

_WAS_USED = """
    EXISTS (SELECT 1 FROM claims AS b
        WHERE b.account_id = :account_id AND b.mandate_id = m.mandate_id
            AND (b.status IN ('sent', 'paid') OR b.payment_id IS NOT NULL))
    """
"""Whether the bank has taken a claim of the mandate ``m``: one that it refused, and one that it
never got, do not count."""


def due_with_credit(books: Reading, day: str, issued_by: str) -> list[int]:
    """Return the ids of the invoices due whose payer has a credit, the oldest first."""
    rows = books.rows_as(
        tuple[int],
        f"""
        SELECT i.invoice_id
        {_DUE}
            AND EXISTS (SELECT 1 FROM payments AS p
                WHERE p.account_id = :account_id AND p.subscriber_id = i.subscriber_id
                    AND p.left_cents > 0)
        ORDER BY i.due_on, i.invoice_id
        """,
        day=day,
        issued_by=issued_by,
    )
    return [invoice_id for (invoice_id,) in rows]


def add_claims(
    books: Operation, run_id: int, message_id: str, day: str, issued_by: str
) -> tuple[int, int]:
    """Add the claims of a run for all invoices that are due; return their number and sum.

    The first claim of a mandate is FRST, the following ones are RCUR.
    """
    books.write()
    first = next_ids(books.direct, books.account_id, "claims")
    books.change(
        f"""
        INSERT INTO claims (account_id, claim_id, debit_run_id, invoice_id, mandate_id,
            subscriber_id, cents, end_to_end_id, sequence, status, fee)
        SELECT d.account_id, d.claim_id, CAST(:run_id AS BIGINT), d.invoice_id, d.mandate_id,
            d.subscriber_id, d.open_cents, :prefix || CAST(d.claim_id AS TEXT), d.sequence,
            'sent', 0
        FROM (
            SELECT i.account_id, i.invoice_id, i.subscriber_id, i.open_cents, m.mandate_id,
                CAST(:first AS BIGINT) + row_number() OVER (ORDER BY i.invoice_id) - 1 AS claim_id,
                CASE WHEN {_WAS_USED}
                    OR row_number() OVER (PARTITION BY m.mandate_id ORDER BY i.invoice_id) > 1
                    THEN 'RCUR' ELSE 'FRST' END AS sequence
            {_DUE}
        ) AS d
        """,
        run_id=run_id,
        prefix=f"{message_id}-",
        first=first,
        day=day,
        issued_by=issued_by,
    )
    books.change(
        """
        UPDATE mandates SET used_on = :day
        WHERE account_id = :account_id AND mandate_id IN (
            SELECT c.mandate_id FROM claims AS c
            WHERE c.account_id = :account_id AND c.debit_run_id = :run_id)
        """,
        run_id=run_id,
        day=day,
    )
    ((claims, cents),) = books.rows_as(
        tuple[int, int],
        """
        SELECT count(*), CAST(coalesce(sum(c.cents), 0) AS BIGINT) FROM claims AS c
        WHERE c.account_id = :account_id AND c.debit_run_id = :run_id
        """,
        run_id=run_id,
    )
    return claims, cents


def add_run(books: Operation, run: Run) -> None:
    """Queue a run."""
    books.add("debit_runs", **run._asdict())


def finish_run(books: Operation, run_id: int, claims: int, cents: int) -> None:
    """Store the number and the sum of the claims of a run."""
    books.change(
        """
        UPDATE debit_runs SET claims = :claims, cents = :cents
        WHERE account_id = :account_id AND debit_run_id = :run_id
        """,
        run_id=run_id,
        claims=claims,
        cents=cents,
    )


def drop_run(books: Operation, run_id: int) -> None:
    """Delete a run that has no claim."""
    books.change(
        "DELETE FROM debit_runs WHERE account_id = :account_id AND debit_run_id = :run_id",
        run_id=run_id,
    )


def cancel_claims(books: Operation, run_id: int) -> None:
    """Cancel all claims of a run, and take its day from their mandates."""
    books.change(
        """
        UPDATE claims SET status = 'cancelled'
        WHERE account_id = :account_id AND debit_run_id = :run_id
        """,
        run_id=run_id,
    )
    books.change(
        """
        UPDATE mandates SET used_on = (
            SELECT max(r.collected_on) FROM claims AS c
            JOIN debit_runs AS r
                ON r.account_id = :account_id AND r.debit_run_id = c.debit_run_id
            WHERE c.account_id = :account_id AND c.mandate_id = mandates.mandate_id
                AND c.status <> 'cancelled')
        WHERE account_id = :account_id AND mandate_id IN (
            SELECT d.mandate_id FROM claims AS d
            WHERE d.account_id = :account_id AND d.debit_run_id = :run_id)
        """,
        run_id=run_id,
    )


class LeftOut(NamedTuple):
    """How many open invoices due by a day are not collected, by the reason.

    ``announced``: they were issued too late; ``resting``: the mandate of their payer rests;
    ``with_bank``: they were handed in before.
    """

    announced: int
    resting: int
    with_bank: int


def left_out(books: Reading, day: str, issued_by: str) -> LeftOut:
    """Return how many invoices of payers with a mandate a run leaves out, before it is made."""
    rows = books.rows_as(
        tuple[int, int, int],
        """
        SELECT CAST(coalesce(sum(CASE WHEN d.is_sent = 0 AND d.is_active = 1
                    AND d.issued_on > :issued_by THEN 1 ELSE 0 END), 0) AS BIGINT),
            CAST(coalesce(sum(CASE WHEN d.is_sent = 0 AND d.is_active = 0
                    THEN 1 ELSE 0 END), 0) AS BIGINT),
            CAST(coalesce(sum(d.is_sent), 0) AS BIGINT)
        FROM (
            SELECT i.issued_on,
                CASE WHEN EXISTS (SELECT 1 FROM claims AS c
                    WHERE c.account_id = :account_id AND c.invoice_id = i.invoice_id
                        AND c.status = 'sent') THEN 1 ELSE 0 END AS is_sent,
                max(CASE WHEN m.status = 'active' THEN 1 ELSE 0 END) AS is_active
            FROM invoices AS i
            JOIN mandates AS m ON m.account_id = :account_id
                AND m.subscriber_id = i.subscriber_id
                AND m.status IN ('active', 'resting') AND m.iban IS NOT NULL
            WHERE i.account_id = :account_id AND i.kind = 'invoice' AND i.open_cents > 0
                AND i.due_on <= :day
            GROUP BY i.invoice_id, i.issued_on
        ) AS d
        """,
        day=day,
        issued_by=issued_by,
    )
    return LeftOut(*rows[0])


def find_run(books: Reading, run_id: int) -> Run:
    """Return a run. Raises NotFound if there is none."""
    found = books.row_as(
        Run,
        f"""
        SELECT {_RUN} FROM debit_runs AS r
        WHERE r.account_id = :account_id AND r.debit_run_id = :run_id
        """,
        run_id=run_id,
    )
    if found is None:
        raise NotFound(f"there is no debit run {run_id}", code="unknown_debit_run")
    return found


def run_of_message(books: Reading, message_id: str) -> Run | None:
    """Return the run whose file has an id, None if there is none."""
    return books.row_as(
        Run,
        f"""
        SELECT {_RUN} FROM debit_runs AS r
        WHERE r.account_id = :account_id AND r.message_id = :message_id
        """,
        message_id=message_id,
    )


def list_runs(books: Reading, *, after: int, limit: int) -> list[Run]:
    """Return the runs after an id, by id."""
    return books.rows_as(
        Run,
        f"""
        SELECT {_RUN} FROM debit_runs AS r
        WHERE r.account_id = :account_id AND r.debit_run_id > :after
        ORDER BY r.debit_run_id LIMIT :most
        """,
        after=after,
        most=limit,
    )


def parts_of_run(books: Reading, run_id: int) -> list[Part]:
    """Return the parts of a run, by scheme, sequence and status."""
    rows = books.rows_as(
        tuple[Scheme, SequenceType, ClaimStatus, int, int, int],
        """
        SELECT m.scheme, c.sequence, c.status,
            CASE WHEN c.payment_id IS NULL THEN 0 ELSE 1 END AS was_paid,
            count(*), CAST(sum(c.cents) AS BIGINT)
        FROM claims AS c
        JOIN mandates AS m ON m.account_id = :account_id AND m.mandate_id = c.mandate_id
        WHERE c.account_id = :account_id AND c.debit_run_id = :run_id
        GROUP BY m.scheme, c.sequence, c.status,
            CASE WHEN c.payment_id IS NULL THEN 0 ELSE 1 END
        ORDER BY m.scheme, c.sequence, c.status, was_paid
        """,
        run_id=run_id,
    )
    return [Part(*row[:3], bool(row[3]), *row[4:]) for row in rows]


def batches_of(books: Reading, run: Run) -> Iterator[Batch]:
    """Yield the batches of the file of a run, whose claims are read while they are written."""
    sums: dict[tuple[Scheme, SequenceType], tuple[int, int]] = {}
    for part in parts_of_run(books, run.debit_run_id):
        claims, cents = sums.get((part.scheme, part.sequence), (0, 0))
        sums[part.scheme, part.sequence] = (claims + part.claims, cents + part.cents)
    for (scheme, sequence), (claims, cents) in sorted(sums.items()):
        yield Batch(
            batch_id(run.message_id, scheme, sequence),
            scheme,
            sequence,
            claims,
            cents,
            _debits(books, run, scheme, sequence),
        )


class _Stored(NamedTuple):
    claim_id: int
    end_to_end_id: str
    cents: int
    mandate_id: int
    reference: str
    signed_on: str
    account_holder: str | None
    iban: str | None
    bic: str | None
    number_text: str


def _debits(books: Reading, run: Run, scheme: Scheme, sequence: SequenceType) -> Iterator[Debit]:
    after = 0
    while True:
        rows = books.rows_as(
            _Stored,
            """
            SELECT c.claim_id, c.end_to_end_id, c.cents, c.mandate_id, m.reference, m.signed_on,
                m.account_holder, m.iban, m.bic, i.number_text
            FROM claims AS c
            JOIN mandates AS m ON m.account_id = :account_id AND m.mandate_id = c.mandate_id
            JOIN invoices AS i ON i.account_id = :account_id AND i.invoice_id = c.invoice_id
            WHERE c.account_id = :account_id AND c.debit_run_id = :run_id
                AND c.claim_id > :after AND c.sequence = :sequence AND m.scheme = :scheme
            ORDER BY c.claim_id LIMIT :most
            """,
            run_id=run.debit_run_id,
            after=after,
            sequence=sequence,
            scheme=scheme,
            most=_AT_ONCE,
        )
        for row in rows:
            yield _debit(books, row)
        if len(rows) < _AT_ONCE:
            return
        after = rows[-1].claim_id


def _debit(books: Reading, row: _Stored) -> Debit:
    assert row.iban is not None
    return Debit(
        row.end_to_end_id,
        row.cents,
        row.reference,
        row.signed_on,
        row.account_holder or "",
        unseal_iban(books.direct, books.account_id, row.mandate_id, row.iban),
        row.bic or "",
        row.number_text,
    )


def check_accounts(books: Reading, run_id: int) -> None:
    """Raise BadInput if an account is gone: its payer was erased, or the secret key was lost."""
    reference = books.value_as(
        str,
        """
        SELECT m.reference FROM claims AS c
        JOIN mandates AS m ON m.account_id = :account_id AND m.mandate_id = c.mandate_id
        WHERE c.account_id = :account_id AND c.debit_run_id = :run_id AND m.iban IS NULL
        ORDER BY c.claim_id LIMIT 1
        """,
        run_id=run_id,
    )
    if reference is not None:
        raise BadInput(
            f"mandate {reference} has no account any more, so the file of debit run {run_id} "
            "cannot be written again"
        )
