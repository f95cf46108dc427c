"""Addresses that are on hold, since mails to them came back (billing, "E-mail").

The functions run in an operation or in a reading of one. Addresses are compared by their letters,
whether small or capital.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.databases.queries import Query, rows_as
from masthead.store.books.operation import Operation, Reading
from masthead.store.search_filters import ascii_lower


class HeldAddress(NamedTuple):
    """An address on hold since a day; ``bounces`` is how many mails to it came back."""

    held_address_id: int
    subscriber_id: int | None
    address: str
    held_on: str
    reason: str | None
    bounces: int


_COLUMNS = ", ".join(HeldAddress._fields)


class SentMail(NamedTuple):
    """A mail that a server took; ``is_known``: that it came back was noted before."""

    mail_id: int
    address: str
    is_known: bool


def held_address(reading: Reading, address: str) -> HeldAddress | None:
    """Return an address on hold, None if it is not."""
    return reading.row_as(
        HeldAddress,
        f"""
        SELECT {_COLUMNS} FROM held_addresses
        WHERE account_id = :account_id AND address = :address
        """,
        address=ascii_lower(address),
    )


def reached(subscriber_id: int) -> Query[tuple[str, str] | None]:
    """Return the query of the address and the name of a reader to whom mails go.

    It returns None if the reader is deleted, has no address, or has one that is on hold.
    """
    return rows_as(
        tuple[str, str | None, str | None],
        """
        SELECT r.email, r.first_name, r.last_name FROM subscribers AS r
        WHERE r.account_id = :account_id AND r.subscriber_id = :subscriber_id
            AND r.delete_date IS NULL AND r.email <> '' AND NOT EXISTS (
                SELECT 1 FROM held_addresses AS h
                WHERE h.account_id = :account_id AND h.address = r.email_lower)
        """,
        subscriber_id=subscriber_id,
    ).then(lambda rows: (rows[0][0], " ".join(filter(None, rows[0][1:]))) if rows else None)


def held_addresses(reading: Reading, *, after: int = 0, limit: int = 100) -> list[HeldAddress]:
    """Return the addresses on hold after an id, by id."""
    return reading.rows_as(
        HeldAddress,
        f"""
        SELECT {_COLUMNS} FROM held_addresses
        WHERE account_id = :account_id AND held_address_id > :after AND address IS NOT NULL
        ORDER BY held_address_id LIMIT :most
        """,
        after=after,
        most=limit,
    )


def owner_of(reading: Reading, address: str) -> int | None:
    """Return the first subscriber with an address, None if there is none."""
    return reading.value_as(
        int,
        """
        SELECT subscriber_id FROM subscribers
        WHERE account_id = :account_id AND email_lower = :address
        ORDER BY subscriber_id LIMIT 1
        """,
        address=ascii_lower(address),
    )


def email_of(reading: Reading, subscriber_id: int) -> str | None:
    """Return the email address of a subscriber, None without one."""
    return reading.value_as(
        str,
        """
        SELECT email FROM subscribers
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id AND email <> ''
        """,
        subscriber_id=subscriber_id,
    )


def hold_address(
    change: Operation, address: str, subscriber_id: int | None, reason: str, bounces: int
) -> None:
    """Put an address on hold, and the mails to it that wait."""
    change.add(
        "held_addresses",
        held_address_id=change.new_id("held_addresses"),
        subscriber_id=subscriber_id,
        address=ascii_lower(address),
        held_on=change.today,
        reason=reason or None,
        bounces=bounces,
    )
    change.change(
        """
        UPDATE mails SET status = 'held'
        WHERE account_id = :account_id AND status = 'queued' AND lower(address) = :address
        """,
        address=ascii_lower(address),
    )


def release_address(change: Operation, held: HeldAddress) -> int:
    """Take an address off hold, and queue the mails to it again; return their number."""
    change.change(
        """
        DELETE FROM held_addresses
        WHERE account_id = :account_id AND held_address_id = :held_address_id
        """,
        held_address_id=held.held_address_id,
    )
    return change.change(
        """
        UPDATE mails SET status = 'queued', due_at = :now
        WHERE account_id = :account_id AND status = 'held' AND lower(address) = :address
        """,
        address=held.address,
        now=change.now,
    )


def mails_with(reading: Reading, message_ids: Sequence[str]) -> list[SentMail]:
    """Return the mails that were sent with these ids of their headers."""
    if not message_ids:
        return []
    marks = {f"id_{number}": each for number, each in enumerate(message_ids)}
    return reading.rows_as(
        SentMail,
        f"""
        SELECT mail_id, address, CASE WHEN status = 'sent' THEN 0 ELSE 1 END FROM mails
        WHERE account_id = :account_id AND message_id IN ({", ".join(f":{n}" for n in marks)})
            AND sent_at IS NOT NULL AND address IS NOT NULL
        ORDER BY mail_id
        """,
        **marks,
    )


def was_mailed(reading: Reading, subscriber_id: int, address: str) -> bool:
    """Return whether a mail to a subscriber went to an address."""
    return (
        reading.value_as(
            int,
            """
            SELECT count(*) FROM mails
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
                AND status = 'sent' AND lower(address) = :address
            """,
            subscriber_id=subscriber_id,
            address=ascii_lower(address),
        )
        or 0
    ) > 0


def note_returned(change: Operation, mail_id: int, error: str) -> None:
    """Note that a mail came back: it is a failed one."""
    change.change(
        """
        UPDATE mails SET status = 'failed', error = :error
        WHERE account_id = :account_id AND mail_id = :mail_id
        """,
        mail_id=mail_id,
        error=error,
    )
