"""The rows of reminders and of their levels, and what is overdue.

The functions run in an operation (``store.books.operation``) or in a reading of one. All amounts
are whole cents.
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.billing.reminding import Level, Overdue
from masthead.databases.queries import Query, rows_as
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed


class Reminder(NamedTuple):
    """A reminder of one invoice.

    The letter of a payer stands in one row, that of its leading invoice: ``printed`` has all of it
    as JSON, and ``fee`` with ``fee_invoice_id`` is that of the letter. ``read_until`` is the newest
    value date of the payments that were read before.
    """

    reminder_id: int
    invoice_id: int
    subscriber_id: int
    level: int
    reminded_on: str
    fee: int
    fee_invoice_id: int | None
    read_until: str | None


_REMINDER = ", ".join(f"r.{name}" for name in Reminder._fields)

_NOT_COLLECTED = """
    (i.kind <> 'invoice'
        OR EXISTS (SELECT 1 FROM claims AS c
            WHERE c.account_id = :account_id AND c.invoice_id = i.invoice_id
                AND c.status = 'returned')
        OR NOT EXISTS (SELECT 1 FROM mandates AS m
            WHERE m.account_id = :account_id AND m.subscriber_id = i.subscriber_id
                AND m.status = 'active' AND m.iban IS NOT NULL))
    """
"""Whether no debit run of an account that collects will take the invoice ``i``."""


def levels_of(books: Reading) -> list[Level]:
    """Return the levels of an account in their order."""
    return books.rows_as(
        Level,
        """
        SELECT level, days, fee, then_do, text FROM reminder_levels
        WHERE account_id = :account_id ORDER BY level
        """,
    )


def put_level(books: Operation, level: Level) -> None:
    """Add a level, or replace the one with its number."""
    books.change(
        """
        INSERT INTO reminder_levels (account_id, level, days, fee, then_do, text)
        VALUES (:account_id, :level, :days, :fee, :then_do, :text)
        ON CONFLICT (account_id, level) DO UPDATE SET days = excluded.days, fee = excluded.fee,
            then_do = excluded.then_do, text = excluded.text
        """,
        **level._asdict(),
    )


def remove_level(books: Operation, number: int) -> bool:
    """Remove a level; return False if there was none."""
    return bool(
        books.change(
            "DELETE FROM reminder_levels WHERE account_id = :account_id AND level = :level",
            level=number,
        )
    )


def overdue(books: Reading, due_by: str, *, collects: bool) -> list[Overdue]:
    """Return the invoices that are open and were due on a day or before, whom a reminder can reach.

    A receipt whose payment came back was due when it was made. Not among them are fees of
    reminders, invoices that are with the bank, or will be handed in to it (the account ``collects``
    by mandates, the payer has an active one, and no claim of the invoice was returned), those whose
    order is disputed, and those of deleted payers. A receipt that is open again is not handed in.
    """
    not_collected = f"AND {_NOT_COLLECTED}" if collects else ""
    rows = books.rows(
        f"""
        SELECT i.invoice_id, i.number_text, i.subscriber_id, i.order_id, i.issued_on,
            coalesce(i.due_on, i.issued_on), i.total, i.open_cents, i.payment_reference,
            coalesce((SELECT max(r.level) FROM reminders AS r
                WHERE r.account_id = :account_id AND r.invoice_id = i.invoice_id), 0),
            (SELECT max(r.reminded_on) FROM reminders AS r
                WHERE r.account_id = :account_id AND r.invoice_id = i.invoice_id),
            (SELECT max(b.booked_on) FROM allocations AS b
                WHERE b.account_id = :account_id AND b.invoice_id = i.invoice_id
                    AND b.kind = 'payment' AND b.cents < 0),
            s.first_name, s.last_name, a.company
        FROM invoices AS i
        JOIN subscribers AS s
            ON s.account_id = :account_id AND s.subscriber_id = i.subscriber_id
        JOIN orders AS o ON o.account_id = :account_id AND o.order_id = i.order_id
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = o.billing_address_id
        WHERE i.account_id = :account_id AND i.open_cents > 0
            AND coalesce(i.due_on, i.issued_on) <= :due_by
            AND s.delete_date IS NULL
            AND (o.disputed_on IS NULL OR o.dispute_ended_on IS NOT NULL)
            AND NOT EXISTS (SELECT 1 FROM claims AS c
                WHERE c.account_id = :account_id AND c.invoice_id = i.invoice_id
                    AND c.status = 'sent')
            {not_collected}
        """,
        due_by=due_by,
    )
    return [
        Overdue._make([*row[:10], max(filter(None, row[10:12]), default=None), *row[12:]])
        for row in rows
    ]


def read_until(books: Reading) -> str | None:
    """Return the newest value date of what came, by a bank's file or typed in; None without any.

    A bank dates some entries ahead. Such a day says nothing about what was read until today.
    """
    return books.value_as(
        str,
        """
        SELECT max(p.value_date) FROM (
            SELECT max(value_date) AS value_date FROM payments
            WHERE account_id = :account_id AND kind = 'payment'
            UNION ALL
            SELECT max(value_date) FROM bank_entries
            WHERE account_id = :account_id AND value_date <= :today) AS p
        """,
        today=books.today,
    )


def credits_of(books: Reading) -> dict[int, int]:
    """Return the credits of all payers who have one, in cents."""
    return dict(
        books.rows_as(
            tuple[int, int],
            """
            SELECT subscriber_id, CAST(sum(left_cents) AS BIGINT) FROM payments
            WHERE account_id = :account_id AND left_cents <> 0
            GROUP BY subscriber_id HAVING sum(left_cents) > 0
            """,
        )
    )


def open_fees(books: Reading, payers: Iterable[int]) -> dict[int, int]:
    """Return what is open of the fees of earlier reminders, by payer."""
    return dict(
        books.rows_as(
            tuple[int, int],
            f"""
            SELECT i.subscriber_id, CAST(sum(i.open_cents) AS BIGINT) FROM invoices AS i
            WHERE i.account_id = :account_id AND i.open_cents > 0 AND i.order_id IS NULL
                AND i.subscriber_id IN ({listed(payers)})
            GROUP BY i.subscriber_id
            """,
        )
    )


def first_lines(books: Reading, invoice_ids: Iterable[int]) -> dict[int, str]:
    """Return what the first line of each invoice says."""
    return dict(
        books.rows_as(
            tuple[int, str],
            f"""
            SELECT invoice_id, coalesce(description, '') FROM invoice_lines
            WHERE account_id = :account_id AND line_number = 1
                AND invoice_id IN ({listed(invoice_ids)})
            """,
        )
    )


def add_reminder(books: Operation, reminder: Reminder, printed: str | None) -> None:
    """Queue a reminder; ``printed`` is the letter as JSON, if it stands in this row."""
    books.add("reminders", **reminder._asdict(), printed=printed)


_ON_PAPER = """
    r.printed IS NOT NULL AND NOT EXISTS (SELECT 1 FROM mails AS m
        WHERE m.account_id = :account_id AND m.reminder_id = r.reminder_id
            AND m.status IN ('queued', 'sent'))
    """
"""Whether the letter of the reminder ``r`` does not go by email: such a letter is not printed."""


def letters_on(books: Reading, day: str) -> list[tuple[str, int, str]]:
    """Return the letters of a day on paper: leading invoice's number, level, and JSON of each."""
    return books.rows_as(
        tuple[str, int, str],
        f"""
        SELECT i.number_text, r.level, r.printed FROM reminders AS r JOIN invoices AS i
            ON i.account_id = :account_id AND i.invoice_id = r.invoice_id
        WHERE r.account_id = :account_id AND r.reminded_on = :day AND {_ON_PAPER}
        ORDER BY r.reminder_id
        """,
        day=day,
    )


