"""Renewals: the letters that are due, who gets them, and which were sent.

Each statement is for all subscriptions at once.
"""

from collections.abc import Iterator
from typing import NamedTuple

from masthead.circulation.addresses import FIELDS
from masthead.errors import BadInput
from masthead.store.books.derived_values import decimal_of
from masthead.store.books.mail_file import address_of
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.stored_expiry_dates import LEFT_OF_TERMS

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
    *FIELDS,
    "bundle",
    "bundle_price",
    "bundle_tax",
    "bundle_total",
    "key_code",
)
"""The columns of a letter. ``subscriber_id`` is the reader's. The columns from ``to_subscriber_id``
on are those of the reader or the payer; the last ones are those of the bundle."""


FILE_WITH = "file with SHA-256 "

Letter = tuple[int | str | None, ...]
"""The values of a letter's columns."""


class Due(NamedTuple):
    """How many letters of an effort are due."""

    publication_id: int
    effort: int
    letters: int


def check_bundle(books: Operation, publication_id: int, bundle_id: int) -> None:
    """Raise BadInput for a bundle that is not for sale or has no line for the publication."""
    found = books.row_as(
        tuple[bool, bool],
        """
        SELECT b.active, EXISTS (SELECT 1 FROM bundle_lines AS l
            WHERE l.account_id = :account_id AND l.bundle_id = b.bundle_id
                AND l.publication_id = :publication_id)
        FROM bundles AS b WHERE b.account_id = :account_id AND b.bundle_id = :bundle_id
        """,
        publication_id=publication_id,
        bundle_id=bundle_id,
    )
    if found is None:
        raise BadInput(f"there is no bundle {bundle_id}", code="not_in_catalogue", thing="bundle")
    is_active, has_line = found
    if not is_active:
        raise BadInput("the bundle is retired: nobody could order what the letter names")
    if not has_line:
        raise BadInput("the bundle gives nothing of the publication")


PRESENT_TERM = """
    (SELECT n.term_id FROM terms AS n
        WHERE n.account_id = :account_id AND n.subscription_id = s.subscription_id
        ORDER BY CASE WHEN n.kind = 'extension' THEN 2
                WHEN n.ended_at IS NULL AND n.issues_left <> 0 THEN 0 ELSE 1 END,
            n.term_id DESC LIMIT 1)
    """
"""The current term of a subscription ``s``: the newest one with issues left, or else the newest.

Free copies count only if there is nothing else."""

DISPUTED = """
    (SELECT q.subscription_id FROM orders AS o
        JOIN order_items AS i ON i.account_id = :account_id AND i.order_id = o.order_id
        JOIN terms AS q ON q.account_id = :account_id AND q.order_item_id = i.order_item_id
        WHERE o.account_id = :account_id AND o.disputed_on IS NOT NULL
            AND o.dispute_ended_on IS NULL)
    """
"""The subscriptions of orders whose payment is disputed."""

_DUE = f"""
    WITH present_terms AS (
        SELECT s.*, {LEFT_OF_TERMS} AS left_of_terms, t.term_id FROM subscriptions AS s
        JOIN terms AS t ON t.account_id = :account_id AND t.subscription_id = s.subscription_id
            AND t.term_id = {PRESENT_TERM}
        WHERE s.account_id = :account_id AND s.renew_campaign_active = 1
            AND s.cancelled_on IS NULL AND t.ended_at IS NULL {{of_one}}
            AND (s.issues = 0 OR {LEFT_OF_TERMS} BETWEEN 1 AND (
                SELECT max(p.issues_left) FROM renewal_efforts AS p
                WHERE p.account_id = :account_id AND p.publication_id = s.publication_id))
            AND NOT EXISTS (SELECT 1 FROM suspensions AS h WHERE h.account_id = :account_id
                AND h.subscription_id = s.subscription_id AND h.from_date <= :day
                AND (h.to_date IS NULL OR h.to_date >= :day))
            AND NOT EXISTS (SELECT 1 FROM subscribers AS d WHERE d.account_id = :account_id
                AND d.subscriber_id = s.subscriber_id AND d.delete_date IS NOT NULL)
            AND s.subscription_id NOT IN {DISPUTED}
            AND NOT EXISTS (SELECT 1 FROM renewal_consents AS c WHERE c.account_id = :account_id
                AND c.subscription_id = s.subscription_id AND c.stopped_on IS NULL
                AND NOT EXISTS (SELECT 1 FROM announced_renewals AS u
                    WHERE u.account_id = :account_id AND u.subscription_id = s.subscription_id
                        AND u.term_id = t.term_id AND u.status = 'refused'))
    ), reckoned AS (
        SELECT n.*, CASE WHEN n.left_of_terms > 0 THEN n.left_of_terms ELSE -(
            SELECT count(*) FROM issues AS i
            WHERE i.account_id = :account_id AND i.publication_id = n.publication_id
                AND i.closed_at IS NOT NULL AND i.date > (
                    SELECT max(g.date) FROM subscription_issues AS x
                    JOIN issues AS g ON g.account_id = :account_id AND g.issue_id = x.issue_id
                    WHERE x.account_id = :account_id AND x.subscription_id = n.subscription_id
                        AND (x.is_grace = 0 OR x.term_id IS NOT NULL))
        ) END AS issues_left
        FROM present_terms AS n
    ), fitting AS (
        SELECT k.*, (SELECT max(e.effort) FROM renewal_efforts AS e
            WHERE e.account_id = :account_id AND e.publication_id = k.publication_id
                AND e.issues_left >= k.issues_left) AS effort
        FROM reckoned AS k
    ), due AS (
        SELECT f.* FROM fitting AS f
        WHERE f.effort IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM renewals_sent AS r WHERE r.account_id = :account_id
                AND r.term_id = f.term_id AND r.effort >= f.effort)
    )
    """
