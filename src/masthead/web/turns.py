"""Turns: work that few threads do at a time, while other requests wait for a limited time.

Sign-ins and saves have threads of their own, so neither takes the threads of pages that only read.
"""

from asyncio import FIRST_COMPLETED, Future, create_task, get_running_loop, wait
from collections import OrderedDict, deque
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from typing import TypeVar

from anyio import CapacityLimiter, to_thread
from starlette.requests import ClientDisconnect, Request

Result = TypeVar("Result")

_NETWORK_BITS = 64
"""An IPv6 client has as many addresses as it likes, in a network of this prefix."""


class BusyError(Exception):
    """Too many requests wait, or this one has waited for too long; may have a sentence."""


class Turns:
    """A queue of requests: ``at_once`` have their turn at the same time, each in a thread.

    ``waiting_max`` requests wait, ``of_one_max`` of one client address, for ``wait_s_max`` seconds
    each. Addresses take turns: a request waits for each other address, not for each other request.
    In a full queue, a request takes the newest place of an address that has more.
    A request whose client has disconnected leaves the queue. A queue belongs to one event loop.
    """

    def __init__(
        self, at_once: int, *, waiting_max: int, of_one_max: int, wait_s_max: float
    ) -> None:
        self._threads = CapacityLimiter(at_once)
        self._free = at_once
        self._waiting_max = waiting_max
        self._of_one_max = of_one_max
        self._wait_s_max = wait_s_max
        self._waiting: OrderedDict[str, deque[Future[None]]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return sum(map(len, self._waiting.values()))

    async def run(self, request: Request, address: str, work: Callable[[], Result]) -> Result:
        """Return what ``work`` returns in a thread, when it is this request's turn.

        The request's body must have been read. Raises BusyError if there is no place in the queue,
        or no turn in time, and ClientDisconnect if the client has gone.
        """
        await self._take(request, network_of(address))
        try:
            return await to_thread.run_sync(work, limiter=self._threads)
        finally:
            self._give()

    async def _take(self, request: Request, network: str) -> None:
        if await request.is_disconnected():
            raise ClientDisconnect
        if self._free:
            self._free -= 1
            return
        count = len(self._waiting.get(network, ()))
        if count >= self._of_one_max:
            raise BusyError
        if self.waiting >= self._waiting_max:
            self._make_room(count)
        turn: Future[None] = get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(turn)
        gone = create_task(_until_gone(request))
        has_turn = False
        try:
            await wait({turn, gone}, timeout=self._wait_s_max, return_when=FIRST_COMPLETED)
            has_turn = turn.done() and not turn.cancelled() and not gone.done()
        finally:
            is_gone = gone.done()
            gone.cancel()
            if not has_turn:
                self._leave(network, turn)
        if not has_turn:
            raise ClientDisconnect if is_gone else BusyError

    def _make_room(self, count: int) -> None:
        """Take the newest place of the address with the most, for an address with ``count`` places.

        Raises BusyError if the first address would then have fewer than the second one.
        """
        most = max(self._waiting.values(), key=len)
        if len(most) - 1 <= count:
            raise BusyError
        most.pop().cancel()

    def _leave(self, network: str, turn: "Future[None]") -> None:
        """Leave the queue, or pass on a turn that has come meanwhile."""
        if turn.cancelled():
            return
        if turn.done():
            self._give()
            return
        own = self._waiting[network]
        own.remove(turn)
        if not own:
            del self._waiting[network]

    def _give(self) -> None:
        if not self._waiting:
            self._free += 1
            return
        network, own = self._waiting.popitem(last=False)
        turn = own.popleft()
        if own:
            self._waiting[network] = own
        turn.set_result(None)


async def _until_gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def network_of(address: str) -> str:
    """Return the address, or the network of an IPv6 address."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(found, IPv6Address):
        return str(int(found) >> (128 - _NETWORK_BITS))
    return address
