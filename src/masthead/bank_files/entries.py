"""What the files of banks hold: statements with their entries, and how entries are told apart."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from masthead.contract.books import CENTS_MAX
from masthead.contract.printable import single_spaced

_HUNDRED = 100
_SHOWN_MAX = 60
_BYTES = 16
_MINUS = "\u2212"


class Entry(NamedTuple):
    """A movement of an account; amounts are whole cents, days are ``YYYY-MM-DD``.

    ``cents`` is signed: more than 0 is money that came. ``fee`` was kept by the bank or provider,
    so the account has ``cents - fee`` more. ``iban`` and ``name`` are those of the other side.
    ``batch_id`` is the id of the file or the batch of claims that the entry books, "" for others.
    ``return_reason`` is the bank's code or text if the entry gives an earlier movement back, and
    ``is_reversal`` says that the bank took back an entry of its own. ``line`` is its line in the
    file.
    """

    value_date: str
    booked_on: str
    cents: int
    name: str = ""
    iban: str = ""
    reference: str = ""
    end_to_end_id: str = ""
    mandate_id: str = ""
    bank_reference: str = ""
    fee: int = 0
    return_reason: str = ""
    is_reversal: bool = False
    line: int = 0
    fingerprint: str = ""
    batch_id: str = ""


class Heading(NamedTuple):
    """The account of a statement, "" if the file does not name it, and its currency.

    ``continues`` says that it is a further page of the statement before it.
    """

    account: str
    currency: str
    line: int = 0
    continues: bool = False


class Statement(NamedTuple):
    """A statement of an account, with its entries, which can be read once."""

    account: str
    currency: str
    line: int
    entries: Iterator[Entry]


class BadValueError(ValueError):
    """A value that cannot be read; the message is the end of a sentence."""


def statements_of(parts: Iterable[Heading | Entry]) -> Iterator[Statement]:
    """Yield the statements of headings that are followed by their entries.

    Entries get their fingerprints. Reading the next statement skips what is left of the one before.
    """
    flow = iter(parts)
    following = next(flow, None)
    seen = Counter[str]()
    while isinstance(following, Heading):
        heading, following = following, None
        if not heading.continues:
            seen.clear()

        def entries(account: str) -> Iterator[Entry]:
            nonlocal following
            for part in flow:
                if isinstance(part, Heading):
                    following = part
                    return
                content = _digest(_content(account, part))
                seen[content] += 1
                yield part._replace(fingerprint=_digest(f"{content} {seen[content]}"))

        rows = entries(heading.account)
        yield Statement(heading.account, heading.currency, heading.line, rows)
        for _ in rows:
            pass


def _content(account: str, entry: Entry) -> str:
    """Return all that tells an entry from others, the same for each file that has it.

    The id of a batch does not count: it was not read when the first entries were stored.
    """
    *values, _ = entry._replace(line=0, fingerprint="")
    return json.dumps([account, *values], ensure_ascii=True, separators=(",", ":"))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=_BYTES).hexdigest()


def cents_of(text: str, decimal_sign: str = ".", thousands: str = "") -> int:
    """Return the cents of a written amount, which may have a sign before or after it.

    One of ``thousands`` may stand before each three digits. Raises BadValueError for anything else,
    and for fractions of a cent.
    """
    plain = text.strip().replace(_MINUS, "-")
    found = _amount(decimal_sign, thousands).fullmatch(plain)
    if not found or (found["before"] and found["after"]):
        raise BadValueError(f"{shown(text)} is not an amount such as 12{decimal_sign}50")
    whole = "".join(each for each in found["whole"] if each.isdigit())
    cents = Decimal(f"{whole}.{found['fraction'] or 0}") * _HUNDRED
    if cents != int(cents):
        raise BadValueError(f"{shown(text)} has fractions of a cent: an amount has two decimals")
    if cents > CENTS_MAX:
        raise BadValueError(f"{shown(text)} is more than an amount can be")
    return int(cents) * (-1 if "-" in {found["before"], found["after"]} else 1)


@lru_cache(maxsize=20)
def _amount(decimal_sign: str, thousands: str) -> re.Pattern[str]:
    """Return the form of an amount, with groups before, whole, fraction and after."""
    grouped = f"|[0-9]{{1,3}}(?:[{re.escape(thousands)}][0-9]{{3}})+" if thousands else ""
    fraction = f"(?:{re.escape(decimal_sign)}(?P<fraction>[0-9]{{0,10}}))?"
    return re.compile(
        f"(?P<before>[-+]?) ?(?P<whole>[0-9]{{1,15}}{grouped}){fraction} ?(?P<after>[-+]?)"
    )


def day_of(year: str | int, month: str | int, day: str | int) -> str:
    """Return a day as ``YYYY-MM-DD``. Raises BadValueError if there is no such day."""
    try:
        return date(int(year), int(month), int(day)).isoformat()
    except ValueError:
        raise BadValueError(f"there is no day {year}-{month}-{day}") from None


def text_of(*parts: str) -> str:
    """Return the parts as one text, without empty ones and without spaces in a row."""
    return single_spaced(" ".join(part for part in parts if part))


def shown(text: str) -> str:
    """Return a value for a sentence, cut if it is long."""
    return repr(text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…")
