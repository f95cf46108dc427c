"""Finding readers and orders by anything that a caller on the telephone says."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from masthead.books import subscribers
from masthead.books.account import Books
from masthead.books.subscribers import Found, Sought
from masthead.contract.printable import single_spaced
from masthead.store.books.operation import Reading
from masthead.store.books.order_records import OrderFound, orders_named
from masthead.store.books.standing import (
    Payment,
    Standing,
    address_lines,
    last_payments,
    standings,
)
from masthead.store.books.word_search import by_similar_words, by_words, words_of

__all__ = [
    "Hit",
    "Hits",
    "OrderFound",
    "Side",
    "Standing",
    "by_ids",
    "likely_duplicates",
    "look",
    "sides",
]

_AMONG_MAX = 2_000
_DUPLICATES = 5
_SAME_MAX = 100
_ZIP_MIN = 3
"""A shorter beginning of a postal code matches a tenth of all subscribers."""

_ID = re.compile(r"[0-9]{1,18}")
_KEYLINE = re.compile(r"([0-9]{1,18}) (?:[0-9]{4}-[0-9]{2}-[0-9]{2}|-)")
_ORDER = re.compile(r"(?:# ?|order (?:no\.? |number )?#?)(\S+)", re.IGNORECASE)
_CODE = re.compile(r"(?:renewal )?code:? (\S+)", re.IGNORECASE)
_EMAIL = re.compile(r"\S+@\S+\.\S+")
_MIXED = re.compile(r"(?=.*[0-9])(?=.*[A-Za-z])\S+")
"""Letters and digits: a code. One of letters alone can be a name, one of digits a postal code."""


class Hit(NamedTuple):
    """A reader who was found, with the newest or the matching address, and the subscriptions."""

    person: Found
    subscriptions: list[Standing]


class Hits(NamedTuple):
    """The readers and the orders that match; ``is_more`` says that more readers do.

    ``is_similar``: nothing fits, and these have a name that differs by one letter. ``order`` is the
    number or reference of the order that the text asks for, if it does.
    """

    people: list[Hit]
    orders: list[OrderFound]
    is_more: bool = False
    is_similar: bool = False
    order: str | None = None

    @property
    def is_one(self) -> bool:
        """Whether there is one reader or one order, so that it can be opened at once."""
        return len(self.people) + len(self.orders) == 1 and not (self.is_more or self.is_similar)


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
        have = _standings(reading, found)
    return [Hit(found[key], have.get(key, [])) for key in keys if key in found]


def _standings(reading: Reading, ids: Iterable[int]) -> dict[int, list[Standing]]:
    return standings(reading.connection, reading.account_id, ids, today=reading.today)


def sides(books: Books, why: Mapping[int, str]) -> list[Side]:
    """Return readers side by side, by their ids, without ids that do not exist.

    ``why`` has for each id what is the same as of another reader.
    """
    with books.read() as reading:
        found = subscribers.people(books, why)
        where = reading.connection, books.account_id
        have = _standings(reading, found)
        paid, lines = last_payments(*where, found), address_lines(*where, found)
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
    """Return what the text can mean (decisions, "Finding a caller"); at most ``limit`` readers.

    Readers who were merged into another one are shown as that one. If nothing fits, names with one
    wrong letter do (``is_similar``).
    """
    text = single_spaced(text.replace("*", " "))
    if not text:
        return Hits([], [])
    with books.snapshot() as inside, inside.read() as reading:
        if order := _ORDER.fullmatch(text):
            orders = orders_named(reading.connection, reading.account_id, order[1])
            return Hits([], orders, order=order[1])
        exact, orders = _exact(inside, reading, text)
        found = exact or _fitting(inside, text, limit + 1)
        is_similar = not (found or orders)
        if is_similar:
            found = _by_words(inside, text, limit + 1, is_similar=True)
        people = _who_is_kept(inside, found)
        have = _standings(reading, [each.subscriber_id for each in people[:limit]])
    return Hits(
        [Hit(each, have.get(each.subscriber_id, [])) for each in people[:limit]],
        orders,
        is_more=len(people) > limit,
        is_similar=is_similar and bool(people),
    )


def _exact(books: Books, reading: Reading, text: str) -> tuple[list[Found], list[OrderFound]]:
    """Return the readers and the orders that the text names exactly."""
    where = reading.connection, reading.account_id
    if keyline := _KEYLINE.fullmatch(text):
        return list(subscribers.people(books, [int(keyline[1])]).values()), []
    sought = None
    if code := _CODE.fullmatch(text) or _MIXED.fullmatch(text):
        sought = Sought(renewal_code=code[code.lastindex or 0])
    elif _EMAIL.fullmatch(text):
        sought = Sought(email=text)
    people = subscribers.find(books, sought, limit=_SAME_MAX) if sought else []
    return people, [] if " " in text else orders_named(*where, text)


def _fitting(books: Books, text: str, limit: int) -> list[Found]:
    """Return the readers whom the text fits, the most exact meanings first."""
    found: dict[int, Found] = {}
    if _ID.fullmatch(text):
        found |= subscribers.people(books, [int(text)])
    for sought in _meanings(text):
        if len(found) < limit:
            for each in subscribers.find(books, sought, limit=limit, among_max=_AMONG_MAX):
                found.setdefault(each.subscriber_id, each)
    if len(found) < limit and "@" not in text:
        for each in _by_words(books, text, limit):
            found.setdefault(each.subscriber_id, each)
    return list(found.values())


def _by_words(books: Books, text: str, limit: int, *, is_similar: bool = False) -> list[Found]:
    search = by_similar_words if is_similar else by_words
    with books.read() as reading:
        return search(reading.connection, books.account_id, words_of(text), limit=limit)


def _meanings(text: str) -> Iterator[Sought]:
    """Yield the possible meanings of the text, the most exact first.

    The search by words finds names of several words, and companies and towns.
    """
    if "@" in text:
        yield Sought(email=f"{text}*")
        return
    is_one_word = " " not in text
    if is_one_word:
        yield Sought(renewal_code=text)
    if any(character.isdigit() for character in text) and len(text) >= _ZIP_MIN:
        yield Sought(zip_code=text)
        if not is_one_word:
            yield Sought(street=text)
    if is_one_word and any(character.isalpha() for character in text):
        yield Sought(name=text)
        if len(text) >= _ZIP_MIN:
            yield Sought(email=f"{text}*")


def _who_is_kept(books: Books, found: Sequence[Found]) -> list[Found]:
    """Return readers with those who were merged into another one replaced by that one."""
    into = [each.merged_into for each in found if each.merged_into is not None]
    kept = subscribers.people(books, into) if into else {}
    shown = [kept.get(each.merged_into or 0, each) for each in found]
    return list({each.subscriber_id: each for each in shown}.values())
