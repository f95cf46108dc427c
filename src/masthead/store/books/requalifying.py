"""Requalification: the efforts of publications, the readers who are due, and who was asked.

Each statement is for all qualifications of a publication at once. ``q`` is the newest qualification
of a subscription ``s`` of the reader ``r``.
"""

from typing import NamedTuple

from masthead.circulation.addresses import FIELDS
from masthead.circulation.requalifying import Effort, Window
from masthead.store.books.mail_file import address_of
from masthead.store.books.operation import Operation, Reading

_HAS_EMAIL = """
    (r.email <> '' AND NOT EXISTS (SELECT 1 FROM held_addresses AS h
        WHERE h.account_id = :account_id AND h.address = r.email_lower))
    """

_REACHES = {"letter": "a.address_id IS NOT NULL", "email": _HAS_EMAIL, "telephone": "1 = 1"}
"""Whom an effort reaches, by its way: by email those with an address that is not on hold."""

_FROM = """
    FROM qualified_subscriptions AS q
    JOIN subscriptions AS s
        ON s.account_id = :account_id AND s.subscription_id = q.subscription_id
    JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        AND r.delete_date IS NULL
    LEFT JOIN addresses AS b
        ON b.account_id = :account_id AND b.address_id = s.billing_address_id
    LEFT JOIN addresses AS a ON a.account_id = :account_id AND a.address_id =
        coalesce(s.mailing_address_id,
            CASE WHEN b.subscriber_id = s.subscriber_id THEN b.address_id END)
    """

_DUE = """
    WHERE q.account_id = :account_id AND q.publication_id = :publication_id AND q.served = 1
        AND q.valid_until >= :first AND q.valid_until <= :last
        AND s.cancelled_on IS NULL AND s.merged_into IS NULL AND s.renew_campaign_active = 1
        AND NOT EXISTS (SELECT 1 FROM requalifications_sent AS e
            WHERE e.account_id = :account_id AND e.qualification_id = q.qualification_id
                AND e.effort >= :effort)
        AND NOT EXISTS (SELECT 1 FROM terms AS t
            WHERE t.account_id = :account_id AND t.subscription_id = s.subscription_id
                AND t.ended_at IS NULL AND t.issues_left <> 0
                AND t.paid_on IS NOT NULL AND t.price > 0)
    """
"""The qualifications in a window that were not asked yet. A reader who has paid is not asked: the
paid issues come first."""

_SENT = """
    WHERE q.account_id = :account_id AND q.publication_id = :publication_id
        AND EXISTS (SELECT 1 FROM requalifications_sent AS e
            WHERE e.account_id = :account_id AND e.qualification_id = q.qualification_id
                AND e.effort = :effort AND e.sent_on = :day)
    """


class Asked(NamedTuple):
    """A reader who is asked to qualify again; ``fields`` are the address (:data:`FIELDS`).

    ``answers`` and ``evidence`` are those of the qualification, as JSON.
    """

    qualification_id: int
    subscription_id: int
    subscriber_id: int
    valid_until: str
    copies: int | None
    email: str | None
    renewal_code: str | None
    audit_class: str | None
    answers: str | None
    evidence: str | None
    fields: tuple[str | None, ...]


class Counts(NamedTuple):
    """How many readers are due, and how many of them the effort reaches."""

    due: int
    reached: int


def counts(reading: Reading, window: Window) -> Counts:
    """Return how many readers are due for an effort."""
    found = reading.row_as(
        Counts,
        f"""
        SELECT count(*),
            CAST(coalesce(sum(CASE WHEN {_REACHES[window.effort.way]} THEN 1 ELSE 0 END), 0)
                AS BIGINT)
        {_FROM} {_DUE}
        """,
        **_values(window),
    )
    assert found is not None
    return found


def due(reading: Reading, window: Window) -> list[Asked]:
    """Return the readers whom an effort reaches and who are due, by subscription."""
    return _asked(reading, f"{_DUE} AND {_REACHES[window.effort.way]}", **_values(window))


def sent(reading: Reading, effort: Effort, day: str) -> list[Asked]:
    """Return the readers whom an effort asked on a day and who have not qualified since."""
    return _asked(
        reading,
        _SENT,
        publication_id=effort.publication_id,
        effort=effort.effort,
        day=day,
    )


def _asked(reading: Reading, which: str, **values: int | str) -> list[Asked]:
    rows = reading.rows(
        f"""
        SELECT q.qualification_id, s.subscription_id, s.subscriber_id, q.valid_until, s.copies,
            r.email, r.renewal_code, c.code, k.answers, k.evidence, {address_of("r")}
        {_FROM}
        JOIN qualifications AS k
            ON k.account_id = :account_id AND k.qualification_id = q.qualification_id
        LEFT JOIN audit_classes AS c
            ON c.account_id = :account_id AND c.audit_class_id = q.audit_class_id
        {which} ORDER BY s.subscription_id
        """,
        **values,
    )
    own = len(Asked._fields) - 1
    return [Asked._make((*row[:own], row[own : own + len(FIELDS)])) for row in rows]