"""The subscriptions with a due letter, each with its current term and its effort: the last one that
is due at this number of issues left or more. The current term is :data:`PRESENT_TERM`; one that
ended was refunded. Issues that were closed after the last regular issue make the issues left
negative. Subscriptions that renew automatically get no letters, unless that was refused. Readers
who are qualified too get letters by the issues of their terms, and none after the last of these
issues (decisions, "Who pays and is qualified")."""


_SENT = f"""
    WITH due AS (
        SELECT s.*, n.term_id, n.effort, {LEFT_OF_TERMS} AS issues_left FROM renewals_sent AS n
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = n.subscription_id
        WHERE n.account_id = :account_id AND n.sent_on = :day {{of_one}}
            AND NOT EXISTS (SELECT 1 FROM subscribers AS d WHERE d.account_id = :account_id
                AND d.subscriber_id = s.subscriber_id AND d.delete_date IS NOT NULL)
    )
    """
"""The subscriptions whose letters were sent on a day, as they are now."""


PAYER = """
    coalesce((SELECT o.subscriber_id FROM order_items AS i JOIN orders AS o
            ON o.account_id = :account_id AND o.order_id = i.order_id
            WHERE i.account_id = :account_id AND i.order_item_id = t.order_item_id),
        (SELECT c.subscriber_id FROM addresses AS c
            WHERE c.account_id = :account_id AND c.address_id = d.billing_address_id),
        d.subscriber_id)
    """
"""The payer of a term ``t`` of the subscription ``d``: the payer of the order. For an opening term,
it is the subscriber with the billing address, or else the reader."""


RECIPIENT = f"""
    LEFT JOIN terms AS m ON m.account_id = :account_id AND m.term_id = (
        SELECT max(t.term_id) FROM terms AS t
        WHERE t.account_id = :account_id AND t.subscription_id = d.subscription_id
            AND t.kind <> 'extension')
        AND NOT EXISTS (
            SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = d.subscription_id AND t.kind <> 'extension'
                AND {PAYER} = d.subscriber_id)
    LEFT JOIN order_items AS i
        ON i.account_id = :account_id AND i.order_item_id = m.order_item_id
    LEFT JOIN orders AS o ON o.account_id = :account_id AND o.order_id = i.order_id
    LEFT JOIN addresses AS b
        ON b.account_id = :account_id AND b.address_id = d.billing_address_id
    LEFT JOIN subscribers AS g ON g.account_id = :account_id AND g.delete_date IS NULL
        AND m.term_id IS NOT NULL
        AND g.subscriber_id = coalesce(o.subscriber_id, b.subscriber_id)
    JOIN subscribers AS w ON w.account_id = :account_id
        AND w.subscriber_id = coalesce(g.subscriber_id, d.subscriber_id)
    LEFT JOIN addresses AS a ON a.account_id = :account_id AND a.address_id =
        coalesce(CASE WHEN w.subscriber_id = d.subscriber_id THEN d.mailing_address_id
            ELSE o.billing_address_id END,
            CASE WHEN b.subscriber_id = w.subscriber_id THEN b.address_id END)
    """
"""The SQL that joins to a subscription ``d`` the subscriber ``w`` who gets a letter about it.

The reader gets it if any term was the reader's own. Otherwise it is a gift: the payer of the newest
term gets it (:data:`PAYER`), unless that payer is deleted. ``a`` is the address: of the payer the
billing address of the order or the subscription, of the reader the mailing address, or else an own
billing address."""


def _due(publication_id: int | None, *, again: bool = False) -> str:
    of_one = "" if publication_id is None else "AND s.publication_id = :publication_id"
    return (_SENT if again else _DUE).format(of_one=of_one)


