"""The subscriptions and bills that move with a reader."""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed


class Movable(NamedTuple):
    """A subscription of a reader, and where it goes: the street and the city of its address."""

    subscription_id: int
    publication: str
    type: str | None
    mailing_address_id: int | None
    goes_to: str


def movable(books: Reading, subscriber_id: int) -> list[Movable]:
    """Return the subscriptions of a reader that were not cancelled, by publication."""
    return books.rows_as(
        Movable,
        """
        SELECT s.subscription_id, coalesce(p.name, ''), s.type, s.mailing_address_id,
            CASE WHEN a.address IS NULL OR a.city IS NULL
                THEN coalesce(a.address, a.city, '') ELSE a.address || ', ' || a.city END
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = s.mailing_address_id
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
            AND s.cancelled_on IS NULL
        ORDER BY p.name, s.subscription_id
        """,
        subscriber_id=subscriber_id,
    )


def move_bills(books: Operation, subscriber_id: int, address_id: int) -> list[int]:
    """Send the bills that go to a reader to another address; return the subscriptions' ids.

    Those are the bills of subscriptions, the reader's own and others', whose billing address is one
    of the reader's, and of the reader's own subscriptions without one.
    """
    found = billing_addresses(books, subscriber_id)
    moved = sorted(int(key) for key, former in found.items() if former != address_id)
    books.change(
        f"""
        UPDATE subscriptions SET billing_address_id = :address_id, commit_id = :commit_id
        WHERE account_id = :account_id AND subscription_id IN ({listed(moved)})
        """,
        address_id=address_id,
        commit_id=books.commit_id,
    )
    return moved


def billing_addresses(books: Reading, subscriber_id: int) -> dict[str, int | None]:
    """Return where the bills that go to a reader go, by the subscription's id as text.

    None: the subscription has no billing address.
    """
    # Two parts, since PostgreSQL uses no index for one with OR.
    found = books.rows_as(
        tuple[int, int | None],
        """
        SELECT s.subscription_id, s.billing_address_id FROM addresses AS a
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.billing_address_id = a.address_id
        WHERE a.account_id = :account_id AND a.subscriber_id = :subscriber_id
            AND s.cancelled_on IS NULL
        UNION ALL
        SELECT subscription_id, billing_address_id FROM subscriptions
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
            AND billing_address_id IS NULL AND cancelled_on IS NULL
        """,
        subscriber_id=subscriber_id,
    )
    return {str(key): former for key, former in found}


def rename_labels(
    books: Operation,
    subscriber_id: int,
    before: tuple[str | None, str | None],
    after: tuple[str | None, str | None],
) -> int:
    """Give the addresses of a reader with one first and last name another; return their number."""
    return books.change(
        f"""
        UPDATE addresses SET first_name = :first, last_name = :last, commit_id = :commit_id
        WHERE {_NAMED}
        """,
        subscriber_id=subscriber_id,
        first=after[0],
        last=after[1],
        old_first=before[0] or "",
        old_last=before[1] or "",
        commit_id=books.commit_id,
    )


def labels_with(books: Reading, subscriber_id: int, name: tuple[str | None, str | None]) -> int:
    """Return how many addresses of a reader have a first and last name."""
    count = books.value_as(
        int,
        f"SELECT count(*) FROM addresses WHERE {_NAMED}",
        subscriber_id=subscriber_id,
        old_first=name[0] or "",
        old_last=name[1] or "",
    )
    return count or 0


def labelled(books: Reading, subscriber_id: int, name: tuple[str | None, str | None]) -> list[int]:
    """Return the ids of the addresses of a reader that have a first and last name."""
    return books.column_as(
        int,
        f"SELECT address_id FROM addresses WHERE {_NAMED}",
        subscriber_id=subscriber_id,
        old_first=name[0] or "",
        old_last=name[1] or "",
    )


def restore_labels(
    books: Operation,
    address_ids: Iterable[int],
    before: tuple[str | None, str | None],
    after: tuple[str | None, str | None],
) -> None:
    """Give those of some addresses that have one first and last name another."""
    for address_id in address_ids:
        books.change(
            """
            UPDATE addresses SET first_name = :first, last_name = :last, commit_id = :commit_id
            WHERE account_id = :account_id AND address_id = :address_id
                AND coalesce(first_name, '') = :old_first AND coalesce(last_name, '') = :old_last
            """,
            address_id=address_id,
            first=after[0],
            last=after[1],
            old_first=before[0] or "",
            old_last=before[1] or "",
            commit_id=books.commit_id,
        )


_NAMED = """account_id = :account_id AND subscriber_id = :subscriber_id
    AND coalesce(first_name, '') = :old_first AND coalesce(last_name, '') = :old_last
    AND (first_name IS NOT NULL OR last_name IS NOT NULL)"""


def goes_there(books: Reading, address_id: int) -> list[tuple[str, str | None, int, int]]:
    """Return what goes to an address: publication, type, whether copies do, whether bills do."""
    return books.rows_as(
        tuple[str, str | None, int, int],
        """
        SELECT coalesce(p.name, ''), s.type,
            CASE WHEN s.mailing_address_id = :address_id THEN 1 ELSE 0 END,
            CASE WHEN s.billing_address_id = :address_id THEN 1 ELSE 0 END
        FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.cancelled_on IS NULL
            AND (s.mailing_address_id = :address_id OR s.billing_address_id = :address_id)
        ORDER BY p.name, s.subscription_id
        """,
        address_id=address_id,
    )
