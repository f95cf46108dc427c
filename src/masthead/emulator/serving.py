"""The emulator's process: the publisher in a temporary folder, and the servers of both ports."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import uvicorn

from masthead.api.app import create_app
from masthead.emulator.control import Control, control_app
from masthead.emulator.faults import Emulated, Faults
from masthead.emulator.protocol import ResettingProtocol
from masthead.emulator.publisher import Publisher
from masthead.http_server.event_loop import Loop
from masthead.http_server.server import SETTINGS
from masthead.log import configure_logs, end_logs
from masthead.settings import ServerSettings
from masthead.temporary import own_folder

_PREFIX = "masthead-emulator-"
_FREE_BYTES_MIN = 512 * 1024 * 1024
_FREE_TIMES_FILES = 10
_DRAIN_S_MAX = 1


def emulate(
    listener: socket.socket,
    control_listener: socket.socket,
    *,
    files: Path | None,
    base_url: str,
    is_loopback: bool,
    ends_with_input: bool,
    ready: Callable[[], None],
) -> None:
    """Serve a temporary publisher until SIGTERM or SIGINT, then remove it.

    It has the records of the folder ``files``, if given. ``is_loopback`` tells whether the control
    port is on loopback. ``ends_with_input``: also end when standard input ends. ``ready`` is called
    once both ports accept requests. Raises BadInput for bad files.
    """
    configure_logs()
    with _folder(files) as folder, closing(Publisher(folder, files)) as publisher:
        settings = ServerSettings(database=publisher.database, asgi_only=True)
        faults = Faults()
        app = Emulated(create_app(settings, store=publisher.store), faults, publisher.clock)
        service = _Server(_config(app, http=ResettingProtocol, lifespan="on"))
        controls = Control(publisher, faults, service, base_url)
        control = control_app(controls, is_loopback=is_loopback)
        servers = (
            (service, listener),
            (_Server(_config(control, lifespan="off")), control_listener),
        )
        with asyncio.Runner(loop_factory=Loop) as runner:
            runner.run(_serve(servers, ready, ends_with_input=ends_with_input))
        end_logs()


def _config(app: Any, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(app, timeout_graceful_shutdown=_DRAIN_S_MAX, **SETTINGS, **more)


class _Server(uvicorn.Server):
    """One of several servers, which leaves signals to :func:`_serve`."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.has_started = asyncio.Event()
        self._closed: socket.socket | None = None
        """Keeps the port while connections are refused: it is bound, and does not listen."""
        self._timer: asyncio.TimerHandle | None = None

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture no signals."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then report that the server is ready."""
        await super().startup(sockets)
        self.has_started.set()

    @property
    def refuses(self) -> bool:
        """Whether connections are refused."""
        return self._closed is not None

    async def refuse(self, seconds: float | None) -> None:
        """End all connections and refuse new ones, for so many seconds or until :meth:`accept`."""
        loop = asyncio.get_running_loop()
        self._stop_timer()
        if self._closed is None:
            (listening,) = self.servers
            (listener,) = listening.sockets
            family, address = listener.family, listener.getsockname()
            listening.close()
            self._closed = socket.socket(family)
            self._closed.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._closed.bind(address)
            for connection in list(self.server_state.connections):
                connection.transport.abort()
        if seconds is not None:
            self._timer = loop.call_later(seconds, lambda: loop.create_task(self.accept()))

    async def accept(self) -> None:
        """Accept connections again."""
        self._stop_timer()
        if self._closed:
            listener, self._closed = self._closed, None
            loop, backlog = asyncio.get_running_loop(), self.config.backlog
            self.servers = [
                await loop.create_server(self._protocol, sock=listener, backlog=backlog)
            ]

    def _protocol(self) -> asyncio.Protocol:
        """Return the protocol of a new connection, as uvicorn makes it."""
        protocol: Any = self.config.http_protocol_class
        made: asyncio.Protocol = protocol(
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    def _stop_timer(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


async def _serve(
    servers: tuple[tuple[_Server, socket.socket], ...],
    ready: Callable[[], None],
    *,
    ends_with_input: bool,
) -> None:
    def end() -> None:
        for server, _ in servers:
            server.should_exit = True

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    if ends_with_input:
        Thread(target=_read_to_the_end, args=(loop, end), daemon=True).start()
    async with asyncio.TaskGroup() as tasks:
        for server, listener in servers:
            tasks.create_task(server.serve([listener]))
        for server, _ in servers:
            await server.has_started.wait()
        ready()


def _read_to_the_end(loop: asyncio.AbstractEventLoop, end: Callable[[], None]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    loop.call_soon_threadsafe(end)


def _folder(files: Path | None) -> AbstractContextManager[Path]:
    """Return a new folder, in memory if there is room for the database."""
    size = sum(path.stat().st_size for path in files.glob("*") if path.is_file()) if files else 0
    needed = max(_FREE_BYTES_MIN, size * _FREE_TIMES_FILES)
    return own_folder(_PREFIX, needed=needed)
