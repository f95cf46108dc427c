"""The server: a socket, one or more worker processes, and a graceful shutdown."""

import os
import signal
import socket
import ssl
import sys
from asyncio import get_running_loop
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import partial
from multiprocessing import parent_process
from tempfile import TemporaryDirectory
from types import FrameType

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess, multiprocess

from masthead.api.app import App, create_app
from masthead.api.http.credentials import Credentials
from masthead.api.http.metrics import serve_metrics
from masthead.api.http.protocol import HttpProtocol
from masthead.api.http.timeouts import STALL_S_MAX
from masthead.errors import BadUsage, MastheadError
from masthead.log import configure_logs, end_logs, get_logger
from masthead.settings import ServerSettings
from masthead.store import find_store
from masthead.store.migrations import steps

__all__ = ["serve"]

_log = get_logger()

DRAIN_S_MAX = 30
START_S_MAX = 30
"""How long a worker that replaces another one at SIGHUP may take to start."""

_SIGNALS_EVERY_S = 1
"""Interval at which a parent process handles signals while its workers start."""

_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable with the folder of prometheus_client, which reads it when it is imported."""


def serve(
    listener: socket.socket,
    settings: ServerSettings,
    *,
    metrics: socket.socket | None = None,
    demo: Credentials | None = None,
    ready: Callable[[], None],
) -> None:
    """Serve until SIGTERM or SIGINT, then finish pending requests within 30 seconds.

    An embedded database is brought up to date first. ``metrics`` is the socket for
    ``GET /metrics``, if it is served. ``demo`` are the credentials of a demo, which its pages show.
    ``ready`` is called once all workers accept requests. A worker that dies later is replaced, and
    all of them are, one after the other, at SIGHUP.
    Raises BadUsage if the certificate and its key cannot be used, or if the database's user is one
    that a server must not log in as; MastheadError if this process or a worker cannot start, at
    first or later (decisions, "Workers").
    """
    configure_logs(settings.log_format)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        # Connections inherit it: Linux closes one whose client acknowledges no data for this time.
        for each in filter(None, (listener, metrics)):
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, STALL_S_MAX * 1_000)
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
            folder = stack.enter_context(TemporaryDirectory(prefix="masthead-"))
            os.environ[_METRICS_FOLDER] = folder
        if metrics:
            serve_metrics(metrics, store, folder)
        config = uvicorn.Config(
            partial(_app, settings, folder, demo),
            factory=True,
            workers=settings.workers,
            http=HttpProtocol,
            loop="masthead.api.http.event_loop:Loop",
            ws="none",
            lifespan="on",
            access_log=False,
            log_config=None,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=DRAIN_S_MAX,
            ssl_certfile=settings.certificate,
            ssl_keyfile=settings.certificate_key,
        )
        if settings.workers > 1:
            _Workers(config, listener, ready).serve()
        else:
            _Server(config, ready).serve_on(listener)


class _Server(uvicorn.Server):
    """The server of a single process."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call ``ready``."""
        await super().startup(sockets)
        self._ready()

    def serve_on(self, listener: socket.socket) -> None:
        """Serve; raise MastheadError if the app cannot start."""
        try:
            self.run(sockets=[listener])
        except SystemExit:
            raise MastheadError("the server could not start: its log says why") from None


class _Worker(multiprocess.Process):
    """A worker process whose server is made before a second thread needs it.

    In uvicorn's, the thread that tells the parent whether the server has started may make another
    server than the one that runs: both ask for it at the same time. Then the parent waits for a
    start that it is never told of.
    """

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Make the server, then start that thread and serve."""
        self._server = uvicorn.Server(self.config)
        super().target(sockets)


class _Workers(Multiprocess):
    """uvicorn's supervisor, which reports when all workers have started, or that one failed to.

    It logs which workers have died. Each worker logs its own start and end.
    """

    def __init__(
        self, config: uvicorn.Config, listener: socket.socket, ready: Callable[[], None]
    ) -> None:
        super().__init__(config, sockets=[listener])
        self._ready = ready
        self._has_failed = False
        # uvicorn's supervisor makes its processes by this name, and has no setting for it.
        multiprocess.Process = _Worker  # type: ignore[misc]

    def serve(self) -> None:
        """Serve; raise MastheadError if a worker cannot start."""
        self.run()
        if self._has_failed or any(one.exitcode == STARTUP_FAILURE for one in self.processes):
            raise MastheadError("a worker process could not start: its log says why")

    def init_processes(self) -> None:
        """Start the workers, wait for all of them, then call ``ready``."""
        super().init_processes()
        for process in self.processes:
            while not process.wait_until_ready(_SIGNALS_EVERY_S, self.should_exit):
                self.handle_signals()
                if self.should_exit.is_set():
                    return
                if not process.process.is_alive():
                    self._has_failed = True
                    self.should_exit.set()
                    return
        self._ready()

    def keep_subprocess_alive(self) -> None:
        """Replace workers that have died, or that do not respond to their parent."""
        before = list(self.processes)
        super().keep_subprocess_alive()
        for old, new in zip(before, self.processes, strict=True):
            if new is not old:
                _log.error(
                    "a worker died and is replaced",
                    process_id=old.pid,
                    ended_by=_cause(old.exitcode),
                    replaced_by=new.pid,
                )

    def restart_all(self) -> None:
        """Replace all workers, one after the other, each when its successor has started.

        If one cannot start, it and all later ones stay.
        """
        _log.info(
            "SIGHUP: the workers are replaced, one after the other", workers=len(self.processes)
        )
        before = list(self.processes)
        respond_s_max = self.config.timeout_worker_healthcheck
        self.config.timeout_worker_healthcheck = START_S_MAX
        try:
            super().restart_all()
        finally:
            self.config.timeout_worker_healthcheck = respond_s_max
        replaced = sum(new is not old for old, new in zip(before, self.processes, strict=True))
        if replaced == len(before):
            _log.info("all workers are replaced", workers=replaced)
        elif not self.should_exit.is_set():
            _log.error(
                "a new worker could not start: old ones go on",
                replaced=replaced,
                old=len(before) - replaced,
            )


def _cause(exit_status: int | None) -> str:
    """Return what ended a process: a signal, by its name if it has one, or its exit status."""
    if exit_status is None or exit_status >= 0:
        return f"status {exit_status}"
    try:
        return signal.Signals(-exit_status).name
    except ValueError:  # most of the signals for real time
        return f"signal {-exit_status}"


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

    If that fails, the process ends with uvicorn's status for a failed start, and its parent does
    not restart it.
    """
    configure_logs(settings.log_format)
    _end_with_parent()
    try:
        return create_app(settings, shared_folder=shared_folder, demo=demo)
    except MastheadError as reason:
        _log.error("this process cannot start", reason=str(reason))
    except Exception:  # noqa: BLE001 - after any error, another attempt would fail too
        _log.exception("this process cannot start")
    raise SystemExit(STARTUP_FAILURE)


def _end_with_parent() -> None:
    """Shut a worker down gracefully when its parent has ended, for whatever reason."""
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
