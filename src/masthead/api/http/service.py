"""The objects that all requests of a process share."""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from masthead.api.http.overload import Slots
from masthead.api.http.rate_limit import RateLimit
from masthead.api.http.temporary_files import Space
from masthead.settings import ServerSettings
from masthead.store import Store
from masthead.store.credentials import Uses
from masthead.store.logins import Limits
from masthead.store.passwords import BetterDigests
from masthead.store.request_counts import RequestCounts

if TYPE_CHECKING:
    from asyncio import Task

    from masthead.store import Greenlets

LOOK_UPS_AT_ONCE, SCANS_AT_ONCE = 10, 6
"""Requests in threads; queries that may visit many rows have slots of their own."""

SHORT_AT_ONCE, SHORT_WAIT_S_MAX = 4, 2.0
"""Responses at a time that may be short, and seconds that others wait for a slot."""

LONG_AT_ONCE, LONG_OF_AN_ACCOUNT, LONG_WAIT_S_MAX = 8, 4, 10.0
"""Long responses made concurrently, in total and per account. Any number may be sent."""

DIGESTS_AT_ONCE, DIGESTS_WAIT_S_MAX = 2, 5.0
"""Logins at a time that check digests of other systems, since each can take a second of a processor
and 128 MiB, and seconds that others wait for a slot."""

_MIB = 2**20


class Service:
    """The store, the settings, and the limits on concurrent work.

    ``greenlets`` are made when the app starts.
    ``rate_limit`` has the rate 0 if accounts may make any number of requests.

    Work in a thread keeps its slot until the thread has finished it. There are as many threads as
    slots, one of them for ``GET /health``, so that work with a slot never waits for a thread.
    """

    def __init__(
        self, store: Store, settings: ServerSettings, *, rate_limit: RateLimit | None = None
    ) -> None:
        self.store = store
        self.settings = settings
        self.rate_limit = rate_limit or RateLimit(0)
        self.greenlets: Greenlets | None = None
        self.credential_uses = Uses()
        self.request_counts = RequestCounts()
        self.better_digests = BetterDigests()
        self.login_limits = Limits(settings.login_failures, settings.account_failures)
        self.look_ups = Slots(LOOK_UPS_AT_ONCE)
        self.scans = Slots(SCANS_AT_ONCE)
        self.short_streams = Slots(SHORT_AT_ONCE, wait_s_max=SHORT_WAIT_S_MAX)
        self.long_streams = Slots(
            LONG_AT_ONCE, of_an_account=LONG_OF_AN_ACCOUNT, wait_s_max=LONG_WAIT_S_MAX
        )
        self.digest_checks = Slots(DIGESTS_AT_ONCE, wait_s_max=DIGESTS_WAIT_S_MAX)
        self.is_replaced = False
        """Whether the process ends because another one has taken its place."""
        self.health_checks = Slots(1)
        self.health_check: Task[None] | None = None
        at_once = LOOK_UPS_AT_ONCE + SCANS_AT_ONCE + SHORT_AT_ONCE + LONG_AT_ONCE
        at_once += DIGESTS_AT_ONCE + 1
        self.threads = ThreadPoolExecutor(at_once, "masthead-request")
        self.temporary_space = Space(settings.temporary_space * _MIB // settings.workers)
