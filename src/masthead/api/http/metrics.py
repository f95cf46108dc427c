"""Metrics in the text format of Prometheus, at ``GET /metrics``.

A thread of the main process serves them on a separate port, which listens on loopback only. Several
workers write their metrics to files in a shared folder, and this thread adds them up. Only the age
of the last load and the requests of partners have the account as a label (rules, "Metrics").

Workers map their files into memory. If such a file grows on a full disk, the system kills the
process. So a worker first writes its files in full size. If it cannot, it keeps its metrics to
itself (rules, "Files that are mapped").
"""

import os
import socket
import struct
import sys
import threading
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, partial
from http.server import ThreadingHTTPServer
from pathlib import Path
from time import monotonic, perf_counter, sleep
from typing import Any, Literal

from prometheus_client import CollectorRegistry, Counter, Histogram, MetricsHandler, values
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from masthead.api.http import timeouts
from masthead.log import get_logger
from masthead.store import Store
from masthead.store.accounts import ask
from masthead.store.loads import last_good

METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder, which prometheus_client reads when it is imported."""

FILES = {"counter": 256 * 1024, "histogram": 4 * 1024 * 1024}
"""The sizes of a worker's files in bytes: more than all operations, statuses and partners need."""

PARTNERS_MAX = 100
"""Partners that a process counts by name; it counts those who come later as ``others``."""

_USED = struct.Struct("i")
"""The beginning of a file: how many bytes of it are used."""

CONNECTIONS_MAX = 4
"""Connections that may be open to the metrics port at a time."""

CONNECTION_S_MAX = 5
"""Seconds that a connection may last, from its start to the last byte of the response."""

_POLL_S = 0.5
_log = get_logger()


def _path(folder: str, kind: str, process_id: int | None) -> Path:
    return Path(folder, f"{kind}_{process_id}.db")


def _write_files() -> str | None:
    """Write a worker's files, full of zeros; return why they cannot be written, or None."""
    folder = os.environ.get(METRICS_FOLDER)
    if not folder:
        return None
    paths = {_path(folder, kind, os.getpid()): size for kind, size in FILES.items()}
    try:
        for path, size in paths.items():
            with suppress(FileExistsError), path.open("xb") as file:
                file.write(bytes(size))
    except OSError as error:
        for path in paths:
            path.unlink(missing_ok=True)
        return str(error)
    return None


_missing = _write_files()
if _missing:
    values.ValueClass = values.MutexValue


def numbers_missing() -> str | None:
    """Return why the metrics of this process are not shared; None if they are."""
    return _missing


def keep_numbers(process_id: int | None) -> None:
    """Truncate the files of a worker that has ended to their used bytes."""
    folder = os.environ.get(METRICS_FOLDER, "")
    for kind in FILES:
        path = _path(folder, kind, process_id)
        with suppress(FileNotFoundError), path.open("r+b") as file:
            file.truncate(max(_USED.size, *_USED.unpack(file.read(_USED.size))))


_registry = CollectorRegistry()
_requests = Histogram(
    "masthead_request_duration_seconds",
    "Requests by operation and status, and how long they took from arrival to the last byte.",
    ["operation", "status"],
    registry=_registry,
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60),
)
_feed_rows = Counter(
    "masthead_feed_rows",
    "Records that the change feed and the snapshot have read, by entity.",
    ["entity"],
    registry=_registry,
)
_partner_requests = Counter(
    "masthead_partner_requests",
    "Requests with credentials of a named partner, by account and result: answered, refused (a "
    "status of 400 to 499) or failed (500 or more).",
    ["account", "partner", "result"],
    registry=_registry,
)
_login_checks = Counter(
    "masthead_login_checks",
    "Login checks of readers, by result: authenticated, refused, or limited after many failures.",
    ["result"],
    registry=_registry,
)
_database_errors = Counter(
    "masthead_database_errors",
    "Requests that got 503 because the database did not answer.",
    registry=_registry,
)


@cache
def _requests_of(operation: str, status: int) -> Histogram:
    return _requests.labels(operation, str(status))


@cache
def _feed_rows_of(entity: str) -> Counter:
    return _feed_rows.labels(entity)


@cache
def _login_checks_of(result: str) -> Counter:
    return _login_checks.labels(result)


def count_request(operation: str, status: int, seconds: float) -> None:
    """Count a request that has ended; the operation of an unknown path is ``none``."""
    _requests_of(operation, status).observe(seconds)


def count_feed_rows(entity: str, rows: int) -> None:
    """Count records of an entity that the change feed or the snapshot has read."""
    if rows:
        _feed_rows_of(entity).inc(rows)


def count_login_check(result: Literal["authenticated", "refused", "limited"]) -> None:
    """Count a login check of a reader (interface, operation 3)."""
    _login_checks_of(result).inc()


_partners: set[tuple[int, str]] = set()
_OTHERS = (0, "others")
_SERVER_ERROR, _ERROR = 500, 400


@cache
def _partner_requests_of(account_id: int, partner: str, result: str) -> Counter:
    return _partner_requests.labels(str(account_id), partner, result)


