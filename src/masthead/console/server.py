"""The console's server: one process, which shuts down gracefully."""

import socket
from collections.abc import Callable
from contextlib import closing

import uvicorn
from starlette.applications import Starlette

from masthead.console.app import create_app
from masthead.console.protocol import ConsoleProtocol
from masthead.store import Store, open_store
from masthead.web import server


def config_of(app: Starlette) -> uvicorn.Config:
    """Return uvicorn's configuration for the console, with the limits of ``masthead serve``."""
    return server.config_of(app, ConsoleProtocol)


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
    server.serve_pages(
        listener,
        lambda: create_app(store, behind_proxy=behind_proxy),
        ConsoleProtocol,
        "the console",
        log_format=log_format,
        ready=ready,
    )


def serve_console(listener: socket.socket, database: str) -> None:
    """Serve the console of a database in a child process, and end with the parent process.

    Raises MastheadError if it cannot start.
    """
    server.end_with_parent()
    with closing(open_store(database)) as store:
        serve(listener, store, log_format="text", behind_proxy=False, ready=lambda: None)
