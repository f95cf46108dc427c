"""Finding readers and orders by anything that a caller on the telephone says."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from masthead.books import orders, subscribers
from masthead.books.account import Books
from masthead.books.subscribers import Found, Sought
from masthead.store.books.standing import (
    Payment,
    Standing,
    address_lines,
    last_payments,
    standings,
)

__all__ = ["Hit", "Hits", "Side", "Standing", "by_ids", "likely_duplicates", "look", "sides"]

_AMONG_MAX = 2_000
_DUPLICATES = 5
_ZIP_MIN = 3
"""A shorter beginning of a postal code matches a tenth of all subscribers."""

_CODE_MAX = 5
_KEYLINE = re.compile(r"([0-9]{1,18}) (?:[0-9]{4}-[0-9]{2}-[0-9]{2}|-)")
_ID = re.compile(r"[0-9]{1,18}")


class Hit(NamedTuple):
    """A reader who was found, with the newest or the matching address, and the subscriptions."""

    person: Found
    subscriptions: list[Standing]


class Hits(NamedTuple):
    """The readers and the orders that match; ``is_more`` says that more readers do."""

    people: list[Hit]
    orders: list[int]
    is_more: bool


class Side(NamedTuple):
    """A reader beside another one who may be the same person.

    ``why`` says what is the same; '' if that was not asked. ``addresses`` are in lines, the newest
    first. ``paid`` is the newest payment, if there is any.
    """

    person: Found
    why: str
    addresses: list[str]
    subscriptions: list[Standing]
    paid: Payment | None


def by_ids(books: Books, ids: Iterable[int]) -> list[Hit]:
    """Return these readers in this order, without ids that do not exist."""
    keys = list(dict.fromkeys(ids))
    with books.read() as reading:
        found = subscribers.people(books, keys)
        have = standings(reading, found)
    return [Hit(found[key], have.get(key, [])) for key in keys if key in found]


def sides(books: Books, why: Mapping[int, str]) -> list[Side]:
    """Return readers side by side, by their ids, without ids that do not exist.

    ``why`` has for each id what is the same as of another reader.
    """
    with books.read() as reading:
        found = subscribers.people(books, why)
        have = standings(reading, found)
        paid = last_payments(reading, found)
        lines = address_lines(reading, found)
    return [
        Side(found[key], what, lines.get(key, []), have.get(key, []), paid.get(key))
        for key, what in why.items()
        if key in found
    ]


def likely_duplicates(books: Books, subscriber_id: int) -> list[Side]:
    """Return the readers who may be the same person as this one (``subscribers.duplicates``)."""
    with books.snapshot() as inside:
        groups = subscribers.duplicates(inside, of=subscriber_id, limit=_DUPLICATES)
        why = {
            each.subscriber_id: f"same {group.why}"
            for group in reversed(groups)
            for each in group.people
            if each.subscriber_id != subscriber_id
        }
        return sides(inside, why)


def look(books: Books, text: str, *, limit: int) -> Hits:
    """Return what the text can mean; at most ``limit`` readers.

    The text is a name or the beginnings of its words, an email address, a postal code or its
    beginning, a renewal code, an order or subscriber number, an order's reference, or a keyline.
    """
    if not text:
        return Hits([], [], is_more=False)
    with books.snapshot() as inside, inside.read() as reading:
        found = _found(inside, text, limit + 1)
        have = standings(reading, [each.subscriber_id for each in found[:limit]])
        people = [Hit(each, have.get(each.subscriber_id, [])) for each in found[:limit]]
        return Hits(people, _orders(inside, text), is_more=len(found) > limit)


def _found(books: Books, text: str, limit: int) -> list[Found]:
    found: dict[int, Found] = {}
    if keyline := _KEYLINE.fullmatch(text):
        return [*subscribers.people(books, [int(keyline[1])]).values()]
    if _ID.fullmatch(text):
        found |= subscribers.people(books, [int(text)])
    for sought in _meanings(text):
        for each in subscribers.find(books, sought, limit=limit, among_max=_AMONG_MAX):
            found.setdefault(each.subscriber_id, each)
    return list(found.values())


def _meanings(text: str) -> Iterator[Sought]:
    """Yield the possible meanings of the text, the most exact first."""
    if "@" in text:
        yield Sought(email=text)
        return
    has_digit = any(character.isdigit() for character in text)
    if len(text) <= _CODE_MAX and " " not in text:
        yield Sought(renewal_code=text)
    if " " not in text:
        yield Sought(order=text)
    if has_digit and len(text) >= _ZIP_MIN:
        yield Sought(zip_code=text)
        if " " in text:
            yield Sought(street=text)
    if any(character.isalpha() for character in text):
        yield Sought(name=text)


def _orders(books: Books, text: str) -> list[int]:
    return [int(text)] if _ID.fullmatch(text) and orders.exists(books, int(text)) else []
