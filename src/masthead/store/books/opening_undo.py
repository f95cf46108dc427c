"""Undoing the opening of the books, for as long as nothing was done in them.

The opening keeps no copy of what the files said. The values of subscriptions stay as the opening
wrote them until the files are loaded again.
"""

from masthead.errors import BadInput
from masthead.store.books.operation import Operation

_DONE = {
    "an order was taken": """
        SELECT 1 FROM orders AS o WHERE o.account_id = :account_id AND o.order_id > (
            SELECT coalesce(b.last_order_before, -1) FROM books AS b
            WHERE b.account_id = :account_id)
        """,
    "an issue was closed": """
        SELECT 1 FROM issues WHERE account_id = :account_id AND mailing_list_id IS NOT NULL
        """,
    "a term was added or changed": """
        SELECT 1 FROM terms WHERE account_id = :account_id AND (kind <> 'opening'
            OR issues_left <> issues OR ended_at IS NOT NULL OR moved_after IS NOT NULL
            OR free_copies <> 0 OR spread_parts IS NOT NULL)
        """,
    "money was booked": """
        SELECT 1 FROM revenue WHERE account_id = :account_id AND kind <> 'received'
        """,
    "a subscription was suspended": """
        SELECT 1 FROM suspensions WHERE account_id = :account_id
        """,
    "a subscription got a temporary address": """
        SELECT 1 FROM temporary_addresses WHERE account_id = :account_id
        """,
    "a copy was sent again": """
        SELECT 1 FROM replacements WHERE account_id = :account_id
        """,
    "a subscription was cancelled": """
        SELECT 1 FROM cancellations AS c WHERE c.account_id = :account_id
            AND (c.at_end = 0 OR c.reason IS NOT NULL OR c.ended_on IS NOT NULL)
        """,
    "subscribers were merged": """
        SELECT 1 FROM subscribers WHERE account_id = :account_id AND merged_into IS NOT NULL
        """,
    "a renewal letter was sent": """
        SELECT 1 FROM renewals_sent WHERE account_id = :account_id
        """,
    "billing was set up": """
        SELECT 1 FROM billing WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM billing_settings WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM tax_rates WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM shipping_prices WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM payer_details WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM mandates WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM reminder_levels WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM renewal_consents WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM mails WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM held_addresses WHERE account_id = :account_id
        UNION ALL SELECT 1 FROM letters WHERE account_id = :account_id
        """,
}
"""What prevents the undoing: the words, and the query that finds it."""


def check_unused(books: Operation) -> None:
    """Raise BadInput if something was done in the books that the undoing would lose."""
    for what, query in _DONE.items():
        if books.row(f"{query} LIMIT 1"):
            raise BadInput(
                f"{what} since the books were opened, so the opening can no longer be undone"
            )


def undo(books: Operation) -> None:
    """Remove all that the opening added; the account then gets its data from files again."""
    books.change(
        """
        UPDATE subscriptions AS s SET cancelled_on = c.made_on,
            renew_campaign_active = c.campaign, commit_id = :commit_id
        FROM cancellations AS c
        WHERE s.account_id = :account_id AND c.account_id = :account_id
            AND c.subscription_id = s.subscription_id
        """,
        commit_id=books.commit_id,
    )
    books.change(
        """
        UPDATE issues SET closed_at = NULL
        WHERE account_id = :account_id AND closed_at = (
            SELECT b.opened_at FROM books AS b WHERE b.account_id = :account_id)
        """
    )
    books.change(
        """
        UPDATE subscriptions SET begins_on = NULL
        WHERE account_id = :account_id AND begins_on IS NOT NULL
        """
    )
    for table in ("cancellations", "revenue", "terms", "books"):
        books.change(f"DELETE FROM {table} WHERE account_id = :account_id")
