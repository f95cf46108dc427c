"""What the books still have for a reader who is to be erased (``books.erasure``)."""

from typing import NamedTuple

from masthead.circulation.amounts import in_currency, stored_cents
from masthead.store.database import Connection


class Left(NamedTuple):
    """A subscription with something left: issues (-1 unlimited), and unearned cents."""

    subscription_id: int
    publication: str | None
    issues: int
    unearned: int
    currency: str

    @property
    def said(self) -> str:
        """A line about the subscription for a person."""
        issues = "unlimited" if self.issues < 0 else f"{self.issues} issues left"
        unearned = in_currency(self.unearned, self.currency)
        return f"{self.publication or 'a publication'}: {issues}, {unearned} unearned"


def left_of(connection: Connection, account_id: int, subscriber_id: int) -> list[Left]:
    """Return the subscriptions of a reader that have issues or money left, sorted by id."""
    found = connection.rows_as(
        tuple[int, str | None, int, str, str],
        """
        SELECT s.subscription_id, p.name, coalesce(s.issues, 0), coalesce(s.unearned_revenue, '0'),
            a.currency
        FROM subscriptions AS s
        JOIN accounts AS a ON a.account_id = :account_id
        JOIN publications AS p
            ON p.account_id = s.account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            AND s.cancelled_on IS NULL
        ORDER BY s.subscription_id
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
    )
    left = [
        Left(key, name, issues, stored_cents(text), code) for key, name, issues, text, code in found
    ]
    return [each for each in left if each.issues or each.unearned]
