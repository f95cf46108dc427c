"""The server of the readers' pages: one process, which shuts down gracefully."""

import socket
from collections.abc import Callable
from contextlib import closing

import uvicorn
from starlette.applications import Starlette

from masthead.readers.app import ReadersSettings, create_app
from masthead.readers.protocol import ReadersProtocol
from masthead.store import Store, open_store
from masthead.web import server


def config_of(app: Starlette) -> uvicorn.Config:
    """Return uvicorn's configuration for the pages, with the limits of ``masthead serve``."""
    return server.config_of(app, ReadersProtocol)


def serve(
    listener: socket.socket,
    store: Store,
    settings: ReadersSettings,
    *,
    log_format: str,
    ready: Callable[[], None],
) -> None:
    """Serve the pages until SIGTERM or SIGINT, then finish pending requests within 10 seconds.

    Links that wait to be mailed are sent first. The server calls ``ready`` once it accepts
    requests. Raises MastheadError if it cannot start.
    """
    app = create_app(store, settings)
    try:
        server.serve_pages(
            listener,
            lambda: app,
            ReadersProtocol,
            "the readers' pages",
            log_format=log_format,
            ready=ready,
        )
    finally:
        app.state.link_mails.close()


def serve_readers(listener: socket.socket, database: str, base_url: str) -> None:
    """Serve the pages of a database in a child process, and end with the parent process.

    Raises MastheadError if it cannot start.
    """
    server.end_with_parent()
    with closing(open_store(database)) as store:
        serve(
            listener,
            store,
            ReadersSettings(base_url),
            log_format="text",
            ready=lambda: None,
        )
