"""Which subscriptions renew automatically, and the renewals that were announced.

Each selection is one statement for many subscriptions (billing, "Automatic renewal"). The functions
run in an operation (``store.books.operation``) or in a reading of one. Amounts are whole cents.
"""

from collections.abc import Sequence
from datetime import date
from typing import Literal, NamedTuple

from masthead.billing.automatic_renewals import Plan
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.renewing import DISPUTED, PAYER, PRESENT_TERM

Status = Literal["announced", "renewed", "stopped", "refused"]


class Candidate(NamedTuple):
    """A subscription that renews automatically, with its last term.

    ``payer_id`` is who paid for that term, and ``billing_address_id`` where the bill went.
    ``expired`` is the day before the first issue that it will not get. ``ordered_bundle_id`` and
    ``ordered_copies`` are those of the term's order, None if it has none. ``line_copies`` are those
    of the bundle to order, None if it has no line for the subscription.
    """

    consent_id: int
    subscription_id: int
    term_id: int
    bundle_id: int
    subscriber_id: int
    payer_id: int
    billing_address_id: int | None
    expired: str
    ordered_bundle_id: int | None
    ordered_copies: int | None
    term_copies: int
    line_copies: int | None


class Announced(NamedTuple):
    """An announced renewal: its day, and its price without tax and the tax, for all copies."""

    announcement_id: int
    price: int
    tax: int
    announced_on: str
    renews_on: str


class AnnouncedRow(NamedTuple):
    """A row of ``announced_renewals``."""

    announcement_id: int
    consent_id: int
    subscription_id: int
    term_id: int
    bundle_id: int
    price: int
    tax: int
    announced_on: str
    renews_on: str
    status: Status
    order_id: int | None
    reason: str | None


CANDIDATE = f"""
    v.consent_id, v.subscription_id, t.term_id, v.bundle_id, s.subscriber_id, {PAYER} AS payer_id,
    coalesce((SELECT o.billing_address_id FROM order_items AS i
            JOIN orders AS o ON o.account_id = :account_id AND o.order_id = i.order_id
            JOIN addresses AS b ON b.account_id = :account_id
                AND b.address_id = o.billing_address_id AND b.subscriber_id = o.subscriber_id
            WHERE i.account_id = :account_id AND i.order_item_id = t.order_item_id
                AND o.subscriber_id <> s.subscriber_id),
        (SELECT b.address_id FROM addresses AS b WHERE b.account_id = :account_id
            AND b.address_id = d.billing_address_id AND t.order_item_id IS NULL
            AND b.subscriber_id <> s.subscriber_id)) AS billing_address_id,
    coalesce(s.date_expired, '') AS expired,
    (SELECT i.bundle_id FROM order_items AS i WHERE i.account_id = :account_id
        AND i.order_item_id = t.order_item_id) AS ordered_bundle_id,
    (SELECT i.copies FROM order_items AS i WHERE i.account_id = :account_id
        AND i.order_item_id = t.order_item_id) AS ordered_copies,
    t.copies AS term_copies,
    (SELECT max(l.copies) FROM bundle_lines AS l
        WHERE l.account_id = :account_id AND l.bundle_id = v.bundle_id
            AND l.publication_id = s.publication_id AND l.type = s.type) AS line_copies
    """
"""The columns of :class:`Candidate`, for a consent ``v``, its subscription ``s`` (also ``d``), and
a term ``t``."""

OF_CONSENTS = f"""
    FROM renewal_consents AS v
    JOIN subscriptions AS s
        ON s.account_id = :account_id AND s.subscription_id = v.subscription_id
    JOIN subscriptions AS d
        ON d.account_id = :account_id AND d.subscription_id = v.subscription_id
    JOIN terms AS t ON t.account_id = :account_id AND t.subscription_id = v.subscription_id
        AND t.term_id = {PRESENT_TERM}
    """
"""The consents ``v`` with their subscriptions ``s`` and ``d``, and the present terms ``t``."""

_STANDING = f"""
    v.account_id = :account_id AND v.stopped_on IS NULL
    AND s.cancelled_on IS NULL AND s.issues <> -1 AND t.ended_at IS NULL
    AND (t.price = 0 OR t.paid_on IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM cancellations AS c WHERE c.account_id = :account_id
        AND c.subscription_id = v.subscription_id AND c.ended_on IS NULL)
    AND NOT EXISTS (SELECT 1 FROM subscribers AS g WHERE g.account_id = :account_id
        AND g.subscriber_id = s.subscriber_id AND g.delete_date IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM suspensions AS h WHERE h.account_id = :account_id
        AND h.subscription_id = v.subscription_id AND h.from_date <= :today AND h.to_date IS NULL)
    AND v.subscription_id NOT IN {DISPUTED}
    """
"""What holds of a subscription that renews today: a running consent, and a last term that is paid.

It was not cancelled, its reader was not deleted, no payment is disputed, and it is not suspended
without an end. The others wait until that is so, or their consent ends (``renewal_consents``)."""


