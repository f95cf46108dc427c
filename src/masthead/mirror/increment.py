"""The changes at a service since a time, for callers that keep its records outside a copy.

A copy is one database, whose transaction makes a pass safe. Here the caller keeps the records and
the time of the next request, and writes both together, or the time last.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, TypeVar

from masthead.client import ALL_ENTITIES, Changes, Client, Deletions
from masthead.errors import MastheadError, ServiceError, TooOld
from masthead.mirror.sync_pass import why_not_shown
from masthead.mirror.without_snapshot import REFUSES

Offered = TypeVar("Offered", Changes, Deletions)


class Increment(NamedTuple):
    """The records that changed or were removed since a time.

    ``changes`` are the records. Read them once and to the end, or call ``close`` to end the
    request. ``gone`` are the ids of the removed records, by entity; a record that is also in
    ``changes`` exists again. ``through`` is the time of the next request, valid once everything has
    been written. ``is_full`` says that ``changes`` are all records: the caller drops the others.
    """

    changes: Changes
    gone: Mapping[str, Collection[int]]
    through: str
    is_full: bool

    def close(self) -> None:
        """Release the connection."""
        self.changes.close()


def increment_since(
    client: Client, since: str | None, entities: Iterable[str] = ALL_ENTITIES
) -> Increment:
    """Return the changes since a time, or everything if there is no time or it is too long ago.

    Raises MastheadError if the service has no snapshot or lists no removed records, ServiceError if
    a request fails. The removed records are requested first and kept in memory, so that each record
    is either written or removed, and never both (rules, "Pipelines: removed records first").
    """
    names = list(entities)
    if since is not None:
        try:
            with _offered(lambda: client.deletions(since, names)) as deletions:
                gone: dict[str, set[int]] = {name: set() for name in names}
                for name, key in deletions:
                    gone[name].add(key)
            changes = _offered(lambda: client.changes(since, names))
        except TooOld:
            pass
        else:
            through = min(changes.through, deletions.through, key=datetime.fromisoformat)
            return Increment(changes, gone, through, is_full=False)
    snapshot = _offered(lambda: client.snapshot(names))
    return Increment(snapshot, {}, snapshot.through, is_full=True)


def _offered(request: Callable[[], Offered]) -> Offered:
    """Return the response of an extension. Raises MastheadError if the service lacks it."""
    try:
        response = request()
    except ServiceError as error:
        if why_not_shown(error) == REFUSES:
            raise
        raise _lacking(error.path) from error
    if response.is_date:
        response.close()
        raise _lacking("the header Masthead-Changes-Through")
    return response


def _lacking(what: str) -> MastheadError:
    return MastheadError(
        f"the service lacks {what}, so removed records and its first days would be missing: "
        "a mirror keeps a copy of such a service, as far as its interface goes"
    )
