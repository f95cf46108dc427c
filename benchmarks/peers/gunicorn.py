"""How the peers on gunicorn are served: one worker with threads, which keeps connections open."""

import os
import socket
from typing import Any

from gunicorn.app.base import BaseApplication

THREADS = int(os.environ.get("G_THREADS", "4"))
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
            "threads": THREADS,
            "keepalive": _KEPT_S,
            "control_socket_disable": True,
        }.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        """Return the application."""
        from gunicorn.util import import_app

        return import_app(self._app)


def serve(app: str, listener: socket.socket) -> None:
    """Serve until SIGTERM."""
    _Application(app, listener).run()
