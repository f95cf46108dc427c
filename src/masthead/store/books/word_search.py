"""Finding a subscriber by words in any order: names, company, street, postal code and town.

Every word must be the beginning of a word of the subscriber or of one address. An index finds the
candidates: those with one of the words as a name, at the beginning of a company, a postal code or a
street. The other words are compared here, because a town has no index, and because accents are
compared (rules, "Find: names"). The number of candidates is limited, so the time is too.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from string import ascii_lowercase

from masthead.store.books.subscriber_search import Found, columns, place
from masthead.store.database import Connection
from masthead.store.name_forms import plain, spellings
from masthead.store.search_filters import beyond

WORDS_MAX = 6
_PART_MAX = 1_000
"""The beginning of a name can match a tenth of all subscribers."""

_CANDIDATES_MAX = 2_000
_ANCHOR_MIN = 2
_CODE_MIN = 3
_SIMILAR_MIN = 4
"""Shorter names have too many neighbours."""

_SIMILAR_MAX = 20
"""The spellings of a longer name would make the query too large."""

_WORD = re.compile("[^\\s,;/&]+")
_MARKS = str.maketrans(dict.fromkeys("-/&()+,;", " ") | dict.fromkeys(".'"))
_WITH_APOSTROPHE = "do"
"""The letters before the apostrophe of names such as D'Angelo and O'Neill."""

_STREETS = (
    ("street", "st"),
    ("avenue", "ave"),
    ("road", "rd"),
    ("lane", "ln"),
    ("drive", "dr"),
    ("boulevard", "blvd"),
    ("court", "ct"),
    ("place", "pl"),
    ("terrace", "ter"),
)
_SHORT = dict(_STREETS)
_LONG = {short: long for long, short in _STREETS}


class _Word:
    """A typed word: ``forms`` are its plain forms, ``similar`` the names that it may stand for."""

    def __init__(self, text: str, *, is_similar: bool = False) -> None:
        self.text = text
        self._starts = [f" {form}" for form in _forms(text)]
        self._wholes = [f"{start} " for start in self._starts]
        # The number of a house is a whole word.
        if text.isdigit() and len(text) < _CODE_MIN:
            self._starts = self._wholes
        fits = _SIMILAR_MIN <= len(text) <= _SIMILAR_MAX
        is_name = text.isalpha() and text.isascii() and fits
        self.similar = sorted(set(_neighbours(text))) if is_similar and is_name else []
        self._similar = set(self.similar)

    def is_in(self, there: str) -> bool:
        """Return whether a word of a text begins with it, or is similar."""
        return any(start in there for start in self._starts) or (
            bool(self._similar) and not self._similar.isdisjoint(there.split())
        )

    def is_whole_in(self, there: str) -> bool:
        """Return whether it is a word of a text."""
        return any(whole in there for whole in self._wholes)


class _Query:
    """The parts of one query, each of which finds subscribers by an index, and their values."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.values: dict[str, int | str] = {}

    def value(self, text: str) -> str:
        """Return the placeholder of a value."""
        name = f"v{len(self.values)}"
        self.values[name] = text
        return f":{name}"

    def begins(self, column: str, start: str) -> str:
        """Return the condition that a column begins with a text."""
        condition = f"{column} >= {self.value(start)}"
        end = beyond(start)
        return condition if end is None else f"{condition} AND {column} < {self.value(end)}"

    def among(self, column: str, names: Iterable[str]) -> str:
        """Return the condition that a column has one of the names, which have only a to z."""
        listed = "', '".join(names)
        return f"{column} IN ('{listed}')"

    def add(self, table: str, condition: str) -> None:
        """Add a part: the subscribers with a row of the table that fits."""
        self.parts.append(
            f"""SELECT * FROM (SELECT x.subscriber_id FROM {table} AS x
                WHERE x.account_id = :account_id AND {condition} LIMIT {_PART_MAX}) AS p"""
        )


def words_of(text: str) -> list[str]:
    """Return the words of a text in small letters, as a search compares them."""
    found = (each.strip(".'-") for each in _WORD.findall(text.casefold()))
    return [each for each in found if each not in {"", "the"}][:WORDS_MAX]


def by_words(
    connection: Connection, account_id: int, words: list[str], *, limit: int
) -> list[Found]:
    """Return the subscribers whom all words fit, at most ``limit``.

    Those with most words in full come first, then sorted by name; deleted ones come last.
    """
    query = _Query()
    for first, last in [pair for each in pairwise(words) for pair in (each, each[::-1])]:
        if _has_letter(first) and _has_letter(last):
            is_last = query.begins("x.last_name_folded", last)
            is_first = query.begins("x.first_name_folded", first)
            query.add("subscribers", f"{is_last} AND {is_first}")
    for number, word in enumerate(words):
        if len(word) < _ANCHOR_MIN:
            continue
        _add_companies(query, word)
        if _has_digit(word):
            _add_places(query, words, number)
        if len(words) > 1 and _has_letter(word):
            _add_names(query, word)
    return _best(connection, account_id, query, [_Word(each) for each in words], limit)


