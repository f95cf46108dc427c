"""The subscriptions that renew by consent, with what was announced (billing, "Automatic renewal").

The functions run in a reading of an operation (``store.books.operation``). Amounts are whole cents,
with tax.
"""

from typing import NamedTuple

from masthead.store.billing.announced_renewals import CANDIDATE, OF_CONSENTS, Candidate, Status
from masthead.store.books.operation import Reading
from masthead.store.books.renewing import DISPUTED


class Row(NamedTuple):
    """A subscription that renews by consent, with its names and its renewal.

    ``bundle_cents`` is the bundle's present price, for one copy. What follows ``is_suspended`` is
    what was announced of its last term, None if nothing was.
    """

    publication_id: int
    publication: str
    type: str
    first_name: str | None
    last_name: str | None
    bundle: str
    bundle_cents: int
    is_on_sale: bool
    is_unpaid: bool
    is_disputed: bool
    is_suspended: bool
    status: Status | None
    renews_on: str | None
    announced_on: str | None
    cents: int | None
    reason: str | None


_ROW = f"""
    s.publication_id, coalesce(p.name, ''), coalesce(s.type, ''), r.first_name, r.last_name,
    coalesce(b.name, ''), b.price + b.tax, b.active = 1,
    t.price > 0 AND t.paid_on IS NULL, v.subscription_id IN {DISPUTED},
    EXISTS (SELECT 1 FROM suspensions AS h WHERE h.account_id = :account_id
        AND h.subscription_id = v.subscription_id AND h.from_date <= :today
        AND h.to_date IS NULL),
    a.status, a.renews_on, a.announced_on, a.price + a.tax, a.reason
    """
"""The columns of :class:`Row`."""

_RENEWS = f"""
    {OF_CONSENTS}
    JOIN publications AS p
        ON p.account_id = :account_id AND p.publication_id = s.publication_id
    JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
    JOIN bundles AS b ON b.account_id = :account_id AND b.bundle_id = v.bundle_id
    LEFT JOIN announced_renewals AS a ON a.account_id = :account_id
        AND a.subscription_id = v.subscription_id AND a.term_id = t.term_id
        AND NOT (a.status = 'stopped' AND a.consent_id <> v.consent_id)
    WHERE v.account_id = :account_id AND v.stopped_on IS NULL
        AND s.cancelled_on IS NULL AND s.issues <> -1 AND t.ended_at IS NULL
        AND r.delete_date IS NULL
        AND NOT EXISTS (SELECT 1 FROM cancellations AS c WHERE c.account_id = :account_id
            AND c.subscription_id = v.subscription_id AND c.ended_on IS NULL)
    """


def renewing(reading: Reading, after: tuple[str, int], limit: int) -> list[tuple[Candidate, Row]]:
    """Return subscriptions that renew by consent, those that end first before the others.

    They are those after the day and the id of ``after``. One that waits, such as for a payment, is
    among them. Not among them is one whose consent ends with the next night, such as after a
    cancelling.
    """
    rows = reading.rows(
        f"""
        SELECT {CANDIDATE}, {_ROW} {_RENEWS}
            AND (coalesce(s.date_expired, '') > :day
                OR coalesce(s.date_expired, '') = :day AND v.subscription_id > :after)
        ORDER BY coalesce(s.date_expired, ''), v.subscription_id LIMIT :most
        """,
        today=reading.today,
        day=after[0],
        after=after[1],
        most=limit,
    )
    width = len(Candidate._fields)
    return [(Candidate(*row[:width]), Row(*row[width:])) for row in rows]


def count_renewing(reading: Reading) -> int:
    """Return how many subscriptions :func:`renewing` has in all."""
    return reading.value_as(int, f"SELECT count(*) {_RENEWS}") or 0
