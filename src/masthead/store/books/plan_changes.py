"""How a load changes the plan of issues, and what follows for subscriptions.

A load recomputes the end of all subscriptions to publications whose plan has changed, exactly as
the commands of the catalogue do (rules, "Loads of the plan").
"""

from typing import NamedTuple

from masthead.contract.records import TABLES_BY_NAME
from masthead.store.books.derived_values import refresh
from masthead.store.books.moved_issues import begin_with_moved
from masthead.store.books.operation import Operation, mode_of
from masthead.store.database import Connection, Store
from masthead.store.staging import Staging, has_column


class Plans(NamedTuple):
    """The values that determine when subscriptions end.

    These are a publication's settings, and each issue's publication, date, and whether it is
    closed.
    """

    publications: dict[int, tuple[int, int]]
    issues: dict[int, tuple[int, str | None, bool]]

    def of_publication(self, publication_id: int) -> object:
        """Return the plan of one publication, for comparison."""
        issues = (each[1:] for each in self.issues.values() if each[0] == publication_id)
        return self.publications.get(publication_id), sorted(issues, key=repr)


def plans_of(connection: Connection, account_id: int) -> Plans | None:
    """Return the plans of an account in mode ``here``; None in mode ``elsewhere``."""
    if mode_of(connection, account_id) != "here":
        return None
    publications = connection.rows(
        """
        SELECT publication_id, issues_per_year, credit_issues FROM publications
        WHERE account_id = :account_id
        """,
        account_id=account_id,
    )
    issues = connection.rows(
        """
        SELECT issue_id, publication_id, date, closed_at IS NOT NULL FROM issues
        WHERE account_id = :account_id
        """,
        account_id=account_id,
    )
    return Plans(
        {key: (per_year, credit) for key, per_year, credit in publications},
        {key: (of, day, bool(is_closed)) for key, of, day, is_closed in issues},
    )


def follow_moved_issues(staging: Staging) -> None:
    """Let subscriptions begin with their first issue if the load moves it to an earlier day.

    Only issues that are not closed move. Call it before the load's rows are written.
    """
    if "issues" not in staging.tables:
        return
    has_date = has_column(TABLES_BY_NAME["issues"], "date", "s")
    moved = staging.rows(
        f"""
        SELECT s.issue_id, s.date FROM {staging.rows_of("issues")} AS s
        JOIN issues AS o ON o.account_id = :account_id AND o.issue_id = s.issue_id
        WHERE {has_date} AND o.closed_at IS NULL AND o.date <> s.date
        ORDER BY s.date, s.issue_id
        """
    )
    for issue_id, day in moved:
        begin_with_moved(staging.connection, staging.account_id, issue_id, day)


def bring_up_to_date(
    store: Store, connection: Connection, account_id: int, commit_id: int, before: Plans
) -> None:
    """Update the derived values of subscriptions to publications whose plan changed.

    Call it in the transaction that changed the plan; changed subscriptions get its commit.
    """
    now = plans_of(connection, account_id)
    assert now
    if now == before:
        return
    books = Operation(store, connection, account_id, commit_id=commit_id)
    for publication_id in now.publications:
        if now.of_publication(publication_id) != before.of_publication(publication_id):
            refresh(
                books,
                """SELECT s.subscription_id FROM subscriptions AS s
                WHERE s.account_id = :account_id AND s.publication_id = :publication_id""",
                publication_id=publication_id,
            )
    books.write()
