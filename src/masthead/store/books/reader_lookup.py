"""The readers that an operation looks up, and their addresses: many with one statement.

The operation's memory (``Operation.memory``) keeps the results, together with what the operation
has added since.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Literal, NamedTuple

from masthead.circulation.addresses import FIELDS
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.pending_rows import Record
from masthead.store.search_filters import ascii_lower

_ADDRESSES, SUBSCRIPTIONS = "addresses", "subscriptions"
"""The names of memories by subscriber."""

_NAMES, _COMPANIES = "names", "companies"
"""The names of memories by last and first name, and by place."""


class Reader(NamedTuple):
    """What is known about a subscriber."""

    subscriber_id: int
    first_name: str | None
    last_name: str | None
    first_name_folded: str | None
    last_name_folded: str | None
    email: str | None
    renewal_code_lower: str | None
    delete_date: str | None
    merged_into: int | None


def readers_by(
    books: Reading,
    column: Literal["subscriber_id", "email_lower", "renewal_code_lower"],
    wanted: Iterable[int | str],
) -> Mapping[int | str, list[Reader]]:
    """Return the readers for each value of a column; an empty list if there is none."""
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


def readers_by_name(
    books: Operation, wanted: Iterable[tuple[str, str]]
) -> Mapping[tuple[str, str], list[Reader]]:
    """Return the readers for each folded last and first name; '' is no first name."""
    memory = books.memory(_NAMES)
    new = [each for each in dict.fromkeys(wanted) if each not in memory]
    memory |= {each: [] for each in new}
    for condition, names in (
        ("s.first_name_folded = w.first", [each for each in new if each[1]]),
        ("s.first_name_folded IS NULL", [each for each in new if not each[1]]),
    ):
        if not names:
            continue
        pairs = {f"{'lf'[n % 2]}{n // 2}": text for n, text in enumerate(chain(*names))}
        values = ", ".join(f"(:l{n}, :f{n})" for n in range(len(names)))
        for reader in books.direct.rows_as(
            Reader,
            f"""
            WITH w (last, first) AS (VALUES {values})
            SELECT {", ".join(f"s.{name}" for name in Reader._fields)}
            FROM w CROSS JOIN subscribers AS s
            WHERE s.account_id = :account_id AND s.last_name_folded = w.last AND {condition}
            """,
            account_id=books.account_id,
            **pairs,
        ):
            books.memory("subscriber_id").setdefault(reader.subscriber_id, [reader])
            memory[_name_of(reader)].append(reader)
    return memory


def _name_of(reader: Reader) -> tuple[str, str]:
    return reader.last_name_folded or "", reader.first_name_folded or ""


def remember(books: Operation, row: Record) -> None:
    """Remember an added reader, given as its ``row`` of ``subscribers``."""
    row = {**row, "renewal_code_lower": ascii_lower(str(row["renewal_code"]))}
    reader = Reader(*(row.get(name) for name in Reader._fields))  # type: ignore[arg-type]
    books.memory("subscriber_id")[reader.subscriber_id] = [reader]
    books.memory(_ADDRESSES)[reader.subscriber_id] = {}
    books.memory(SUBSCRIPTIONS)[reader.subscriber_id] = []
    if row["email"]:
        email = ascii_lower(str(row["email"]))
        readers_by(books, "email_lower", [email])
        books.memory("email_lower")[email].append(reader)
    if reader.last_name_folded:
        readers_by_name(books, [_name_of(reader)])[_name_of(reader)].append(reader)


def addresses_of(
    books: Reading, subscribers: Iterable[int]
) -> Mapping[int, Mapping[int, Mapping[str, str]]]:
    """Return each subscriber's addresses by id, without empty fields."""
    memory = books.memory(_ADDRESSES)
    new = [each for each in dict.fromkeys(subscribers) if each not in memory]
    if new:
        memory |= {each: {} for each in new}
        # No ORDER BY and LIMIT: with them, a planner might read the addresses of everybody.
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
    """Remember an added address, given as its ``row`` of ``addresses``."""
    known = books.memory(_ADDRESSES).get(row["subscriber_id"])
    if known is not None:
        known[row["address_id"]] = _filled((name, row[name]) for name in FIELDS)
    if row["company"]:
        for place in places_of({name: str(row[name] or "") for name in FIELDS}):
            companies_at(books, [place])[place].add(int(row["subscriber_id"] or 0))


def places_of(address: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return where to find a company's address: by its postal code, and by its street."""
    found = ((name, ascii_lower(address.get(name) or "")) for name in ("zip_code", "address"))
    return [place for place in found if place[1]]


def companies_at(
    books: Operation, places: Iterable[tuple[str, str]]
) -> Mapping[tuple[str, str], set[int]]:
    """Return, for each of :func:`places_of`, the subscribers with a company's address there."""
    memory = books.memory(_COMPANIES)
    new = [each for each in dict.fromkeys(places) if each not in memory]
    memory |= {each: set() for each in new}
    for column in ("zip_code", "address"):
        values = {f"v{n}": each[1] for n, each in enumerate(new) if each[0] == column}
        if not values:
            continue
        for place, subscriber_id in books.direct.rows_as(
            tuple[str, int],
            f"""
            SELECT lower(a.{column}), a.subscriber_id FROM addresses AS a
            WHERE a.account_id = :account_id AND lower(a.{column}) IN (:{", :".join(values)})
                AND a.company IS NOT NULL
            """,
            account_id=books.account_id,
            **values,
        ):
            memory[column, place].add(subscriber_id)
    return memory


def _filled(fields: Iterable[tuple[str, object]]) -> dict[str, str]:
    return {name: str(text) for name, text in fields if text}
