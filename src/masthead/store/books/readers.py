"""The readers whom an operation looks up, and their addresses: many with one statement.

What was looked up is kept in the operation's memory (``Operation.memory``), together with what it
has added since.
"""

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from masthead.store.books.keys import listed
from masthead.store.books.operation import Operation
from masthead.store.books.pending import Record
from masthead.store.searching import ascii_lower

__all__ = [
    "FIELDS",
    "SUBSCRIPTIONS",
    "Reader",
    "addresses_of",
    "readers_by",
    "remember",
    "remember_address",
]

FIELDS = (
    "first_name",
    "last_name",
    "company",
    "address",
    "city",
    "state",
    "zip_code",
    "country_name",
    "country_abbreviation",
)
"""The columns of a new address; all are texts, None where there is none."""

_ADDRESSES, SUBSCRIPTIONS = "addresses", "subscriptions"
"""The names of memories by subscriber."""


class Reader(NamedTuple):
    """What is known of a subscriber."""

    subscriber_id: int
    first_name: str | None
    last_name: str | None
    first_name_folded: str | None
    last_name_folded: str | None
    delete_date: str | None


def readers_by(
    books: Operation,
    column: Literal["subscriber_id", "email_lower"],
    wanted: Iterable[int | str],
) -> Mapping[int | str, list[Reader]]:
    """Return the readers of each value of a column, an empty list where there is none."""
    memory, by_id = books.memory(column), books.memory("subscriber_id")
    new = [each for each in dict.fromkeys(wanted) if each not in memory]
    if new:
        memory |= {each: [] for each in new}
        values = {f"v{number}": each for number, each in enumerate(new)}
        for value, *row in books.direct.rows(
            f"""
            SELECT {column}, {", ".join(Reader._fields)} FROM subscribers
            WHERE account_id = :account_id AND {column} IN (:{", :".join(values)})
            """,
            account_id=books.account_id,
            **values,
        ):
            reader = Reader(*row)
            by_id[reader.subscriber_id] = [reader]
            if memory is not by_id:
                memory[value].append(reader)
    return memory


def remember(books: Operation, row: Record) -> None:
    """Keep a reader who was added, as ``row`` of ``subscribers``."""
    reader = Reader(*(row.get(name) for name in Reader._fields))  # type: ignore[arg-type]
    books.memory("subscriber_id")[reader.subscriber_id] = [reader]
    books.memory(_ADDRESSES)[reader.subscriber_id] = {}
    books.memory(SUBSCRIPTIONS)[reader.subscriber_id] = []
    if row["email"]:
        email = ascii_lower(str(row["email"]))
        readers_by(books, "email_lower", [email])
        books.memory("email_lower")[email].append(reader)


def addresses_of(
    books: Operation, subscribers: Iterable[int]
) -> Mapping[int, Mapping[int, Mapping[str, str]]]:
    """Return each subscriber's addresses by their ids, without the fields that are empty."""
    memory = books.memory(_ADDRESSES)
    new = [each for each in dict.fromkeys(subscribers) if each not in memory]
    if new:
        memory |= {each: {} for each in new}
        # Without ORDER BY and LIMIT, for which a planner might read the addresses of all.
        for subscriber_id, address_id, *fields in books.direct.rows(
            f"""
            SELECT subscriber_id, address_id, {", ".join(FIELDS)} FROM addresses
            WHERE account_id = :account_id AND subscriber_id IN ({listed(new)})
            """,
            account_id=books.account_id,
        ):
            memory[subscriber_id][address_id] = _filled(zip(FIELDS, fields, strict=True))
    return memory


def remember_address(books: Operation, row: Record) -> None:
    """Keep an address that was added, as ``row`` of ``addresses``."""
    known = books.memory(_ADDRESSES).get(row["subscriber_id"])
    if known is not None:
        known[row["address_id"]] = _filled((name, row[name]) for name in FIELDS)


def _filled(fields: Iterable[tuple[str, object]]) -> dict[str, str]:
    return {name: str(text) for name, text in fields if text}
