"""The lifespan of the app: what is open while it runs, and its background tasks."""

import gc
import os
from asyncio import create_task, gather, get_running_loop, sleep
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

from anyio import to_thread

from masthead import __version__
from masthead.api.http.service import Service
from masthead.api.http.threads import deadline, start_thread
from masthead.errors import MastheadError, StoreUnavailable
from masthead.log import LogThrottle, get_logger
from masthead.store import Connection, Greenlets, commits, epochs

STAMP_EVERY_S = 3
CHECK_EVERY_S = 1
_WAITING = "commits wait for their stamps"
_log = get_logger()


@asynccontextmanager
async def lifespan(service: Service) -> AsyncIterator[Connection | None]:
    """Start the background tasks, and yield a connection; at the end, close everything.

    The connection is the one that the event loop reads from; None if queries run in greenlets.

    Raises MastheadError if the database cannot be used.
    """
    store = service.store
    service.greenlets = Greenlets()
    try:
        connection = store.open_loop_reader(get_running_loop().call_soon)
    except MastheadError as reason:
        _log.error("the app cannot start", reason=str(reason))
        raise
    tasks = [
        create_task(_repeat(store.check, CHECK_EVERY_S, "the database cannot be used")),
        create_task(_repeat(partial(_stamp, service), STAMP_EVERY_S, _WAITING)),
    ]
    # Objects that exist now are permanent: later collections need not examine them.
    gc.collect()
    gc.freeze()
    _log.info("server process started", process_id=os.getpid(), version=__version__)
    try:
        yield connection
    finally:
        for task in tasks:
            task.cancel()
        await gather(*tasks, return_exceptions=True)
        with suppress(StoreUnavailable):
            await start_thread(service, partial(_write_counters, service), ends_at=deadline())
        if connection:
            connection.close()
        store.close()
        service.threads.shutdown(wait=False, cancel_futures=True)
        _log.info("server process ended", process_id=os.getpid())


def _write_counters(service: Service) -> None:
    """Write the counters and better digests; raise StoreUnavailable if that is not possible."""
    service.credential_uses.write(service.store, every_us=0)
    service.request_counts.write(service.store, every_us=0)
    service.better_digests.write(service.store)


async def _repeat(step: Callable[[], None], every_s: float, failed: str) -> None:
    """Call ``step`` in a thread repeatedly; log the event ``failed`` if it raises."""
    seldom = LogThrottle()
    while True:
        try:
            await to_thread.run_sync(step, abandon_on_cancel=True)
        except StoreUnavailable as reason:
            if seldom.is_due(str(reason)):
                _log.warning(failed, reason=str(reason))
        except Exception as error:  # noqa: BLE001 - after any error, the next attempt may succeed
            if seldom.is_due(type(error).__name__):
                _log.exception(failed)
        await sleep(every_s)


def _stamp(service: Service) -> None:
    """Stamp commits that a killed load left unstamped; write the counters and better digests.

    Does each step, even if others fail; raises the last error.
    """
    store = service.store
    store.check()
    failure = None
    for step in (
        epochs.follow_all,
        commits.stamp_all,
        service.credential_uses.write,
        service.request_counts.write,
        service.better_digests.write,
    ):
        try:
            step(store)
        except StoreUnavailable as error:
            failure = error
    store.write_heartbeat()
    if failure:
        raise failure
