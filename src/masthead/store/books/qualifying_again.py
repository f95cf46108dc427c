"""What follows for the subscription of a reader who qualifies again.

The functions run in an operation (``store.books.operation``).
"""

from collections.abc import Mapping

from masthead.store.books.operation import Operation
from masthead.store.books.order_keys import listed
from masthead.store.books.uncancelling import withdraw


def send_to(books: Operation, addresses: Mapping[int, int]) -> None:
    """Let the copies of subscriptions go to other addresses, by the id of the subscription."""
    for subscription_id, address_id in addresses.items():
        books.change_later(
            """
            UPDATE subscriptions SET mailing_address_id = :address_id, commit_id = :commit_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
                AND mailing_address_id IS DISTINCT FROM :address_id
            """,
            subscription_id=subscription_id,
            address_id=address_id,
            commit_id=books.commit_id,
        )
    books.write()


def go_on(books: Operation, asked: Mapping[int, str]) -> set[int]:
    """Let subscriptions go on whose readers asked for the title on a day, by their ids.

    A cancelling of that day or before is withdrawn if it has not ended the subscription. A
    subscription that left the campaign with a refund takes part in it again. Returns the
    subscriptions whose cancelling was withdrawn. The caller refreshes them.
    """
    keys = listed(asked)
    cancelled = {
        key
        for key, day in books.rows_as(
            tuple[int, str],
            f"""
            SELECT subscription_id, made_on FROM cancellations
            WHERE account_id = :account_id AND ended_on IS NULL AND subscription_id IN ({keys})
            """,
        )
        if day <= asked[key]
    }
    for key in sorted(cancelled):
        withdraw(books, key)
    refunded = {
        key
        for key, ended_at in books.rows_as(
            tuple[int, str],
            f"""
            SELECT s.subscription_id, t.ended_at FROM subscriptions AS s
            JOIN terms AS t ON t.account_id = :account_id AND t.term_id = (
                SELECT max(n.term_id) FROM terms AS n
                WHERE n.account_id = :account_id AND n.subscription_id = s.subscription_id)
            WHERE s.account_id = :account_id AND s.subscription_id IN ({keys})
                AND s.renew_campaign_active = 0 AND t.ended_at IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM cancellations AS c WHERE c.account_id = :account_id
                    AND c.subscription_id = s.subscription_id)
            """,
        )
        if ended_at[:10] <= asked[key]
    }
    if refunded:
        books.change(
            f"""
            UPDATE subscriptions SET renew_campaign_active = 1, commit_id = :commit_id
            WHERE account_id = :account_id AND subscription_id IN ({listed(refunded)})
            """,
            commit_id=books.commit_id,
        )
    return cancelled
