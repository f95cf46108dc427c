"""An event loop for those who have none: it calls at once what should be called at a turn's end."""

from __future__ import annotations

from asyncio import AbstractEventLoop
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from asyncio import Handle
    from collections.abc import Callable

__all__ = ["AtOnce"]


class AtOnce(AbstractEventLoop):
    """Its turns end as soon as something waits for that."""

    def call_soon(self, callback: Callable[..., object], *args: Any, context: Any = None) -> Handle:
        """Call it now."""
        callback(*args)
        return None  # type: ignore[return-value]  # nobody cancels it
