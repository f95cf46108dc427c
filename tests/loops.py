"""An event loop for those who have none: it calls at once what should be called at a turn's end."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

__all__ = ["at_once"]


class _AtOnce:
    """All that readers need of a loop."""

    def call_soon(self, callback: Callable[[], object]) -> None:
        """Call it now."""
        callback()


def at_once() -> AbstractEventLoop:
    """Return a loop whose turns end as soon as something waits for that."""
    return cast("AbstractEventLoop", _AtOnce())
