"""Which encoding makes words of the bytes of a file: MacRoman and DOS beside the Web's encodings.

The detector knows the encodings of the Web only, and finds one of them for any bytes. The words of
a wrong encoding have signs and capitals within: ``BŠr`` and ``B„r`` for ``Bär``. (rules, "What is
detected")
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import NamedTuple

OTHERS = (
    "cp1252",
    "cp1250",
    "cp1257",
    "iso8859-15",
    "iso8859-2",
    "mac-roman",
    "cp850",
    "cp437",
    "cp852",
)
"""The encodings that are compared with the detector's, the most usual of equal ones first."""

_ALPHABETS = (
    "äöüßé",  # German
    "àâæçéèêëîïôœùûüÿ",  # French
    "áéíñóúüªº",  # Spanish
    "áâãàçéêíóôõúüªº",  # Portuguese
    "àèéìíòóù",  # Italian
    "àçèéíïòóúü·",  # Catalan
    "æøåéüöäóô",  # Danish and Norwegian
    "åäöéüæøáà",  # Swedish and Finnish
    "áéëïóöüèêôíú",  # Dutch
    "áðéíóúýþæö",  # Icelandic
    "ąćęłńóśźż",  # Polish
    "áčďéěíňóřšťúůýž",  # Czech
    "áäčďéíĺľňóôŕšťúýž",  # Slovak
    "áéíóöőúüű",  # Hungarian
    "čćđšž",  # Slovenian and Croatian
    "ăâîșțşţ",  # Romanian
    "çğıöşüâî",  # Turkish
    "äõöüšž",  # Estonian
    "āčēģīķļņšūž",  # Latvian
    "ąčęėįšųūž",  # Lithuanian
)
_LANGUAGES = [frozenset(f"{letters}{letters.upper()}") - {"S"} for letters in _ALPHABETS]

SEGMENTS_MAX = 2_000
"""The maximum number of pieces of a file that are compared."""

_SEGMENT_BYTES_MAX = 200
_RATHER_ODD = 0.3
"""How much a word counts that is hard to speak, or of another language; an odd word counts 1."""

_TWICE = 2
"""A reading is worse than another if it has more odd words by this factor."""

_NEAR = 2
_NEAR_SHARE = 0.25
"""It is also worse if it has 2 odd words more, and this share of the other's."""

_NOISE_MAX = 0.3
"""If no reading is the best one, the detector's is taken if no larger share of its words is odd."""

_SEGMENT = re.compile(rb"[^\x00-\x2f\x3a-\x3f]+")
_WORD = re.compile("[a-zA-Z\x80-\U0010ffff]+")
_NO_LETTERS = frozenset("\u0192\u02c6\u02dc\u02da\u00b8\u00aa\u00ba\ufffd")
# Quotes, dashes, currencies, footnotes and the like, which stand beside words.
_BEFORE_WORDS = frozenset(
    "\u201e\u201c\u201d\u2018\u2019\u201a\u00ab\u00bb\u2039\u203a\u00bf\u00a1\u00a7\u20ac"
    "\u00a3\u2013\u2014\u2022\u00b7\u00b0(\u00a0\u00ad"
)
_AFTER_WORDS = frozenset(
    "\u201c\u201d\u2018\u2019\u00ab\u00bb\u2039\u203a\u2026\u00ae\u2122\u00a9\u00b0\u00aa"
    "\u00ba\u00b2\u00b3\u00b9\u20ac\u00a3\u2013\u2014\u00b7\u00a0\u00ad"
)
_WITHIN_WORDS = frozenset("·\u00a0\u00ad\u2011")
_DASHES = frozenset("\u2013\u2014")
_ELIDED_MAX = 2
_VOWELS = frozenset("aeiouyæœøå\u0131AEIOUYÆŒØÅ")
_RUN_OF_CONSONANTS, _RUN_OF_VOWELS = 4, 3


class Reading(NamedTuple):
    """How an encoding reads a file: its words, and how many of them are odd."""

    odd: float
    encoding: str
    words: frozenset[str]

    @property
    def share(self) -> float:
        """The share of the words that are odd."""
        return self.odd / (len(self.words) or 1)

    @property
    def example(self) -> str:
        """A word that shows what the encoding makes of the bytes."""
        return min(self.words, key=lambda word: (-sum(map(_is_beyond, word)), word), default="")

    def is_near(self, best: "Reading") -> bool:
        """Return whether a reading other than the best one may be right as well."""
        few = _NEAR + _NEAR_SHARE * best.odd
        is_near = self.odd <= _TWICE * best.odd and self.odd - best.odd < few
        return is_near and self.words != best.words


