"""Numbers for whoever watches the service: ``GET /metrics``, in the text form of Prometheus.

They are served on a port of their own that listens on loopback alone, by a thread of the process
that was started: of several workers each writes its numbers into files of a folder that they share,
and this thread adds them up. An account is never among the labels, so their number stays small
(decisions, "Metrics").
"""

import socket
import threading
from collections.abc import Iterable
from functools import cache, partial
from http.server import ThreadingHTTPServer
from time import perf_counter
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Histogram, MetricsHandler
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from masthead.api.health import ask
from masthead.api.operation import PATIENCE_S
from masthead.store import Store

__all__ = [
    "count_database_error",
    "count_feed_rows",
    "count_login_check",
    "count_request",
    "serve_metrics",
]

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
    """Count a request that is over; ``none`` is the operation of a path that does not exist."""
    _requests_of(operation, status).observe(seconds)


def count_feed_rows(entity: str, rows: int) -> None:
    """Count records of an entity that the change feed or the snapshot has read."""
    if rows:
        _feed_rows_of(entity).inc(rows)


def count_login_check(result: Literal["authenticated", "refused", "limited"]) -> None:
    """Count a login check of a reader (interface, operation 3)."""
    _login_checks_of(result).inc()


def count_database_error() -> None:
    """Count a request that the database kept from its answer."""
    _database_errors.inc()


class _Database(Collector):
    """Asks the database whenever somebody looks."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """Return whether the database answers within the patience of a request, and how fast."""
        taken: list[float] = []
        looking = threading.Thread(target=self._look, args=(taken,), daemon=True)
        looking.start()
        looking.join(PATIENCE_S)
        yield GaugeMetricFamily(
            "masthead_database_up", "1 where the database answers, else 0.", value=len(taken)
        )
        if taken:
            yield GaugeMetricFamily(
                "masthead_database_answer_seconds",
                "How long the database took to answer the smallest question.",
                value=taken[0],
            )

    def _look(self, taken: list[float]) -> None:
        start = perf_counter()
        try:
            ask(self._store)
        except Exception:  # noqa: BLE001 - whatever it is, the database does not answer
            return
        taken.append(perf_counter() - start)


def serve_metrics(listener: socket.socket, store: Store, workers_folder: str | None) -> None:
    """Answer at ``listener`` from a thread of its own, for as long as the process runs.

    ``workers_folder`` is where several workers write their numbers, None where this process is the
    only one.
    """
    registry = _registry
    if workers_folder:
        registry = CollectorRegistry()
        MultiProcessCollector(registry, workers_folder)  # type: ignore[no-untyped-call]
    registry.register(_Database(store))
    server = ThreadingHTTPServer(
        listener.getsockname(), MetricsHandler.factory(registry), bind_and_activate=False
    )
    server.socket.close()
    server.socket = listener
    threading.Thread(target=partial(server.serve_forever, 0.5), daemon=True).start()
