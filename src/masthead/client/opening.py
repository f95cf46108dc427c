"""How a stream of the asynchronous client is opened: ``async for``, ``async with`` or ``await``."""

from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Generator
from functools import wraps
from types import TracebackType
from typing import Any, Generic, ParamSpec, Protocol, TypeVar

Parameters = ParamSpec("Parameters")
Record_co = TypeVar("Record_co", covariant=True)


class Stream(AsyncIterable[Record_co], Protocol[Record_co]):
    """What is opened: an iterable that can be closed."""

    async def close(self) -> None:
        """Release the connection."""


Opened_co = TypeVar("Opened_co", bound=Stream[Any], covariant=True)


class Opening(Generic[Opened_co]):
    """A request for a stream, sent each time it is used.

    ``async for`` reads the records and closes the stream, ``async with`` gives the stream and
    closes it, and ``await`` gives the stream alone. Each raises what the request raises.
    """

    def __init__(self, send: Callable[[], Awaitable[Opened_co]]) -> None:
        self._send = send
        self._opened: Opened_co | None = None

    def __await__(self) -> Generator[Any, Any, Opened_co]:
        return self._send().__await__()

    async def __aenter__(self) -> Opened_co:
        self._opened = await self._send()
        return self._opened

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._opened
        await self._opened.close()

    async def __aiter__(self: "Opening[Stream[Record_co]]") -> AsyncIterator[Record_co]:
        async with self as opened:
            async for record in opened:
                yield record


def opened_by_use(
    method: Callable[Parameters, Awaitable[Opened_co]],
) -> Callable[Parameters, Opening[Opened_co]]:
    """Return the method of a client so that it needs no ``await`` before its result is used."""

    @wraps(method)
    def opening(*args: Parameters.args, **more: Parameters.kwargs) -> Opening[Opened_co]:
        return Opening(lambda: method(*args, **more))

    return opening
