"""``GET /health``: whether the service and its database answer, for whoever watches it."""

from asyncio import Task, create_task, shield

from starlette.types import Receive, Scope, Send

from masthead.api.http.responses import Answer, Rest, json
from masthead.api.http.routing import Route
from masthead.api.http.service import Service
from masthead.api.operation import result_in_time, threads
from masthead.contract.encoding import encode
from masthead.errors import StoreUnavailable
from masthead.store import Store

__all__ = ["Health", "ask"]


class Health:
    """Asks the database, at most once at a time, for all who want to know meanwhile.

    The path needs no credentials, so anybody may ask at any rate: that never takes more than one
    thread and one connection to the database.
    """

    def __init__(self, store: Store) -> None:
        self.routes = [Route("/health", "health", self._begin)]
        self._store = store
        self._asking: Task[None] | None = None
        self._has_thread = False

    def _begin(self, _scope: Scope, _path_id: int | None, _service: Service) -> Rest:
        """Answer 200 where the database answers; its StoreUnavailable becomes 503."""

        async def rest(_scope: Scope, _receive: Receive, _send: Send) -> Answer:
            if self._asking is None:
                self._asking = create_task(self._ask())
                self._asking.add_done_callback(self._end)
            await shield(self._asking)
            return json(encode({"status": "ok"}))

        return rest

    async def _ask(self) -> None:
        if self._has_thread:
            raise StoreUnavailable("the database has not answered an earlier question yet")
        self._has_thread = True
        asked = threads.run(lambda _: ask(self._store), ended=self._give_thread)
        await result_in_time(asked)

    def _give_thread(self) -> None:
        self._has_thread = False

    def _end(self, asking: Task[None]) -> None:
        self._asking = None
        if not asking.cancelled():
            asking.exception()  # it may be that nobody waits any more


def ask(store: Store) -> None:
    """Ask the database the smallest question; raise StoreUnavailable where it does not answer."""
    store.check()
    with store.reader() as connection:
        connection.rows("SELECT 1 FROM accounts LIMIT 1")
