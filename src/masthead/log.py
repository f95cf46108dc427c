"""Logs: one line per event on standard error, as ``name=value`` pairs or as a JSON object.

Each call decides what its line contains. A line never contains a query string, a login, a password
or credentials. It contains at most two words of a path as the client sent it
(``masthead.api.http.log_reasons``). An unexpected error is logged with its type and traceback, but
without its message, which may quote any value. Objects in a library's message are omitted too
(rules, "Errors in the log").

A thread writes the lines, so that a call never waits for the reader of the log (rules, "A
log that nobody reads").
"""

import asyncio
import atexit
import fcntl
import json
import logging
import os
import select
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import inf
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

import msgspec
import structlog
from structlog.typing import EventDict, FilteringBoundLogger, Processor, WrappedLogger

if TYPE_CHECKING:
    from typing import TextIO

WAITING_CHARACTERS_MAX = 8 * 1024 * 1024
"""Characters of lines that may wait to be written; further lines are dropped."""

_END_S_MAX = 2
"""Seconds that a process waits at exit for its last lines to be written."""

_SELDOM_S = 60
_REASONS_MAX = 10

_LINE_END = ord("\n")
_RETRY_S = 1
"""Seconds between two attempts to write after a failed one."""


def _type_of(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _trace(error: BaseException) -> Iterator[str]:
    """Yield the traceback and the type of an error, the first cause first, without messages."""
    if cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        yield from _trace(cause)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{_type_of(error)}\n"
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _trace(one)


def _add_time(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Begin with the time; structlog's TimeStamper omits the microseconds if they are zero."""
    level, name = event.pop("level"), event.pop("event")
    return {"timestamp": _now(), "level": level, "event": name, **event}


def _without_message(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    error = event.pop("exc_info", None)
    if isinstance(error, tuple):
        error = error[1]
    elif error is True:
        error = sys.exception()
    if isinstance(error, BaseException):
        event["exception"] = "".join(_trace(error))
    return event


def _of_library(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Add the library's name, and keep only the first line: asyncio shows objects in the others."""
    first_line = str(event["event"]).partition("\n")[0]
    return {**event, "event": f"{event['_record'].name}: {first_line}"}


def _text(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    """Return ``name=value`` pairs; structlog's KeyValueRenderer takes twice as long."""
    return " ".join([f"{name}={value!r}" for name, value in event.items()])


def _json(event: Mapping[str, object], **_: object) -> str:
    try:
        return msgspec.json.encode(event, enc_hook=str).decode()
    except UnicodeEncodeError:
        # A lone surrogate, for example in a file name: JSON can escape it, UTF-8 cannot encode it.
        return json.dumps(event, default=str)


_FORMATS: dict[str, Callable[..., Any]] = {
    "text": _text,
    "json": structlog.processors.JSONRenderer(_json),
}
_format = "text"


def _render(logger: WrappedLogger, method: str, event: EventDict) -> str:
    """Return the line of an event, in the current format."""
    line: str = _FORMATS[_format](logger, method, event)
    return line


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")[:-6] + "Z"


class _Writer:
    """Writes whole lines to standard error, from a thread, so that only this thread can block.

    At most :data:`WAITING_CHARACTERS_MAX` characters wait. After the first line that exceeds this,
    lines are dropped and counted until all waiting lines are written; then one line reports their
    number. The same applies to lines that cannot be written, for example to a full disk. Lines are
    UTF-8 in any locale.
    """

    def __init__(self) -> None:
        # Reentrant: the garbage collector may run a finalizer that logs, at any time.
        self._lock = threading.RLock()
        self._queue: SimpleQueue[str | threading.Event] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._accepted = self._done = self._dropped = 0
        self._is_in_line = False

    def write(self, lines: str) -> None:
        """Queue lines, each with its line end; drop them if there is no standard error."""
        if sys.stderr is None:
            return
        with self._lock:
            waiting = self._accepted - self._done
            if self._dropped or (waiting and waiting + len(lines) > WAITING_CHARACTERS_MAX):
                self._dropped += lines.count("\n")
                return
            self._accepted += len(lines)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="masthead-log", daemon=True)
                self._thread.start()
        self._queue.put(lines)

    def flush(self) -> None:
        """Do nothing: lines are written as soon as possible. Loggers call this."""

    def end(self) -> None:
        """Wait until all lines are written, for at most :data:`_END_S_MAX` seconds."""
        if self._thread:
            are_written = threading.Event()
            self._queue.put(are_written)
            are_written.wait(_END_S_MAX)

    def _run(self) -> None:
        while True:
            ends: list[threading.Event] = []
            lines = ""
            for taken in self._take():
                if isinstance(taken, str):
                    lines += taken
                else:
                    ends.append(taken)
            self._put(lines)
            self._done += len(lines)
            if self._dropped and self._done == self._accepted:
                self._report_dropped()
            for end in ends:
                end.set()

    def _take(self) -> list[str | threading.Event]:
        """Wait for lines and return all in the queue; return none when a retry is due."""
        try:
            first = self._queue.get(timeout=_RETRY_S if self._dropped else None)
        except Empty:
            return []
        return [first, *(self._queue.get() for _ in range(self._queue.qsize()))]

    def _report_dropped(self) -> None:
        with self._lock:
            count, self._dropped = self._dropped, 0
        event = {"level": "warning", "event": "log lines were dropped", "lines": count}
        line = _render(None, "", {"timestamp": _now(), **event})
        if not self._put(f"{line}\n"):
            with self._lock:
                self._dropped += count - 1  # the report itself does not count

    def _put(self, lines: str) -> bool:
        """Write lines, without a timeout; count those that cannot be written as dropped.

        Return whether all are written. A write to a pipe is atomic only up to 4 KiB: a lock keeps
        other processes that log to it, such as workers, from writing in between.
        """
        rest = lines.encode("utf-8", "backslashreplace")
        if rest and self._is_in_line:
            rest = b"\n" + rest
        try:
            descriptor = sys.stderr.fileno()
            _lock(descriptor, fcntl.LOCK_EX)
            try:
                while rest:
                    rest = self._write_some(descriptor, rest)
            finally:
                _lock(descriptor, fcntl.LOCK_UN)
        except (OSError, ValueError):
            with self._lock:
                self._dropped += rest.count(b"\n")
        return not rest

    def _write_some(self, descriptor: int, data: bytes) -> bytes:
        """Write a part of the data; return the rest."""
        try:
            count = os.write(descriptor, data)
        except BlockingIOError:  # another process made it non-blocking
            select.select([], [descriptor], [])
            return data
        self._is_in_line = data[count - 1] != _LINE_END
        return data[count:]


def _lock(descriptor: int, how: int) -> None:
    with suppress(OSError):  # for files that cannot be locked
        fcntl.lockf(descriptor, how)


_writer = _Writer()
atexit.register(_writer.end)


class RequestLog:
    """Logs requests; the lines of one event loop iteration are written together.

    The lines have the logger's format. The logger itself would take as long as a request's query.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []

    def note(self, **event: object) -> None:
        """Buffer the line of a request that has ended."""
        if not self._lines:
            asyncio.get_running_loop().call_soon(self.write)
        event = {"timestamp": _now(), "level": "info", "event": "request", **event}
        self._lines.append(_render(None, "info", event))

    def write(self) -> None:
        """Write the buffered lines."""
        lines, self._lines = self._lines, []
        _writer.write("\n".join([*lines, ""]))


class LogThrottle:
    """Limits the lines of an event that can occur with each request.

    In a minute, it allows each reason once, and at most ten reasons. ``time`` returns seconds.
    """

    def __init__(self, time: Callable[[], float] = monotonic) -> None:
        self._time = time
        self._since = -inf
        self._reasons: set[str] = set()

    def is_due(self, reason: str = "") -> bool:
        """Return whether to log the event with this reason; if so, count it as logged."""
        now = self._time()
        if now - self._since > _SELDOM_S:
            self._since = now
            self._reasons.clear()
        if reason in self._reasons or len(self._reasons) == _REASONS_MAX:
            return False
        self._reasons.add(reason)
        return True


class _SeldomFilter(logging.Filter):
    """Limits the warnings of a library: each is logged at most once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self._seldom = LogThrottle()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether to log the record; the reason is its message without the values."""
        return record.levelno < logging.WARNING or self._seldom.is_due(str(record.msg))


_common: list[Processor] = [
    structlog.processors.add_log_level,
    _add_time,
    _without_message,
]


def get_logger() -> FilteringBoundLogger:
    """Return a logger whose lines go to standard error.

    It does not depend on structlog's configuration, which belongs to the process that runs the
    app.
    """
    return cast(
        "FilteringBoundLogger",
        structlog.wrap_logger(
            structlog.WriteLogger(cast("TextIO", _writer)),
            processors=[*_common, _render],
            wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
            cache_logger_on_first_use=True,
        ),
    )


def set_log_format(log_format: str) -> None:
    """Set the format of lines: ``text``, which is the default, or ``json``."""
    global _format  # noqa: PLW0603 - one per process, like standard error
    _format = log_format


def configure_logs(log_format: str = "text") -> None:
    """Set the format of lines, and log the warnings of libraries as well."""
    set_log_format(log_format)
    libraries = logging.StreamHandler(_writer)
    libraries.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_common, _of_library],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _render],
        )
    )
    logging.root.handlers[:] = [libraries]
    logging.root.setLevel(logging.WARNING)
    # It warns of each attempt to connect.
    logging.getLogger("psycopg.pool").filters[:] = [_SeldomFilter()]


def end_logs() -> None:
    """Wait until all lines are written, for at most two seconds.

    This also happens when the process ends, unless a signal or ``os._exit`` ends it.
    """
    _writer.end()
