"""Correcting a subscriber's name and email address, and an existing address."""

from collections.abc import Mapping

from masthead.circulation.addresses import FIELDS, refusal
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput, NotFound, no_subscriber
from masthead.store.books.names import reader_named
from masthead.store.books.operation import Operation, Reading
from masthead.store.staging import DERIVED

Texts = Mapping[str, str | None]

NAMES = ("first_name", "last_name", "email")
"""The columns of a subscriber that people correct by hand."""


def names_of(books: Reading, subscriber_id: int) -> Texts:
    """Return the :data:`NAMES` of a subscriber.

    Raises NotFound if there is none, BadInput if the subscriber is deleted: erased ones stay blank.
    """
    row = books.row_as(
        tuple[str | None, ...],
        f"""
        SELECT {", ".join(NAMES)}, delete_date FROM subscribers
        WHERE account_id = :account_id AND subscriber_id = :subscriber_id
        """,
        subscriber_id=subscriber_id,
    )
    if row is None:
        raise no_subscriber(books.account_id, subscriber_id)
    *values, deleted = row
    if deleted is not None:
        raise BadInput(f"{reader_named(books, subscriber_id)} was deleted on {deleted[:10]}")
    return dict(zip(NAMES, values, strict=True))


def edit_subscriber(books: Operation, subscriber_id: int, values: Texts) -> list[str]:
    """Set some of :data:`NAMES`; return the names of those that changed.

    Raises what :func:`names_of` raises, and BadInput for a text that is too long.
    """
    before = names_of(books, subscriber_id)
    _check("subscribers", values)
    changed = {
        name: text or None for name, text in values.items() if (text or None) != before[name]
    }
    if changed:
        derived = {
            column: make(changed[source])
            for column, (source, make) in DERIVED["subscribers"].items()
            if source in changed
        }
        _update(books, "subscribers", "subscriber_id", subscriber_id, {**changed, **derived})
    return list(changed)


def address_of(books: Reading, address_id: int) -> tuple[int, Texts]:
    """Return the subscriber of an address, and its fields. Raises NotFound if there is none."""
    row = books.row_as(
        tuple[int, *tuple[str | None, ...]],
        f"""
        SELECT subscriber_id, {", ".join(FIELDS)} FROM addresses
        WHERE account_id = :account_id AND address_id = :address_id
        """,
        address_id=address_id,
    )
    if row is None:
        raise NotFound("there is no such address")
    return row[0], dict(zip(FIELDS, row[1:], strict=True))


def edit_address(books: Operation, address_id: int, values: Texts) -> tuple[int, list[str]]:
    """Correct an existing address; return its subscriber, and the fields that changed.

    Raises what :func:`address_of` and :func:`names_of` raise, and BadInput for a text that is too
    long, or if a whole address would become a part of one.
    """
    subscriber_id, before = address_of(books, address_id)
    names_of(books, subscriber_id)
    _check("addresses", values)
    changed: Texts = {
        name: text or None for name, text in values.items() if (text or None) != before[name]
    }
    said = refusal({**before, **changed}, [before])
    if said and not refusal(before):
        raise BadInput(said)
    if changed:
        unknown = {"verified": 0, "latitude": None, "longitude": None}
        _update(books, "addresses", "address_id", address_id, {**changed, **unknown})
    return subscriber_id, list(changed)


def _check(table: str, values: Texts) -> None:
    kinds = {column.name: column.kind for column in TABLES_BY_NAME[table].columns}
    for name, text in values.items():
        try:
            if text:
                kinds[name].parse(text)
        except ValueError as error:
            called = name.replace("_", " ")
            raise BadInput(f"the {called} is {error}", field=name) from error


def _update(
    books: Operation, table: str, key: str, value: int, columns: Mapping[str, int | str | None]
) -> None:
    sets = ", ".join(f"{name} = :{name}" for name in columns)
    books.change(
        f"""
        UPDATE {table} SET {sets}, commit_id = :commit_id
        WHERE account_id = :account_id AND {key} = :key
        """,
        commit_id=books.commit_id,
        key=value,
        **columns,
    )
