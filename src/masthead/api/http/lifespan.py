"""The lifespan of the app: what is open while it runs, and its background task."""

import gc
from asyncio import create_task, gather, get_running_loop, sleep
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial

from anyio import to_thread

from masthead.api.http.service import Service
from masthead.api.http.threads import deadline, start_thread
from masthead.errors import MastheadError, StoreUnavailable
from masthead.greenlets import Greenlets
from masthead.log import get_logger
from masthead.store import commits, epochs

__all__ = ["lifespan"]

STAMP_EVERY_S = 3
_log = get_logger()


@asynccontextmanager
async def lifespan(service: Service) -> AsyncIterator[None]:
    """Open the connection and start the background task; at the end, close everything.

    Raises MastheadError if the database cannot be used.
    """
    store = service.store
    service.greenlets = Greenlets()
    try:
        service.connection = store.open_loop_reader(get_running_loop().call_soon)
    except MastheadError as reason:
        _log.error("the app cannot start", reason=str(reason))
        raise
    stamping = create_task(_stamp_for_ever(service))
    # Objects that exist now are permanent: later collections need not examine them.
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        stamping.cancel()
        await gather(stamping, return_exceptions=True)
        with suppress(StoreUnavailable):
            write_uses = partial(service.key_uses.write, store, every_us=0)
            await start_thread(service, write_uses, ends_at=deadline())
        if service.connection:
            service.connection.close()
        store.close()
        service.threads.shutdown(wait=False, cancel_futures=True)


async def _stamp_for_ever(service: Service) -> None:
    """Every 3 seconds, stamp commits that a killed load left unstamped, and write key uses."""
    while True:
        try:
            await to_thread.run_sync(_stamp, service, abandon_on_cancel=True)
        except StoreUnavailable as reason:
            _log.warning("commits wait for their stamps", reason=str(reason))
        except Exception:  # noqa: BLE001 - after any error, the next attempt may succeed
            _log.exception("commits wait for their stamps")
        await sleep(STAMP_EVERY_S)


def _stamp(service: Service) -> None:
    """Do each step, whatever becomes of the others; raise the last error."""
    store = service.store
    store.check()
    failure = None
    for step in (epochs.follow_all, commits.stamp_all, service.key_uses.write):
        try:
            step(store)
        except StoreUnavailable as error:
            failure = error
    store.write_heartbeat()
    if failure:
        raise failure
