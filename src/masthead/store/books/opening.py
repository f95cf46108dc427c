"""Opening the books of an account: the statements of ``books.opening``."""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import NamedTuple

from masthead.circulation.copy_classes import COMPLIMENTARY, PAID
from masthead.circulation.opening import OpeningTerm
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books.derived_values import refresh
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.database import Store
from masthead.store.key_lists import KeyLists

_BATCH_ROWS = 5_000
_BEGINS = "books_begins"
_FILLED = ("terms", "revenue", "issues", "subscriptions", "subscription_kinds")
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


class Numbers(NamedTuple):
    """A subscription, its publication's months of a term, and what the former system says of it.

    ``issues`` is -1 if it is unlimited; ``unearned_revenue`` is an amount as text.
    """

    subscription_id: int
    publication_id: int
    unlimited_term_months: int
    issues: int | None
    paid_issues_left: int | None
    unearned_revenue: str | None
    copies: int | None
    type: str | None
    date_expired: str | None
    cancelled_on: str | None
    in_campaign: bool


class Account(NamedTuple):
    """An account: its company name, the opening day of its books, its current day and currency.

    ``opened_on`` is None if the data come from files. Both days are in the account's time zone.
    ``has_free_titles``: a publication has a form, by which readers qualify for it.
    """

    company_name: str
    opened_on: str | None
    today: str
    currency: str
    has_free_titles: bool


def account_of(reading: Reading) -> Account:
    """Return the account; one without a name is called ``Account 1``."""
    found = reading.row_as(
        tuple[str | None, str | None, bool],
        """
        SELECT a.company_name, b.opened_on, EXISTS (SELECT 1 FROM qualification_forms AS f
            WHERE f.account_id = :account_id)
        FROM accounts AS a
        LEFT JOIN books AS b ON b.account_id = :account_id
        WHERE a.account_id = :account_id
        """,
    )
    assert found is not None
    name, opened_on, has_free_titles = found
    return Account(
        name or f"Account {reading.account_id}",
        opened_on,
        reading.today,
        reading.currency,
        bool(has_free_titles),
    )


def issues_without_date(books: Operation) -> list[int]:
    """Return the ids of the issues that have no date, sorted."""
    return books.column_as(
        int,
        """
        SELECT issue_id FROM issues WHERE account_id = :account_id AND date IS NULL
        ORDER BY issue_id
        """,
    )


def add_books(books: Operation) -> None:
    """Add the row that says that the account keeps its books here."""
    books.change(
        """
        INSERT INTO books (account_id, books_id, opened_on, opened_at, last_order_before)
        SELECT :account_id, 1, :today, :now, max(order_id) FROM orders
        WHERE account_id = :account_id
        """,
        today=books.today,
        now=books.now,
    )


def close_past(books: Operation) -> int:
    """Close the past issues, without a list; return their number."""
    return books.change(
        """
        UPDATE issues SET closed_at = coalesce(closed_at, :now)
        WHERE account_id = :account_id AND date <= (
            SELECT max(o.date) FROM issues AS o
            WHERE o.account_id = :account_id AND o.publication_id = issues.publication_id
                AND (o.date <= :today OR EXISTS (
                    SELECT 1 FROM subscription_issues AS r
                    WHERE r.account_id = :account_id AND r.issue_id = o.issue_id)))
        """,
        now=books.now,
        today=books.today,
    )


def fill_in(books: Operation, copies: int | None, subscription_type: str | None) -> None:
    """Give subscriptions without copies or a type these values, unless they are None."""
    if copies is not None:
        books.change(
            """
            UPDATE subscriptions SET copies = :copies, commit_id = :commit_id
            WHERE account_id = :account_id AND (copies IS NULL OR copies < 1)
            """,
            copies=copies,
            commit_id=books.commit_id,
        )
    if subscription_type is not None:
        books.change(
            """
            UPDATE subscriptions SET type = :type, commit_id = :commit_id
            WHERE account_id = :account_id AND (type IS NULL OR type = '')
            """,
            type=subscription_type,
            commit_id=books.commit_id,
        )


def numbers_of(books: Operation) -> Iterator[list[Numbers]]:
    """Yield the numbers of all subscriptions by ascending id, in lists of 5,000."""
    last = -1
    while found := books.rows_as(
        Numbers,
        """
        SELECT s.subscription_id, s.publication_id, p.unlimited_term_months, s.issues,
            s.paid_issues_left, s.unearned_revenue, s.copies, s.type, s.date_expired,
            s.cancelled_on, s.renew_campaign_active <> 0
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id > :last
        ORDER BY s.subscription_id LIMIT :limit
        """,
        last=last,
        limit=_BATCH_ROWS,
    ):
        yield found
        last = found[-1].subscription_id


