"""The server: a socket, one or more worker processes, and an orderly end."""

import os
import signal
import socket
import ssl
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from tempfile import TemporaryDirectory
from types import FrameType
from typing import NamedTuple

import uvicorn
from uvicorn.supervisors import Multiprocess

from masthead.api.allowance import Allowances
from masthead.api.app import create_app
from masthead.api.front import Front
from masthead.api.metrics import serve_metrics
from masthead.errors import BadUsage, MastheadError
from masthead.log import configure_logs, get_logger
from masthead.settings import SETTINGS
from masthead.store import open_store
from masthead.store.logins import Limits

__all__ = ["Serving", "app_of_environment", "bind", "serve"]

DRAIN_S_MAX = 30
_MIB = 2**20
_DATABASE = SETTINGS["database"].variable
_READ_DATABASE = SETTINGS["read_database"].variable
_FEED_OVERLAP = SETTINGS["feed_overlap"].variable
_LOGIN_FAILURES = SETTINGS["login_failures"].variable
_ACCOUNT_FAILURES = SETTINGS["account_failures"].variable
_LOG_FORMAT = SETTINGS["log_format"].variable
_RATE_LIMIT = SETTINGS["rate_limit"].variable
_TEMPORARY_SPACE = SETTINGS["temporary_space"].variable
_WORKERS = SETTINGS["workers"].variable
_SHARED_FOLDER = "MASTHEAD_SHARED_FOLDER"
"""Where several workers keep what they count together."""

_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Where prometheus_client writes, if this is set when it is imported."""


class Serving(NamedTuple):
    """What is served, and how (``masthead.settings`` says what each means)."""

    database: str
    read_database: str | None = None
    workers: int = 1
    feed_overlap: int = 0
    rate_limit: int = 0
    temporary_space: int = 4096
    limits: Limits = Limits()
    certificate: tuple[str, str] | None = None
    log_format: str = "text"


def bind(host: str, port: int, *, flag: str = "--port") -> socket.socket:
    """Return a socket that listens at ``host`` and ``port`` (0: any that is free).

    ``flag`` is the option that chose the port. Raises BadUsage where the port is taken or the host
    is not this machine's.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except (OSError, UnicodeError) as error:
        number = error.errno if isinstance(error, OSError) else None
        reason = os.strerror(number) if number and number > 0 else str(error)
        raise BadUsage(
            f"cannot listen at {host}, port {port} ({reason}): is another server running there? "
            f"Choose another one with {flag}"
        ) from error


def serve(
    listener: socket.socket,
    serving: Serving,
    *,
    metrics: socket.socket | None = None,
    ready: Callable[[], None],
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what has begun, within 30 seconds.

    ``serving.certificate`` names the files of a TLS certificate and of its key. ``metrics`` is
    where ``GET /metrics`` is answered, if anywhere. ``ready`` is called when the database is open
    and migrated, just before the first answer.
    Raises BadUsage where the certificate and its key cannot be used.
    """
    configure_logs(serving.log_format)
    store = open_store(serving.database, read_url=serving.read_database)
    if serving.certificate:
        _check_certificate(*serving.certificate)
    os.environ[_DATABASE] = serving.database
    os.environ[_READ_DATABASE] = serving.read_database or ""
    os.environ[_FEED_OVERLAP] = str(serving.feed_overlap)
    os.environ[_LOG_FORMAT] = serving.log_format
    os.environ[_RATE_LIMIT] = str(serving.rate_limit)
    os.environ[_TEMPORARY_SPACE] = str(serving.temporary_space)
    os.environ[_WORKERS] = str(serving.workers)
    os.environ[_LOGIN_FAILURES] = str(serving.limits.per_login)
    os.environ[_ACCOUNT_FAILURES] = str(serving.limits.per_account)
    certificate, certificate_key = serving.certificate or (None, None)
    config = uvicorn.Config(
        "masthead.api.server:app_of_environment",
        factory=True,
        workers=serving.workers,
        http="masthead.api.protocol:Protocol",
        loop="uvloop",
        ws="none",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=DRAIN_S_MAX,
        ssl_certfile=certificate,
        ssl_keyfile=certificate_key,
    )
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn drains first, and then leaves the signal to this.
        signal.signal(number, _end)
    with ExitStack() as stack:
        folder = None
        if serving.workers > 1:
            folder = stack.enter_context(TemporaryDirectory(prefix="masthead-"))
            os.environ[_METRICS_FOLDER] = os.environ[_SHARED_FOLDER] = folder
        if metrics:
            serve_metrics(metrics, store, folder)
        ready()
        if serving.workers > 1:
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


def app_of_environment() -> Front:
    """Return the app that the environment's settings describe; each worker calls it.

    Where the database cannot be opened, the worker ends with 1.
    """
    configure_logs(os.environ[_LOG_FORMAT])
    try:
        store = open_store(os.environ[_DATABASE], read_url=os.environ[_READ_DATABASE] or None)
    except MastheadError as reason:
        get_logger().error("this worker cannot start", reason=str(reason))
        raise SystemExit(1) from None
    allowances = None
    if rate := int(os.environ[_RATE_LIMIT]):
        allowances = Allowances(rate, os.environ.get(_SHARED_FOLDER))
    limits = Limits(int(os.environ[_LOGIN_FAILURES]), int(os.environ[_ACCOUNT_FAILURES]))
    overlap_s = int(os.environ[_FEED_OVERLAP])
    unread_bytes_max = int(os.environ[_TEMPORARY_SPACE]) * _MIB // int(os.environ[_WORKERS])
    return create_app(
        store,
        feed_overlap_s=overlap_s,
        limits=limits,
        allowances=allowances,
        unread_bytes_max=unread_bytes_max,
    )
