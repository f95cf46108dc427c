"""Renewals: which letters are due, to whom they go, and which were sent.

The statements do for all subscriptions what ``circulation.renewals.due_effort`` does for one. What
changes something runs in an operation (``store.books.operation``) and says what it did.
"""

from collections.abc import Iterator
from typing import NamedTuple

from masthead.errors import BadInput, NotFound
from masthead.store.books.operation import Operation
from masthead.store.database import Connection

__all__ = [
    "LETTER",
    "Point",
    "check_publication",
    "due",
    "efforts",
    "letters",
    "record_sent",
    "remove_effort",
    "set_effort",
]

LETTER = (
    "effort",
    "publication_id",
    "publication",
    "subscription_id",
    "term_id",
    "issues_left",
    "date_expired",
    "type",
    "copies",
    "subscriber_id",
    "reader_first_name",
    "reader_last_name",
    "is_gift",
    "to_subscriber_id",
    "renewal_code",
    "email",
    "first_name",
    "last_name",
    "company",
    "address",
    "city",
    "state",
    "zip_code",
    "country_name",
    "country_abbreviation",
)
"""The columns of a letter. ``subscriber_id`` is the reader's; all from ``to_subscriber_id`` on are
those of whoever gets the letter: the reader, or the donor of a gift."""


class Point(NamedTuple):
    """An effort of a publication, and the issues left at which it is due."""

    publication_id: int
    effort: int
    issues_left: int


class Due(NamedTuple):
    """How many letters of an effort are due."""

    publication_id: int
    effort: int
    letters: int


def check_publication(connection: Connection, account_id: int, publication_id: int) -> None:
    """Raise NotFound unless the account has the publication."""
    if not connection.row(
        """
        SELECT 1 FROM publications
        WHERE account_id = :account_id AND publication_id = :publication_id
        """,
        account_id=account_id,
        publication_id=publication_id,
    ):
        raise NotFound(
            f"account {account_id} has no publication {publication_id}: `masthead catalogue "
            "publication list` lists them"
        )


def efforts(
    connection: Connection, account_id: int, publication_id: int | None = None
) -> list[Point]:
    """Return the efforts, of one publication or of all, by publication and number."""
    of_one = "" if publication_id is None else "AND publication_id = :publication_id"
    values = {} if publication_id is None else {"publication_id": publication_id}
    rows = connection.rows(
        f"""
        SELECT publication_id, effort, issues_left FROM renewal_efforts
        WHERE account_id = :account_id {of_one} ORDER BY publication_id, effort
        """,
        account_id=account_id,
        **values,
    )
    return [Point(*row) for row in rows]


def set_effort(books: Operation, point: Point) -> None:
    """Add an effort, or change the point of one. Raises NotFound without such a publication."""
    check_publication(books.connection, books.account_id, point.publication_id)
    changed = books.connection.change(
        """
        INSERT INTO renewal_efforts (account_id, publication_id, effort, issues_left)
        VALUES (:account_id, :publication_id, :effort, :issues_left)
        ON CONFLICT (account_id, publication_id, effort)
            DO UPDATE SET issues_left = excluded.issues_left
            WHERE renewal_efforts.issues_left <> excluded.issues_left
        """,
        account_id=books.account_id,
        **point._asdict(),
    )
    if changed:
        books.say(
            f"effort {point.effort} of publication {point.publication_id} is due at "
            f"{point.issues_left} issues left"
        )


def remove_effort(books: Operation, publication_id: int, effort: int) -> None:
    """Remove an effort; what was sent of it stays noted. Raises BadInput if there is none."""
    removed = books.connection.change(
        """
        DELETE FROM renewal_efforts
        WHERE account_id = :account_id AND publication_id = :publication_id AND effort = :effort
        """,
        account_id=books.account_id,
        publication_id=publication_id,
        effort=effort,
    )
    if not removed:
        raise BadInput(
            f"publication {publication_id} has no effort {effort}: `masthead renewals efforts "
            "list` shows them"
        )
    books.say(f"effort {effort} of publication {publication_id} was removed")


