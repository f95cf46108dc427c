"""What is given back, and what is kept, when a subscription is cancelled (circulation, "Money")."""

__all__ = ["tax_of"]


def tax_of(unearned: int, net: int, tax: int) -> int:
    """Return the tax that belongs to ``unearned`` of an item of ``net`` and ``tax``, in cents.

    It is rounded to the nearest cent, a half up. An item without a price has no tax to share.
    """
    return (2 * tax * unearned + net) // (2 * net) if net > 0 else 0
