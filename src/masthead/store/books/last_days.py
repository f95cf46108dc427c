"""The last day of one subscription: as it is stored, and as it would be with other pauses."""

from collections.abc import Iterable
from datetime import date

from masthead.circulation.expiry_dates import Range, covers, day_before_next, with_issues_left
from masthead.circulation.spans import Span
from masthead.databases.queries import Query, rows_as
from masthead.store.books.operation import Reading
from masthead.store.books.stored_expiry_dates import LEFT_OF_TERMS, calendar_of


def last_day(reading: Reading, subscription_id: int) -> str | None:
    """Return the stored last day (``date_expired``) of a subscription; None if it has none."""
    return reading.ask(stored_last_day(subscription_id))


def stored_last_day(subscription_id: int) -> Query[str | None]:
    """Return the query of :func:`last_day`."""
    return rows_as(
        tuple[str | None],
        """
        SELECT date_expired FROM subscriptions
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    ).then(lambda rows: rows[0][0] if rows else None)


def last_day_of_terms(reading: Reading, subscription_id: int) -> str | None:
    """Return the last day of a subscription by its terms alone, without its qualification.

    It is the day that is stored if the subscription does not go by a qualification.
    """
    pauses = reading.rows_as(
        Span,
        """
        SELECT suspension_id, from_date, to_date FROM suspensions
        WHERE account_id = :account_id AND subscription_id = :subscription_id
        ORDER BY from_date
        """,
        subscription_id=subscription_id,
    )
    return last_day_with(reading, subscription_id, pauses, of_terms=True)


def last_day_with(
    reading: Reading, subscription_id: int, pauses: Iterable[Span], *, of_terms: bool = False
) -> str | None:
    """Return the last day that a subscription would have with other pauses than its own.

    ``store.books.stored_expiry_dates`` writes the same day once it has these pauses. Pauses move
    the last day only if issues are left. ``of_terms`` leaves out the qualification.
    """
    row = reading.row_as(
        tuple[int, int | None, str | None, str | None],
        f"""
        SELECT s.publication_id, {LEFT_OF_TERMS if of_terms else "s.issues"}, s.begins_on, (
            SELECT i.date FROM cancellations AS c JOIN issues AS i
                ON i.account_id = :account_id AND i.issue_id = c.after_issue_id
            WHERE c.account_id = :account_id AND c.subscription_id = s.subscription_id
                AND c.ended_on IS NULL)
        FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        subscription_id=subscription_id,
    )
    if row is None:
        return None
    publication_id, issues, begins_on, last_issue = row
    calendar = calendar_of(reading, publication_id)
    if not calendar.dates or begins_on is None or not issues or issues < 0:
        return last_day(reading, subscription_id)
    away = [
        Range(
            date.fromisoformat(each.first),
            None if each.last is None else date.fromisoformat(each.last),
        )
        for each in pauses
    ]
    missed = [
        day
        for day in map(date.fromisoformat, _not_received(reading, subscription_id, begins_on))
        if not covers(away, day)
    ]
    day = with_issues_left(calendar, issues, date.fromisoformat(begins_on), missed, away)
    if last_issue is not None:
        day = min(day, day_before_next(calendar, date.fromisoformat(last_issue)))
    return day.isoformat()


def _not_received(reading: Reading, subscription_id: int, begins_on: str) -> list[str]:
    """Return the days of closed issues with a list that a subscription did not get."""
    return reading.column_as(
        str,
        """
        SELECT i.date FROM subscriptions AS s JOIN issues AS i
            ON i.account_id = s.account_id AND i.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
            AND i.closed_at IS NOT NULL AND i.mailing_list_id IS NOT NULL AND i.date >= :begins_on
            AND NOT EXISTS (
                SELECT 1 FROM subscription_issues AS r WHERE r.account_id = :account_id
                AND r.subscription_id = s.subscription_id AND r.issue_id = i.issue_id)
        ORDER BY i.date
        """,
        subscription_id=subscription_id,
        begins_on=begins_on,
    )
