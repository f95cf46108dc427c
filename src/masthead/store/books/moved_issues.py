"""Issues that move to another day (circulation, "First issue")."""

from masthead.store.database import Connection


def begin_with_moved(connection: Connection, account_id: int, issue_id: int, day: str) -> None:
    """Let subscriptions whose first issue moves to an earlier ``day`` begin on that day.

    Call it before the issue gets its new date. Subscriptions that begin with another issue do not
    change.
    """
    connection.change(
        """
        UPDATE subscriptions SET begins_on = :day
        WHERE account_id = :account_id AND begins_on > :day AND publication_id = (
            SELECT i.publication_id FROM issues AS i
            WHERE i.account_id = :account_id AND i.issue_id = :issue_id
                AND i.date >= subscriptions.begins_on AND NOT EXISTS (
                    SELECT 1 FROM issues AS o WHERE o.account_id = :account_id
                        AND o.publication_id = i.publication_id AND o.issue_id <> i.issue_id
                        AND o.date >= subscriptions.begins_on AND o.date < i.date))
        """,
        account_id=account_id,
        issue_id=issue_id,
        day=day,
    )
