"""Extending a subscription by a free term, without an order."""

from masthead.circulation.first_day import begins_on
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation
from masthead.store.books.order_terms import publication_of
from masthead.store.books.subscription import StoredSubscription
from masthead.store.books.term_copies import next_term


def add_extension(books: Operation, found: StoredSubscription, issues: int, of_class: str) -> int:
    """Add a free term of ``issues`` issues after all others; return its id.

    It has as many copies as the next issue is paid for. If no issue was left, the issues begin by
    the rule for a renewal after a gap (circulation, "First issue").
    """
    term = next_term(books, found.subscription_id)
    if not found.issues:
        late_start, *_, newest_closed, first_planned = publication_of(books, found.publication_id)
        books.change(
            """
            UPDATE subscriptions SET begins_on = :begins_on
            WHERE account_id = :account_id AND subscription_id = :subscription_id
            """,
            subscription_id=found.subscription_id,
            begins_on=begins_on(
                late_start, newest_closed, first_planned, books.today, before=found.begins_on
            ),
        )
    term_id = next_ids(books.connection, books.account_id, "terms")
    books.change(
        """
        INSERT INTO terms (account_id, term_id, subscription_id, issues, issues_left, copies, price,
            kind, class)
        SELECT s.account_id, :term_id, s.subscription_id, CAST(:issues AS BIGINT),
            CAST(:issues AS BIGINT), coalesce(CAST(:copies AS BIGINT), s.copies, 1), 0, 'extension',
            :class
        FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        term_id=term_id,
        subscription_id=found.subscription_id,
        issues=issues,
        copies=term and term.copies,
        **{"class": of_class},
    )
    return term_id
