"""References of payments: the creditor reference of ISO 11649, and the code of a bank transfer.

The rules are those of ISO 11649 (letters ``RF``, two check digits, at most 21 letters and digits),
and of the European Payments Council, EPC069-12, "Quick Response Code: Guidelines to Enable Data
Capture for the Initiation of a Credit Transfer", version 002.
"""

import re

from masthead.circulation.amounts import decimal

REFERENCE_MAX = 25
"""The most characters of a creditor reference, with ``RF`` and the check digits."""

_ROOM = REFERENCE_MAX - 4
_REFERENCE = re.compile(r"RF[0-9]{2}[0-9A-Z]{1,21}")
_IBAN = re.compile(r"[A-Z]{2}[0-9]{2}[0-9A-Z]{11,30}")
_BIC = re.compile(r"[A-Z]{6}[0-9A-Z]{2}(?:[0-9A-Z]{3})?")
_CENTS_MAX = 99_999_999_999
_NAME_MAX = 70
_BYTES_MAX = 331


def creditor_reference(number: str) -> str:
    """Return the creditor reference of a number of an invoice: ``RF`` and two check digits first.

    Lower case becomes upper case, and all characters but letters and digits are dropped. Raises
    ValueError if nothing is left, or more than 21 characters: banks would refuse the reference.
    """
    kept = re.sub(r"[^0-9A-Z]", "", number.upper())
    if not kept:
        raise ValueError(
            f"{number!r} has no letter A to Z and no digit, from which a payment reference is made"
        )
    if len(kept) > _ROOM:
        raise ValueError(
            f"{number!r} has {len(kept)} letters and digits: a payment reference has room for "
            f"{_ROOM}"
        )
    return f"RF{98 - _remainder(f'{kept}RF00'):02}{kept}"


def is_creditor_reference(text: str) -> bool:
    """Return whether this is a creditor reference with right check digits, without spaces."""
    return bool(_REFERENCE.fullmatch(text)) and _remainder(text[4:] + text[:4]) == 1


def spaced(text: str) -> str:
    """Return a reference or an IBAN as it is printed: in groups of four characters."""
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


def transfer_code(
    *, name: str, iban: str, bic: str = "", cents: int, currency: str, reference: str
) -> str | None:
    """Return the text of the QR code by which a bank's app fills in a transfer.

    ``name`` is the one who gets the money, ``reference`` a creditor reference. Returns None where
    there is no such code: without a valid IBAN or a name, in a currency other than EUR, and for
    amounts below 0.01 or above 999999999.99.
    """
    iban = iban.replace(" ", "").upper()
    bic = bic.replace(" ", "").upper()
    name = "".join(each for each in " ".join(name.split()) if each.isprintable())[:_NAME_MAX]
    is_payable = currency == "EUR" and 0 < cents <= _CENTS_MAX
    if not (is_payable and name and _is_iban(iban) and is_creditor_reference(reference)):
        return None
    lines = [
        "BCD",
        "002",
        "1",  # UTF-8
        "SCT",
        bic if _BIC.fullmatch(bic) else "",
        name,
        iban,
        f"EUR{decimal(cents)}",
        "",
        reference,
    ]
    code = "\n".join(lines)
    return code if len(code.encode()) <= _BYTES_MAX else None


def _is_iban(text: str) -> bool:
    return bool(_IBAN.fullmatch(text)) and _remainder(text[4:] + text[:4]) == 1


def _remainder(text: str) -> int:
    """Return the remainder of ISO 7064, MOD 97-10, of digits and letters (A is 10, Z is 35)."""
    return int("".join(str(int(each, 36)) for each in text)) % 97
