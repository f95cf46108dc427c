"""The mirror: a local copy of a service's data, kept by its change feed.

It knows the service only by its interface, through :class:`masthead.Client`, and keeps the copy in
a database of its own, in tables that are made to be joined.
"""

from pathlib import Path

from masthead.errors import BadUsage
from masthead.mirror.database import Copy, State, Tell
from masthead.mirror.postgresql import PostgresCopy
from masthead.mirror.sqlite import SqliteCopy
from masthead.mirror.sync_pass import EMPTY, TOO_OLD, Mirror, Pass
from masthead.mirror.verifying import Difference, Verified, verify

__all__ = [
    "EMPTY",
    "TOO_OLD",
    "Copy",
    "Difference",
    "Mirror",
    "Pass",
    "State",
    "Tell",
    "Verified",
    "open_copy",
    "verify",
]


def open_copy(url: str) -> Copy:
    """Return the database of a copy, with its tables: ``sqlite:///copy.db``, ``postgresql://…``.

    Raises BadUsage for another kind of URL and for a database that holds something else,
    StoreUnavailable where it cannot be opened.
    """
    if url.startswith(("postgresql://", "postgres://")):
        return PostgresCopy(url)
    path = url.removeprefix("sqlite:///")
    if path in {url, ""}:
        raise BadUsage("the copy is named as sqlite:///copy.db or postgresql://user@host/name")
    return SqliteCopy(Path(path))