def plans(reading: Reading) -> dict[int, Plan]:
    """Return the plan of issues of each publication with a running consent, by its id."""
    rows = reading.rows_as(
        tuple[int, int, str, str | None, bool],
        """
        SELECT p.publication_id, p.issues_per_year, i.date, i.closes_on, i.closed_at IS NOT NULL
        FROM publications AS p JOIN issues AS i ON i.account_id = :account_id
            AND i.publication_id = p.publication_id AND i.date IS NOT NULL
        WHERE p.account_id = :account_id AND p.publication_id IN (
            SELECT s.publication_id FROM renewal_consents AS v JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = v.subscription_id
            WHERE v.account_id = :account_id AND v.stopped_on IS NULL)
        ORDER BY p.publication_id, i.date, i.issue_id
        """,
    )
    coming: dict[int, list[tuple[date, date | None]]] = {}
    last: dict[int, tuple[date, int]] = {}
    for publication_id, per_year, day, closes_on, is_closed in rows:
        own = coming.setdefault(publication_id, [])
        last[publication_id] = date.fromisoformat(day), per_year
        if not is_closed:
            closing = None if closes_on is None else date.fromisoformat(closes_on)
            own.append((date.fromisoformat(day), closing))
    return {key: Plan(own, *last[key]) for key, own in coming.items()}


def to_announce(
    reading: Reading, publication_id: int, before: str, after: int, most: int
) -> list[Candidate]:
    """Return subscriptions of a publication whose renewal is to be announced, by their ids.

    They are those after the id ``after`` that expire before the day ``before``, and whose last term
    has no announcement; one that was stopped together with an earlier consent does not count.
    """
    return reading.rows_as(
        Candidate,
        f"""
        SELECT {CANDIDATE} {OF_CONSENTS}
        WHERE {_STANDING} AND s.publication_id = :publication_id AND s.date_expired < :before
            AND v.subscription_id > :after AND NOT EXISTS (
                SELECT 1 FROM announced_renewals AS a WHERE a.account_id = :account_id
                    AND a.subscription_id = v.subscription_id AND a.term_id = t.term_id
                    AND NOT (a.status = 'stopped' AND a.consent_id <> v.consent_id))
        ORDER BY v.subscription_id LIMIT :most
        """,
        today=reading.today,
        publication_id=publication_id,
        before=before,
        after=after,
        most=most,
    )


def to_renew(reading: Reading, after: int, most: int) -> list[tuple[Announced, Candidate]]:
    """Return the announced renewals that are due today, after an id, by their ids."""
    rows = reading.rows(
        f"""
        SELECT a.{", a.".join(Announced._fields)}, {CANDIDATE} {OF_CONSENTS}
        JOIN announced_renewals AS a ON a.account_id = :account_id AND a.consent_id = v.consent_id
            AND a.subscription_id = v.subscription_id AND a.term_id = t.term_id
            AND a.status = 'announced' AND a.renews_on <= :today AND a.announcement_id > :after
        WHERE {_STANDING}
        ORDER BY a.announcement_id LIMIT :most
        """,
        today=reading.today,
        after=after,
        most=most,
    )
    width = len(Announced._fields)
    return [(Announced(*row[:width]), Candidate(*row[width:])) for row in rows]


class Waiting(NamedTuple):
    """An announced renewal that is due, and not ordered yet."""

    announcement_id: int
    subscription_id: int
    subscriber_id: int
    renews_on: str


def waiting(reading: Reading) -> list[Waiting]:
    """Return the announced renewals that are due today, by their ids."""
    return reading.rows_as(
        Waiting,
        """
        SELECT a.announcement_id, a.subscription_id, s.subscriber_id, a.renews_on
        FROM announced_renewals AS a JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = a.subscription_id
        WHERE a.account_id = :account_id AND a.status = 'announced' AND a.renews_on <= :today
        ORDER BY a.announcement_id
        """,
        today=reading.today,
    )


def announce(change: Operation, rows: Sequence[AnnouncedRow]) -> None:
    """Queue announcements; those that an earlier consent left of the same terms are replaced."""
    change.change(
        f"""
        DELETE FROM announced_renewals WHERE account_id = :account_id AND status = 'stopped'
            AND term_id IN ({", ".join(f"{each.term_id:d}" for each in rows) or "-1"})
        """
    )
    for each in rows:
        change.add("announced_renewals", **each._asdict())


def settle(
    change: Operation,
    announcement_id: int,
    status: Status,
    order_id: int | None = None,
    reason: str | None = None,
) -> None:
    """Queue what became of an announced renewal."""
    change.change_later(
        """
        UPDATE announced_renewals SET status = :status, order_id = :order_id, reason = :reason
        WHERE account_id = :account_id AND announcement_id = :announcement_id
        """,
        announcement_id=announcement_id,
        status=status,
        order_id=order_id,
        reason=reason,
    )


def newest_of(reading: Reading, subscription_id: int) -> AnnouncedRow | None:
    """Return the newest announced renewal of a subscription, None if there is none."""
    return reading.row_as(
        AnnouncedRow,
        f"""
        SELECT {", ".join(AnnouncedRow._fields)} FROM announced_renewals
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        ORDER BY announcement_id DESC LIMIT 1
        """,
        subscription_id=subscription_id,
    )
