"""Applications on stock uvicorn: ``python -m benchmarks.servers masthead|fastapi``.

MASTHEAD_DATABASE has the database URL. The program prints its address; connections wait until the
server is ready.
"""

import socket
import sys
from typing import Any

import uvicorn

from masthead.api.app import create_app
from masthead.log import configure_logs


def masthead() -> Any:
    """Return Masthead's application, which logs every request."""
    configure_logs()
    return create_app()


if __name__ == "__main__":
    app = {"masthead": "benchmarks.servers:masthead", "fastapi": "benchmarks.fastapi_orm:make_app"}
    config = uvicorn.Config(
        app[sys.argv[1]],
        factory=True,
        loop="uvloop",
        http="httptools",
        ws="none",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    listener = socket.create_server(("127.0.0.1", 0), backlog=2048)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    uvicorn.Server(config).run(sockets=[listener])
