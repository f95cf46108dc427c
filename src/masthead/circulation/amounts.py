"""Amounts in whole cents: how to write them, and how to spread one over parts."""

import re
from collections.abc import Sequence
from decimal import Decimal

from masthead.contract.books import CENTS_MAX

__all__ = ["CENTS_MAX", "cents_of", "decimal", "in_currency", "shortest", "spread", "stored_cents"]

_AMOUNT = re.compile(r"([0-9]{1,18})(?:\.([0-9]+))?")
_HUNDRED = 100


def cents_of(text: str) -> int:
    """Return the cents of an amount of 0 or more, such as ``12.50``, ``12.5`` or ``12``.

    Raises ValueError for anything else, such as an amount with three decimals.
    """
    found = _AMOUNT.fullmatch(text)
    if not found:
        raise ValueError(f"{text!r} is not an amount such as 12.50, of 0 or more")
    units, decimals = found[1], found[2] or ""
    if len(decimals) > 2:
        raise ValueError(f"{text} has {len(decimals)} decimals: an amount has two at most")
    cents = int(units) * _HUNDRED + int(decimals.ljust(2, "0"))
    if cents > CENTS_MAX:
        raise ValueError(f"{text} is more than {decimal(CENTS_MAX)}, the greatest amount")
    return cents


def stored_cents(number: str) -> int:
    """Return the cents of an order's stored number, ``12.5``; drop fractions of a cent."""
    return int(Decimal(number) * _HUNDRED)


def decimal(cents: int) -> str:
    """Return an amount with two decimals, ``12.50``, as the interface writes decimals."""
    return f"{'-' if cents < 0 else ''}{abs(cents) // _HUNDRED}.{abs(cents) % _HUNDRED:02}"


def in_currency(cents: int, currency: str) -> str:
    """Return an amount as a person reads it: ``1,234.50 USD`` (decisions, "Currency")."""
    sign, units = "-" if cents < 0 else "", abs(cents) // _HUNDRED
    return f"{sign}{units:,}.{abs(cents) % _HUNDRED:02} {currency}"


def shortest(cents: int) -> str:
    """Return an amount in its shortest form, ``12.5``, as orders store their numbers."""
    return decimal(cents).rstrip("0").removesuffix(".")


def spread(cents: int, weights: Sequence[int]) -> list[int]:
    """Spread an amount over parts in proportion to their weights; the last takes the remainder.

    This divides an item's price, and so a discount on its bundle, over the bundle's lines. If all
    weights are 0, the parts are equal except the last. ``weights`` has at least one part, none
    below 0.
    """
    whole = sum(weights)
    if not whole:
        weights, whole = [1] * len(weights), len(weights)
    parts = [cents * weight // whole for weight in weights]
    parts[-1] += cents - sum(parts)
    return parts
