"""The characters that every bank of the SEPA accepts, and texts written with them.

They are those of the European Payments Council, EPC217-08, "SEPA Requirements for an Extended
Character Set": letters and digits of ASCII, the space, and ``/ - ? : ( ) . , ' +``.
"""

import re
import unicodedata

_KEPT = re.compile(r"[A-Za-z0-9/\-?:().,'+ ]")
_WORDS = {
    "ä": "ae",
    "ö": "oe",
    "ü": "ue",
    "Ä": "Ae",
    "Ö": "Oe",
    "Ü": "Ue",
    "ß": "ss",
    "æ": "ae",
    "Æ": "Ae",
    "œ": "oe",
    "Œ": "Oe",
    "ø": "o",
    "Ø": "O",
    "đ": "d",
    "Đ": "D",
    "ð": "d",
    "ł": "l",
    "Ł": "L",
    "þ": "th",
    "&": "+",
    "\u2019": "'",
    "\u2013": "-",
}
"""Characters that are not a letter with an accent, and how they are written."""

_REFERENCE = re.compile(r"[A-Za-z0-9\-?:().,'+](?:/?[A-Za-z0-9\-?:().,'+])*")

REFERENCE_MAX = 35
"""The most characters of a reference, such as that of a mandate."""


def sepa_text(text: str, most: int) -> str:
    """Return a text with the characters of the SEPA alone, of ``most`` characters at most.

    Letters lose their accents, and every other character becomes a full stop. The text is "" if
    nothing but full stops would be left.
    """
    written = "".join(map(_written, unicodedata.normalize("NFC", text)))
    one_line = " ".join(written.split())[:most].strip()
    return one_line if re.search(r"[A-Za-z0-9]", one_line) else ""


def is_reference(text: str) -> bool:
    """Return whether a text can be a reference of the SEPA: 1 to 35 characters, without spaces.

    It has no slash at an end, and no two slashes in a row.
    """
    return len(text) <= REFERENCE_MAX and bool(_REFERENCE.fullmatch(text))


def _written(sign: str) -> str:
    if _KEPT.fullmatch(sign):
        return sign
    if sign in _WORDS:
        return _WORDS[sign]
    if sign.isspace():
        return " "
    plain = "".join(
        each
        for each in unicodedata.normalize("NFKD", sign)
        if not unicodedata.combining(each) and _KEPT.fullmatch(each)
    )
    return plain or "."
