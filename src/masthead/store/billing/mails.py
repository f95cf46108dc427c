"""The mails of the outbox: lists, those that are due, and what people change.

(billing, "E-mail".) The functions run in an operation or in a reading of one.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from masthead.store.billing.sending import COLUMNS, Mail
from masthead.store.books.names import PAYER
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed

Status = Literal["queued", "sent", "failed", "held", "cancelled"]


class ListedMail(NamedTuple):
    """A mail in a list: what it is about, its payer and its state.

    ``number`` is that of the invoice or credit note. Times are in the account's time zone.
    """

    mail_id: int
    subscriber_id: int | None
    first_name: str | None
    last_name: str | None
    address: str | None
    kind: str
    number: str | None
    subject: str | None
    status: Status
    queued_at: str
    due_at: str
    tries: int
    sent_at: str | None
    error: str | None

    @property
    def about(self) -> str:
        """What the mail is about: ``invoice 2026-000123``."""
        return " ".join(filter(None, (self.kind.replace("_", " "), self.number)))


_LISTED = f"""
    SELECT m.mail_id, m.subscriber_id, {PAYER}, m.address, m.kind, i.number_text,
        m.subject, m.status, m.queued_at, m.due_at, m.tries, m.sent_at, m.error
    FROM mails AS m
    LEFT JOIN subscribers AS s
        ON s.account_id = :account_id AND s.subscriber_id = m.subscriber_id
    LEFT JOIN invoices AS i
        ON i.account_id = :account_id AND i.invoice_id = m.invoice_id
    WHERE m.account_id = :account_id
    """


def list_mails(
    reading: Reading,
    statuses: Sequence[Status],
    *,
    after: int = 0,
    limit: int = 100,
) -> list[ListedMail]:
    """Return mails with some states after an id, by id."""
    states = ", ".join(f"'{each}'" for each in statuses)
    return reading.rows_as(
        ListedMail,
        f"{_LISTED} AND m.status IN ({states}) AND m.mail_id > :after "
        "ORDER BY m.mail_id LIMIT :most",
        after=after,
        most=limit,
    )


def mails_of(reading: Reading, subscriber_id: int, limit: int = 100) -> list[ListedMail]:
    """Return the newest mails to a payer, the newest first."""
    return reading.rows_as(
        ListedMail,
        f"{_LISTED} AND m.subscriber_id = :subscriber_id ORDER BY m.mail_id DESC LIMIT :most",
        subscriber_id=subscriber_id,
        most=limit,
    )


def mails_by_id(reading: Reading, ids: Iterable[int]) -> list[ListedMail]:
    """Return mails by their ids, in their order."""
    return reading.rows_as(
        ListedMail, f"{_LISTED} AND m.mail_id IN ({listed(ids)}) ORDER BY m.mail_id"
    )


def count_by_status(reading: Reading) -> dict[str, int]:
    """Return how many mails wait, failed or are on hold, by their state."""
    return dict(
        reading.rows_as(
            tuple[str, int],
            """
            SELECT status, count(*) FROM mails
            WHERE account_id = :account_id AND status IN ('queued', 'failed', 'held')
            GROUP BY status
            """,
        )
    )


def count_due(reading: Reading, most: int = 2**31) -> int:
    """Return how many mails are due now, at most ``most``."""
    return (
        reading.value_as(
            int,
            """
            SELECT count(*) FROM (
                SELECT 1 FROM mails
                WHERE account_id = :account_id AND status = 'queued' AND due_at <= :now
                LIMIT :most) AS due
            """,
            now=reading.now,
            most=most,
        )
        or 0
    )


def due_after(reading: Reading, after: int, limit: int) -> list[Mail]:
    """Return the mails that are due now, after an id, by id."""
    return reading.rows_as(
        Mail,
        f"""
        SELECT {COLUMNS} FROM mails
        WHERE account_id = :account_id AND status = 'queued' AND due_at <= :now
            AND mail_id > :after
        ORDER BY mail_id LIMIT :most
        """,
        now=reading.now,
        after=after,
        most=limit,
    )


def queue_again(change: Operation, mail_id: int, address: str) -> None:
    """Queue a mail again, to an address."""
    change.change(
        """
        UPDATE mails SET status = 'queued', address = :address, due_at = :now, error = NULL
        WHERE account_id = :account_id AND mail_id = :mail_id
        """,
        mail_id=mail_id,
        address=address,
        now=change.now,
    )


def cancel_mail(change: Operation, mail_id: int) -> None:
    """Mark a mail as one that is not to be sent any more."""
    change.change(
        """
        UPDATE mails SET status = 'cancelled', due_at = :now
        WHERE account_id = :account_id AND mail_id = :mail_id
        """,
        mail_id=mail_id,
        now=change.now,
    )
