"""Which invoice an entry of a bank's statement is for (billing, "Bank statements").

A creditor reference of ISO 11649 or the number of an invoice in its text settles one open invoice.
An entry that fits only by its amount and name is proposed. Everything else a person decides.
"""

import re
import unicodedata
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from masthead.billing.references import REFERENCE_MAX, is_creditor_reference

Status = Literal["settled", "proposed", "unknown"]

_START = re.compile(r"R ?F ?[0-9] ?[0-9]")
_NUMBER = re.compile(r"\{number(?::0([1-9]))?\}")
_BETWEEN = " -._/"
"""What may stand between the parts of a number or a reference as people type them."""

_REFERENCE_MIN = 5
_SURE_DIGITS = 6
"""A number with fewer digits is found in many texts: it settles only an invoice of its amount."""

_TITLES = frozenset(("herr", "frau", "dr", "prof", "mr", "mrs", "ms", "und", "and"))


class Claim(NamedTuple):
    """An invoice that an entry can be for; ``names`` are those of its payer: person and company."""

    invoice_id: int
    number_text: str
    payment_reference: str | None
    subscriber_id: int
    open_cents: int
    names: tuple[str, ...] = ()


class Match(NamedTuple):
    """What an entry is for; ``claim`` is None if nothing is known or proposed."""

    status: Status
    claim: Claim | None
    why: str


def references_in(text: str) -> set[str]:
    """Return the creditor references with right check digits in a text, without their spaces.

    They may be written in small letters, in groups, and with other text around them.
    """
    upper = text.upper()
    return {
        reference
        for found in _START.finditer(upper)
        for reference in _compacted(upper, found.start(), REFERENCE_MAX)
        if len(reference) >= _REFERENCE_MIN and is_creditor_reference(reference)
    }


def _compacted(text: str, start: int, most: int) -> Iterator[str]:
    """Yield the letters and digits from ``start`` on, up to each end of a word."""
    kept = ""
    for position in range(start, len(text)):
        sign = text[position]
        if sign in _BETWEEN:
            continue
        if not (sign.isascii() and sign.isalnum()) or len(kept) == most:
            return
        kept += sign
        if not text[position + 1 : position + 2].isalnum():
            yield kept


def numbers_in(text: str, form: str) -> set[str]:
    """Return the numbers of invoices in a text, as an account writes them (``form``).

    They may be written with other signs between their parts, or without, and in small letters. A
    number within more digits is none.
    """
    before, width, after = _NUMBER.split(form, maxsplit=1)
    least = int(width or 1)
    return {
        f"{before.format(year=year)}{digits}{after.format(year=year)}"
        for found in _pattern(form).finditer(text.upper())
        for year in [found.groupdict().get("year")]
        for digits in _digits(found["number"])
        if len(digits) == least or (len(digits) > least and not digits.startswith("0"))
    }


def _digits(written: str) -> Iterator[str]:
    """Yield the digits of a number up to each space in it, since other digits may follow."""
    kept = ""
    for part in re.split(r"[^0-9]", written):
        kept += part
        yield kept


@lru_cache(maxsize=20)
def _pattern(form: str) -> re.Pattern[str]:
    """Return the pattern of a number, with groups ``number`` and perhaps ``year``."""
    between = f"[{re.escape(_BETWEEN)}]{{0,3}}"
    parts = []
    for piece in re.split(r"(\{[^{}]*\})", form.upper()):
        if piece == "{YEAR}":
            parts.append("(?P<year>(?:19|20)[0-9]{2})")
        elif piece.startswith("{NUMBER"):
            parts.append("(?P<number>[0-9](?: ?[0-9]){0,11})")
        else:
            parts += [re.escape(word) for word in re.findall(r"[A-Z0-9]+", piece)]
    first = parts[0]
    before = "(?<![0-9])" if first.startswith(("(", *"0123456789")) else "(?<![A-Z0-9])"
    # Looked for ahead, so that the digits after a number can begin another one.
    return re.compile(f"{before}(?={between.join(parts)}(?![0-9]))")


def match(
    cents: int,
    name: str,
    references: Container[str],
    named: Sequence[Claim],
    alike: Sequence[Claim],
) -> Match:
    """Return what an entry of ``cents`` is for.

    ``named`` are the invoices whose reference or number is in its texts, ``references`` those in
    its texts; ``alike`` are open invoices of its amount. One open invoice that is named by its
    reference is settled. So is one that is named by its number, if the amount or the name of the
    payer fits too: digits can be mistyped. Two payers are never chosen from.
    """
    if cents <= 0:
        return Match("unknown", None, "the money went out")
    by_reference = [
        each for each in named if each.payment_reference and each.payment_reference in references
    ]
    open_ones = [each for each in by_reference or named if each.open_cents > 0]
    if len({each.subscriber_id for each in by_reference or named}) > 1:
        return Match("unknown", None, "it names invoices of several payers")
    if len(open_ones) == 1:
        return _named_once(cents, name, open_ones[0], is_sure=bool(by_reference))
    if open_ones:
        return Match("proposed", min(open_ones), "it names several open invoices of one payer")
    if named:
        return Match("proposed", min(by_reference or named), "it names an invoice that is paid")
    return _alike(cents, name, alike)


def _named_once(cents: int, name: str, claim: Claim, *, is_sure: bool) -> Match:
    if is_sure:
        return Match("settled", claim, "by its reference")
    if claim.open_cents == cents:
        return Match("settled", claim, "by the number of the invoice and the amount")
    digits = sum(sign.isdigit() for sign in claim.number_text)
    if digits >= _SURE_DIGITS and any(same_name(name, each) for each in claim.names):
        return Match("settled", claim, "by the number of the invoice and the name")
    return Match("proposed", claim, "it names the invoice, but neither amount nor name fits")


def _alike(cents: int, name: str, alike: Sequence[Claim]) -> Match:
    fitting = [
        each
        for each in alike
        if each.open_cents == cents and any(same_name(name, own) for own in each.names)
    ]
    payers = {each.subscriber_id for each in fitting}
    if len(payers) > 1:
        return Match("unknown", None, "amount and name fit several payers")
    if fitting:
        return Match("proposed", min(fitting), "amount and name fit")
    return Match("unknown", None, "nothing in it names an invoice")


def same_name(one: str, other: str) -> bool:
    """Return whether two names have the same words, in any order and with any accents.

    Titles do not count, and a name of one word is too little.
    """
    first, second = words_of(one), words_of(other)
    return len(first) > 1 and first == second


def words_of(name: str) -> frozenset[str]:
    """Return the words of a name, without titles, accents and capitals."""
    plain = name.casefold().replace("ä", "ae").replace("ö", "oe").replace("ü", "ue")
    bare = "".join(
        sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign)
    )
    return frozenset(re.findall(r"[^\W_]+", bare)) - _TITLES
