"""What tells subscribers of the same name apart: subscriptions, addresses, the last payment."""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from masthead.circulation.amounts import stored_cents
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books.order_keys import listed
from masthead.store.database import Connection

_MOST = 1_000
"""An agency can have any number of subscriptions."""

State = Literal["runs", "unlimited", "ends", "suspended", "ran out", "cancelled"]
_RUNNING = ("runs", "unlimited", "ends", "suspended")


class Payment(NamedTuple):
    """A payment: its day, and its amount in cents."""

    day: str
    cents: int


class _Stored(NamedTuple):
    """A subscription as the query returns it; ``suspended_until`` is '' without an end."""

    subscriber_id: int
    publication: str | None
    type: str | None
    issues: int | None
    last_day: str | None
    cancelled_on: str | None
    suspended_until: str | None
    is_to_end: bool


class Standing(NamedTuple):
    """A subscription: what it is of, its state, and the day that belongs to the state, if any.

    The day is the last one of a subscription that runs, ends, or ran out; the day of the
    cancelling; or the last day of the suspension. ``type`` is ``Print``, ``Digital`` or ``Both``.
    """

    publication: str
    type: str
    state: State
    day: str | None

    @property
    def is_running(self) -> bool:
        """Whether issues still come, now or after a suspension."""
        return self.state in _RUNNING


def standings(
    connection: Connection, account_id: int, ids: Iterable[int], *, today: str
) -> dict[int, list[Standing]]:
    """Return the subscriptions of each of these subscribers on a day, those that run first.

    Subscriptions that were merged into another one are left out. All subscribers together have at
    most 1,000.
    """
    rows = connection.rows_as(
        _Stored,
        f"""
        SELECT s.subscriber_id, p.name, s.type, s.issues, s.date_expired, s.cancelled_on,
            (SELECT max(coalesce(u.to_date, '')) FROM suspensions AS u
                WHERE u.account_id = :account_id AND u.subscription_id = s.subscription_id
                AND u.from_date <= :today AND (u.to_date IS NULL OR u.to_date >= :today)),
            EXISTS (SELECT 1 FROM cancellations AS c WHERE c.account_id = :account_id
                AND c.subscription_id = s.subscription_id)
        FROM subscriptions AS s JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed(set(ids))})
            AND s.merged_into IS NULL
        ORDER BY s.subscription_id LIMIT {_MOST}
        """,
        account_id=account_id,
        today=today,
    )
    found: dict[int, list[Standing]] = {}
    for row in rows:
        state, day = _state(today, row)
        each = Standing(row.publication or "", row.type or "", state, day)
        found.setdefault(row.subscriber_id, []).append(each)
    for each_has in found.values():
        each_has.sort(key=lambda each: not each.is_running)
    return found


def _state(today: str, row: _Stored) -> tuple[State, str | None]:
    if row.cancelled_on:
        return "cancelled", row.cancelled_on
    if row.issues == UNLIMITED:
        return "unlimited", None
    if not row.issues and (row.last_day or "") < today and (row.last_day or row.issues == 0):
        return "ran out", row.last_day
    if row.suspended_until is not None:
        return "suspended", row.suspended_until or None
    return "ends" if row.is_to_end else "runs", row.last_day


def last_payments(
    connection: Connection, account_id: int, ids: Iterable[int]
) -> dict[int, Payment]:
    """Return the newest payment of each of these subscribers, without those who paid nothing."""
    rows = connection.rows_as(
        tuple[int, str, str],
        f"""
        SELECT s.subscriber_id, o.paid_on, o.grand_total FROM subscribers AS s
        JOIN orders AS o ON o.account_id = :account_id AND o.order_id = (
            SELECT n.order_id FROM orders AS n
            WHERE n.account_id = :account_id AND n.subscriber_id = s.subscriber_id
                AND n.paid_on IS NOT NULL
            ORDER BY n.paid_on DESC, n.order_id DESC LIMIT 1)
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed(set(ids))})
        """,
        account_id=account_id,
    )
    return {key: Payment(day, stored_cents(total)) for key, day, total in rows}


def address_lines(
    connection: Connection, account_id: int, ids: Iterable[int]
) -> dict[int, list[str]]:
    """Return the addresses of each of these subscribers in lines, the newest first."""
    rows = connection.rows(
        f"""
        SELECT subscriber_id, company, address, zip_code, city, country_name FROM addresses
        WHERE account_id = :account_id AND subscriber_id IN ({listed(set(ids))})
        ORDER BY address_id DESC LIMIT {_MOST}
        """,
        account_id=account_id,
    )
    found: dict[int, list[str]] = {}
    for subscriber_id, company, street, code, city, country in rows:
        place = " ".join(filter(None, (code, city)))
        line = ", ".join(filter(None, (company, street, place, country)))
        found.setdefault(subscriber_id, []).append(line)
    return found