def kept_letters(subscriber_id: int) -> Query[list[tuple[int, str, int, str, str]]]:
    """Return the letters of a payer, the newest first, each with its JSON.

    Each has the id of its reminder, the number of its first invoice, the level, and the day.
    """
    return rows_as(
        tuple[int, str, int, str, str],
        """
        SELECT r.reminder_id, i.number_text, r.level, r.reminded_on, r.printed
        FROM reminders AS r JOIN invoices AS i
            ON i.account_id = :account_id AND i.invoice_id = r.invoice_id
        WHERE r.account_id = :account_id AND r.subscriber_id = :subscriber_id
            AND r.printed IS NOT NULL
        """,
        subscriber_id=subscriber_id,
    ).then(lambda rows: sorted(rows, reverse=True))


def letter_days(books: Reading, limit: int) -> list[tuple[str, int]]:
    """Return the days with letters on paper, the newest first, with their numbers."""
    return books.rows_as(
        tuple[str, int],
        f"""
        SELECT r.reminded_on, count(*) FROM reminders AS r
        WHERE r.account_id = :account_id AND {_ON_PAPER}
        GROUP BY r.reminded_on ORDER BY r.reminded_on DESC LIMIT :most
        """,
        most=limit,
    )


def reminders_of(books: Reading, subscriber_id: int) -> list[tuple[str, Reminder]]:
    """Return the reminders of a payer with the numbers of their invoices, the oldest first."""
    rows = books.rows(
        f"""
        SELECT i.number_text, {_REMINDER} FROM reminders AS r JOIN invoices AS i
            ON i.account_id = :account_id AND i.invoice_id = r.invoice_id
        WHERE r.account_id = :account_id AND r.subscriber_id = :subscriber_id
        ORDER BY r.reminder_id
        """,
        subscriber_id=subscriber_id,
    )
    return [(str(number), Reminder(*row)) for number, *row in rows]
