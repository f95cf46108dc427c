"""Reads how many request slots of a server are in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from masthead.api.http.overload import Slots


def waiting(slots: Slots) -> int:
    """Return how many wait for a slot."""
    semaphores = (*slots._of_accounts.values(), slots._of_all)
    return sum(not one.done() for found in semaphores for one in found._waiters or ())
