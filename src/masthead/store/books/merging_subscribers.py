"""Merging two subscribers who are the same person."""

from typing import NamedTuple

from masthead.errors import BadInput, no_subscriber
from masthead.store.books.merging_subscriptions import Pair, merge_subscriptions, pairs
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation


class Moved(NamedTuple):
    """How many records moved to the subscriber who is kept."""

    subscriptions: int
    addresses: int
    orders: int
    purchases: int
    answers: int
    notes: int
    complaints: int
    invoices: int
    payments: int


_MOVED_TOO = (
    *("bank_entries", "mandates", "claims", "reminders", "renewal_consents", "mails"),
    *("held_addresses", "letters", "reader_changes", "reader_consents", "reader_requests"),
    "qualifications",
)
"""What moves beside what :class:`Moved` counts."""


def merge(
    books: Operation, kept: int, gone: int, *, keep_both: bool
) -> tuple[Moved, list[Pair], list[Pair]]:
    """Move all that ``gone`` has to ``kept``, both ids of subscribers, and merge subscriptions.

    Returns what moved, the pairs of subscriptions that were merged, and the pairs that both
    continue.
    """
    for subscriber_id in (kept, gone):
        _check(books, subscriber_id)
    both = pairs(books, kept, gone)
    books.change(
        """
        UPDATE terms SET moved_after = (
            SELECT coalesce(max(l.mailing_list_id), 0) FROM list_downloads AS l
            WHERE l.account_id = :account_id)
        WHERE account_id = :account_id AND subscription_id IN (
            SELECT s.subscription_id FROM subscriptions AS s
            WHERE s.account_id = :account_id AND s.subscriber_id = :gone)
        """,
        gone=gone,
    )
    moved = {
        table: books.change(
            f"""
            UPDATE {table} SET subscriber_id = :kept, commit_id = :commit_id
            WHERE account_id = :account_id AND subscriber_id = :gone
            """,
            kept=kept,
            gone=gone,
            commit_id=books.commit_id,
        )
        for table in ("subscriptions", "addresses", "orders", "purchases")
    }
    moved |= {
        table: books.change(
            f"""
            UPDATE {table} SET subscriber_id = :kept
            WHERE account_id = :account_id AND subscriber_id = :gone
            """,
            kept=kept,
            gone=gone,
        )
        for table in ("notes", "complaints", "invoices", "payments")
    }
    _move_payer_details(books, kept, gone)
    for table in _MOVED_TOO:
        books.change(
            f"""
            UPDATE {table} SET subscriber_id = :kept
            WHERE account_id = :account_id AND subscriber_id = :gone
            """,
            kept=kept,
            gone=gone,
        )
    done = Moved(**moved, answers=_move_answers(books, kept, gone))
    books.change(
        """
        UPDATE subscribers SET delete_date = :now, merged_into = :kept, commit_id = :commit_id
        WHERE account_id = :account_id AND subscriber_id = :gone
        """,
        now=books.now,
        kept=kept,
        commit_id=books.commit_id,
        gone=gone,
    )
    books.change(
        """
        UPDATE subscribers SET merged_into = :kept
        WHERE account_id = :account_id AND merged_into = :gone
        """,
        kept=kept,
        gone=gone,
    )
    merged = [pair for pair in both if not (keep_both or pair.is_unlimited)]
    for pair in merged:
        merge_subscriptions(books, pair.subscription_id, pair.other_id)
    return done, merged, [pair for pair in both if pair not in merged]


def _check(books: Operation, subscriber_id: int) -> None:
    found = books.row_as(
        tuple[str | None, int | None],
        """
        SELECT s.delete_date, e.subscriber_id FROM subscribers AS s
        LEFT JOIN erasures AS e
            ON e.account_id = s.account_id AND e.subscriber_id = s.subscriber_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    )
    if found is None:
        raise no_subscriber(books.account_id, subscriber_id)
    delete_date, erased = found
    if erased is not None:
        raise BadInput("the reader was erased and cannot be merged")
    if delete_date is not None:
        raise BadInput(
            f"{reader_named(books, subscriber_id)} was deleted on {delete_date[:10]} and cannot be "
            "merged"
        )


def _move_answers(books: Operation, kept: int, gone: int) -> int:
    """Move the answers to questions that ``kept`` has not answered; return their number."""
    moved = books.change(
        """
        UPDATE custom_field_answers SET subscriber_id = :kept
        WHERE account_id = :account_id AND subscriber_id = :gone AND field_id NOT IN (
            SELECT a.field_id FROM custom_field_answers AS a
            WHERE a.account_id = :account_id AND a.subscriber_id = :kept)
        """,
        kept=kept,
        gone=gone,
    )
    left = books.change(
        """
        DELETE FROM custom_field_answers
        WHERE account_id = :account_id AND subscriber_id = :gone
        """,
        gone=gone,
    )
    changed = [kept] * bool(moved) + [gone] * bool(moved + left)
    for subscriber_id in changed:
        books.change(
            """
            UPDATE subscribers SET custom_fields_commit_id = :commit_id
            WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            """,
            commit_id=books.commit_id,
            subscriber_id=subscriber_id,
        )
    return moved


def _move_payer_details(books: Operation, kept: int, gone: int) -> None:
    """Give ``kept`` the VAT number of ``gone``, unless it has one; its way of delivery stays."""
    books.change(
        """
        INSERT INTO payer_details (account_id, subscriber_id, vat_id, by_email)
        SELECT account_id, CAST(:kept AS BIGINT), vat_id, by_email FROM payer_details
        WHERE account_id = :account_id AND subscriber_id = :gone
        ON CONFLICT (account_id, subscriber_id) DO UPDATE
        SET vat_id = coalesce(payer_details.vat_id, excluded.vat_id)
        """,
        kept=kept,
        gone=gone,
    )
    books.change(
        "DELETE FROM payer_details WHERE account_id = :account_id AND subscriber_id = :gone",
        gone=gone,
    )
