"""Which letters were sent to a reader, as the readers' pages list them.

A letter counts as a reader's only by what is the reader's own: who got it, or whose order paid for
its term. The role of these pages sees no more, and so a file of SQLite gives the same answer.
"""

from typing import Literal, NamedTuple

from masthead.databases.queries import Query, rows_as, sorted_by
from masthead.store.books.renewing import PRESENT_TERM

SentKind = Literal["welcome", "cancellation", "renewal", "announcement"]


class SentLetter(NamedTuple):
    """A letter that was sent to a reader, on paper or by email, and the day on which it was.

    ``key`` is the id of a welcome or cancellation letter, of the term of a renewal letter, or of an
    announcement; ``effort`` is which renewal letter it is, 0 for others. ``is_current`` (0 or 1):
    what it is about still stands and names nobody else, so that it can be made again.
    """

    kind: SentKind
    key: int
    effort: int
    subscription_id: int
    publication: str | None
    written_on: str
    is_current: int


_PAID = """
    SELECT 1 FROM order_items AS i
    JOIN orders AS o ON o.account_id = :account_id AND o.order_id = i.order_id
    WHERE i.account_id = :account_id AND i.order_item_id = {term}.order_item_id
        AND o.subscriber_id = :subscriber_id
    """
"""Finds a row if the reader paid for a term."""

_OWN_TERM = f"""
    (EXISTS ({_PAID.format(term="t")})
        OR t.order_item_id IS NULL AND (s.billing_address_id IS NULL OR EXISTS (
            SELECT 1 FROM addresses AS b WHERE b.account_id = :account_id
                AND b.address_id = s.billing_address_id AND b.subscriber_id = :subscriber_id)))
    """
"""Whether the reader of a subscription ``s`` pays for its term ``t``."""

_GIVEN = f"""
    s.subscriber_id <> :subscriber_id AND NOT EXISTS (SELECT 1 FROM terms AS x
        WHERE x.account_id = :account_id AND x.subscription_id = s.subscription_id
            AND x.kind <> 'extension' AND NOT EXISTS ({_PAID.format(term="x")}))
    """
"""Whether the reader paid for all terms of a subscription ``s`` of somebody else."""

_NEWEST = """
    (SELECT max(n.term_id) FROM terms AS n WHERE n.account_id = :account_id
        AND n.subscription_id = s.subscription_id AND n.kind <> 'extension')
    """
"""The newest term of a subscription ``s``, beside free copies."""

_SENT = "SELECT 'renewal', n.term_id, n.effort, s.subscription_id, p.name, n.sent_on"
_SENT_OF = """
    JOIN renewals_sent AS n ON n.account_id = :account_id
        AND n.subscription_id = s.subscription_id AND n.term_id = t.term_id
    JOIN publications AS p ON p.account_id = :account_id AND p.publication_id = s.publication_id
    """


def sent(subscriber_id: int) -> Query[list[SentLetter]]:
    """Return the letters that were sent to a reader, the newest first.

    Of the renewal letters, they are those for terms for which the reader paid. A letter about a
    gift cannot be made again: it names the other person, whom the database does not show here.
    """
    return rows_as(
        SentLetter,
        f"""
        SELECT l.kind, l.letter_id, 0, l.subscription_id, p.name, l.written_on,
            CASE WHEN s.subscriber_id = :subscriber_id AND (
                l.kind = 'welcome' AND EXISTS (SELECT 1 FROM terms AS t
                    WHERE t.account_id = :account_id AND t.term_id = {_NEWEST} AND {_OWN_TERM})
                OR l.kind = 'cancellation' AND EXISTS (SELECT 1 FROM cancellations AS c
                    WHERE c.account_id = :account_id AND c.subscription_id = l.subscription_id
                        AND c.made_on <= l.written_on)) THEN 1 ELSE 0 END
        FROM letters AS l
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = l.subscription_id
        JOIN publications AS p ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE l.account_id = :account_id AND l.subscriber_id = :subscriber_id
        UNION ALL
        {_SENT}, CASE WHEN n.term_id = {PRESENT_TERM} THEN 1 ELSE 0 END
        FROM subscriptions AS s
        JOIN terms AS t ON t.account_id = :account_id AND t.subscription_id = s.subscription_id
        {_SENT_OF}
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id AND {_OWN_TERM}
        UNION ALL
        {_SENT}, 0
        FROM orders AS g
        JOIN order_items AS h ON h.account_id = :account_id AND h.order_id = g.order_id
        JOIN terms AS t ON t.account_id = :account_id AND t.order_item_id = h.order_item_id
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = t.subscription_id
        {_SENT_OF}
        WHERE g.account_id = :account_id AND g.subscriber_id = :subscriber_id AND {_GIVEN}
        UNION ALL
        SELECT 'announcement', a.announcement_id, 0, s.subscription_id, p.name, a.announced_on, 1
        FROM renewal_consents AS v
        JOIN announced_renewals AS a
            ON a.account_id = :account_id AND a.consent_id = v.consent_id
                AND a.status IN ('announced', 'renewed', 'stopped')
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = a.subscription_id
        JOIN terms AS t ON t.account_id = :account_id AND t.term_id = a.term_id
        JOIN publications AS p ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE v.account_id = :account_id AND v.subscriber_id = :subscriber_id AND {_OWN_TERM}
        """,
        subscriber_id=subscriber_id,
    ).then(sorted_by("written_on", "key", "effort", reverse=True))
