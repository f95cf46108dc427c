"""The server: a socket, one or more worker processes, and an orderly end."""

import os
import signal
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from masthead.api.app import create_app
from masthead.errors import BadUsage
from masthead.log import configure_logs
from masthead.settings import SETTINGS
from masthead.store import open_store
from masthead.store.logins import Limits

__all__ = ["app_of_environment", "bind", "serve"]

DRAIN_S_MAX = 30
_DATABASE = SETTINGS["database"].variable
_READ_DATABASE = SETTINGS["read_database"].variable
_FEED_OVERLAP = SETTINGS["feed_overlap"].variable
_LOGIN_FAILURES = SETTINGS["login_failures"].variable
_ACCOUNT_FAILURES = SETTINGS["account_failures"].variable


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens at ``host`` and ``port`` (0: any that is free).

    Raises BadUsage where the port is taken or the host is not this machine's.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number and number > 0 else str(error)
        raise BadUsage(
            f"cannot listen at {host}, port {port} ({reason}): is another server running there? "
            "Choose another one with --port"
        ) from error


def serve(  # noqa: PLR0913 - as many as the command has options
    listener: socket.socket,
    database: str,
    *,
    read_database: str | None = None,
    workers: int = 1,
    feed_overlap: int = 0,
    limits: Limits | None = None,
    certificate: tuple[str, str] | None = None,
    ready: Callable[[], None],
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what has begun, within 30 seconds.

    ``limits`` are those of the login check. ``certificate`` names the files of a TLS certificate
    and of its key. ``ready`` is called when the database is open and migrated, just before the
    first answer.
    Raises BadUsage where the certificate and its key cannot be used.
    """
    open_store(database, read_url=read_database)
    if certificate:
        _check_certificate(*certificate)
    os.environ[_DATABASE] = database
    os.environ[_READ_DATABASE] = read_database or ""
    os.environ[_FEED_OVERLAP] = str(feed_overlap)
    per_login, per_account = limits or Limits()
    os.environ[_LOGIN_FAILURES] = str(per_login)
    os.environ[_ACCOUNT_FAILURES] = str(per_account)
    config = uvicorn.Config(
        "masthead.api.server:app_of_environment",
        factory=True,
        workers=workers,
        http="masthead.api.protocol:Protocol",
        loop="uvloop",
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=DRAIN_S_MAX,
        ssl_certfile=certificate[0] if certificate else None,
        ssl_keyfile=certificate[1] if certificate else None,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn drains first, and then leaves the signal to this.
        signal.signal(number, _end)
    ready()
    if workers > 1:
        Multiprocess(config, sockets=[listener]).run()
    else:
        uvicorn.Server(config).run(sockets=[listener])


def _check_certificate(certificate: str, key: str) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:
        raise BadUsage(
            f"the certificate {certificate} and its key {key} cannot be used: "
            f"{error.strerror or error}"
        ) from error


def _end(_number: int, _frame: FrameType | None) -> None:
    # Not by SystemExit: where Python runs this inside of a callback, that is dropped there.
    with suppress(OSError, RuntimeError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def app_of_environment() -> Starlette:
    """Return the app that the environment's settings describe; each worker calls it."""
    configure_logs()
    store = open_store(os.environ[_DATABASE], read_url=os.environ[_READ_DATABASE] or None)
    limits = Limits(int(os.environ[_LOGIN_FAILURES]), int(os.environ[_ACCOUNT_FAILURES]))
    return create_app(store, feed_overlap_s=int(os.environ[_FEED_OVERLAP]), limits=limits)
