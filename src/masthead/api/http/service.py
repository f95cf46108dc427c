"""What all requests of a process share."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from masthead.api.http.overload import Slots
from masthead.api.http.rate_limit import RateLimit
from masthead.api.http.temporary_files import Space
from masthead.settings import ServerSettings
from masthead.store import Connection, Store
from masthead.store.keys import Uses
from masthead.store.logins import Limits

if TYPE_CHECKING:
    from asyncio import Task

__all__ = ["Service"]

_MIB = 2**20


class Service:
    """The store, the settings, and what bounds the work that goes on at the same time.

    ``connection`` is the one in which the event loop reads, None where each query needs a thread.
    ``rate_limit`` is None where accounts may make any number of requests.

    Each piece of work in a thread has a slot until its thread is done with it. There are as many
    threads as slots, and one for ``GET /health``, so that none waits for a thread.
    """

    def __init__(
        self, store: Store, settings: ServerSettings, *, rate_limit: RateLimit | None = None
    ) -> None:
        self.store = store
        self.settings = settings
        self.rate_limit = rate_limit
        self.connection: Connection | None = None
        self.key_uses = Uses()
        self.login_limits = Limits(settings.login_failures, settings.account_failures)
        self.look_ups = Slots(10)
        self.scans = Slots(6)
        self.short_streams = Slots(4, wait_s_max=2.0)
        self.long_streams = Slots(8, of_an_account=4, wait_s_max=10.0)
        self.health_checks = Slots(1)
        self.health_check: Task[None] | None = None
        self.threads = ThreadPoolExecutor(10 + 6 + 4 + 8 + 1, "masthead-request")
        self.temporary_space = Space(settings.temporary_space * _MIB // settings.workers)
