"""The bundles that readers can renew with, buy or give (readers' pages, "Bundles")."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from masthead.books.account import Books
from masthead.contract.printable import listed
from masthead.store.books import reader_bundles as stored
from masthead.store.books.reader_bundles import USES, Use

__all__ = ["USES", "Shown", "Use", "set_uses", "shown"]


class Shown(NamedTuple):
    """What readers can do with a bundle, by its id."""

    bundle_id: int
    uses: tuple[Use, ...]
    has_changed: bool

    @property
    def sentence(self) -> str:
        """What readers can do with the bundle."""
        if not self.has_changed:
            return f"nothing changed: readers see bundle {self.bundle_id} as before"
        if not self.uses:
            return f"readers no longer see bundle {self.bundle_id}"
        return f"readers see bundle {self.bundle_id}: {listed(self.uses)}"


def shown(books: Books) -> Mapping[int, frozenset[Use]]:
    """Return the uses of the bundles that readers see, by the id of the bundle.

    A bundle of this list may be retired: the pages leave it out.
    """
    with books.read() as reading:
        return stored.reader_bundles(reading)


def set_uses(
    books: Books, bundle_id: int, uses: Collection[Use], *, dry_run: bool = False
) -> Shown:
    """Replace what readers can do with a bundle; without uses, they do not see it.

    Raises NotFound if there is no such bundle.
    """
    with books.change(dry_run=dry_run) as change:
        has_changed = stored.set_uses(change, bundle_id, uses)
        own: tuple[Use, ...] = tuple(use for use in USES if use in uses)
        done = Shown(bundle_id, own, has_changed)
        if has_changed:
            change.say(done.sentence)
    return done
