"""Opening the books of an account: from then on, operations own its data instead of files.

It happens completely or not at all (circulation, "Two modes of an account").
``masthead.circulation.opening`` says what a subscription's numbers become.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import NamedTuple

from masthead.circulation.amounts import decimal
from masthead.circulation.copy_classes import COMPLIMENTARY, PAID
from masthead.circulation.opening import (
    Contradiction,
    ContradictionError,
    OpeningTerm,
    opening_terms,
)
from masthead.contract.subscription_types import UNLIMITED
from masthead.errors import BadInput
from masthead.store import audit
from masthead.store.books.derived_values import refresh
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation, operation
from masthead.store.database import Row, Store

_BATCH_ROWS = 5_000
_FILLED = ("terms", "revenue", "issues", "subscriptions", "subscription_kinds")
_NAMED_MAX = 5
_NUMBERS = ("issues", "paid_issues_left", "unearned_revenue")
_TERM = (
    "term_id",
    "subscription_id",
    "issues",
    "issues_left",
    "copies",
    "price",
    "paid_on",
    "kind",
    "class",
    "months",
    "starts_on",
)
_REVENUE = ("revenue_id", "term_id", "kind", "cents", "booked_on")
_CLOSED_DAY = """(SELECT max(i.date) FROM issues AS i WHERE i.account_id = :account_id
    AND i.publication_id = {publication} AND i.closed_at IS NOT NULL)"""


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


class Opened(NamedTuple):
    """The opening balances by publication, and how many issues count as closed.

    ``to_renew`` subscriptions have no issue left, and got an empty term so that they get letters.
    """

    balances: list[Balance]
    closed_issues: int
    to_renew: int = 0


def open_books(
    store: Store,
    account_id: int,
    *,
    renew_since: str | None = None,
    dry_run: bool = False,
    by: audit.Actor | None = None,
) -> Opened:
    """Open the account's books in one transaction, and return the opening balances.

    Closes the issues dated up to today, or up to the newest one that anybody received.
    Subscriptions without issues left get an empty term if their last issue is dated ``renew_since``
    or later.

    Raises BadInput, which lists each kind of contradiction with examples, NotFound if there is no
    such account, MastheadError if its books are already open.
    """
    with operation(store, account_id, by, dry_run=dry_run, mode="elsewhere") as books:
        problems = _without_date(books)
        books.connection.change(
            """
            INSERT INTO books (account_id, books_id, opened_on, opened_at, last_order_before)
            SELECT :account_id, 1, :today, :now, max(order_id) FROM orders
            WHERE account_id = :account_id
            """,
            account_id=account_id,
            today=books.today,
            now=books.now,
        )
        closed = _close_past(books)
        _add_terms(books, problems)
        to_renew = 0 if renew_since is None else _add_empty_terms(books, renew_since)
        _begin(books)
        # Also those without a term: from now on, what the files say about their end is not used.
        refresh(books, "SELECT subscription_id FROM subscriptions WHERE account_id = :account_id")
        balances = _balances(books)
        unearned = sum(each.unearned for each in balances)
        books.say(
            f"books opened: {sum(each.subscriptions for each in balances)} subscriptions with "
            f"issues left, {decimal(unearned)} unearned, {closed} issues closed"
            + ("" if renew_since is None else f", {to_renew} to renew since {renew_since}")
        )
    if not dry_run:
        # Otherwise PostgreSQL plans for small tables, and the next closing takes minutes.
        with store.writer() as connection:
            for table in _FILLED:
                connection.analyze(table)
    return Opened(balances, closed, to_renew)


def _without_date(books: Operation) -> list[str]:
    """Return a sentence about issues without a date, since issues close in the order of dates."""
    found = books.connection.rows(
        """
        SELECT issue_id FROM issues WHERE account_id = :account_id AND date IS NULL
        ORDER BY issue_id
        """,
        account_id=books.account_id,
    )
    if not found:
        return []
    named = ", ".join(str(issue_id) for (issue_id,) in found[:_NAMED_MAX])
    count = _counted(len(found), "issue")
    return [f"date is empty, and issues close in its order: {count}, such as {named}"]


def _close_past(books: Operation) -> int:
    """Close the past issues, without a list; return their number."""
    return books.connection.change(
        """
        UPDATE issues SET closed_at = coalesce(closed_at, :now)
        WHERE account_id = :account_id AND date <= (
            SELECT max(o.date) FROM issues AS o
            WHERE o.account_id = :account_id AND o.publication_id = issues.publication_id
                AND (o.date <= :today OR EXISTS (
                    SELECT 1 FROM subscription_issues AS r
                    WHERE r.account_id = :account_id AND r.issue_id = o.issue_id)))
        """,
        account_id=books.account_id,
        now=books.now,
        today=books.today,
    )


def _add_terms(books: Operation, problems: list[str]) -> None:
    """Add the opening terms of all subscriptions, and their received revenue.

    Raises BadInput for ``problems``, and for numbers of subscriptions that contradict each other,
    with one sentence for each kind.
    """
    term_id = next_ids(books.connection, books.account_id, "terms")
    revenue_id = next_ids(books.connection, books.account_id, "revenue")
    contradictions: dict[Contradiction, list[str]] = {}
    for batch in _batches(books):
        terms: list[tuple[int | str | None, ...]] = []
        revenue: list[tuple[int | str | None, ...]] = []
        for subscription_id, issues, copies, paid, unearned, months in batch:
            numbers = issues, paid, unearned
            for part in _parts(subscription_id, numbers, contradictions):
                is_paid = part.is_paid
                is_unlimited = part.issues == UNLIMITED
                terms.append(
                    (
                        term_id,
                        subscription_id,
                        part.issues,
                        part.issues,
                        max(copies or 1, 1),
                        part.price,
                        books.today if is_paid else None,
                        "opening",
                        PAID if is_paid else COMPLIMENTARY,
                        months if is_unlimited else None,
                        books.today if is_unlimited else None,
                    )
                )
                if part.price:
                    revenue.append((revenue_id, term_id, "received", part.price, books.today))
                    revenue_id += 1
                term_id += 1
        if not contradictions:
            same = {"account_id": books.account_id}
            books.connection.insert_many("terms", _TERM, terms, **same)
            books.connection.insert_many("revenue", _REVENUE, revenue, **same)
    if contradictions:
        problems += [_told(kind, named) for kind, named in contradictions.items()]
    if problems:
        problems.append("the books stay closed; load corrected rows first")
        raise BadInput("\n".join(problems))


def _told(kind: Contradiction, named: list[str]) -> str:
    """Return the sentence about subscriptions whose numbers contradict each other in one way."""
    return (
        f"{kind}: {_counted(len(named), 'subscription')}, such as {'; '.join(named[:_NAMED_MAX])}"
    )


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _add_empty_terms(books: Operation, since: str) -> int:
    """Add a term without issues for readers with a recent last issue; return their number.

    Renewal letters are sent for a term, so these readers get them.
    """
    return books.connection.change(
        f"""
        INSERT INTO terms ({", ".join(("account_id", *_TERM))})
        SELECT s.account_id, :first_id + row_number() OVER (ORDER BY s.subscription_id) - 1,
            s.subscription_id, 0, 0, CASE WHEN s.copies > 0 THEN s.copies ELSE 1 END, 0, NULL,
            'opening', :class, NULL, NULL
        FROM subscriptions AS s JOIN subscribers AS r
            ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        WHERE s.account_id = :account_id AND r.delete_date IS NULL
            AND NOT EXISTS (SELECT 1 FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = s.subscription_id)
            AND (SELECT max(i.date) FROM subscription_issues AS g
                JOIN issues AS i ON i.account_id = :account_id AND i.issue_id = g.issue_id
                WHERE g.account_id = :account_id
                    AND g.subscription_id = s.subscription_id) >= :since
        """,
        account_id=books.account_id,
        first_id=next_ids(books.connection, books.account_id, "terms"),
        since=since,
        **{"class": COMPLIMENTARY},
    )


def _batches(books: Operation) -> Iterator[list[Row]]:
    """Yield the subscriptions' numbers by ascending id, in lists of 5,000 rows."""
    last = -1
    while rows := books.connection.rows(
        """
        SELECT s.subscription_id, s.issues, s.copies, s.paid_issues_left, s.unearned_revenue,
            p.unlimited_term_months
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = s.account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id > :last
        ORDER BY s.subscription_id LIMIT :limit
        """,
        account_id=books.account_id,
        last=last,
        limit=_BATCH_ROWS,
    ):
        yield rows
        last = rows[-1][0]


