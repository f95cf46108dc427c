"""Removing efforts of either kind: renewal letters, and asking readers to qualify again."""

from typing import Any, NamedTuple

from masthead.books.account import Books
from masthead.store.books import efforts as stored
from masthead.store.books.efforts import RENEWAL, REQUALIFICATION, Kind

__all__ = ["RENEWAL", "REQUALIFICATION", "EffortRemoved", "Kind", "remove"]


class EffortRemoved(NamedTuple):
    """An effort that was removed."""

    publication_id: int
    effort: int

    @property
    def sentence(self) -> str:
        """What the operation did."""
        return f"effort {self.effort} of publication {self.publication_id} was removed"


def remove(
    books: Books, kind: Kind[Any], publication_id: int, effort: int, *, dry_run: bool = False
) -> EffortRemoved:
    """Remove an effort; whom it asked stays noted. Raises BadInput if there is none."""
    removed = EffortRemoved(publication_id, effort)
    with books.change(dry_run=dry_run) as change:
        stored.remove_effort(change, kind, publication_id, effort)
        change.say(removed.sentence)
    return removed
