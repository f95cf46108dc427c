"""What the console shows of debit runs: the latest ones, and their claims with their payers.

All amounts are whole cents.
"""

from typing import NamedTuple

from masthead.store.billing.claims import ClaimStatus
from masthead.store.billing.open_items import named
from masthead.store.books.names import PAYER
from masthead.store.books.operation import Reading


class ShownRun(NamedTuple):
    """A run: its day and sum, and the number of its claims in each state."""

    debit_run_id: int
    created_at: str
    collected_on: str
    claims: int
    cents: int
    with_bank: int
    paid: int
    returned: int
    cancelled: int


class ShownClaim(NamedTuple):
    """A claim with its invoice and its payer, and why it came back."""

    invoice_id: int
    number_text: str
    subscriber_id: int
    cents: int
    status: ClaimStatus
    returned_on: str | None
    return_reason: str | None
    first_name: str | None
    last_name: str | None

    @property
    def payer(self) -> str:
        """The payer's name; '' without one."""
        return named(self.first_name, self.last_name)


class Collection(NamedTuple):
    """How an invoice is collected: the run, its day, and what became of it."""

    debit_run_id: int
    collected_on: str
    status: ClaimStatus
    return_reason: str | None


_RUNS = """
    SELECT r.debit_run_id, r.created_at, r.collected_on, r.claims, r.cents,
        count(CASE WHEN c.status = 'sent' THEN 1 END) AS with_bank,
        count(CASE WHEN c.status = 'paid' THEN 1 END) AS paid,
        count(CASE WHEN c.status = 'returned' THEN 1 END) AS returned,
        count(CASE WHEN c.status = 'cancelled' THEN 1 END) AS cancelled
    FROM debit_runs AS r
    JOIN claims AS c ON c.account_id = :account_id AND c.debit_run_id = r.debit_run_id
    WHERE r.account_id = :account_id AND r.debit_run_id IN (
        SELECT l.debit_run_id FROM debit_runs AS l WHERE l.account_id = :account_id {which})
    GROUP BY r.debit_run_id, r.created_at, r.collected_on, r.claims, r.cents
    ORDER BY r.debit_run_id DESC
    """


def latest_runs(books: Reading, most: int) -> list[ShownRun]:
    """Return the newest runs, the newest first."""
    which = "ORDER BY l.debit_run_id DESC LIMIT :most"
    return books.rows_as(ShownRun, _RUNS.format(which=which), most=most)


def run_shown(books: Reading, run_id: int) -> ShownRun | None:
    """Return a run, None if there is none."""
    which = "AND l.debit_run_id = :run_id"
    return books.row_as(ShownRun, _RUNS.format(which=which), run_id=run_id)


def claims_shown(books: Reading, run_id: int, most: int) -> list[ShownClaim]:
    """Return claims of a run: first those that came back, then those with the bank."""
    return books.rows_as(
        ShownClaim,
        f"""
        SELECT c.invoice_id, i.number_text, c.subscriber_id, c.cents, c.status, c.returned_on,
            c.return_reason, {PAYER}
        FROM claims AS c
        JOIN invoices AS i ON i.account_id = :account_id AND i.invoice_id = c.invoice_id
        LEFT JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = c.subscriber_id
        WHERE c.account_id = :account_id AND c.debit_run_id = :run_id
        ORDER BY CASE c.status WHEN 'returned' THEN 0 WHEN 'sent' THEN 1 ELSE 2 END, c.claim_id
        LIMIT :most
        """,
        run_id=run_id,
        most=most,
    )


def collection_of(books: Reading, invoice_id: int) -> Collection | None:
    """Return the newest collection of an invoice, None if it was never handed in."""
    return books.row_as(
        Collection,
        """
        SELECT r.debit_run_id, r.collected_on, c.status, c.return_reason
        FROM claims AS c
        JOIN debit_runs AS r ON r.account_id = :account_id AND r.debit_run_id = c.debit_run_id
        WHERE c.account_id = :account_id AND c.invoice_id = :invoice_id
        ORDER BY c.claim_id DESC LIMIT 1
        """,
        invoice_id=invoice_id,
    )
