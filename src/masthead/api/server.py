"""The server: a socket, one or more worker processes, and a graceful shutdown."""

import os
import signal
import socket
import ssl
import sys
from asyncio import get_running_loop
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from multiprocessing import parent_process
from types import FrameType

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from masthead.api.app import App, create_app
from masthead.api.http.credentials import Credentials
from masthead.api.http.metrics import METRICS_FOLDER, numbers_missing, serve_metrics
from masthead.api.http.protocol import HttpProtocol
from masthead.api.workers import Workers
from masthead.errors import BadUsage, MastheadError
from masthead.http_server.server import SETTINGS, Server
from masthead.http_server.timeouts import close_stalled
from masthead.log import configure_logs, end_logs, get_logger
from masthead.settings import ServerSettings
from masthead.store import find_store
from masthead.store.migrations import steps
from masthead.temporary import own_folder

_log = get_logger()

DRAIN_S_MAX = 30
_PREFIX = "masthead-server-"
_FREE_BYTES_MIN = 64 * 1024 * 1024


def serve(
    listener: socket.socket,
    settings: ServerSettings,
    *,
    metrics: socket.socket | None = None,
    demo: Credentials | None = None,
    ready: Callable[[], None],
) -> None:
    """Serve until SIGTERM or SIGINT, then finish pending requests within 30 seconds.

    First, it migrates an embedded database. ``metrics`` is the socket for ``GET /metrics``, or
    None. The pages of a demo show its credentials, ``demo``. ``ready`` is called once all workers
    accept requests. A worker that dies later is replaced. SIGHUP replaces all workers, one after
    the other.

    Raises BadUsage if the certificate and its key cannot be used, or if a server must not log in as
    the database's user. Raises MastheadError if this process or a worker cannot start, at first or
    later (decisions, "Workers").
    """
    configure_logs(settings.log_format)
    for each in filter(None, (listener, metrics)):
        close_stalled(each)
    store = find_store(settings.database, read_url=settings.read_database)
    if migrated := steps(store.open_to_serve()):
        _log.info(migrated)
    store.check_server_role()
    if settings.certificate and settings.certificate_key:
        _check_certificate(settings.certificate, settings.certificate_key)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn first finishes pending requests, then raises the signal again for this handler.
        signal.signal(number, _end)
    with ExitStack() as stack:
        stack.callback(store.close)
        folder = None
        if settings.workers > 1:
            folder = stack.enter_context(_shared_folder())
        if metrics:
            if folder:
                os.environ[METRICS_FOLDER] = folder
            serve_metrics(metrics, store, folder)
        config = uvicorn.Config(
            partial(_app, settings, folder, demo),
            factory=True,
            workers=settings.workers,
            http=HttpProtocol,
            lifespan="on",
            timeout_graceful_shutdown=DRAIN_S_MAX,
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.certificate_key,
            **SETTINGS,
        )
        if settings.workers > 1:
            Workers(config, listener, ready).serve()
        else:
            Server(config, ready).serve_on(listener, "the server")


def _check_certificate(certificate: str, key: str) -> None:
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate, key)
    except OSError as error:
        raise BadUsage(
            f"the certificate {certificate} and its key {key} cannot be used: "
            f"{error.strerror or error}"
        ) from error


def _end(_number: int, _frame: FrameType | None) -> None:
    # Not SystemExit: it is lost if Python runs this handler inside a callback.
    end_logs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, RuntimeError):
            if stream:  # None if it was closed before the start
                stream.flush()
    os._exit(0)


def _app(settings: ServerSettings, shared_folder: str | None, demo: Credentials | None) -> App:
    """Return the app of a process.

    If that fails, the process ends with uvicorn's status for a failed start.
    """
    configure_logs(settings.log_format)
    _end_with_parent()
    if reason := numbers_missing():
        _log.error("the numbers of this process are missing in /metrics", reason=reason)
    try:
        return create_app(settings, shared_folder=shared_folder, demo=demo)
    except MastheadError as reason:
        _log.error("this process cannot start", reason=str(reason))
    except Exception:  # noqa: BLE001 - after any error, another attempt would fail too
        _log.exception("this process cannot start")
    raise SystemExit(STARTUP_FAILURE)


def _end_with_parent() -> None:
    """Shut a worker down gracefully when its parent has ended, for any reason."""
    parent = parent_process()
    if parent is None:
        return
    loop, sentinel = get_running_loop(), parent.sentinel

    def end() -> None:
        loop.remove_reader(sentinel)
        _log.error("the parent process is gone: this worker ends")
        signal.raise_signal(signal.SIGTERM)

    # A pipe whose other end only the parent holds: it becomes readable when the parent ends.
    loop.add_reader(sentinel, end)


@contextmanager
def _shared_folder() -> Iterator[str]:
    """Yield a new folder for what workers share, in memory if there is room.

    In memory, temporary files of responses do not take its space. Raises MastheadError if no folder
    can be created.
    """
    with ExitStack() as stack:
        try:
            folder = stack.enter_context(own_folder(_PREFIX, needed=_FREE_BYTES_MIN))
        except OSError as error:
            raise MastheadError(
                f"the temporary folder of the workers cannot be made: {error}"
            ) from error
        yield str(folder)
