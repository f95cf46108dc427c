"""What the books still have for a reader who is to be erased (``books.erasure``)."""

from typing import NamedTuple

from masthead.circulation.amounts import in_currency, stored_cents
from masthead.store.books.stored_expiry_dates import LEFT_OF_TERMS
from masthead.store.database import Connection


class Left(NamedTuple):
    """A subscription with something left: issues (-1 unlimited), and unearned cents.

    The issues are those of its terms. One that goes only by a qualification is free: it has neither
    (decisions, "Erasing who only qualifies").
    """

    subscription_id: int
    publication: str | None
    issues: int
    unearned: int
    currency: str
    is_free: bool = False

    @property
    def said(self) -> str:
        """A line about the subscription for a person."""
        if self.is_free:
            return f"{self.publication or 'a publication'}: free by a qualification"
        issues = "unlimited" if self.issues < 0 else f"{self.issues} issues left"
        unearned = in_currency(self.unearned, self.currency)
        return f"{self.publication or 'a publication'}: {issues}, {unearned} unearned"


def left_of(
    connection: Connection, account_id: int, subscriber_id: int, *, with_free: bool = False
) -> list[Left]:
    """Return the subscriptions of a reader that have issues or money left, sorted by id.

    With ``with_free``, also those that only go by a qualification.
    """
    found = connection.rows_as(
        tuple[int, str | None, int, str, str, bool],
        f"""
        SELECT s.subscription_id, p.name, coalesce({LEFT_OF_TERMS}, 0),
            coalesce(s.unearned_revenue, '0'), a.currency, s.issues = -1
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
    left = []
    for key, name, issues, text, code, has_every_issue in found:
        unearned = stored_cents(text)
        is_free = bool(has_every_issue) and not issues and not unearned
        left.append(Left(key, name, issues, unearned, code, is_free))
    return [each for each in left if each.issues or each.unearned or (with_free and each.is_free)]