def by_similar_words(
    connection: Connection, account_id: int, words: list[str], *, limit: int
) -> list[Found]:
    """Return the subscribers whom all words fit if one letter of one name was typed wrongly.

    A letter can be wrong, missing, too many, or swapped with the next one. Sorted as
    :func:`by_words` sorts.
    """
    query = _Query()
    typed = [_Word(word, is_similar=True) for word in words]
    for each in typed:
        if not each.similar:
            continue
        for other in words:
            if other != each.text and _has_letter(other):
                is_last = f"x.last_name_folded = {query.value(other)}"
                is_first = query.begins("x.first_name_folded", other)
                has_first = query.among("x.first_name_folded", each.similar)
                has_last = query.among("x.last_name_folded", each.similar)
                query.add("subscribers", f"{is_last} AND {has_first}")
                query.add("subscribers", f"{has_last} AND {is_first}")
        for column in ("last_name_folded", "last_name_plain"):
            query.add("subscribers", query.among(f"x.{column}", each.similar))
    return _best(connection, account_id, query, typed, limit)


def _add_names(query: _Query, word: str) -> None:
    as_names, as_plain = spellings(word)
    if word[0] in _WITH_APOSTROPHE:
        as_names.append(f"{word[0]}'{word[1:]}")
    for column in ("last_name", "first_name"):
        for form in as_names:
            query.add("subscribers", query.begins(f"x.{column}_folded", form))
        for form in as_plain:
            query.add("subscribers", query.begins(f"x.{column}_plain", form))
            if column == "last_name":
                query.add("subscribers", query.begins("x.last_name_end", form))


def _add_companies(query: _Query, word: str) -> None:
    # Databases lower A to Z alone.
    for form in dict.fromkeys((word, plain(word), word if word.isascii() else word.capitalize())):
        query.add(
            "addresses", f"x.company IS NOT NULL AND {query.begins('lower(x.company)', form)}"
        )


def _add_places(query: _Query, words: list[str], number: int) -> None:
    """Add those whose street has this number and a word beside it, or whose code begins so."""
    word = words[number]
    if len(word) >= _CODE_MIN:
        query.add("addresses", query.begins("lower(x.zip_code)", word))
    following = words[number + 1] if number + 1 < len(words) else words[0]
    if following != word:
        query.add("addresses", query.begins("lower(x.address)", f"{word} {following}"))
    if number and not _has_digit(before := words[number - 1]) and len(before) >= _SIMILAR_MIN:
        for form in _forms(before):
            query.add("addresses", query.begins("lower(x.address)", form))


def _has_letter(text: str) -> bool:
    return any(each.isalpha() for each in text)


def _has_digit(text: str) -> bool:
    return any(each.isdigit() for each in text)


def _forms(word: str) -> list[str]:
    """Return the plain forms of a word: one of them is the beginning of a word that fits."""
    as_names, as_plain = spellings(word)
    found = [*as_plain, *map(plain, as_names)]
    found += [each for each in (_SHORT.get(word), _LONG.get(word)) if each]
    if word.endswith(("strasse", "straße")):
        found.append(f"{plain(word).removesuffix('strasse')}str")
    return list(dict.fromkeys(each.translate(_MARKS).strip() for each in found))


def _neighbours(name: str) -> Iterator[str]:
    """Yield the spellings that differ from a name by one letter, or by two swapped ones."""
    for n in range(len(name) + 1):
        head, tail = name[:n], name[n:]
        if tail:
            yield head + tail[1:]
            yield from (head + letter + tail[1:] for letter in ascii_lowercase)
        if len(tail) > 1:
            yield head + tail[1] + tail[0] + tail[2:]
        yield from (head + letter + tail for letter in ascii_lowercase)


def _best(
    connection: Connection, account_id: int, query: _Query, words: list[_Word], limit: int
) -> list[Found]:
    """Return the candidates whom all words fit, the best first."""
    if not query.parts:
        return []
    rows = connection.rows(
        f"""
        WITH c AS MATERIALIZED (
            SELECT DISTINCT u.subscriber_id FROM ({" UNION ALL ".join(query.parts)}) AS u
            LIMIT {_CANDIDATES_MAX})
        SELECT {columns("s")}, a.first_name, a.last_name, coalesce(a.address_id, 0)
        FROM c CROSS JOIN subscribers AS s
        LEFT JOIN addresses AS a
            ON a.account_id = :account_id AND a.subscriber_id = s.subscriber_id
        WHERE s.account_id = :account_id AND s.subscriber_id = c.subscriber_id
        """,
        account_id=account_id,
        **query.values,
    )
    best: dict[int, tuple[tuple[int, int, int], Found]] = {}
    for *values, first, last, address_id in rows:
        found = Found(*values)
        fit = _fit(found, first, last, words)
        if fit is None:
            continue
        rank = (*fit, address_id)
        if found.subscriber_id not in best or best[found.subscriber_id][0] < rank:
            best[found.subscriber_id] = rank, found
    ranked = sorted(
        best.values(),
        key=lambda each: (
            each[1].delete_date is not None,
            *(-count for count in each[0][:2]),
            place(each[1]),
        ),
    )
    return [found for _, found in ranked[:limit]]


def _fit(
    found: Found, first: str | None, last: str | None, words: list[_Word]
) -> tuple[int, int] | None:
    """Return how many words are in the name and how many are there in full; None if one is not."""
    name = _text(found.first_name, found.last_name)
    there = name + _text(first, last, found.company, found.address, found.zip_code, found.city)
    if not all(word.is_in(there) for word in words):
        return None
    in_name = sum(word.is_in(name) for word in words)
    return in_name, sum(word.is_whole_in(there) for word in words)


def _text(*texts: str | None) -> str:
    """Return the words of texts in plain form, each between spaces."""
    return f" {plain(' '.join(filter(None, texts))).translate(_MARKS)} "
