"""Existing readers whom a new one looks like (circulation, "Who is who").

Every look-up uses an index, and is kept for other orders of the same operation.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from masthead.circulation.ordering import Person
from masthead.contract.subscription_types import UNLIMITED
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed
from masthead.store.books.reader_lookup import (
    Reader,
    addresses_of,
    companies_at,
    places_of,
    readers_by,
    readers_by_name,
)
from masthead.store.search_filters import ascii_lower

_SHOWN_MAX = 5
_Text = str | None


class Resembling(NamedTuple):
    """A reader whom a new one looks like; ``why`` says what is the same.

    ``line`` describes the reader (:func:`described`).
    """

    subscriber_id: int
    why: str
    line: str = ""


def look_up(books: Operation, people: Iterable[Person]) -> None:
    """Look up many people with few statements, for the calls of :func:`resembling` that follow."""
    people = list(people) if books.direct.reader_id is None else []
    names = readers_by_name(books, [_name_of(each) for each in people if each.last_name])
    places = [place for each in people for place in _places_of(each)]
    ids = {each.subscriber_id for found in names.values() for each in found}
    ids.update(*companies_at(books, places).values())
    readers_by(books, "subscriber_id", ids)
    addresses_of(books, ids)


def resembling(books: Operation, person: Person) -> list[Resembling]:
    """Return the readers whom a new person looks like, at most five, sorted by id.

    They have the same name and postal code, or company and postal code, or the same email address.
    If one of the two has no postal code, the city is compared instead. Two people with different
    names at one company are not alike. An operation of a reader on the readers' pages is told of
    nobody: the database does not show it others.
    """
    if books.direct.reader_id is not None:
        return []
    found: dict[int, str] = {}
    for reader, why in (
        *_by_email(books, person),
        *_by_name(books, person),
        *_by_company(books, person),
    ):
        if reader.delete_date is None:
            found.setdefault(reader.subscriber_id, why)
    return [Resembling(*each) for each in sorted(found.items())[:_SHOWN_MAX]]


def _by_email(books: Operation, person: Person) -> Iterator[tuple[Reader, str]]:
    email = ascii_lower(person.email)
    for reader in readers_by(books, "email_lower", [email])[email] if email else ():
        yield reader, "same email address"


def _by_name(books: Operation, person: Person) -> Iterator[tuple[Reader, str]]:
    name = _name_of(person)
    for reader in readers_by_name(books, [name])[name] if person.last_name else ():
        for address in _addresses(books, reader.subscriber_id):
            if place := _same_place(person.address, address):
                yield reader, f"same name and {place}"


def _by_company(books: Operation, person: Person) -> Iterator[tuple[Reader, str]]:
    places = _places_of(person)
    at = companies_at(books, places)
    for subscriber_id in {each for place in places for each in at[place]}:
        (reader,) = readers_by(books, "subscriber_id", [subscriber_id])[subscriber_id]
        are_people = (person.first_name or person.last_name) and (
            reader.first_name or reader.last_name
        )
        for address in _addresses(books, subscriber_id):
            is_same = _folded(person.address, "company") == _folded(address, "company")
            place = _same_place(person.address, address)
            if is_same and place and not are_people:
                yield reader, f"same company and {place}"


def _name_of(person: Person) -> tuple[str, str]:
    return person.last_name.casefold(), person.first_name.casefold()


def _places_of(person: Person) -> list[tuple[str, str]]:
    return places_of(person.address) if person.address.get("company") else []


def _addresses(books: Operation, subscriber_id: int) -> Collection[Mapping[str, str]]:
    return addresses_of(books, [subscriber_id])[subscriber_id].values()


def _folded(address: Mapping[str, str], name: str) -> str:
    return (address.get(name) or "").casefold()


def _same_place(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    """Return which part of the place is the same: the postal code, or else the city, or ''."""
    codes = {_folded(each, "zip_code").replace(" ", "").replace("-", "") for each in (one, other)}
    if "" not in codes:
        return "postal code" if len(codes) == 1 else ""
    city = _folded(one, "city")
    return "city" if city and city == _folded(other, "city") else ""


def described(books: Reading, ids: Iterable[int]) -> dict[int, str]:
    """Return for each subscriber a line with name, email, newest address and subscriptions."""
    listed_ids = listed(set(ids))
    people = books.rows_as(
        tuple[int, _Text, _Text, _Text, _Text, _Text, _Text, _Text],
        f"""
        SELECT s.subscriber_id, s.first_name, s.last_name, s.email, a.company, a.address,
            a.zip_code, a.city
        FROM subscribers AS s LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.address_id = (
                SELECT max(n.address_id) FROM addresses AS n
                WHERE n.account_id = :account_id AND n.subscriber_id = s.subscriber_id)
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed_ids})
        """,
    )
    subscriptions = books.rows_as(
        tuple[int, int, str, str, int, _Text],
        f"""
        SELECT s.subscriber_id, s.subscription_id, coalesce(p.name, ''), coalesce(s.type, ''),
            coalesce(s.issues, 0), s.date_expired
        FROM subscriptions AS s JOIN publications AS p
            ON p.account_id = :account_id AND p.publication_id = s.publication_id
        WHERE s.account_id = :account_id AND s.subscriber_id IN ({listed_ids})
            AND s.cancelled_on IS NULL
        ORDER BY s.subscription_id
        """,
    )
    has: dict[int, list[str]] = {}
    for subscriber_id, key, publication, type_, issues, last_day in subscriptions:
        left = "unlimited" if issues == UNLIMITED else f"{issues} issues left"
        until = f", until {last_day}" if last_day else ""
        has.setdefault(subscriber_id, []).append(
            f"subscription {key}, {publication}, {type_}, {left}{until}"
        )
    lines = {}
    for subscriber_id, *names, email, company, street, code, city in people:
        name, place = (" ".join(filter(None, parts)) for parts in (names, (code, city)))
        who = ", ".join(filter(None, (name, company, email, street, place)))
        what = "; ".join(has.get(subscriber_id, ())) or "no subscription"
        lines[subscriber_id] = f"subscriber {subscriber_id}, {who}: {what}"
    return lines
