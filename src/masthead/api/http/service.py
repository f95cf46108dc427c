"""What all requests of a server share."""

from typing import NamedTuple

from masthead.api.http.credentials import Callers
from masthead.api.http.rate_limit import Allowances
from masthead.api.http.temporary_files import Making
from masthead.store import Connection, Store
from masthead.store.keys import Uses
from masthead.store.logins import Limits

__all__ = ["Service"]


class Service(NamedTuple):
    """The store, what is counted beside it, and how it is asked.

    ``database`` is the connection that reads for the event loop's thread, None where the database
    needs threads. ``feed_overlap_us`` is how much earlier than asked the change feed begins,
    ``limits`` are those of the login check, ``uses`` the last uses of credentials; ``allowances``
    counts the requests of each account, None where there may be any number. ``callers`` asks who
    calls for the event loop. ``making`` is what the making of long answers shares.
    """

    store: Store
    connection: Connection | None
    feed_overlap_us: int
    limits: Limits
    uses: Uses
    making: Making
    allowances: Allowances | None = None
    callers: Callers = Callers(lambda end_turn: end_turn())
