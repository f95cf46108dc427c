"""The newest qualifications of a reader's subscriptions, for the reader's pages."""

from typing import NamedTuple

from masthead.databases.queries import Query, rows_as


class Newest(NamedTuple):
    """The newest qualification of a subscription; ``served``: 1 if its class gets copies."""

    subscription_id: int
    publication_id: int
    valid_until: str
    served: int


def newest(subscriber_id: int) -> Query[dict[int, Newest]]:
    """Return the newest qualifications of a reader by the subscription."""
    return rows_as(
        Newest,
        """
        SELECT q.subscription_id, q.publication_id, q.valid_until, q.served
        FROM subscriptions AS s
        JOIN qualified_subscriptions AS q
            ON q.account_id = :account_id AND q.subscription_id = s.subscription_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            AND s.cancelled_on IS NULL AND s.merged_into IS NULL
        """,
        subscriber_id=subscriber_id,
    ).then(lambda rows: {each.subscription_id: each for each in rows})