_DUE = """
    WITH next_efforts AS (
        SELECT s.account_id, s.subscription_id, s.subscriber_id, s.publication_id,
            s.mailing_address_id, s.billing_address_id, s.date_expired, s.type, s.copies,
            s.issues, t.term_id, min(e.effort) AS effort
        FROM subscriptions AS s
        JOIN terms AS t ON t.account_id = s.account_id AND t.subscription_id = s.subscription_id
            AND t.term_id = (SELECT n.term_id FROM terms AS n
                WHERE n.account_id = s.account_id AND n.subscription_id = s.subscription_id
                ORDER BY CASE WHEN n.ended_at IS NULL AND n.kind <> 'extension' THEN 0 ELSE 1 END,
                    n.term_id DESC LIMIT 1)
        JOIN renewal_efforts AS e
            ON e.account_id = s.account_id AND e.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.renew_campaign_active = 1
            AND s.cancelled_on IS NULL AND s.issues <> -1 {of_one}
            AND (s.issues = 0 OR s.issues <= (SELECT max(p.issues_left) FROM renewal_efforts AS p
                WHERE p.account_id = s.account_id AND p.publication_id = s.publication_id))
            AND NOT EXISTS (SELECT 1 FROM renewals_sent AS r WHERE r.account_id = s.account_id
                AND r.term_id = t.term_id AND r.effort = e.effort)
            AND NOT EXISTS (SELECT 1 FROM suspensions AS h WHERE h.account_id = s.account_id
                AND h.subscription_id = s.subscription_id AND h.from_date <= :day
                AND (h.to_date IS NULL OR h.to_date >= :day))
            AND NOT EXISTS (SELECT 1 FROM subscribers AS d WHERE d.account_id = s.account_id
                AND d.subscriber_id = s.subscriber_id AND d.delete_date IS NOT NULL)
        GROUP BY s.account_id, s.subscription_id, s.subscriber_id, s.publication_id,
            s.mailing_address_id, s.billing_address_id, s.date_expired, s.type, s.copies,
            s.issues, t.term_id
    ), reckoned AS (
        SELECT n.*, CASE WHEN n.issues > 0 THEN n.issues ELSE -(
            SELECT count(*) FROM issues AS i
            WHERE i.account_id = n.account_id AND i.publication_id = n.publication_id
                AND i.closed_at IS NOT NULL AND i.date > (
                    SELECT max(g.date) FROM subscription_issues AS x
                    JOIN issues AS g ON g.account_id = x.account_id AND g.issue_id = x.issue_id
                    WHERE x.account_id = n.account_id AND x.subscription_id = n.subscription_id
                        AND (x.is_grace = 0 OR x.term_id IS NOT NULL))
        ) END AS issues_left
        FROM next_efforts AS n
    ), due AS (
        SELECT k.*, e.issues_left AS point FROM reckoned AS k
        JOIN renewal_efforts AS e ON e.account_id = k.account_id
            AND e.publication_id = k.publication_id AND e.effort = k.effort
        WHERE k.issues_left <= e.issues_left
    )
    """
"""The subscriptions with a letter that is due, each with its present term and that effort. The
present term is the newest one, without those that were ended and free copies; issues left are
negative by those that were closed after the last regular one."""


_SENT = """
    WITH due AS (
        SELECT s.*, n.term_id, n.effort, s.issues AS issues_left FROM renewals_sent AS n
        JOIN subscriptions AS s
            ON s.account_id = n.account_id AND s.subscription_id = n.subscription_id
        WHERE n.account_id = :account_id AND n.sent_on = :day {of_one}
            AND NOT EXISTS (SELECT 1 FROM subscribers AS d WHERE d.account_id = s.account_id
                AND d.subscriber_id = s.subscriber_id AND d.delete_date IS NOT NULL)
    )
    """
"""The subscriptions whose letters were sent on a day, as they are now."""


def _due(publication_id: int | None, *, again: bool = False) -> str:
    of_one = "" if publication_id is None else "AND s.publication_id = :publication_id"
    return (_SENT if again else _DUE).format(of_one=of_one)


def _values(account_id: int, day: str, publication_id: int | None) -> dict[str, int | str]:
    values: dict[str, int | str] = {"account_id": account_id, "day": day}
    return values if publication_id is None else {**values, "publication_id": publication_id}


