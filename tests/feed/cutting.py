"""A proxy on loopback that cuts connections in the middle of a response."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable

_PIECE_BYTES = 65_536
_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Cut(NamedTuple):
    """Where a connection ends: after so many bytes of a response, with a reset or a plain end."""

    after: int
    with_reset: bool


class CuttingProxy:
    """Forwards connections to the server, each until its cut.

    ``where`` tells the address of the server, or None while there is none: a client is then thrown
    out at once. ``choose`` is asked for the cut of each connection (None: it is never cut). Nothing
    is cut while ``cutting`` is False. ``cuts`` has the bytes that were
    sent of each response that was cut.
    """

    def __init__(
        self, where: Callable[[], tuple[str, int] | None], choose: Callable[[], Cut | None]
    ) -> None:
        """Listen on a free port of loopback."""
        self.where = where
        self.choose = choose
        self.cutting = False
        self.cuts: list[int] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="proxy")
        self._thread.start()

    def close(self) -> None:
        """End all connections, and the thread."""
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, sock=self._listener)
        await self._end.wait()
        server.close()

    async def _accept(self, from_client: StreamReader, to_client: StreamWriter) -> None:
        client: socket.socket = to_client.get_extra_info("socket")
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(OSError, asyncio.CancelledError):
            if address := self.where():
                from_server, to_server = await asyncio.open_connection(*address)
                try:
                    await _Connection(self, from_client, to_client, from_server, to_server).run()
                finally:
                    to_server.transport.abort()
        to_client.close()


class _Connection:
    """One connection; an end of one direction ends both."""

    def __init__(
        self,
        proxy: CuttingProxy,
        from_client: StreamReader,
        to_client: StreamWriter,
        from_server: StreamReader,
        to_server: StreamWriter,
    ) -> None:
        self._proxy = proxy
        self._from_client, self._to_client = from_client, to_client
        self._from_server, self._to_server = from_server, to_server
        self._cut = proxy.choose()
        self._answered = 0

    async def run(self) -> None:
        directions = [asyncio.create_task(self._ask()), asyncio.create_task(self._answer())]
        try:
            await asyncio.wait(directions, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for direction in directions:
                direction.cancel()
            await asyncio.gather(*directions, return_exceptions=True)

    async def _ask(self) -> None:
        while piece := await self._from_client.read(_PIECE_BYTES):
            self._answered = 0
            self._to_server.write(piece)
            await self._to_server.drain()

    async def _answer(self) -> None:
        while piece := await self._from_server.read(_PIECE_BYTES):
            if self._is_cut_within(piece):
                return
            self._answered += len(piece)
            self._to_client.write(piece)
            await self._to_client.drain()

    def _is_cut_within(self, piece: bytes) -> bool:
        """Forward only a part of this piece where the cut falls into it, and tell."""
        cut = self._cut
        if not (self._proxy.cutting and cut and self._answered + len(piece) > cut.after):
            return False
        self._to_client.write(piece[: max(cut.after - self._answered, 0)])
        if cut.with_reset:
            client: socket.socket = self._to_client.get_extra_info("socket")
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self._proxy.cuts.append(cut.after)
        return True
