"""What a finance person looks at: open invoices, what came, and the credits of payers.

The functions run in a reading of the books; each follows an index. All amounts are whole cents.
"""

from typing import NamedTuple

from masthead.contract.printable import full_name
from masthead.databases.queries import Query, rows_as
from masthead.store.billing.invoices import Invoice
from masthead.store.billing.payments import Allocation, Payment
from masthead.store.books.names import PAYER
from masthead.store.books.operation import Reading

_INVOICE = ", ".join(f"i.{name}" for name in Invoice._fields)


class OpenInvoice(NamedTuple):
    """An invoice that is not settled, and the names of its payer.

    ``company`` is that of the address to which the bill goes.
    """

    invoice_id: int
    number_text: str
    subscriber_id: int
    due_on: str | None
    total: int
    open_cents: int
    first_name: str | None
    last_name: str | None
    company: str | None

    @property
    def payer(self) -> str:
        """The payer's name, else the company; '' if there is neither."""
        return named(self.first_name, self.last_name) or self.company or ""


class Came(NamedTuple):
    """A movement of money of a month, with its payer; below 0 it went."""

    payment_id: int
    kind: str
    value_date: str
    cents: int
    reference: str | None
    subscriber_id: int
    first_name: str | None
    last_name: str | None

    @property
    def payer(self) -> str:
        """The payer's name, else the company; '' without either."""
        return named(self.first_name, self.last_name)


class Credit(NamedTuple):
    """A payer's credit; below 0 if credit was paid back that then bounced."""

    subscriber_id: int
    first_name: str | None
    last_name: str | None
    cents: int

    @property
    def payer(self) -> str:
        """The payer's name, else the company; '' without either."""
        return named(self.first_name, self.last_name)


class Sums(NamedTuple):
    """How many there are, and what they come to."""

    number: int
    cents: int


def named(first_name: str | None, last_name: str | None) -> str:
    """Return a name of its parts; '' without any."""
    return full_name({"first_name": first_name, "last_name": last_name})


def open_by_due_day(books: Reading, limit: int) -> list[OpenInvoice]:
    """Return the open invoices, that which has been due for longest first."""
    return books.rows_as(
        OpenInvoice,
        """
        SELECT i.invoice_id, i.number_text, i.subscriber_id, i.due_on, i.total, i.open_cents,
            s.first_name, s.last_name,
            (SELECT a.company FROM orders AS o JOIN addresses AS a
                ON a.account_id = :account_id AND a.address_id = o.billing_address_id
                WHERE o.account_id = :account_id AND o.order_id = i.order_id)
        FROM (
            SELECT invoice_id, number_text, subscriber_id, order_id, due_on, total, open_cents
            FROM invoices WHERE account_id = :account_id AND open_cents > 0
            ORDER BY due_on NULLS FIRST, invoice_id LIMIT :most) AS i
        JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = i.subscriber_id
        ORDER BY i.due_on NULLS FIRST, i.invoice_id
        """,
        most=limit,
    )


def open_sums(books: Reading, day: str) -> tuple[Sums, Sums]:
    """Return the sums of all open invoices, and of those that were due before a day."""
    row = books.row_as(
        tuple[int, int, int, int],
        """
        SELECT CAST(coalesce(sum(number), 0) AS BIGINT), CAST(coalesce(sum(cents), 0) AS BIGINT),
            CAST(coalesce(sum(CASE WHEN due_on < :day THEN number ELSE 0 END), 0) AS BIGINT),
            CAST(coalesce(sum(CASE WHEN due_on < :day THEN cents ELSE 0 END), 0) AS BIGINT)
        FROM (
            SELECT due_on, count(*) AS number, sum(open_cents) AS cents
            FROM invoices WHERE account_id = :account_id AND open_cents > 0
            GROUP BY due_on) AS d
        """,
        day=day,
    )
    assert row is not None
    return Sums(row[0], row[1]), Sums(row[2], row[3])


def came_since(books: Reading, day: str, limit: int) -> list[Came]:
    """Return the payments, and what was taken back or paid back, booked since a day."""
    return books.rows_as(
        Came,
        f"""
        SELECT p.payment_id, p.kind, p.value_date, p.cents, p.reference, p.subscriber_id,
            {PAYER}
        FROM (
            SELECT DISTINCT payment_id FROM journal_lines
            WHERE account_id = :account_id AND booked_on >= :day AND account = 'bank'
                AND payment_id IS NOT NULL
            ORDER BY payment_id DESC LIMIT :most) AS j
        JOIN payments AS p ON p.account_id = :account_id AND p.payment_id = j.payment_id
        JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = p.subscriber_id
        ORDER BY p.payment_id DESC
        """,
        day=day,
        most=limit,
    )


