"""Words of a mapping with ``*`` for any text: conditions, ``values`` and ``ignore``."""

import re
from collections.abc import Iterable, Mapping
from fnmatch import translate
from functools import lru_cache
from typing import NamedTuple

REST = "*"
"""The word that fits each text. As a replacement it is the text itself."""


class Words(NamedTuple):
    """Words that a text can be. ``*`` in a word is any text; letter case counts."""

    exact: frozenset[str]
    patterns: tuple[str, ...]

    def has(self, text: str) -> bool:
        """Return whether the text is one of the words; a word without ``*`` is tried first."""
        return text in self.exact or any(fits(pattern, text) for pattern in self.patterns)


class Replacements(NamedTuple):
    """Words, each with the word that replaces it."""

    exact: Mapping[str, str]
    patterns: Mapping[str, str]

    def get(self, text: str) -> str | None:
        """Return what replaces a text, None if it is not listed.

        Words without ``*`` are tried first, then the others in their order.
        """
        if (found := self.exact.get(text)) is not None:
            return found
        for pattern, replacement in self.patterns.items():
            if fits(pattern, text):
                return text if replacement == REST else replacement
        return None


def words_of(words: Iterable[str]) -> Words:
    """Return the words of a list, without spaces at their ends."""
    stripped = [word.strip() for word in words]
    return Words(
        frozenset(word for word in stripped if REST not in word),
        tuple(word for word in stripped if REST in word),
    )


def replacements_of(values: Mapping[str, str]) -> Replacements:
    """Return the replacements of a table of words."""
    stripped = {word.strip(): value for word, value in values.items()}
    return Replacements(
        {word: value for word, value in stripped.items() if REST not in word},
        {word: value for word, value in stripped.items() if REST in word},
    )


def fits(pattern: str, text: str) -> bool:
    """Return whether a text fits a word with ``*``."""
    return _compiled(pattern).match(text) is not None


@lru_cache(maxsize=1_000)
def _compiled(pattern: str) -> re.Pattern[str]:
    # Only ``*`` has a meaning; translate() makes patterns that never try a text twice.
    return re.compile(translate(pattern.replace("[", "[[]").replace("?", "[?]")))
