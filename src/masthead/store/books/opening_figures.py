"""The figures of an opening: its balances, the next issue, and what was sent before."""

from typing import NamedTuple

from masthead.store.books.ids import next_ids
from masthead.store.books.issue import Issue, find_issue, issues_of
from masthead.store.books.operation import Operation

_LISTS_MAX = 200
"""How many lists, the newest first, are searched for the last one of each publication."""


class Balance(NamedTuple):
    """A publication's opening balance: subscriptions with issues left, the issues, and cents.

    ``unlimited`` counts the subscriptions without an end; their issues are not counted.
    """

    publication_id: int
    name: str
    subscriptions: int
    paid_issues: int
    free_issues: int
    unlimited: int
    unearned: int


class Sent(NamedTuple):
    """What was sent last: the name of the list or issue, its readers, and their copies."""

    name: str
    readers: int
    copies: int


def balances(books: Operation) -> list[Balance]:
    """Return the opening balances by publication."""
    return books.rows_as(
        Balance,
        """
        SELECT p.publication_id, coalesce(p.name, ''),
            count(DISTINCT CASE WHEN t.issues <> 0 THEN t.subscription_id END),
            CAST(coalesce(sum(CASE WHEN t.paid_on IS NOT NULL AND t.issues > 0
                THEN t.issues END), 0) AS BIGINT),
            CAST(coalesce(sum(CASE WHEN t.paid_on IS NULL AND t.issues > 0
                THEN t.issues END), 0) AS BIGINT),
            count(CASE WHEN t.issues < 0 THEN 1 END),
            CAST(coalesce(sum(t.price), 0) AS BIGINT)
        FROM publications AS p
        LEFT JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.publication_id = p.publication_id
        LEFT JOIN terms AS t
            ON t.account_id = :account_id AND t.subscription_id = s.subscription_id
        WHERE p.account_id = :account_id
        GROUP BY p.publication_id, p.name ORDER BY p.publication_id
        """,
    )


def next_planned(books: Operation, publication_id: int) -> Issue | None:
    """Return the publication's next issue to close, or None."""
    for each in issues_of(books, publication_id):
        if each.date and not each.closed_at:
            return each
    return None


def plan(books: Operation, publication_id: int, day: str) -> Issue:
    """Plan an issue that the publisher did not name, for a dry run; return it."""
    issue_id = next_ids(books.connection, books.account_id, "issues")
    books.change(
        """
        INSERT INTO issues (account_id, issue_id, publication_id, name, date)
        VALUES (:account_id, :issue_id, :publication_id, :name, :day)
        """,
        issue_id=issue_id,
        publication_id=publication_id,
        name="not planned",
        day=day,
    )
    return find_issue(books, issue_id)


def last_sent(books: Operation) -> dict[int, Sent]:
    """Return what was sent last by publication: the newest list, or else the newest issue.

    Gap lists are left out.
    """
    found: dict[int, Sent] = {}
    publications = set(
        books.column_as(
            int, "SELECT publication_id FROM publications WHERE account_id = :account_id"
        )
    )
    for list_id, name in books.rows_as(
        tuple[int, str],
        """
        SELECT mailing_list_id, coalesce(name, '') FROM list_downloads
        WHERE account_id = :account_id AND is_gap = 0
        ORDER BY date_created DESC, mailing_list_id DESC LIMIT :limit
        """,
        limit=_LISTS_MAX,
    ):
        if publications <= found.keys():
            break
        for publication_id, readers, copies in _of_list(books, list_id):
            found.setdefault(publication_id, Sent(f"list {name}", readers, copies))
    for publication_id, name, readers, copies in _of_newest_issues(books):
        found.setdefault(publication_id, Sent(name, readers, copies))
    return found


def _of_list(books: Operation, mailing_list_id: int) -> list[tuple[int, int, int]]:
    return books.rows_as(
        tuple[int, int, int],
        """
        SELECT s.publication_id, count(*), CAST(sum(coalesce(e.copies, 0)) AS BIGINT)
        FROM mailing_list_entries AS e JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = e.subscription_id
        WHERE e.account_id = :account_id AND e.mailing_list_id = :mailing_list_id
        GROUP BY s.publication_id
        """,
        mailing_list_id=mailing_list_id,
    )


def _of_newest_issues(books: Operation) -> list[tuple[int, str, int, int]]:
    """Return the newest received issue of each publication; the copies are the present ones."""
    return books.rows_as(
        tuple[int, str, int, int],
        """
        SELECT i.publication_id, coalesce(i.name, ''), count(*),
            CAST(sum(coalesce(s.copies, 0)) AS BIGINT)
        FROM issues AS i
        JOIN subscription_issues AS d ON d.account_id = :account_id AND d.issue_id = i.issue_id
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = d.subscription_id
        WHERE i.account_id = :account_id AND i.issue_id = (
            SELECT o.issue_id FROM issues AS o
            WHERE o.account_id = :account_id AND o.publication_id = i.publication_id
                AND EXISTS (SELECT 1 FROM subscription_issues AS r
                    WHERE r.account_id = :account_id AND r.issue_id = o.issue_id)
            ORDER BY o.date DESC, o.issue_id DESC LIMIT 1)
        GROUP BY i.publication_id, i.issue_id, i.name
        """,
    )