def came_sums(books: Reading, day: str) -> Sums:
    """Return how many movements of money were booked since a day, and what they come to."""
    row = books.row_as(
        tuple[int, int],
        """
        SELECT count(*), CAST(coalesce(sum(p.cents), 0) AS BIGINT)
        FROM (
            SELECT DISTINCT payment_id FROM journal_lines
            WHERE account_id = :account_id AND booked_on >= :day AND account = 'bank'
                AND payment_id IS NOT NULL) AS j
        JOIN payments AS p ON p.account_id = :account_id AND p.payment_id = j.payment_id
        """,
        day=day,
    )
    assert row is not None
    return Sums(*row)


def credits_of_payers(books: Reading) -> list[Credit]:
    """Return the payers who have a credit or owe one, the largest first."""
    return books.rows_as(
        Credit,
        f"""
        SELECT c.subscriber_id, {PAYER}, c.cents
        FROM (
            SELECT subscriber_id, CAST(sum(left_cents) AS BIGINT) AS cents FROM payments
            WHERE account_id = :account_id AND left_cents <> 0
            GROUP BY subscriber_id HAVING sum(left_cents) <> 0) AS c
        JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = c.subscriber_id
        ORDER BY c.cents DESC, c.subscriber_id
        """,
    )


def find_numbered(books: Reading, text: str) -> Invoice | None:
    """Return the invoice or credit note with a number or a payment reference, None without one."""
    return books.row_as(
        Invoice,
        f"""
        SELECT {_INVOICE} FROM invoices AS i
        WHERE i.account_id = :account_id
            AND (i.number_text IN (:text, :upper) OR i.payment_reference = :joined)
        ORDER BY i.invoice_id LIMIT 1
        """,
        text=text,
        upper=text.upper(),
        joined=text.upper().replace(" ", ""),
    )


def credit_notes_of(books: Reading, invoice_id: int) -> list[Invoice]:
    """Return the credit notes of an invoice, the oldest first."""
    return books.rows_as(
        Invoice,
        f"""
        SELECT {_INVOICE} FROM invoices AS i
        WHERE i.account_id = :account_id AND i.of_invoice_id = :invoice_id
        ORDER BY i.invoice_id
        """,
        invoice_id=invoice_id,
    )


def documents(subscriber_id: int) -> Query[list[Invoice]]:
    """Return the invoices, receipts and credit notes of a payer, the oldest first."""
    return rows_as(
        Invoice,
        f"""
        SELECT {_INVOICE} FROM invoices AS i
        WHERE i.account_id = :account_id AND i.subscriber_id = :subscriber_id
        ORDER BY i.invoice_id
        """,
        subscriber_id=subscriber_id,
    )


def ids_by_number(books: Reading, subscriber_id: int) -> dict[str, int]:
    """Return the ids of a payer's invoices and credit notes by their numbers."""
    return dict(
        books.rows_as(
            tuple[str, int],
            """
            SELECT number_text, invoice_id FROM invoices
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            """,
            subscriber_id=subscriber_id,
        )
    )


def closed_months(books: Reading) -> dict[int, str]:
    """Return the days on which months were closed, by month, such as 202611."""
    return dict(
        books.rows_as(
            tuple[int, str],
            "SELECT month_id, closed_on FROM closed_months WHERE account_id = :account_id",
        )
    )


class Settlement(NamedTuple):
    """What settled a part of an invoice; ``payment`` is None for a credit note or a write-off."""

    allocation: Allocation
    payment: Payment | None


def settlements_of(books: Reading, allocations: list[Allocation]) -> list[Settlement]:
    """Return allocations with their payments."""
    ids = {each.payment_id for each in allocations if each.payment_id is not None}
    found = {}
    if ids:
        rows = books.rows_as(
            Payment,
            f"""
            SELECT {", ".join(Payment._fields)} FROM payments
            WHERE account_id = :account_id AND payment_id IN ({", ".join(map(str, sorted(ids)))})
            """,
        )
        found = {each.payment_id: each for each in rows}
    return [Settlement(each, found.get(each.payment_id or 0)) for each in allocations]
