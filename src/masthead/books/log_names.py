"""The audit log in names: entries have only ids, since the log outlives who is erased."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.contract.subscription_types import type_in_words
from masthead.store.books import names
from masthead.store.books.issue import titles_by_id

_NAMED = re.compile(
    r"\b(?:(issue|publication|bundle) (\d{1,18})(?: \((?:[^()]|\([^()]*\))*\))?"
    r"|(subscriber|reader|subscription|order)(?:s (\d{1,18}(?:, \d{1,18})*)| (\d{1,18})))"
)


class Part(NamedTuple):
    """A part of an entry: text, or the name of a subscriber or an order that has a page."""

    text: str
    subscriber_id: int | None = None
    order_id: int | None = None


def in_names(books: Books, texts: Sequence[str]) -> list[list[Part]]:
    """Return each text in parts; an id without a name stays as it is."""
    ids = defaultdict[str, set[int]](set)
    for text in texts:
        for found in _NAMED.finditer(text):
            ids[found[1] or found[3]].update(_keys(found))
    with books.read() as reading:
        titles = {
            "issue": titles_by_id(reading, ids["issue"]),
            "publication": names.publications(reading, ids["publication"]),
            "bundle": names.bundles(reading, ids["bundle"]),
        }
        held = names.subscriptions(reading, ids["subscription"])
        people = ids["subscriber"] | ids["reader"] | {each.subscriber_id for each in held.values()}
        readers = names.readers(reading, people)
        orders = names.orders(reading, ids["order"])
    known = _Known(titles, held, readers, orders)
    return [list(_parts(text, known)) for text in texts]


class _Known(NamedTuple):
    titles: Mapping[str, Mapping[int, str]]
    held: Mapping[int, names.Held]
    readers: Mapping[int, str]
    orders: set[int]


def _keys(found: re.Match[str]) -> list[int]:
    return [int(key) for key in (found[2] or found[4] or found[5]).split(", ")]


def _parts(text: str, known: _Known) -> Iterable[Part]:
    begin = 0
    for found in _NAMED.finditer(text):
        yield Part(text[begin : found.start()])
        begin = found.end()
        if found[1]:
            yield Part(known.titles[found[1]].get(_keys(found)[0]) or found[0])
            continue
        for number, key in enumerate(_keys(found)):
            if number:
                yield Part(", ")
            yield from _named(found[3], key, known)
    yield Part(text[begin:])


def _named(kind: str, key: int, known: _Known) -> Iterable[Part]:
    if kind == "order":
        yield Part(f"order {key}", order_id=key if key in known.orders else None)
    elif kind == "subscription":
        held = known.held.get(key)
        if held is None:
            yield Part(f"subscription {key}")
            return
        type_ = f" ({type_in_words(held.type)})" if held.type else ""
        yield Part(f"{held.publication or 'a publication'}{type_} of ")
        yield from _named("subscriber", held.subscriber_id, known)
    elif key in known.readers:
        yield Part(known.readers[key] or f"subscriber {key}", subscriber_id=key)
    else:
        yield Part(f"{kind} {key}")
