"""A story that is told once, and that can go on from some of its steps, with a fault planted."""

from __future__ import annotations

import copy
import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.circulation.proving import Proof, proving
from tests.circulation.story import tell

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.circulation.story import Step
    from tests.servers import Store

STEPS = 8
"""How many steps a chapter has."""

_numbers = itertools.count()


class _Chapter(NamedTuple):
    url: str
    proof: dict[str, Any]


class Chapters:
    """The states of an account at the beginnings of the chapters of a story."""

    def __init__(self, kind: Store, url: str, steps: Sequence[Step]) -> None:
        """Tell the story of the account at ``url``, which ``doing.prepare`` made."""
        self._kind = kind
        self._steps = steps
        self._chapters: list[_Chapter] = []
        told = kind.copy_database(url, f"told-{next(_numbers)}")
        with proving(told) as proof:
            for first in range(0, len(steps), STEPS):
                kept = kind.copy_database(told, f"chapter-{next(_numbers)}")
                state = {
                    "books": copy.deepcopy(proof.books),
                    "now": proof.office.now,
                    "follower": copy.deepcopy(proof.follower),
                }
                self._chapters.append(_Chapter(kept, state))
                tell(proof, steps[first : first + STEPS])

    @contextmanager
    def begin(self, number: int) -> Iterator[Proof]:
        """Yield the account and its model as they are when a chapter begins (from 0)."""
        chapter = self._chapters[number]
        url = self._kind.copy_database(chapter.url, f"chapter-{next(_numbers)}")
        proof = Proof(url, **copy.deepcopy(chapter.proof))
        try:
            yield proof
        finally:
            proof.close()
            self._kind.drop_database(url)

    def since(self, number: int) -> Sequence[Step]:
        """Return the steps of that chapter and of those that follow."""
        return self._steps[number * STEPS :]
