"""A server of pages: one process, which shuts down gracefully."""

import os
import signal
import socket
import threading
from collections.abc import Callable
from multiprocessing import parent_process

import uvicorn
from starlette.applications import Starlette

from masthead.http_server.server import SETTINGS, Server
from masthead.http_server.timeouts import close_stalled
from masthead.log import configure_logs
from masthead.web.protocol import PageProtocol

_DRAIN_S_MAX = 10


def config_of(app: Starlette, protocol: type[PageProtocol]) -> uvicorn.Config:
    """Return uvicorn's configuration for pages, with the limits of ``masthead serve``."""
    return uvicorn.Config(
        app,
        http=protocol,
        lifespan="off",
        timeout_graceful_shutdown=_DRAIN_S_MAX,
        **SETTINGS,
    )


def serve_pages(
    listener: socket.socket,
    make_app: Callable[[], Starlette],
    protocol: type[PageProtocol],
    what: str,
    *,
    log_format: str,
    ready: Callable[[], None],
) -> None:
    """Serve the pages until SIGTERM or SIGINT, then finish pending requests within 10 seconds.

    The server calls ``ready`` once it accepts requests. Raises MastheadError if ``what`` cannot
    start.
    """
    configure_logs(log_format)
    close_stalled(listener)
    Server(config_of(make_app(), protocol), ready).serve_on(listener, what)


def end_with_parent() -> None:
    """Let a process that another one started end, as by SIGTERM, when that one ends."""
    parent = parent_process()
    if parent is None:
        return

    def end() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end, daemon=True).start()
