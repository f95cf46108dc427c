"""What a reader may read now: the query, and the rule of ``circulation.entitlements``."""

from masthead.circulation.entitlements import Entitlement, HeldSubscription, entitlements
from masthead.store.books.serving_sql import is_beyond_credit
from masthead.store.books.stored_expiry_dates import IS_QUALIFIED
from masthead.store.database import Connection

_LEFT = """
    SELECT 1 FROM terms AS o WHERE o.account_id = :account_id
        AND o.subscription_id = n.subscription_id AND o.issues_left <> 0
    """
_HELD = f"""
    SELECT n.publication_id, p.name, n.type, n.issues, n.begins_on, n.date_expired, n.cancelled_on,
        (SELECT min(u.from_date) FROM suspensions AS u
            WHERE u.account_id = :account_id AND u.subscription_id = n.subscription_id
            AND (u.to_date IS NULL OR u.to_date >= :today)),
        CASE WHEN NOT EXISTS ({_LEFT})
            OR EXISTS ({_LEFT} AND NOT {is_beyond_credit("o", "p.credit_issues")})
            OR EXISTS (SELECT 1 FROM qualified_subscriptions AS q WHERE q.account_id = :account_id
                AND q.subscription_id = n.subscription_id AND {IS_QUALIFIED}
                AND q.valid_until >= :today)
            THEN 1 ELSE 0 END
    FROM subscribers AS s
    LEFT JOIN subscriptions AS n ON n.account_id = :account_id
        AND n.subscriber_id = s.subscriber_id AND n.merged_into IS NULL
    LEFT JOIN publications AS p
        ON p.account_id = :account_id AND p.publication_id = n.publication_id
    WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        AND s.delete_date IS NULL
    ORDER BY n.subscription_id
    """


def entitlements_of(
    connection: Connection, account_id: int, subscriber_id: int, *, today: str
) -> list[Entitlement] | None:
    """Return what a subscriber may read on a day; None if the subscriber is gone or deleted."""
    rows = connection.rows(_HELD, account_id=account_id, subscriber_id=subscriber_id, today=today)
    if not rows:
        return None
    return entitlements([HeldSubscription(*row) for row in rows if row[0] is not None], today)
