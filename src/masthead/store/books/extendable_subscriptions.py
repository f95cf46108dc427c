"""The subscriptions of the readers of an order, and which one the order extends.

It extends the subscription that it names, or else the running one (circulation, "Order"). Every
look-up uses an index, and one statement looks up the subscriptions of many readers.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from masthead.circulation.ordering import RefusedOrder
from masthead.store.books.catalogue import Line
from masthead.store.books.names import subscription_named
from masthead.store.books.operation import Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.pending_rows import Record
from masthead.store.books.reader_lookup import SUBSCRIPTIONS


class Named(NamedTuple):
    """A subscription that an item names, to be extended."""

    subscription_id: int
    subscriber_id: int
    publication_id: int
    type: str

    def is_of(self, line: Line) -> bool:
        """Return whether a line of a bundle extends the subscription."""
        return (line.publication_id, line.type) == (self.publication_id, self.type)


@dataclass(eq=False)
class Extendable:
    """A subscription that an item extends or begins, as it is after the lines so far.

    ``least`` is the lowest number of issues left among its terms that have any. ``ended_at`` is
    that of its newest term. ``campaign`` is the former value for a cancelled subscription that has
    not ended yet. ``row`` is the new row if this operation began the subscription, ``bought`` what
    the order changes. ``served`` is the date of the newest issue that it got, '' if there is none,
    and None before it is looked up.
    """

    subscriber_id: int
    subscription_id: int
    publication_id: int
    type: str | None
    mailing_address_id: int | None
    begins_on: str | None
    least: int | None = None
    ended_at: str | None = None
    campaign: int | None = None
    served: str | None = None
    row: Record | None = None
    bought: Record = field(default_factory=dict)


@dataclass
class Delivery:
    """An issue that a subscription got, with the ``term_id`` of its term, if any."""

    day: str
    issue_id: int
    is_grace: int
    term_id: int | None


def named(books: Reading, subscription_id: int, number: int) -> Named:
    """Return the subscription that item ``number`` names, or the one into which it was merged.

    Raises RefusedOrder if there is none, or it was cancelled.
    """
    row = books.direct.row(
        """
        SELECT s.subscription_id, s.subscriber_id, s.publication_id, s.type, s.cancelled_on
        FROM subscriptions AS s WHERE s.account_id = :account_id AND s.subscription_id = coalesce((
            SELECT j.merged_into FROM subscriptions AS j
            WHERE j.account_id = :account_id AND j.subscription_id = :subscription_id
        ), :subscription_id)
        """,
        account_id=books.account_id,
        subscription_id=subscription_id,
    )
    if row is None:
        raise RefusedOrder(
            "subscription_id",
            f"account {books.account_id} has no subscription {subscription_id}",
            number,
            code="unknown_subscription",
        )
    *found, cancelled_on = row
    if cancelled_on is not None:
        raise RefusedOrder(
            "subscription_id",
            f"{subscription_named(books, found[0])} was cancelled on {cancelled_on}: without it, "
            "the order begins a new one",
            number,
        )
    return Named(*found)


def look_up(books: Reading, subscribers: Iterable[int]) -> dict[int, list[Extendable]]:
    """Look up the subscriptions of many readers that are not cancelled, with what is left.

    Returns, for each reader, the subscriptions looked up and those added since.
    """
    memory = books.memory(SUBSCRIPTIONS)
    new = [each for each in dict.fromkeys(subscribers) if each not in memory]
    if not new:
        return memory
    memory |= {each: [] for each in new}
    # No ORDER BY and LIMIT: with them, a planner might read the subscriptions of everybody.
    rows = books.direct.rows(
        f"""
        SELECT s.subscriber_id, s.subscription_id, s.publication_id, s.type, s.mailing_address_id,
            s.begins_on, (
                SELECT min(t.issues_left) FROM terms AS t WHERE t.account_id = :account_id
                AND t.subscription_id = s.subscription_id AND t.issues_left <> 0), (
                SELECT t.ended_at FROM terms AS t WHERE t.account_id = :account_id
                AND t.term_id = (SELECT max(n.term_id) FROM terms AS n
                    WHERE n.account_id = :account_id AND n.subscription_id = s.subscription_id)), (
                SELECT c.campaign FROM cancellations AS c WHERE c.account_id = :account_id
                AND c.subscription_id = s.subscription_id AND c.ended_on IS NULL)
        FROM subscriptions AS s
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed(new)})
            AND s.cancelled_on IS NULL
        """,
        account_id=books.account_id,
    )
    found = [Extendable(*row) for row in rows]
    for each in found:
        memory[each.subscriber_id].append(each)
    deliveries(books, [each.subscription_id for each in found if each.least is None])
    _tell_apart(books, found)
    going = {each.subscriber_id for each in found if each.mailing_address_id is not None}
    _temporary(books, [each for each in new if each not in going])
    return memory


def _tell_apart(books: Reading, found: Sequence[Extendable]) -> None:
    """Look up the last delivery of subscriptions that share publication and type with another."""
    counts = Counter(map(_kind, found))
    several = {
        each.subscription_id: each
        for each in found
        if counts[_kind(each)] > 1 and each.served is None
    }
    if not several:
        return
    for each in several.values():
        each.served = ""
    rows = books.direct.rows(
        f"""
        SELECT r.subscription_id, max(i.date) FROM subscription_issues AS r
        JOIN issues AS i ON i.account_id = r.account_id AND i.issue_id = r.issue_id
        WHERE r.account_id = :account_id AND r.subscription_id IN ({listed(several)})
        GROUP BY r.subscription_id
        """,
        account_id=books.account_id,
    )
    for subscription_id, day in rows:
        several[subscription_id].served = day or ""


def _kind(found: Extendable) -> tuple[int, int, str | None]:
    return found.subscriber_id, found.publication_id, found.type


def running(
    books: Reading,
    subscriber_id: int,
    publication_id: int,
    type_: str,
    only: Named | None = None,
    place: int | None = None,
) -> Extendable | None:
    """Return the reader's running subscription of a publication and type, if there is one.

    It is the one that has issues left, or else the one that was served last. Of several with issues
    left it is the one that was served last, or else the newest. With ``only`` it is that
    subscription, and with ``place`` one that goes to this address.
    """
    same = [
        each
        for each in look_up(books, [subscriber_id])[subscriber_id]
        if _kind(each) == (subscriber_id, publication_id, type_)
        and (only is None or each.subscription_id == only.subscription_id)
        and (place is None or each.mailing_address_id == place)
    ]
    _tell_apart(books, same)
    return max(same, key=_how_recent, default=None)


def _how_recent(found: Extendable) -> tuple[bool, str, int]:
    return found.least is not None, found.served or "", found.subscription_id


def usual_address(
    books: Reading, subscriber_id: int, addresses: Mapping[int, object]
) -> int | None:
    """Return where the subscriber's copies go, or else the newest address that is not temporary.

    The newest continuing subscription decides; a temporary address is never used for good.
    ``addresses`` has the ids of the subscriber's own addresses.
    """
    going = [
        (each.subscription_id, each.mailing_address_id)
        for each in look_up(books, [subscriber_id])[subscriber_id]
        if each.mailing_address_id in addresses
    ]
    if going:
        return max(going)[1]
    if not addresses:
        return None
    temporary = _temporary(books, [subscriber_id])[subscriber_id]
    return max(addresses.keys() - temporary, default=None)


def look_up_usual_addresses(books: Reading, subscribers: Collection[int]) -> None:
    """Look up together what :func:`usual_address` asks of each of some subscribers."""
    look_up(books, subscribers)
    _temporary(books, subscribers)


def _temporary(books: Reading, subscribers: Iterable[int]) -> dict[int, set[int]]:
    """Return the temporary addresses of each reader."""
    memory = books.memory("temporary addresses")
    new = [each for each in subscribers if each not in memory]
    if new:
        memory |= {each: set() for each in new}
        for subscriber_id, address_id in books.direct.rows(
            f"""
            SELECT a.subscriber_id, a.address_id FROM addresses AS a
            WHERE a.account_id = :account_id AND a.subscriber_id IN ({listed(new)})
                AND EXISTS (SELECT 1 FROM temporary_addresses AS w
                    WHERE w.account_id = :account_id AND w.address_id = a.address_id)
            """,
            account_id=books.account_id,
        ):
            memory[subscriber_id].add(address_id)
    return memory


def deliveries(books: Reading, subscriptions: Iterable[int]) -> dict[int, list[Delivery]]:
    """Return what each subscription got, for publications where grace issues count."""
    memory = books.memory("deliveries")
    new = [each for each in subscriptions if each not in memory]
    if not new:
        return memory
    memory |= {each: [] for each in new}
    rows = books.direct.rows(
        f"""
        SELECT r.subscription_id, i.date, r.issue_id, r.is_grace, r.term_id
        FROM subscription_issues AS r
        JOIN issues AS i ON i.account_id = r.account_id AND i.issue_id = r.issue_id
        JOIN publications AS p ON p.account_id = i.account_id
            AND p.publication_id = i.publication_id AND p.grace_counts = 1
        WHERE r.account_id = :account_id AND r.subscription_id IN ({listed(new)})
        """,
        account_id=books.account_id,
    )
    for subscription_id, *row in rows:
        memory[subscription_id].append(Delivery(*row))
    return memory
