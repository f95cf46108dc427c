"""The servers that are compared, each a process of its own on one core and a loopback port.

``python -m benchmarks.servers masthead|bare|…``, with the name of a peer for any other: the
database's URL is in MASTHEAD_DATABASE, and the port is printed once the server accepts connections.
"""

import asyncio
import os
import socket
import sys
from importlib import import_module
from typing import Any, cast

import uvicorn
import uvloop
from masthead.api.operation import Call, route_for

from benchmarks.machine import SERVER_CORE, pin
from masthead.api.app import create_app
from masthead.api.http.responses import Answer, json
from masthead.contract.operations import Operation
from masthead.log import configure_logs
from masthead.store import open_store
from masthead.store.logins import Limits

STATIC_PATH = "/2/static"
STATIC_BODY = b'{"static":"' + b"x" * 400 + b'"}'
_APPS = {
    "masthead": ("benchmarks.servers:masthead", "masthead.api.http.protocol:Protocol", True),
    "fastapi": ("benchmarks.peers.fastapi_peer:app", "httptools", False),
    "datasette": ("benchmarks.peers.datasette_peer:app", "httptools", True),
}
_WSGI_APPS = {
    "flask": "benchmarks.peers.flask_peer:app",
    "django": "benchmarks.peers.django_peer:app",
}
_LONG = b"/long"
LONG_PATH = _LONG.decode()
_ANSWER = b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%s"
_SHORT_ANSWER = _ANSWER % (len(STATIC_BODY), STATIC_BODY)
_LONG_ANSWER = _ANSWER % (45_000, b"x" * 45_000)


def masthead() -> Any:
    """Return Masthead's own app, with a route that answers the same bytes to every caller."""
    configure_logs()
    # More logins are refused here in a second than elsewhere in an hour.
    limits = Limits(per_account=0)
    app = create_app(open_store(os.environ["MASTHEAD_DATABASE"]), limits=limits)
    static = Operation(None, "static", STATIC_PATH, "A static answer", None)
    app.routes.add(route_for(static, _static))
    return app


def _static(_call: Call) -> Answer:
    return json(STATIC_BODY)


class _Bare(asyncio.Protocol):
    """Answers with fixed bytes, about those of an order or of a list: the generator's limits."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.transport.write(_LONG_ANSWER if _LONG in data else _SHORT_ANSWER)


async def _serve_bare(listener: socket.socket) -> None:
    server = await asyncio.get_running_loop().create_server(_Bare, sock=listener)
    await server.serve_forever()


def main() -> None:
    """Serve until SIGTERM."""
    pin(SERVER_CORE)
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(listener.getsockname()[1], flush=True)
    if sys.argv[1] == "bare":
        uvloop.run(_serve_bare(listener))
        return
    if sys.argv[1] in _WSGI_APPS:
        # Not above, so that no other server carries it.
        gunicorn = import_module("benchmarks.peers.gunicorn")
        gunicorn.serve(_WSGI_APPS[sys.argv[1]], listener)
        return
    app, protocol, factory = _APPS[sys.argv[1]]
    config = uvicorn.Config(
        app,
        http=protocol,
        factory=factory,
        loop="uvloop",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        proxy_headers=False,
        date_header=protocol == "httptools",  # Masthead writes its own
    )
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
