"""The consents to automatic renewal (billing, "Automatic renewal").

The functions run in an operation (``store.books.operation``) or in a reading of one.
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.databases.queries import Query, rows_as
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.renewing import PRESENT_TERM


class Consent(NamedTuple):
    """A consent: when and by which words it was given, and which bundle is ordered.

    ``source`` says where it was given, such as by telephone. ``stopped_on`` is None while it runs.
    ``words``, ``source`` and ``stop_reason`` are None once the reader was erased.
    """

    consent_id: int
    subscription_id: int
    subscriber_id: int
    bundle_id: int
    given_on: str
    words: str | None
    source: str | None
    stopped_on: str | None
    stop_reason: str | None


def consents_of(reading: Reading, subscription_id: int) -> list[Consent]:
    """Return the consents of a subscription, the newest first."""
    return reading.ask(consents(subscription_id))


def consents(subscription_id: int) -> Query[list[Consent]]:
    """Return the query of :func:`consents_of`."""
    return rows_as(
        Consent,
        f"""
        SELECT {", ".join(Consent._fields)} FROM renewal_consents
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        ORDER BY consent_id DESC
        """,
        subscription_id=subscription_id,
    )


def running_consent(reading: Reading, subscription_id: int) -> Consent | None:
    """Return the consent of a subscription that was not stopped, None if there is none."""
    return running_of(consents_of(reading, subscription_id))


def running_of(consents: Iterable[Consent]) -> Consent | None:
    """Return the one of the consents that was not stopped, None if all were."""
    return next((each for each in consents if each.stopped_on is None), None)


def bundles_for(reading: Reading, subscription_id: int) -> list[tuple[int, str | None, int]]:
    """Return the bundles for sale with a line for a subscription: id, name, cents with tax."""
    return reading.rows_as(
        tuple[int, str | None, int],
        """
        SELECT b.bundle_id, b.name, b.price + b.tax FROM bundles AS b
        WHERE b.account_id = :account_id AND b.active = 1 AND EXISTS (
            SELECT 1 FROM bundle_lines AS l JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = :subscription_id
                    AND s.publication_id = l.publication_id AND s.type = l.type
            WHERE l.account_id = :account_id AND l.bundle_id = b.bundle_id)
        ORDER BY b.bundle_id
        """,
        subscription_id=subscription_id,
    )


def add_consent(change: Operation, consent: Consent) -> None:
    """Add a consent."""
    change.add("renewal_consents", **consent._asdict())
    change.write()


def stop_consent(change: Operation, consent_id: int, reason: str | None) -> None:
    """Stop a consent today, and the renewal that was announced by it, with its mail."""
    change.change(
        """
        UPDATE renewal_consents SET stopped_on = :today, stop_reason = :reason
        WHERE account_id = :account_id AND consent_id = :consent_id AND stopped_on IS NULL
        """,
        today=change.today,
        reason=reason,
        consent_id=consent_id,
    )
    change.change(
        """
        UPDATE mails SET status = 'cancelled'
        WHERE account_id = :account_id AND kind = 'announcement' AND status = 'queued'
            AND subscription_id IN (
                SELECT v.subscription_id FROM renewal_consents AS v
                WHERE v.account_id = :account_id AND v.consent_id = :consent_id)
        """,
        consent_id=consent_id,
    )
    stop_announcements(change)


def resume_consent(change: Operation, consent_id: int) -> None:
    """Let a consent run again that was stopped; a renewal that was announced stays stopped."""
    change.change(
        """
        UPDATE renewal_consents SET stopped_on = NULL, stop_reason = NULL
        WHERE account_id = :account_id AND consent_id = :consent_id
        """,
        consent_id=consent_id,
    )


_ENDED = {
    "the reader was deleted": """EXISTS (SELECT 1 FROM subscribers AS d
        WHERE d.account_id = :account_id AND d.subscriber_id = s.subscriber_id
            AND d.delete_date IS NOT NULL)""",
    "the subscription was cancelled": """(s.cancelled_on IS NOT NULL OR EXISTS (
        SELECT 1 FROM cancellations AS c WHERE c.account_id = :account_id
            AND c.subscription_id = s.subscription_id AND c.ended_on IS NULL))""",
    "what was ordered was refunded": f"""(s.issues = 0 AND EXISTS (SELECT 1 FROM terms AS t
        WHERE t.account_id = :account_id AND t.term_id = {PRESENT_TERM}
            AND t.ended_at IS NOT NULL))""",
}
"""Why a consent ends without the reader's word, each with its condition on a subscription ``s``."""


def stop_ended(change: Operation) -> int:
    """Stop the consents of subscriptions that ended; return how many were stopped."""
    stopped = 0
    for reason, condition in _ENDED.items():
        stopped += change.change(
            f"""
            UPDATE renewal_consents SET stopped_on = :today, stop_reason = :reason
            WHERE account_id = :account_id AND stopped_on IS NULL AND subscription_id IN (
                SELECT s.subscription_id FROM subscriptions AS s
                JOIN renewal_consents AS v ON v.account_id = :account_id
                    AND v.subscription_id = s.subscription_id AND v.stopped_on IS NULL
                WHERE s.account_id = :account_id AND {condition})
            """,
            today=change.today,
            reason=reason,
        )
    return stopped


def stop_announcements(change: Operation) -> int:
    """Stop the announced renewals whose consent ended, or whose term is not the last one any more.

    Returns how many were stopped.
    """
    stopped = change.change(
        """
        UPDATE announced_renewals SET status = 'stopped', reason = 'the consent was stopped'
        WHERE account_id = :account_id AND status = 'announced' AND consent_id IN (
            SELECT v.consent_id FROM renewal_consents AS v
            WHERE v.account_id = :account_id AND v.stopped_on IS NOT NULL)
        """
    )
    return stopped + change.change(
        f"""
        UPDATE announced_renewals SET status = 'stopped', reason = 'another order came first'
        WHERE account_id = :account_id AND status = 'announced' AND announcement_id IN (
            SELECT a.announcement_id FROM announced_renewals AS a
            JOIN subscriptions AS s
                ON s.account_id = :account_id AND s.subscription_id = a.subscription_id
            WHERE a.account_id = :account_id AND a.status = 'announced'
                AND a.term_id <> {PRESENT_TERM})
        """
    )
