"""What is given back, and what is kept, when a subscription is cancelled (circulation, "Money")."""

from decimal import Decimal

__all__ = ["cents_of", "tax_of"]


def cents_of(amount: str) -> int:
    """Return the cents of an amount of the wire, such as ``12.5``; parts of a cent are dropped."""
    return int(Decimal(amount) * 100)


def tax_of(unearned: int, net: int, tax: int) -> int:
    """Return the tax that belongs to ``unearned`` of an item of ``net`` and ``tax``, in cents.

    It is rounded to the nearest cent, a half up. An item without a price has no tax to share.
    """
    return (2 * tax * unearned + net) // (2 * net) if net > 0 else 0
