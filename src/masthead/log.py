"""Logs: one line an event on standard error, ``name=value`` pairs after it.

What a line may hold is decided where it is written. A query string, a path as it was sent, a
login, a password and credentials never stand in one.
"""

import logging
import sys

import structlog

__all__ = ["configure_logs", "get_logger"]

get_logger = structlog.get_logger


def configure_logs() -> None:
    """Send the lines of this process, and the warnings of its libraries, to standard error."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.KeyValueRenderer(
                key_order=["timestamp", "level", "event"], drop_missing=True
            ),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.WriteLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(
        stream=sys.stderr,
        level=logging.WARNING,
        format="timestamp='%(asctime)s' level='%(levelname)s' event='%(name)s: %(message)s'",
    )
