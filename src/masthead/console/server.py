"""The console's server: one process, which shuts down gracefully."""

import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from multiprocessing import parent_process

import uvicorn

from masthead.console.app import create_app
from masthead.errors import MastheadError
from masthead.log import configure_logs
from masthead.store import Store, open_store

_DRAIN_S_MAX = 10


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``ready``."""
        await super().startup(sockets)
        self._ready()


def serve(
    listener: socket.socket,
    store: Store,
    *,
    log_format: str,
    behind_proxy: bool,
    ready: Callable[[], None],
) -> None:
    """Serve the console until SIGTERM or SIGINT, then finish pending requests within 10 seconds.

    The server calls ``ready`` once it accepts requests. Raises MastheadError if it cannot start.
    """
    configure_logs(log_format)
    config = uvicorn.Config(
        create_app(store, behind_proxy=behind_proxy),
        http="httptools",
        loop="uvloop",
        ws="none",
        lifespan="off",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_DRAIN_S_MAX,
    )
    try:
        _Server(config, ready).run(sockets=[listener])
    except SystemExit:
        raise MastheadError("the console could not start: its log says why") from None


def serve_console(listener: socket.socket, database: str) -> None:
    """Serve the console of a database in a child process, and end with the parent process.

    Raises MastheadError if it cannot start.
    """
    parent = parent_process()
    if parent is not None:

        def end() -> None:
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

        threading.Thread(target=end, daemon=True).start()
    with closing(open_store(database)) as store:
        serve(listener, store, log_format="text", behind_proxy=False, ready=lambda: None)