def record_sent(books: Operation, window: Window) -> int:
    """Note that those who are due and whom the effort reaches are asked; return their number."""
    return books.change(
        f"""
        INSERT INTO requalifications_sent (account_id, qualification_id, effort, sent_on)
        SELECT q.account_id, q.qualification_id, :effort, :day
        {_FROM} {_DUE} AND {_REACHES[window.effort.way]}
        """,
        day=books.today,
        **_values(window),
    )


def _values(window: Window) -> dict[str, int | str]:
    return {
        "publication_id": window.effort.publication_id,
        "effort": window.effort.effort,
        "first": window.first,
        "last": window.last,
    }


def page_of(reading: Reading) -> str:
    """Return the address of the account's page for readers, '' if there is none."""
    row = reading.row("SELECT master_checkout FROM accounts WHERE account_id = :account_id")
    return str(row[0] or "") if row else ""


class Lapse(NamedTuple):
    """How many subscriptions of a publication end their qualification in a month, ``YYYY-MM``."""

    publication_id: int
    month: str
    subscriptions: int


_ENDING = """
    FROM qualified_subscriptions AS q
    JOIN subscriptions AS s ON s.account_id = :account_id AND s.subscription_id = q.subscription_id
        AND s.cancelled_on IS NULL AND s.merged_into IS NULL
    JOIN subscribers AS o ON o.account_id = :account_id AND o.subscriber_id = s.subscriber_id
        AND o.delete_date IS NULL
    WHERE q.account_id = :account_id AND q.valid_until >= :first
    """
"""The qualifications that end from a day on, of subscriptions that go on."""


def lapses(reading: Reading) -> list[Lapse]:
    """Return how many served subscriptions lapse in which month, from this month on."""
    return reading.rows_as(
        Lapse,
        f"""
        SELECT q.publication_id, substr(q.valid_until, 1, 7), count(*)
        {_ENDING} AND q.served = 1
        GROUP BY q.publication_id, substr(q.valid_until, 1, 7) ORDER BY 1, 2
        """,
        first=f"{reading.today[:7]}-01",
    )


class InClass(NamedTuple):
    """How many subscriptions are in an audit class now, and how many of them get copies."""

    audit_class_id: int
    subscriptions: int
    served: int


def in_classes(reading: Reading) -> list[InClass]:
    """Return how many subscriptions with a valid qualification are in each audit class."""
    return reading.rows_as(
        InClass,
        f"""
        SELECT q.audit_class_id, count(*), CAST(sum(q.served) AS BIGINT)
        {_ENDING} AND q.audit_class_id IS NOT NULL
        GROUP BY q.audit_class_id ORDER BY 1
        """,
        first=reading.today,
    )


class Lapsing(NamedTuple):
    """A reader whose qualification ends, and the last effort that asked for another one."""

    subscription_id: int
    subscriber_id: int
    first_name: str | None
    last_name: str | None
    valid_until: str
    class_name: str | None
    effort: int | None


def lapsing(
    reading: Reading, publication_id: int, month: str, after: tuple[str, int], limit: int
) -> list[Lapsing]:
    """Return the readers whose copies end in a month, ``YYYY-MM``, sorted by the last day.

    ``after`` are the last day and the subscription after which the list goes on.
    """
    return reading.rows_as(
        Lapsing,
        f"""
        SELECT q.subscription_id, q.subscriber_id, r.first_name, r.last_name, q.valid_until,
            coalesce(nullif(c.name, ''), c.code),
            (SELECT max(e.effort) FROM requalifications_sent AS e
                WHERE e.account_id = :account_id AND e.qualification_id = q.qualification_id)
        FROM (SELECT q.*, s.subscriber_id {_ENDING} AND q.served = 1) AS q
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = q.subscriber_id
        LEFT JOIN audit_classes AS c
            ON c.account_id = :account_id AND c.audit_class_id = q.audit_class_id
        WHERE q.publication_id = :publication_id AND q.valid_until <= :last
            AND (q.valid_until > :day OR (q.valid_until = :day AND q.subscription_id > :after))
        ORDER BY q.valid_until, q.subscription_id LIMIT :limit
        """,
        publication_id=publication_id,
        first=f"{month}-01",
        last=f"{month}-31",
        day=after[0],
        after=after[1],
        limit=limit,
    )