def _values(day: str, publication_id: int | None) -> dict[str, int | str]:
    return (
        {"day": day} if publication_id is None else {"day": day, "publication_id": publication_id}
    )


def due(
    reading: Reading,
    day: str,
    publication_id: int | None = None,
    *,
    again: bool = False,
) -> list[Due]:
    """Return how many letters are due on a day, by publication and effort.

    With ``again``, how many were sent on the day.
    """
    return reading.rows_as(
        Due,
        f"""
        {_due(publication_id, again=again)}
        SELECT publication_id, effort, count(*) FROM due GROUP BY publication_id, effort
        ORDER BY publication_id, effort
        """,
        **_values(day, publication_id),
    )


def letters(
    reading: Reading,
    day: str,
    publication_id: int | None = None,
    *,
    again: bool = False,
) -> Iterator[Letter]:
    """Yield the letters due on a day (:data:`LETTER`), by publication, effort and subscription.

    :data:`RECIPIENT` says who gets it. The name is the address's, or the subscriber's if the
    address names nobody; never a part of each. ``again`` yields the letters sent on that day, with
    the current data of each. A retired bundle is left out.
    """
    return reading.connection.stream(
        _letters(_due(publication_id, again=again)),
        account_id=reading.account_id,
        **_values(day, publication_id),
    )


def letter_again(reading: Reading, day: str, term_id: int, effort: int) -> Letter | None:
    """Return one of the letters that were sent on a day, as :func:`letters` does; None if none."""
    due = _SENT.format(of_one="AND n.term_id = :term_id AND n.effort = :effort")
    return reading.row(_letters(due), day=day, term_id=term_id, effort=effort)


def _letters(due: str) -> str:
    of_reader = ", ".join(f"d.{name}" for name in LETTER[3:5])
    return f"""
        {due}
        SELECT d.effort, d.publication_id, p.name, {of_reader}, d.issues_left, d.date_expired,
            d.type, d.copies, d.subscriber_id, r.first_name, r.last_name,
            CASE WHEN w.subscriber_id = d.subscriber_id THEN 0 ELSE 1 END, w.subscriber_id,
            w.renewal_code, w.email, {address_of("w")}, u.name, {decimal_of("u.price")},
            {decimal_of("u.tax")}, {decimal_of("(u.price + u.tax)")}, e.key_code
        FROM due AS d
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = d.publication_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = d.subscriber_id
        LEFT JOIN renewal_efforts AS e ON e.account_id = :account_id
            AND e.publication_id = d.publication_id AND e.effort = d.effort
        LEFT JOIN bundles AS u
            ON u.account_id = :account_id AND u.bundle_id = e.bundle_id AND u.active = 1
        {RECIPIENT}
        ORDER BY d.publication_id, d.effort, d.subscription_id
        """


_MAILED = """
    m.account_id = :account_id AND m.kind = 'renewal' AND m.status IN ('queued', 'sent')
        AND m.queued_at >= :day
    """


def count_on_paper(reading: Reading, day: str) -> int:
    """Return how many letters of a day do not go by email."""
    sql = f"""
        {_due(None, again=True)}
        SELECT count(*) FROM due AS d WHERE NOT EXISTS (
            SELECT 1 FROM mails AS m WHERE m.subscription_id = d.subscription_id AND {_MAILED})
        """
    return reading.value_as(int, sql, day=day) or 0


def mailed_of_day(reading: Reading, day: str) -> dict[int, str]:
    """Return the addresses to which letters of a day go by email, by subscription."""
    return dict(
        reading.rows_as(
            tuple[int, str],
            f"""
            SELECT m.subscription_id, coalesce(max(m.address), '')
            FROM renewals_sent AS n JOIN mails AS m ON m.subscription_id = n.subscription_id
            WHERE n.account_id = :account_id AND n.sent_on = :day AND {_MAILED}
            GROUP BY m.subscription_id
            """,
            day=day,
        )
    )


def record_sent(books: Operation, publication_id: int | None = None) -> int:
    """Note that the letters due today are sent; return their number."""
    return books.change(
        f"""
        INSERT INTO renewals_sent (account_id, term_id, effort, subscription_id, sent_on)
        {_due(publication_id)}
        SELECT account_id, term_id, effort, subscription_id, :day FROM due
        """,
        **_values(books.today, publication_id),
    )


def is_noted(reading: Reading, digest: str) -> bool:
    """Return whether the audit log says that the letters of a file were sent."""
    return bool(
        reading.row(
            "SELECT 1 FROM audit WHERE account_id = :account_id AND summary LIKE :ending",
            ending=f"% of renewal%, into the {FILE_WITH}{digest}",
        )
    )
