"""The names of months in the languages that dates of mapped files may have."""

import unicodedata
from collections import defaultdict

_NAMES = {
    "English": "January February March April May June July August September October November "
    "December",
    "German": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "Austrian": "Jänner Feber März April Mai Juni Juli August September Oktober November Dezember",
    "French": "janvier février mars avril mai juin juillet août septembre octobre novembre "
    "décembre",
    "Spanish": "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre "
    "diciembre",
    "Italian": "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre "
    "novembre dicembre",
    "Portuguese": "janeiro fevereiro março abril maio junho julho agosto setembro outubro "
    "novembro dezembro",
    "Dutch": "januari februari maart april mei juni juli augustus september oktober november "
    "december",
    "Danish and Norwegian": "januar februar marts april maj juni juli august september oktober "
    "november desember",
    "Swedish": "januari februari mars april maj juni juli augusti september oktober november "
    "december",
}
_SHORT = {"mrz": 3, "mrt": 3, "maerz": 3, "jaenner": 1, "setiembre": 9}
"""Usual forms that are no beginning of a name."""

_LETTERS_MIN = 3


def _plain(name: str) -> str:
    """Return a name in lower case, without accents and without a point at its end."""
    letters = unicodedata.normalize("NFD", name.casefold().removesuffix("."))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _numbers() -> dict[str, int]:
    """Return the beginnings of names that are of one month only, in all languages."""
    found: dict[str, set[int]] = defaultdict(set)
    for names in _NAMES.values():
        for month, name in enumerate(map(_plain, names.split()), 1):
            for length in range(_LETTERS_MIN, len(name) + 1):
                found[name[:length]].add(month)
    return _SHORT | {name: min(months) for name, months in found.items() if len(months) == 1}


_NUMBERS = _numbers()


def month_of(name: str) -> int | None:
    """Return the number of a month by its name or the beginning of it, None if it is unknown.

    Letter case, accents and a point at the end do not count. A beginning that is of two months,
    such as ``jui`` in French, is unknown.
    """
    return _NUMBERS.get(_plain(name))
