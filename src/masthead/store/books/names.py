"""What errors call a subscription, a reader and an order: a name, since clerks read them too.

(decisions, "Errors name what they are about".)
"""

from collections.abc import Collection
from typing import NamedTuple

from masthead.contract.printable import printable
from masthead.contract.subscription_types import type_in_words
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed


def subscription_named(books: Reading, subscription_id: int) -> str:
    """Return the publication and the type of a subscription: ``Tide (print)``."""
    row = books.direct.row_as(
        tuple[str, str],
        """
        SELECT coalesce(p.name, ''), coalesce(s.type, '') FROM subscriptions AS s
        JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id = :subscription_id
        """,
        account_id=books.account_id,
        subscription_id=subscription_id,
    )
    publication, type_ = row or ("", "")
    name = printable(publication) or "the subscription"
    return f"{name} ({type_in_words(type_)})" if type_ else name


def reader_named(books: Reading, subscriber_id: int) -> str:
    """Return the name of a reader, or else the email address, or else ``the reader``."""
    row = books.direct.row_as(
        tuple[str, str, str],
        """
        SELECT coalesce(first_name, ''), coalesce(last_name, ''), coalesce(email, '')
        FROM subscribers WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        account_id=books.account_id,
        subscriber_id=subscriber_id,
    )
    first, last, email = row or ("", "", "")
    return printable(" ".join(filter(None, (first, last))) or email) or "the reader"


def order_named(books: Reading, order_id: int) -> str:
    """Return an order with its day: ``the order of 2026-05-03``."""
    day = books.direct.value_as(
        str,
        """
        SELECT substr(coalesce(order_date, ''), 1, 10) FROM orders
        WHERE account_id = :account_id AND order_id = :order_id
        """,
        account_id=books.account_id,
        order_id=order_id,
    )
    return f"the order of {day}" if day else "the order"


def publications(books: Reading, ids: Collection[int]) -> dict[int, str]:
    """Return the names of publications by id."""
    return _names(books, "publications", "publication_id", ids)


def bundles(books: Reading, ids: Collection[int]) -> dict[int, str]:
    """Return the names of bundles by id."""
    return _names(books, "bundles", "bundle_id", ids)


def _names(books: Reading, table: str, key: str, ids: Collection[int]) -> dict[int, str]:
    if not ids:
        return {}
    rows = books.rows_as(
        tuple[int, str],
        f"""
        SELECT {key}, coalesce(name, '') FROM {table}
        WHERE account_id = :account_id AND {key} IN ({listed(ids)})
        """,
    )
    return dict(rows)


class Held(NamedTuple):
    """Whose a subscription is, and of what."""

    subscriber_id: int
    publication: str
    type: str


def subscriptions(books: Reading, ids: Collection[int]) -> dict[int, Held]:
    """Return whose subscriptions are, and of what, by id."""
    if not ids:
        return {}
    rows = books.rows_as(
        tuple[int, int, str, str],
        f"""
        SELECT s.subscription_id, s.subscriber_id, coalesce(p.name, ''), coalesce(s.type, '')
        FROM subscriptions AS s JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscription_id IN ({listed(ids)})
        """,
    )
    return {key: Held(*held) for key, *held in rows}


def readers(books: Reading, ids: Collection[int]) -> dict[int, str]:
    """Return the names of readers who exist, or their email addresses, by id; '' without any."""
    if not ids:
        return {}
    rows = books.rows_as(
        tuple[int, str, str, str],
        f"""
        SELECT subscriber_id, coalesce(first_name, ''), coalesce(last_name, ''),
            coalesce(email, '')
        FROM subscribers
        WHERE account_id = :account_id AND subscriber_id IN ({listed(ids)})
        """,
    )
    return {
        key: " ".join(filter(None, (first, last))) or email for key, first, last, email in rows
    }


def orders(books: Reading, ids: Collection[int]) -> set[int]:
    """Return which of some orders exist."""
    if not ids:
        return set()
    rows = books.rows_as(
        tuple[int],
        f"""
        SELECT order_id FROM orders
        WHERE account_id = :account_id AND order_id IN ({listed(ids)})
        """,
    )
    return {key for (key,) in rows}
