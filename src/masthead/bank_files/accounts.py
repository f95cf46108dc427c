"""Whether an account that a bank's file names is the one with an IBAN."""

import re

_NOT_IN_NUMBERS = re.compile(r"[^A-Za-z0-9]")
_CURRENCY = re.compile(r"[A-Z]{3}\Z")
_GERMAN = re.compile(r"([0-9]{8})/([0-9]{1,10})")
_DIGITS_MIN = 6
_CODE, _GERMAN_ACCOUNT = 4, 10


def compact(number: str) -> str:
    """Return the letters and digits of a number of an account, in capitals."""
    return _NOT_IN_NUMBERS.sub("", number).upper()


def is_same_account(named: str, iban: str) -> bool:
    """Return whether ``named``, an account as a file names it, has this IBAN.

    A file may name the IBAN, also with the currency after it; a German bank code and number,
    ``10000000/1234567``; or just the number, of six digits or more, with which the IBAN ends.
    """
    wanted = compact(iban)
    if german := _GERMAN.match(named.strip()):
        bank, number = german.groups()
        return wanted[_CODE:] == bank + number.zfill(_GERMAN_ACCOUNT)
    found = compact(named)
    without_currency = _CURRENCY.sub("", found)
    if wanted in {found, without_currency}:
        return True
    number = without_currency
    return number.isdigit() and len(number) >= _DIGITS_MIN and wanted[_CODE:].endswith(number)
