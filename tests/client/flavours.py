"""The client for threads and the one for coroutines as plain functions, for one test of both."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

from masthead import AsyncClient, Client
from masthead.client import AsyncChanges, AsyncDeletions
from masthead.client.limits import BYTES_MAX

if TYPE_CHECKING:
    from contextlib import ExitStack

FLAVOURS = ("sync", "async")


class Connect(Protocol):
    """Makes a client, which is closed when the test ends."""

    def __call__(
        self,
        base_url: str,
        key: str = "key",
        login: str = "login",
        *,
        timeout_s: float = 20.0,
        patience_s: float = 0.0,
        bytes_max: int = BYTES_MAX,
    ) -> Client:
        """Return a client of the service at the base URL."""


class Plain:
    """An AsyncClient or its answer: what is to be awaited is run, what iterates does it plainly."""

    def __init__(self, found: Any, runner: asyncio.Runner) -> None:
        self._found = found
        self._runner = runner

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._found.close())

    def __iter__(self) -> Iterator[Any]:
        return self._each(aiter(self._found))

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._found, name)
        return self._plain_function(found) if callable(found) else found

    def _plain_function(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            found = function(*arguments, **named)
            if inspect.isawaitable(found):
                found = self._runner.run(_awaited(found))
            if isinstance(found, AsyncChanges | AsyncDeletions):
                return Plain(found, self._runner)
            return self._each(found) if isinstance(found, AsyncIterator) else found

        return call

    def _each(self, records: AsyncIterator[Any]) -> Iterator[Any]:
        async def following() -> Any:
            return await anext(records, self)

        return iter(lambda: self._runner.run(following()), self)


async def _awaited(found: Awaitable[Any]) -> Any:
    return await found


def connecting(flavour: str, stack: ExitStack) -> Connect:
    """Return what makes clients of a flavour, to be closed with the stack."""

    def connect(
        base_url: str,
        key: str = "key",
        login: str = "login",
        *,
        timeout_s: float = 20.0,
        patience_s: float = 0.0,
        bytes_max: int = BYTES_MAX,
    ) -> Client:
        options: Any = {
            "timeout_s": timeout_s,
            "patience_s": patience_s,
            "bytes_max": bytes_max,
        }
        if flavour == "sync":
            return stack.enter_context(Client(base_url, key, login, **options))
        client = AsyncClient(base_url, key, login, **options)
        runner = stack.enter_context(asyncio.Runner())
        return cast("Client", stack.enter_context(Plain(client, runner)))

    return connect
