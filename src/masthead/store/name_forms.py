"""Other forms of a name by which a search finds it (rules, "Find: names").

A form is stored only if it differs from the folded name; most names have no other forms.
"""

import re
import unicodedata

_OTHER_LETTERS = str.maketrans(
    {
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LATIN SMALL LETTER AE}": "ae",
        "\N{LATIN SMALL LIGATURE OE}": "oe",
        "\N{LATIN SMALL LETTER O WITH STROKE}": "o",
        "\N{LATIN SMALL LETTER D WITH STROKE}": "d",
        "\N{LATIN SMALL LETTER ETH}": "d",
        "\N{LATIN SMALL LETTER THORN}": "th",
        "\N{LATIN SMALL LETTER L WITH STROKE}": "l",
        "\N{LATIN SMALL LETTER DOTLESS I}": "i",
    }
)
"""Letters that Unicode does not decompose into an ASCII letter and a mark."""

_SPELT_OUT = str.maketrans(
    {
        "\N{LATIN SMALL LETTER A WITH DIAERESIS}": "ae",
        "\N{LATIN SMALL LETTER O WITH DIAERESIS}": "oe",
        "\N{LATIN SMALL LETTER O WITH STROKE}": "oe",
        "\N{LATIN SMALL LETTER U WITH DIAERESIS}": "ue",
        "\N{LATIN SMALL LETTER A WITH RING ABOVE}": "aa",
    }
)
_SPELT = re.compile("([aou])e|aa")
_BETWEEN_WORDS = re.compile("[\\s'\N{RIGHT SINGLE QUOTATION MARK}-]+")


def plain(text: str) -> str:
    """Return a text in lower case, with letters that any keyboard has: ``muller`` for Müller."""
    folded = text.casefold()
    if folded.isascii():
        return folded
    decomposed = unicodedata.normalize("NFKD", folded.translate(_OTHER_LETTERS))
    kept = "".join(each for each in decomposed if not unicodedata.combining(each))
    return unicodedata.normalize("NFC", kept.casefold())


def plain_of(name: str | None) -> str | None:
    """Return the plain form of a name, or None if it equals the folded name."""
    if not name or name.isascii():
        return None
    form = plain(name)
    return form if form != name.casefold() else None


def last_word(name: str | None) -> str | None:
    """Return the plain form of the last word of a name, or None if it has only one word."""
    if not name or not _BETWEEN_WORDS.search(name):
        return None
    words = [word for word in _BETWEEN_WORDS.split(plain(name)) if word]
    return words[-1] if len(words) > 1 else None


def spellings(text: str) -> tuple[list[str], list[str]]:
    """Return how a typed name may be stored as a folded name, and how as a plain form.

    An umlaut may be typed or stored as such, as two letters, or without its dots.
    """
    folded = unicodedata.normalize("NFC", text.casefold())
    typed = plain(folded)
    as_names = [text.casefold(), typed, plain(folded.translate(_SPELT_OUT))]
    as_plain = [typed, _SPELT.sub(lambda found: found[0][0], typed)]
    return list(dict.fromkeys(as_names)), list(dict.fromkeys(as_plain))