class UndecidableError(ValueError):
    """Several encodings make words of the bytes, or none does; ``readings`` has the best ones."""

    def __init__(self, readings: Collection[Reading]) -> None:
        super().__init__("several encodings, or none")
        self.readings = readings


def segments(data: bytes) -> Iterator[bytes]:
    """Yield the pieces of a file that have bytes beyond ASCII and are no longer than words are."""
    for found in _SEGMENT.finditer(data):
        if len(found[0]) <= _SEGMENT_BYTES_MAX and not found[0].isascii():
            yield found[0]


def most_plausible(found: str, pieces: Collection[bytes]) -> str:
    """Return the encoding that a detector has found, or another that makes better words.

    Raises UndecidableError if the words of ``found`` are odd, and those of no other, or of two
    others with different words, are better.
    """
    first = _reading(found, pieces)
    others = [_reading(encoding, pieces) for encoding in OTHERS]
    best = min(others, key=lambda other: other.odd)
    if first.odd <= _TWICE * best.odd:
        return found
    near = next((other for other in others if other.is_near(best)), None)
    if near is None and best.share <= _NOISE_MAX:
        return best.encoding
    if first.share <= _NOISE_MAX:
        return found
    raise UndecidableError([best, near or first])


def _reading(encoding: str, pieces: Collection[bytes]) -> Reading:
    words: set[str] = set()
    for piece in pieces:
        found = _WORD.findall(piece.decode(encoding, "replace"))
        words.update(word for word in found if not word.isascii())
    good = [word for word in words if not _is_odd(word)]
    letters = [frozenset(filter(_is_letter_beyond, word)) for word in good]
    odd: float = len(words) - len(good)
    if all(_script(letter) == "LATIN" for each in letters for letter in each):
        foreign = min(sum(not each <= language for each in letters) for language in _LANGUAGES)
        odd += _RATHER_ODD * (foreign + sum(map(_is_unlikely, words)))
    return Reading(odd, encoding, frozenset(words))


def _is_beyond(character: str) -> bool:
    return character > "\x7f"


def _is_letter_beyond(character: str) -> bool:
    return _is_beyond(character) and character.isalpha() and character not in _NO_LETTERS


def _is_odd(word: str) -> bool:
    """Return whether a word has signs or capitals where words of people have none."""
    if len({_script(character) for character in word if character.isalpha()}) > 1:
        return True
    around = f" {word} "
    return any(
        _is_odd_letter(before, character, after)
        if character.isalpha() and character not in _NO_LETTERS
        else _is_odd_sign(around, n)
        for n, (before, character, after) in enumerate(
            zip(around, around[1:], around[2:], strict=False), 1
        )
        if character > "\x7f"
    )


def _is_odd_letter(before: str, letter: str, after: str) -> bool:
    if letter.isupper():
        return before.islower() or (before.isupper() and after.islower())
    return before.isupper() and after.isupper() and letter != "ß"


def _is_odd_sign(around: str, n: int) -> bool:
    before, sign, after = around[n - 1], around[n], around[n + 1]
    is_after, is_before = before.isalpha(), after.isalpha()
    if (category := unicodedata.category(sign)) in {"Cc", "Mn", "Mc"}:
        return category == "Cc"  # marks are parts of letters
    if is_after and is_before:
        if sign == "\u2019":
            return n - 1 > _ELIDED_MAX and len(around) - n - 2 > 1
        if sign in _DASHES:
            return before.islower() and after.islower()
        return sign not in _WITHIN_WORDS
    return (is_before and sign not in _BEFORE_WORDS) or (is_after and sign not in _AFTER_WORDS)


def _is_unlikely(word: str) -> bool:
    """Return whether a letter beyond ASCII makes a word that is hard to speak."""
    kinds = "".join(_kind(character) for character in word)
    if len(word) > 2 and "V" not in kinds:
        return True
    for run in re.finditer("C+|V+", kinds):
        limit = _RUN_OF_CONSONANTS if run[0][0] == "C" else _RUN_OF_VOWELS
        if len(run[0]) >= limit and not word[run.start() : run.end()].isascii():
            return True
    return False


@lru_cache(maxsize=2_000)
def _kind(character: str) -> str:
    if not character.isalpha():
        return "-"
    base = unicodedata.normalize("NFD", character)[0]
    return "V" if base in _VOWELS or character in _VOWELS else "C"


@lru_cache(maxsize=2_000)
def _script(character: str) -> str:
    """Return the first word of a letter's name, such as LATIN; signs like ª have none."""
    if character < "\x80":
        return "LATIN"
    if character in _NO_LETTERS or unicodedata.category(character) in {"Lm", "Lo"}:
        # Ideographs and syllables stand beside Latin letters in names of their languages.
        return "LATIN" if ord(character) < 0x370 else "OTHER"
    return unicodedata.name(character, "OTHER").split()[0]
