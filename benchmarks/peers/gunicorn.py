"""How the peers on gunicorn are served: one worker with four threads, which keeps connections open.

Four threads gave the most answers on PostgreSQL in a trial with 1, 4 and 16; on SQLite one gave as
many. Only gunicorn's worker with threads keeps connections open, as the load needs. What handicaps
these peers a little: gunicorn reads requests in Python, since the package of its parser in C
(gunicorn-h1c) is not there as a wheel for every machine.
"""

import socket
from typing import Any

from gunicorn.app.base import BaseApplication
from gunicorn.util import import_app

_THREADS = 4
_KEPT_S = 75


class _Application(BaseApplication):
    """An application of WSGI on a socket that listens already."""

    def __init__(self, app: str, listener: socket.socket) -> None:
        self._app = app
        self._listener = listener
        super().__init__()

    def load_config(self) -> None:
        """Set what is not as gunicorn has it."""
        for name, value in {
            "bind": f"fd://{self._listener.fileno()}",
            "worker_class": "gthread",
            "threads": _THREADS,
            "keepalive": _KEPT_S,
            "control_socket_disable": True,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the application."""
        return import_app(self._app)


def serve(app: str, listener: socket.socket) -> None:
    """Serve until SIGTERM."""
    _Application(app, listener).run()
