"""How the cells of other systems are cleaned (rules, "Cells that are cleaned").

Programs leave traces in cells: spaces and invisible characters, guards against spreadsheets, text
that was encoded twice. :func:`cleaned` takes them away in mapped files. :func:`key_text` then makes
one key of the forms in which programs write the same number or address.
"""

import re
from collections.abc import Collection
from typing import Self
from unicodedata import is_normalized, normalize

from masthead.contract.printable import single_spaced
from masthead.loading.batches import Cells


class BadCell(str):
    """A cell whose value cannot be read: its text, and a sentence that says what to do."""

    __slots__ = ("sentence",)
    sentence: str

    def __new__(cls, text: str, sentence: str) -> Self:
        """Return a cell; ``text`` is not empty."""
        cell = super().__new__(cls, text)
        cell.sentence = sentence
        return cell


class ShownNumber(str):
    """The text that a cell of a workbook shows for a number, which is its ``number``."""

    __slots__ = ("number",)
    number: str

    def __new__(cls, text: str, number: str) -> Self:
        """Return a cell; ``number`` is as other formats write it."""
        cell = super().__new__(cls, text)
        cell.number = number
        return cell


NO_VALUE = "the formula has no value: open the file in a spreadsheet program and save it"
_FORMULA = "holds a formula in place of a value: open the file in a spreadsheet program and save it"
_SHORTENED = (
    "holds a number that a spreadsheet has shortened, so digits are lost: give the column in the "
    "original file a format without exponents, and save it again"
)
_TOO_NARROW = (
    "holds signs in place of a value, since the column was too narrow: make it wider, and save the "
    "file again"
)

_BETWEEN = "|"
"""Stands between the cells that are checked together. It is printable, as all clean text is."""

_PASSES_MAX = 20
"""How often a text is cleaned at most: a trace can be within another one."""

_DOUBTS = ("  ", "| ", " |", "|'", "|=", "|#", "E+")
_UNSEEN = re.compile(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
    # Joiners are letters of other scripts, but not of Latin words.
    "|(?<![^\x00-\u024f])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\u024f])"
)
_GUARD = re.compile(r"'(?=[0-9=+@-])")
_QUOTED = re.compile(r'="((?:[^"]|"")*)"')
_OF_FORMULA = re.compile(r"=(?:[A-Z][A-Z0-9.]*\(.*|[-+(]?\$?[A-Z]{1,3}\$?[0-9]+.*)?", re.DOTALL)
_EXPONENT = re.compile(r"-?[0-9](?:[.,][0-9]+)?E\+[0-9]{2,3}")
_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+")
ERROR_WORDS = """
#NULL! #DIV/0! #VALUE! #REF! #NAME? #NUM! #N/A #SPILL! #CALC! #FIELD! #BLOCKED!
#CONNECT! #BUSY! #UNKNOWN! #GETTING_DATA #WERT! #BEZUG! #ZAHL! #NV #ÜBERLAUF! #NUL! #VALEUR!
#NOM? #NOMBRE! #¡NULO! #¡DIV/0! #¡VALOR! #¡REF! #¿NOMBRE? #¡NUM! #N/D #NULLO! #VALORE! #RIF!
#NOME? #NULO! #VALOR! #NÚM! #LEEG! #DEEL/0! #WAARDE! #VERW! #NAAM? #GETAL! #N/B #DIVISION/0!
#VÆRDI! #REFERENCE! #NAVN? #I/T #SKÄRNING! #VÄRDEFEL! #REFERENS! #NAMN? #OGILTIGT! #SAKNAS!
#VERDI! #TYHJÄ! #JAKO/0! #ARVO! #VIITTAUS! #NIMI? #LUKU! #PUUTTUU! #ZERO! #DZIEL/0! #ARG! #ADR!
#NAZWA? #LICZBA! #HODNOTA! #NÁZEV? #ČÍSLO!
"""
"""The errors of formulas. A workbook has the first ones, a file of text has those of a language."""

_ERRORS = frozenset(ERROR_WORDS.split())

_LEADS = "ÂÃÄÅâÐÑÎÏ√¬├┬"
"""The characters with which text that was encoded twice begins."""


def _follows(encoding: str) -> str:
    return re.escape(bytes(range(0x80, 0xC0)).decode(encoding, "ignore")) + "\x80-\x9f"


