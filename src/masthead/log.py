"""Logs: one line an event on standard error, as ``name=value`` pairs or as a JSON object.

What a line may hold is decided where it is written. A query string, a path as it was sent, a
login, a password and credentials never stand in one. Of an error that nobody thought of there is
its kind and where it came from, but not what it says, since that may quote any value; nor the
objects that a library's message shows (decisions, "Errors in the log").
"""

import logging
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache

import msgspec
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

__all__ = ["LOG_FORMATS", "RequestLog", "configure_logs", "get_logger"]

get_logger = structlog.get_logger

Line = Callable[[Mapping[str, object]], str]
"""Makes the line of an event."""

_FIRST = ("timestamp", "level", "event")


def _kind_of(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _told(error: BaseException) -> Iterator[str]:
    """Yield where an error came from and of what kind it is, the first cause first."""
    if cause := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        yield from _told(cause)
    yield from traceback.format_tb(error.__traceback__)
    yield f"{_kind_of(error)}\n"
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _told(one)


def _without_what_it_says(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    error = event.pop("exc_info", None)
    if isinstance(error, tuple):
        error = error[1]
    elif error is True:
        error = sys.exception()
    if isinstance(error, BaseException):
        event["exception"] = "".join(_told(error))
    return event


def _of_library(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Name the library, and keep the first line: asyncio's others show its objects."""
    said = str(event["event"]).partition("\n")[0]
    return {**event, "event": f"{event['_record'].name}: {said}"}


def _text(event: Mapping[str, object]) -> str:
    return _form(tuple(event)) % tuple(event.values())


@lru_cache(maxsize=100)
def _form(names: tuple[str, ...]) -> str:
    return " ".join([f"{name.replace('%', '%%')}=%r" for name in names])


class _Renderer:
    """The last step of the logger."""

    def __init__(self, line: Line) -> None:
        self.line = line

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> str:
        return self.line({**{name: event[name] for name in _FIRST}, **event})


def _json(event: Mapping[str, object]) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()


LOG_FORMATS: dict[str, Line] = {
    "text": _text,
    "json": _json,
}
"""The forms of a line, by the name that ``--log-format`` gives them."""


class RequestLog:
    """The line that each request leaves; those of one turn of an event loop are written at once.

    ``at_end_of_turn`` has a function called when the turn is over. The lines are those of the
    logger, made without its steps: every request pays for them.
    """

    def __init__(self, at_end_of_turn: Callable[[Callable[[], None]], object]) -> None:
        self._at_end_of_turn = at_end_of_turn
        self._line: Line = structlog.get_config()["processors"][-1].line
        self._lines: list[str] = []

    def note(self, **event: object) -> None:
        """Keep the line of a request that is over."""
        if not self._lines:
            self._at_end_of_turn(self.write)
        timestamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        self._lines.append(
            self._line({"timestamp": timestamp, "level": "info", "event": "request", **event})
        )

    def write(self) -> None:
        """Write the lines that are kept."""
        lines, self._lines = self._lines, []
        sys.stderr.write("\n".join([*lines, ""]))
        sys.stderr.flush()


def configure_logs(log_format: str = "text") -> None:
    """Send the lines of this process, and the warnings of its libraries, to standard error.

    ``log_format`` is one of :data:`LOG_FORMATS`.
    """
    renderer = _Renderer(LOG_FORMATS[log_format])
    common: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _without_what_it_says,
    ]
    structlog.configure(
        processors=[*common, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    libraries = logging.StreamHandler(sys.stderr)
    libraries.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*common, _of_library],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    logging.root.handlers[:] = [libraries]
    logging.root.setLevel(logging.WARNING)
