"""What errors call a subscription, a reader and an order: a name, since clerks read them too.

(decisions, "Errors name what they are about".)
"""

from collections.abc import Collection
from typing import NamedTuple

from masthead.contract.printable import printable
from masthead.contract.subscription_types import type_in_words
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed

_COMPANY = """(SELECT a.company FROM addresses AS a
    WHERE a.account_id = :account_id AND a.subscriber_id = s.subscriber_id AND a.company <> ''
    ORDER BY a.address_id + 0 DESC LIMIT 1)"""
"""``+ 0`` sorts the addresses of one subscriber; by the key, PostgreSQL might read all others."""

PAYER = f"""s.first_name,
    CASE WHEN coalesce(s.first_name, '') = '' AND coalesce(s.last_name, '') = ''
        THEN {_COMPANY} ELSE s.last_name END"""
"""The names of a subscriber ``s``, as two columns; without a name, the company is the last name."""


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


class _Person(NamedTuple):
    first_name: str | None
    last_name: str | None
    email: str | None

    @property
    def name(self) -> str:
        return " ".join(filter(None, (self.first_name, self.last_name))) or self.email or ""


def reader_named(books: Reading, subscriber_id: int) -> str:
    """Return the name of a reader, or else the company, the email address, or ``the reader``."""
    row = books.direct.row_as(
        _Person,
        f"""
        SELECT {PAYER}, s.email FROM subscribers AS s
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        """,
        account_id=books.account_id,
        subscriber_id=subscriber_id,
    )
    return printable(row.name if row else "") or "the reader"


def company_of(books: Reading, subscriber_id: int) -> str:
    """Return the company in the newest address of a reader that has one; '' without any."""
    found = books.value_as(
        str,
        f"""
        SELECT {_COMPANY} FROM subscribers AS s
        WHERE s.account_id = :account_id AND s.subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    )
    return found or ""


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
    return {key: Held(subscriber_id, *named) for key, subscriber_id, *named in rows}


def readers(books: Reading, ids: Collection[int]) -> dict[int, str]:
    """Return the names of readers who exist as :func:`reader_named` does, by id; '' without any."""
    if not ids:
        return {}
    rows = books.rows_as(
        tuple[int, str | None, str | None, str | None],
        f"""
        SELECT s.subscriber_id, {PAYER}, s.email FROM subscribers AS s
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed(ids)})
        """,
    )
    return {key: _Person(*parts).name for key, *parts in rows}


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
