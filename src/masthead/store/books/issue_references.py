"""What refers to an issue for good, so that the issue cannot be taken out of the plan."""

from masthead.errors import BadInput
from masthead.store.books.operation import Operation

REFERENCES = {
    ("revenue", "issue_id"): "revenue was booked for it",
    ("complaints", "issue_id"): "a reader complained about it",
    ("reader_requests", "issue_id"): "a reader missed a copy",
    ("replacements", "issue_id"): "copies were sent again",
    ("subscription_issues", "issue_id"): "subscriptions received it",
    ("audit_figures", "issue_id"): "its audit report was counted",
    ("cancellations", "ended_issue_id"): "a subscription ended with it",
    ("cancellations", "final_issue_id"): "a cancelled subscription cannot go on since then",
}
"""The tables and columns that refer to an issue that was closed, with what that means."""


def check_removable(books: Operation, issue_id: int) -> None:
    """Raise BadInput if anything refers to an issue, or if a subscription ends after it."""
    for (table, column), said in REFERENCES.items():
        if books.row(
            f"""
            SELECT 1 FROM {table} WHERE account_id = :account_id AND {column} = :issue_id LIMIT 1
            """,
            issue_id=issue_id,
        ):
            raise BadInput(
                f"issue {issue_id} was closed once, and {said}: it stays in the plan, where it can "
                "get another date",
                code="booked_issue",
                issue=issue_id,
            )
    cancelled = books.row(
        """
        SELECT min(subscription_id) FROM cancellations
        WHERE account_id = :account_id AND after_issue_id = :issue_id
        """,
        issue_id=issue_id,
    )
    if cancelled and cancelled[0] is not None:
        raise BadInput(
            f"subscription {cancelled[0]} was cancelled after issue {issue_id}: undo that first",
            code="cancelled_meanwhile",
            subscription=cancelled[0],
        )
