"""The bundles that readers can renew with, buy or give on their pages, and each one's uses."""

from collections.abc import Collection
from typing import Literal, get_args

from masthead.errors import NotFound
from masthead.store.books.operation import Operation, Reading

Use = Literal["renew", "buy", "gift"]
"""What a reader does with a bundle."""

USES: tuple[Use, ...] = get_args(Use)


def reader_bundles(reading: Reading) -> dict[int, frozenset[Use]]:
    """Return the uses of the bundles that readers see, by the id of the bundle."""
    found = reading.rows_as(
        tuple[int, int, int, int],
        """
        SELECT bundle_id, renew, buy, gift FROM reader_bundles
        WHERE account_id = :account_id ORDER BY bundle_id
        """,
    )
    uses = {
        bundle_id: frozenset(use for use, is_one in zip(USES, marks, strict=True) if is_one)
        for bundle_id, *marks in found
    }
    return {bundle_id: own for bundle_id, own in uses.items() if own}


def set_uses(change: Operation, bundle_id: int, uses: Collection[Use]) -> bool:
    """Replace the uses of a bundle; return whether they changed.

    Raises NotFound if there is no such bundle.
    """
    if not change.rows(
        "SELECT 1 FROM bundles WHERE account_id = :account_id AND bundle_id = :bundle_id",
        bundle_id=bundle_id,
    ):
        raise NotFound(f"there is no bundle {bundle_id}")
    if reader_bundles(change).get(bundle_id, frozenset()) == frozenset(uses):
        return False
    change.change(
        """
        INSERT INTO reader_bundles (account_id, bundle_id, renew, buy, gift)
        VALUES (:account_id, :bundle_id, :renew, :buy, :gift)
        ON CONFLICT (account_id, bundle_id) DO UPDATE
        SET renew = excluded.renew, buy = excluded.buy, gift = excluded.gift
        """,
        bundle_id=bundle_id,
        **{use: int(use in uses) for use in USES},
    )
    return True
