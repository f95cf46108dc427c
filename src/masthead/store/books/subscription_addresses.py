"""Addresses of subscriptions: a new one for good, or another one for a while.

The functions run in an operation (``store.books.operation``) and say what they did.
"""

from collections.abc import Mapping

from masthead.circulation.addresses import FIELDS, refusal
from masthead.circulation.spans import Ending, ended, overlapped
from masthead.errors import BadInput
from masthead.store.books.ids import next_ids
from masthead.store.books.operation import Operation
from masthead.store.books.reader_lookup import addresses_of, readers_by, remember_address
from masthead.store.books.subscription import changeable, end_span, spans, the_one

__all__ = ["FIELDS", "add_address", "go_back", "move", "move_for_a_while", "own_address"]

_TEMPORARY = "temporary_addresses"


def add_address(books: Operation, subscriber_id: int, values: Mapping[str, str | None]) -> int:
    """Add an address of a subscriber; return its id.

    ``values`` has some of :data:`FIELDS`. Where it names neither a person nor a company, the name
    is the subscriber's. Raises BadInput if the subscriber is deleted: an erased one stays blank.
    """
    given = {name: values.get(name) or None for name in FIELDS}
    (reader,) = readers_by(books, "subscriber_id", [subscriber_id])[subscriber_id]
    if reader.delete_date is not None:
        raise BadInput(
            f"subscriber {subscriber_id} was deleted on {reader.delete_date[:10]} and gets no "
            "address"
        )
    if not any(given[name] for name in ("first_name", "last_name", "company")):
        given["first_name"], given["last_name"] = reader.first_name, reader.last_name
    address_id = books.new_id("addresses")
    row = books.add(
        "addresses",
        address_id=address_id,
        subscriber_id=subscriber_id,
        verified=0,
        commit_id=books.commit_id,
        **given,
    )
    remember_address(books, row)
    return address_id


def own_address(books: Operation, subscription_id: int, address_id: int) -> int:
    """Return ``address_id``; raise BadInput unless it is one of the subscription's reader."""
    found = changeable(books, subscription_id)
    whose = books.connection.row(
        """
        SELECT subscriber_id FROM addresses
        WHERE account_id = :account_id AND address_id = :address_id
        """,
        account_id=books.account_id,
        address_id=address_id,
    )
    if whose != (found.subscriber_id,):
        raise BadInput(
            f"subscriber {found.subscriber_id}, who gets subscription {subscription_id}, has no "
            f"address {address_id}",
            code="unknown_address",
            subscriber=found.subscriber_id,
        )
    return address_id


def move(books: Operation, subscription_id: int, address: Mapping[str, str | None] | int) -> int:
    """Give a subscription another mailing address for good; return the address's id.

    ``address`` is a new one (:data:`FIELDS`), or the id of one that the reader has. The former one
    stays: other subscriptions and lists refer to it. Raises NotFound if there is no such
    subscription, BadInput if it was cancelled, or if the address is another reader's or a part of
    one.
    """
    found = changeable(books, subscription_id)
    address_id = _address(books, subscription_id, found.subscriber_id, address)
    changed = books.connection.change(
        """
        UPDATE subscriptions SET mailing_address_id = :address_id, commit_id = :commit_id
        WHERE account_id = :account_id AND subscription_id = :subscription_id
            AND (mailing_address_id IS NULL OR mailing_address_id <> :address_id)
        """,
        account_id=books.account_id,
        subscription_id=subscription_id,
        address_id=address_id,
        commit_id=books.commit_id,
    )
    if changed:
        the_one(books, subscription_id)
        books.say(f"subscription {subscription_id} goes to address {address_id} from now on")
    return address_id


def _address(
    books: Operation,
    subscription_id: int,
    subscriber_id: int,
    address: Mapping[str, str | None] | int,
) -> int:
    if isinstance(address, int):
        return own_address(books, subscription_id, address)
    present = addresses_of(books, [subscriber_id])[subscriber_id].values()
    if said := refusal(address, present):
        raise BadInput(said)
    return add_address(books, subscriber_id, address)


def move_for_a_while(
    books: Operation,
    subscription_id: int,
    address: Mapping[str, str | None] | int,
    first: str,
    last: str,
) -> int:
    """Send the issues dated ``first`` to ``last``, both included, elsewhere; return that address.

    ``address`` is as for :func:`move`. Raises what that raises, and BadInput if the days are in the
    wrong order or another temporary address has one of them.
    """
    found = changeable(books, subscription_id)
    if last < first:
        raise BadInput(f"the address would end on {last}, before it begins on {first}")
    present = spans(books.connection, books.account_id, _TEMPORARY, subscription_id)
    if other := overlapped(present, first, last):
        raise BadInput(
            f"subscription {subscription_id} has another address from {other.first} to "
            f"{other.last} already: end that first",
            code="has_temporary_address",
            subscription=subscription_id,
        )
    address_id = _address(books, subscription_id, found.subscriber_id, address)
    books.connection.change(
        """
        INSERT INTO temporary_addresses (account_id, temporary_address_id, subscription_id,
            address_id, from_date, to_date)
        VALUES (:account_id, :span_id, :subscription_id, :address_id, :first, :last)
        """,
        account_id=books.account_id,
        span_id=next_ids(books.connection, books.account_id, _TEMPORARY),
        subscription_id=subscription_id,
        address_id=address_id,
        first=first,
        last=last,
    )
    books.say(f"subscription {subscription_id} goes to address {address_id} from {first} to {last}")
    return address_id


def go_back(books: Operation, subscription_id: int, resumed: str | None = None) -> Ending:
    """End the temporary address in force today, or else the next one; return how it ends.

    ``resumed`` is the first day of the usual address; None is today. One that has not begun by then
    is removed. Raises NotFound if there is no such subscription, BadInput if it was cancelled or
    has no such address.
    """
    changeable(books, subscription_id)
    present = spans(books.connection, books.account_id, _TEMPORARY, subscription_id)
    ending = ended(present, books.today, resumed or books.today)
    if ending is None:
        raise BadInput(
            f"subscription {subscription_id} has no temporary address that lasts until "
            f"{resumed or 'today'}",
            code="nothing_to_end",
            subscription=subscription_id,
        )
    end_span(books, _TEMPORARY, ending.span.span_id, ending.last)
    how = "was removed" if ending.last is None else f"ends on {ending.last}"
    books.say(
        f"subscription {subscription_id}: the temporary address from {ending.span.first} {how}"
    )
    return ending