def count_partner_request(account_id: int, partner: str, status: int) -> None:
    """Count a request of a named partner; from :data:`PARTNERS_MAX` on, partners are not named."""
    key = account_id, partner
    if key not in _partners:
        if len(_partners) < PARTNERS_MAX:
            _partners.add(key)
        else:
            key = _OTHERS
    result = "answered"
    if status >= _ERROR:
        result = "failed" if status >= _SERVER_ERROR else "refused"
    _partner_requests_of(*key, result).inc()


def count_database_error() -> None:
    """Count a request that got 503 because the database did not respond."""
    _database_errors.inc()


class _Probe(threading.Thread):
    """Queries the database once; ``seconds`` is how long that took, None until it has succeeded.

    ``lag`` is how many seconds a replica is behind; None if there is none. ``load_ages`` are the
    seconds since the last good load of each account; None until they are known.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(name="masthead-metrics-look", daemon=True)
        self._store = store
        self.seconds: float | None = None
        self.lag: float | None = None
        self.load_ages: dict[int, float] | None = None

    def run(self) -> None:
        """Run the queries."""
        start = perf_counter()
        with suppress(Exception):  # after any error, the database counts as down
            ask(self._store)
            seconds = perf_counter() - start
            self.lag = self._store.replica_lag()
            self.seconds = seconds
            now = self._store.clock()
            ages = {
                account_id: max(0, now - ended_at) / 1_000_000
                for account_id, ended_at in last_good(self._store).items()
            }
            self.load_ages = ages


class _Database(Collector):
    """Queries the database at each scrape, with one query at a time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._probe: _Probe | None = None

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Yield whether the database responds before its deadline, and how fast."""
        with self._lock:
            probe = self._probe
            if probe is None or not probe.is_alive():
                probe = self._probe = _Probe(self._store)
                probe.start()
        probe.join(timeouts.DATABASE_S_MAX)
        seconds = probe.seconds
        is_up = seconds is not None and seconds < timeouts.DATABASE_S_MAX
        yield GaugeMetricFamily(
            "masthead_database_up", "1 if the database answers, else 0.", value=int(is_up)
        )
        if is_up:
            yield GaugeMetricFamily(
                "masthead_database_answer_seconds",
                "How long the database took to answer a minimal query.",
                value=seconds,
            )
        if is_up and probe.lag is not None:
            yield GaugeMetricFamily(
                "masthead_replica_lag_seconds",
                "How far the replica that requests read is behind its primary.",
                value=probe.lag,
            )
        if is_up and probe.load_ages is not None:
            ages = GaugeMetricFamily(
                "masthead_last_load_age_seconds",
                "How long ago the last good load of the account ended.",
                labels=["account"],
            )
            for account_id, age in probe.load_ages.items():
                ages.add_metric([str(account_id)], age)
            yield ages


class _Server(ThreadingHTTPServer):
    """A server with a limit on its connections, and a timeout for each.

    At the limit, a new connection closes the oldest one. A scrape takes milliseconds, so the oldest
    connection is not a scrape.
    """

    def __init__(self, listener: socket.socket, registry: CollectorRegistry) -> None:
        super().__init__(
            listener.getsockname(), MetricsHandler.factory(registry), bind_and_activate=False
        )
        self.socket.close()
        self.socket = listener
        self._free_places = threading.Semaphore(CONNECTIONS_MAX)
        self._lock = threading.Lock()
        self._since: dict[socket.socket, float] = {}

    def get_request(self) -> tuple[socket.socket, Any]:
        """Return the next connection; raise OSError, after a pause, if it cannot be accepted."""
        try:
            return super().get_request()
        except OSError:
            sleep(_POLL_S)  # out of descriptors: without a pause, this would be a busy loop
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection in a thread."""
        if not self._free_places.acquire(blocking=False):
            with self._lock:
                self._shut_down(list(self._since)[:1])
            self._free_places.acquire()
        with self._lock:
            self._since[request] = monotonic()
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """Close connections at their timeout; the server calls this at least twice a second."""
        with self._lock:
            ends = monotonic() - CONNECTION_S_MAX
            self._shut_down([request for request, since in self._since.items() if since < ends])

    def shutdown_request(self, request: Any) -> None:
        """Close a connection that has ended."""
        with self._lock:
            self._since.pop(request, None)
            super().shutdown_request(request)
        self._free_places.release()

    def handle_error(self, _request: Any, _client_address: Any) -> None:
        """Log an error, unless its cause is a connection that was closed."""
        if not isinstance(sys.exception(), OSError):
            _log.exception("the metrics cannot be read")

    def _shut_down(self, requests: list[socket.socket]) -> None:
        """Shut connections down, so that their threads end; each closes its own connection."""
        for request in requests:
            del self._since[request]
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)


def serve_metrics(listener: socket.socket, store: Store, workers_folder: str | None) -> None:
    """Serve metrics on ``listener`` from a separate thread, until the process ends.

    ``workers_folder`` is the folder to which several workers write their metrics; None if this
    process is the only one.
    """
    registry = _registry
    if workers_folder:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, workers_folder)  # type: ignore[no-untyped-call]
    registry.register(_Database(store))
    server = _Server(listener, registry)
    threading.Thread(target=partial(server.serve_forever, _POLL_S), daemon=True).start()
