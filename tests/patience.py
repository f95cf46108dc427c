"""Longer time limits for the processes of the tests.

On a busy machine, a response, a database or a new session may be seconds late, and a test of
something else would fail then. The limits of production are tested with servers that have them
(``servers.AS_INSTALLED``), and others with limits of their own (tests/postgresql/impatient.py).
"""

from __future__ import annotations

import inspect

import httpx2

from masthead.api.http import overload, timeouts
from masthead.databases.postgresql import pool
from masthead.store import epochs, postgresql

_LONG_S = 60.0


def be_patient() -> None:
    """Lengthen the limits of this process: those of Masthead and of the HTTP client."""
    overload.WAIT_S_MAX = _LONG_S
    timeouts.DATABASE_S_MAX = _LONG_S
    pool.WAIT_FOR_CONNECTION_S_MAX = _LONG_S
    postgresql.READERS_SILENCE_S_MAX = postgresql.COUNTERS_SILENCE_S_MAX = _LONG_S
    epochs._ANSWER_S_MAX = _LONG_S
    # One object is the default of each function and client of httpx2.
    default = inspect.signature(httpx2.Client).parameters["timeout"].default
    default.connect = default.read = default.write = default.pool = _LONG_S