def due(
    connection: Connection,
    account_id: int,
    day: str,
    publication_id: int | None = None,
    *,
    again: bool = False,
) -> list[Due]:
    """Return how many letters are due on a day, by publication and effort.

    ``again``: how many were sent on it.
    """
    rows = connection.rows(
        f"""
        {_due(publication_id, again=again)}
        SELECT publication_id, effort, count(*) FROM due GROUP BY publication_id, effort
        ORDER BY publication_id, effort
        """,
        **_values(account_id, day, publication_id),
    )
    return [Due(*row) for row in rows]


def letters(
    connection: Connection,
    account_id: int,
    day: str,
    publication_id: int | None = None,
    *,
    again: bool = False,
) -> Iterator[tuple[int | str | None, ...]]:
    """Yield the letters due on a day (:data:`LETTER`), by publication, effort and subscription.

    Who paid for the newest ordered term gets the letter, at the order's billing address. Where no
    term was ordered, it is whoever has the subscription's billing address. If that is not the
    reader, it is a gift; the reader gets the letter of a gift whose donor is deleted, and all
    others, at the mailing address, or at the billing address if there is none. ``again`` yields
    those that were sent on that day, with what is known of each now.
    """
    of_reader = ", ".join(f"d.{name}" for name in LETTER[3:5])
    return connection.stream(
        f"""
        {_due(publication_id, again=again)}
        SELECT d.effort, d.publication_id, p.name, {of_reader}, d.issues_left, d.date_expired,
            d.type, d.copies, d.subscriber_id, r.first_name, r.last_name,
            CASE WHEN w.subscriber_id = d.subscriber_id THEN 0 ELSE 1 END, w.subscriber_id,
            w.renewal_code, w.email, coalesce(a.first_name, w.first_name),
            coalesce(a.last_name, w.last_name), a.company, a.address, a.city, a.state, a.zip_code,
            a.country_name, a.country_abbreviation
        FROM due AS d
        JOIN publications AS p
            ON p.account_id = d.account_id AND p.publication_id = d.publication_id
        JOIN subscribers AS r ON r.account_id = d.account_id AND r.subscriber_id = d.subscriber_id
        LEFT JOIN addresses AS b
            ON b.account_id = d.account_id AND b.address_id = d.billing_address_id
        LEFT JOIN orders AS o ON o.account_id = d.account_id AND o.order_id = (
            SELECT i.order_id FROM terms AS t JOIN order_items AS i
                ON i.account_id = t.account_id AND i.order_item_id = t.order_item_id
            WHERE t.account_id = d.account_id AND t.subscription_id = d.subscription_id
            ORDER BY t.term_id DESC LIMIT 1)
        LEFT JOIN subscribers AS g ON g.account_id = d.account_id AND g.delete_date IS NULL
            AND g.subscriber_id = coalesce(o.subscriber_id, b.subscriber_id)
        JOIN subscribers AS w ON w.account_id = d.account_id
            AND w.subscriber_id = coalesce(g.subscriber_id, d.subscriber_id)
        LEFT JOIN addresses AS a ON a.account_id = d.account_id AND a.address_id =
            CASE WHEN w.subscriber_id <> d.subscriber_id
                THEN coalesce(o.billing_address_id, d.billing_address_id)
                ELSE coalesce(d.mailing_address_id, d.billing_address_id) END
        ORDER BY d.publication_id, d.effort, d.subscription_id
        """,
        **_values(account_id, day, publication_id),
    )


def record_sent(books: Operation, publication_id: int | None = None) -> int:
    """Note that the letters which are due today are sent; return how many."""
    sent = books.connection.change(
        f"""
        INSERT INTO renewals_sent (account_id, term_id, effort, subscription_id, sent_on)
        {_due(publication_id)}
        SELECT account_id, term_id, effort, subscription_id, :day FROM due
        """,
        **_values(books.account_id, books.today, publication_id),
    )
    if sent:
        whose = "" if publication_id is None else f" of publication {publication_id}"
        books.say(f"{sent} letters of renewal{whose} were written out")
    return sent
