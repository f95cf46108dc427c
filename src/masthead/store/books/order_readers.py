"""What the readers of an order have and get, with the names and addresses that a clerk says.

Every look-up uses an index (``store.books.order_keys``).
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.circulation.addresses import FIELDS
from masthead.circulation.amounts import stored_cents
from masthead.contract.subscription_types import type_in_words
from masthead.store.books.order_keys import listed
from masthead.store.database import Connection, Row

_ORDERS_MAX = 50
"""How many of a payer's newest orders are looked at for earlier prices."""

_WHO = ", ".join(
    ("r.first_name", "r.last_name", "r.email", *(f"a.{name}" for name in FIELDS)),
)
_HELD = f"""s.subscription_id, s.subscriber_id, s.publication_id, coalesce(p.name, ''),
            coalesce(s.type, ''), coalesce(s.issues, 0), s.date_expired, s.cancelled_on,
            s.last_purchase_bundle_id, {_WHO}"""
_OF_HELD = """JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = s.subscriber_id
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = s.mailing_address_id"""


class Held(NamedTuple):
    """A subscription of a reader: its issues left (-1: unlimited), its last day, and where it goes.

    ``bundle_id`` is the last bundle that was bought for it, if that is known. ``reader`` is the
    reader's name, or else the company or the email address. ``address`` is '' without one, and has
    no name.
    """

    subscription_id: int
    subscriber_id: int
    publication_id: int
    publication: str
    type: str
    issues: int
    last_day: str | None
    cancelled_on: str | None
    bundle_id: int | None
    reader: str
    address: str

    @property
    def name(self) -> str:
        """The publication with its type: ``Tide (print)``."""
        return f"{self.publication} ({type_in_words(self.type)})" if self.type else self.publication


class Brought(NamedTuple):
    """What an item of an order brought to a subscription; -1 ``issues`` are unlimited.

    ``ended_at`` is set if that was refunded or cancelled.
    """

    order_item_id: int
    issues: int
    copies: int
    ended_at: str | None
    held: Held


class EarlierPrice(NamedTuple):
    """What one copy cost in an earlier order, in cents, and the order's day."""

    net: int
    tax: int
    day: str

    @property
    def gross(self) -> int:
        """The price with tax."""
        return self.net + self.tax


def brought(connection: Connection, account_id: int, items: Iterable[int]) -> list[Brought]:
    """Return what items brought, in the order of their terms."""
    rows = connection.rows(
        f"""
        SELECT t.order_item_id, t.issues, t.copies, t.ended_at, {_HELD}
        FROM terms AS t
        JOIN subscriptions AS s
            ON s.account_id = :account_id AND s.subscription_id = t.subscription_id
        {_OF_HELD}
        WHERE t.account_id = :account_id AND t.order_item_id IN ({listed(items)})
        ORDER BY t.term_id
        """,
        account_id=account_id,
    )
    own = len(Brought._fields) - 1
    return [Brought._make((*row[:own], _held(row[own:]))) for row in rows]


def held_by(connection: Connection, account_id: int, subscribers: Iterable[int]) -> list[Held]:
    """Return the subscriptions of readers that were not cancelled, sorted by id."""
    rows = connection.rows(
        f"""
        SELECT {_HELD}
        FROM subscriptions AS s
        {_OF_HELD}
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed(subscribers)})
            AND s.cancelled_on IS NULL
        ORDER BY s.subscription_id
        """,
        account_id=account_id,
    )
    return [_held(row) for row in rows]


def _held(row: Row) -> Held:
    own = len(Held._fields) - 2
    return Held._make((*row[:own], *_who_and_where(row[own:])))


def _who_and_where(row: Row) -> tuple[str, str]:
    """Return the name of a reader, and the address without it, from their columns."""
    first, last, email, *address = row
    parts = dict(zip(FIELDS, address, strict=True))
    company = parts["company"] or ""
    names = (" ".join(filter(None, (first, last))), company, email)
    name = next(filter(None, names), "a reader without a name")
    left_out = {"first_name", "last_name"}
    left_out |= {"company"} if company == name else set()
    left_out |= {"country_abbreviation"} if parts["country_name"] else set()
    return name, ", ".join(text for key, text in parts.items() if text and key not in left_out)


def payer_of(connection: Connection, account_id: int, order_id: int) -> tuple[str, str]:
    """Return the name of the payer of an order, and the address of the bill; '' without one."""
    row = connection.row(
        f"""
        SELECT {_WHO}
        FROM orders AS o
        JOIN subscribers AS r ON r.account_id = :account_id AND r.subscriber_id = o.subscriber_id
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = o.billing_address_id
        WHERE o.account_id = :account_id AND o.order_id = :order_id
        """,
        account_id=account_id,
        order_id=order_id,
    )
    return _who_and_where(row) if row else ("", "")


def earlier_prices(
    connection: Connection, account_id: int, subscriber_id: int, bundle_id: int | None, before: int
) -> list[EarlierPrice]:
    """Return what a bundle cost a payer in the orders before one, each price once, newest first.

    Without a bundle, there is none.
    """
    rows = connection.rows(
        f"""
        SELECT i.sub_total, i.tax_total, i.copies, o.order_date
        FROM (SELECT w.order_id, w.order_date FROM orders AS w
            WHERE w.account_id = :account_id AND w.subscriber_id = :subscriber_id
                AND w.order_id < :before
            ORDER BY w.order_id DESC LIMIT {_ORDERS_MAX}) AS o
        JOIN order_items AS i ON i.account_id = :account_id AND i.order_id = o.order_id
        WHERE i.bundle_id = :bundle_id
        ORDER BY o.order_id DESC, i.order_item_id
        """,
        account_id=account_id,
        subscriber_id=subscriber_id,
        bundle_id=bundle_id,
        before=before,
    )
    found: dict[tuple[int, int], EarlierPrice] = {}
    for net, tax, copies, day in rows:
        of_one = stored_cents(net) // copies, stored_cents(tax) // copies
        found.setdefault(of_one, EarlierPrice(*of_one, str(day or "")[:10]))
    return list(found.values())
