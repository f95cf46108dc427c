"""The console's server: one process, which shuts down gracefully."""

import os
import signal
import socket
import threading
from collections.abc import Callable
from contextlib import closing
from multiprocessing import parent_process

import uvicorn
from starlette.applications import Starlette

from masthead.console.app import create_app
from masthead.console.protocol import ConsoleProtocol
from masthead.http_server.server import SETTINGS, Server
from masthead.http_server.timeouts import close_stalled
from masthead.log import configure_logs
from masthead.store import Store, open_store

_DRAIN_S_MAX = 10


def config_of(app: Starlette) -> uvicorn.Config:
    """Return uvicorn's configuration for the console, with the limits of ``masthead serve``."""
    return uvicorn.Config(
        app,
        http=ConsoleProtocol,
        lifespan="off",
        timeout_graceful_shutdown=_DRAIN_S_MAX,
        **SETTINGS,
    )


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
    close_stalled(listener)
    config = config_of(create_app(store, behind_proxy=behind_proxy))
    Server(config, ready).serve_on(listener, "the console")


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
