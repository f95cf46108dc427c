"""Addresses of subscriptions: a new one for good, or another one for a while."""

from collections.abc import Mapping

from masthead.circulation.addresses import FIELDS, refusal
from masthead.errors import BadInput
from masthead.store.books.ids import next_ids
from masthead.store.books.names import reader_named, subscription_named
from masthead.store.books.operation import Operation
from masthead.store.books.reader_lookup import addresses_of, readers_by, remember_address


def add_address(books: Operation, subscriber_id: int, values: Mapping[str, str | None]) -> int:
    """Add an address of a subscriber; return its id.

    ``values`` has some of :data:`FIELDS`. If it names no person, the name is the
    subscriber's. Raises BadInput if the subscriber is deleted: erased ones stay blank.
    """
    given = {name: values.get(name) or None for name in FIELDS}
    (reader,) = readers_by(books, "subscriber_id", [subscriber_id])[subscriber_id]
    if reader.delete_date is not None:
        raise BadInput(
            f"{reader_named(books, subscriber_id)} was deleted on {reader.delete_date[:10]} and "
            "gets no address"
        )
    if not any(given[name] for name in ("first_name", "last_name")):
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


def address_for(
    books: Operation,
    subscription_id: int,
    subscriber_id: int,
    address: Mapping[str, str | None] | int,
) -> int:
    """Return the id of an address that the subscriber has, or of a new one (:data:`FIELDS`).

    Raises BadInput if the address belongs to another subscriber, or is only a part of an address.
    """
    if not isinstance(address, int):
        present = addresses_of(books, [subscriber_id])[subscriber_id].values()
        if said := refusal(address, present):
            raise BadInput(said)
        return add_address(books, subscriber_id, address)
    if not has_address(books, subscriber_id, address):
        raise BadInput(
            f"{reader_named(books, subscriber_id)}, who gets "
            f"{subscription_named(books, subscription_id)}, has no such address",
            code="unknown_address",
            subscriber=subscriber_id,
        )
    return address


def has_address(books: Operation, subscriber_id: int, address_id: int) -> bool:
    """Return whether an address is one of the subscriber's."""
    whose = books.value_as(
        int,
        """
        SELECT subscriber_id FROM addresses
        WHERE account_id = :account_id AND address_id = :address_id
        """,
        address_id=address_id,
    )
    return whose == subscriber_id


def set_mailing_address(books: Operation, subscription_id: int, address_id: int) -> bool:
    """Give a subscription another mailing address; return whether that changed it."""
    return bool(
        books.change(
            """
            UPDATE subscriptions SET mailing_address_id = :address_id, commit_id = :commit_id
            WHERE account_id = :account_id AND subscription_id = :subscription_id
                AND (mailing_address_id IS NULL OR mailing_address_id <> :address_id)
            """,
            subscription_id=subscription_id,
            address_id=address_id,
            commit_id=books.commit_id,
        )
    )


def restore_addresses(
    books: Operation,
    address_id: int,
    mailing: Mapping[int, int | None],
    billing: Mapping[int, int | None],
) -> bool:
    """Give subscriptions that have an address their former ones; return whether all had it.

    ``mailing`` and ``billing`` have the former addresses by subscription. If one of them does not
    have the address any more, some may be restored: the caller undoes that.
    """
    restored = True
    for column, formers in (("mailing_address_id", mailing), ("billing_address_id", billing)):
        for key, former in formers.items():
            restored &= bool(
                books.change(
                    f"""
                    UPDATE subscriptions SET {column} = :former, commit_id = :commit_id
                    WHERE account_id = :account_id AND subscription_id = :key
                        AND {column} = :address_id
                    """,
                    former=former,
                    key=key,
                    address_id=address_id,
                    commit_id=books.commit_id,
                )
            )
    return restored


def add_temporary_address(
    books: Operation, subscription_id: int, address_id: int, first: str, last: str
) -> None:
    """Send the issues dated ``first`` to ``last``, both included, to another address."""
    books.change(
        """
        INSERT INTO temporary_addresses (account_id, temporary_address_id, subscription_id,
            address_id, from_date, to_date)
        VALUES (:account_id, :span_id, :subscription_id, :address_id, :first, :last)
        """,
        span_id=next_ids(books.connection, books.account_id, "temporary_addresses"),
        subscription_id=subscription_id,
        address_id=address_id,
        first=first,
        last=last,
    )