def _parts(
    subscription_id: int,
    numbers: tuple[int | None, int | None, str | None],
    contradictions: dict[Contradiction, list[str]],
) -> list[OpeningTerm]:
    """Return the opening terms of a subscription, or note how its numbers contradict each other."""
    try:
        return opening_terms(*numbers)
    except ContradictionError as error:
        said = ", ".join(
            f"{name} {'empty' if value is None else value}"
            for name, value in zip(_NUMBERS, numbers, strict=True)
        )
        contradictions.setdefault(error.kind, []).append(f"{subscription_id} ({said})")
        return []


def _begin(books: Operation) -> None:
    """Let each subscription with issues left begin on the day after the newest closed issue."""
    found = books.connection.rows(
        f"""
        SELECT p.publication_id, {_CLOSED_DAY.format(publication="p.publication_id")}
        FROM publications AS p WHERE p.account_id = :account_id ORDER BY p.publication_id
        """,
        account_id=books.account_id,
    )
    for publication_id, closed_on in found:
        books.connection.change(
            """
            UPDATE subscriptions SET begins_on = :begins_on
            WHERE account_id = :account_id AND publication_id = :publication_id AND issues <> 0
            """,
            account_id=books.account_id,
            publication_id=publication_id,
            begins_on=_day_after(closed_on) if closed_on else books.today,
        )


def _day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def _balances(books: Operation) -> list[Balance]:
    return [
        Balance._make(row)
        for row in books.connection.rows(
            """
            SELECT p.publication_id, coalesce(p.name, ''),
                count(DISTINCT CASE WHEN t.issues <> 0 THEN t.subscription_id END),
                coalesce(sum(CASE WHEN t.paid_on IS NOT NULL AND t.issues > 0
                    THEN t.issues END), 0),
                coalesce(sum(CASE WHEN t.paid_on IS NULL AND t.issues > 0
                    THEN t.issues END), 0),
                count(CASE WHEN t.issues < 0 THEN 1 END), coalesce(sum(t.price), 0)
            FROM publications AS p
            LEFT JOIN subscriptions AS s
                ON s.account_id = p.account_id AND s.publication_id = p.publication_id
            LEFT JOIN terms AS t
                ON t.account_id = s.account_id AND t.subscription_id = s.subscription_id
            WHERE p.account_id = :account_id
            GROUP BY p.publication_id, p.name ORDER BY p.publication_id
            """,
            account_id=books.account_id,
        )
    ]