_WESTERN, _MAC, _DOS = (f"[{_follows(name)}]" for name in ("cp1252", "mac_roman", "cp850"))
_ENCODED_TWICE = re.compile(
    f"[ÂÃÄÅ]{_WESTERN}|â{_WESTERN}{{2}}|(?:[ÐÑ]{_WESTERN}){{3,}}|(?:[ÎÏ]{_WESTERN}){{3,}}"
    f"|([√¬]{_MAC})|([├┬]{_DOS})"
)
_TO_BYTE = {ord(bytes([byte]).decode("cp1252", "replace")): byte for byte in range(0x80, 0xA0)} | {
    0xFFFD: 0xFFFD
}


def formula_error(text: str) -> BadCell:
    """Return the cell of a formula that has an error such as ``#REF!``."""
    return BadCell(text, f"the formula has the error {text}: mend it, or empty the cell")


def is_error(text: str) -> bool:
    """Return whether a text is the error of a formula, such as ``#REF!`` or ``#BEZUG!``."""
    return text in _ERRORS


def cleaned(cells: Cells, empty: Collection[str] = ()) -> Cells:
    """Return the cells of a column, cleaned; a cell that cannot be read becomes a BadCell.

    A cell whose text is in ``empty`` is no BadCell.
    """
    if _is_clean(f"{_BETWEEN}{_BETWEEN.join(filter(None, cells))}{_BETWEEN}"):
        return cells
    known = {cell: _checked(cell, empty) for cell in set(cells) if cell.__class__ is str and cell}
    return [
        known.get(cell, cell) if cell.__class__ is str else _kept(cell, empty) for cell in cells
    ]


def _kept(cell: str | None, empty: Collection[str]) -> str | None:
    return "" if isinstance(cell, BadCell) and cell in empty else cell


def _is_clean(text: str) -> bool:
    """Return whether nothing in the joined cells is to be cleaned; it may return False for none."""
    if not text.isprintable() or any(doubt in text for doubt in _DOUBTS):
        return False
    if text.isascii():
        return True
    return is_normalized("NFC", text) and not (
        any(lead in text for lead in _LEADS) and _ENCODED_TWICE.search(text)
    )


def _checked(cell: str, empty: Collection[str]) -> str:
    text = clean(cell)
    if not text or text in empty:
        return text
    if text[0] == "#":
        if is_error(text):
            return formula_error(text)
        if len(text) > 2 and not text.strip("#"):
            return BadCell(text, _TOO_NARROW)
    elif text[0] == "=" and _OF_FORMULA.fullmatch(text):
        return BadCell(text, _FORMULA)
    elif "E+" in text and _EXPONENT.fullmatch(text):
        return BadCell(text, _SHORTENED)
    return text


def clean(text: str) -> str:
    """Return a text without what programs leave in it.

    White space at the ends and invisible characters are taken away, white space within a line is
    one space, letters are composed (NFC), text that was encoded twice is decoded, and the guards
    ``'`` and ``="…"`` of spreadsheets are removed.
    """
    for _ in range(_PASSES_MAX):
        before, text = text, _cleaned_once(text)
        if text == before:
            break
    return text


def _cleaned_once(text: str) -> str:
    if not text.isascii():
        decoded = _ENCODED_TWICE.sub(_decode, normalize("NFC", text))
        text = normalize("NFC", _UNSEEN.sub("", decoded))
    text = text.strip()
    if "\n" not in text and "\r" not in text:
        text = single_spaced(text)
    if text.startswith("'"):
        text = _GUARD.sub("", text, count=1)
    if text.startswith('="') and (quoted := _QUOTED.fullmatch(text)):
        text = quoted[1].replace('""', '"')
    return text


def _decode(found: re.Match[str]) -> str:
    """Return letters as they were before they were encoded a second time."""
    try:
        if found[1]:
            return found[0].encode("mac_roman").decode()
        if found[2]:
            return found[0].encode("cp850").decode()
        return found[0].translate(_TO_BYTE).encode("latin-1").decode()
    except UnicodeError:
        return found[0]


def whole(text: str) -> str:
    """Return a whole number without zeros before it and decimals of zero; other text as it is."""
    digits = without_decimals(text)
    return digits.lstrip("0") or "0" if digits.isascii() and digits.isdecimal() else text


def without_decimals(text: str) -> str:
    """Return a code without decimals of zero, which programs add to numbers: 4530.0 is 4530."""
    digits, _, zeros = text.partition(".")
    return digits if zeros and not zeros.strip("0") and digits.isdecimal() else text


def key_text(text: str) -> str:
    """Return what a cleaned cell identifies.

    It is the same for 417, 000417 and 417.0, and for an email address in capitals and in small
    letters (decisions, "Which cells are cleaned").
    """
    if "@" in text and _ADDRESS.fullmatch(text):
        return text.lower()
    return whole(text)