def add_terms(books: Operation, terms: Iterable[tuple[Numbers, OpeningTerm]]) -> None:
    """Add opening terms of subscriptions, and their received revenue."""
    first_id = next_ids(books.connection, books.account_id, "terms")
    revenue_id = next_ids(books.connection, books.account_id, "revenue")
    rows: list[tuple[int | str | None, ...]] = []
    revenue: list[tuple[int | str | None, ...]] = []
    for term_id, (numbers, term) in enumerate(terms, first_id):
        is_unlimited = term.issues == UNLIMITED
        rows.append(
            (
                term_id,
                numbers.subscription_id,
                term.issues,
                term.issues,
                numbers.copies,
                term.price,
                books.today if term.is_paid else None,
                "opening",
                PAID if term.is_paid else COMPLIMENTARY,
                numbers.unlimited_term_months if is_unlimited else None,
                books.today if is_unlimited else None,
            )
        )
        if term.price:
            booked = revenue_id + len(revenue), term_id, "received", term.price, books.today
            revenue.append(booked)
    same = {"account_id": books.account_id}
    books.connection.insert_many("terms", _TERM, rows, **same)
    books.connection.insert_many("revenue", _REVENUE, revenue, **same)


def end_later(books: Operation, subscriptions: Iterable[int]) -> None:
    """Let cancelled subscriptions, by id, be served until their issues are used up."""
    which = f"""account_id = :account_id AND cancelled_on IS NOT NULL
        AND subscription_id IN ({listed(subscriptions)})"""
    books.change(
        f"""
        INSERT INTO cancellations (account_id, subscription_id, made_on, at_end, campaign)
        SELECT account_id, subscription_id, cancelled_on, 1, renew_campaign_active
        FROM subscriptions WHERE {which}
        """
    )
    books.change(
        f"""
        UPDATE subscriptions SET cancelled_on = NULL, renew_campaign_active = 0,
            commit_id = :commit_id
        WHERE {which}
        """,
        commit_id=books.commit_id,
    )


def names_of(books: Reading, subscriptions: Iterable[int]) -> dict[int, str]:
    """Return the readers' names by the id of the subscription.

    A reader without a name has the company of the mailing address, or "".
    """
    return dict(
        books.rows_as(
            tuple[int, str],
            f"""
            SELECT s.subscription_id, coalesce(
                nullif(trim(coalesce(r.first_name, '') || ' ' || coalesce(r.last_name, '')), ''),
                a.company, '')
            FROM subscriptions AS s JOIN subscribers AS r
                ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
            LEFT JOIN addresses AS a
                ON a.account_id = :account_id AND a.address_id = s.mailing_address_id
            WHERE s.account_id = :account_id AND s.subscription_id IN ({listed(subscriptions)})
            """,
        )
    )


def add_empty_terms(books: Operation, since: str) -> int:
    """Add a term without issues for readers with a recent last issue; return their number.

    Renewal letters are sent for a term, so these readers get them.
    """
    return books.change(
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
        first_id=next_ids(books.connection, books.account_id, "terms"),
        since=since,
        **{"class": COMPLIMENTARY},
    )


def begin(books: Operation) -> None:
    """Let each subscription with issues left begin on the day after the newest closed issue."""
    found = books.rows_as(
        tuple[int, str | None],
        """
        SELECT p.publication_id, (SELECT max(i.date) FROM issues AS i
            WHERE i.account_id = :account_id AND i.publication_id = p.publication_id
                AND i.closed_at IS NOT NULL)
        FROM publications AS p WHERE p.account_id = :account_id ORDER BY p.publication_id
        """,
    )
    lists = KeyLists(books.connection, books.account_id, books.commit_id)
    days = [(key, _day_after(day) if day else books.today) for key, day in found]
    lists.keep_rows(_BEGINS, ("key", "text"), days)
    books.change(
        f"""
        UPDATE subscriptions AS s SET begins_on = b.text FROM {lists.keys_in(_BEGINS)} AS b
        WHERE s.account_id = :account_id AND s.publication_id = b.key
            AND s.subscription_id IN (SELECT t.subscription_id FROM terms AS t
                WHERE t.account_id = :account_id AND t.issues <> 0)
        """
    )
    lists.drop(_BEGINS)


def _day_after(day: str) -> str:
    return (date.fromisoformat(day) + timedelta(days=1)).isoformat()


def refresh_all(books: Operation) -> None:
    """Update the derived values of all subscriptions, also of those without a term.

    From now on, what the files say about their end is not used.
    """
    refresh(books, "SELECT subscription_id FROM subscriptions WHERE account_id = :account_id")


def analyze(store: Store) -> None:
    """Let PostgreSQL count the filled tables; otherwise the next closing takes minutes."""
    with store.writer() as connection:
        for table in _FILLED:
            connection.analyze(table)
