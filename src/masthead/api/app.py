"""The app: all routes, what runs beside them, and what each kind of error becomes.

==================  ======================================================================
BadInput            400
HTTPException       its status: 401, 403, 404, 405, 408, 410, 413, 429, 503 of an overload
                    (414, 417 and 431: ``protocol.py``)
NotFound            404
StoreUnavailable    503 with ``Retry-After``
any other           500 with a request id (``front.py``)
==================  ======================================================================
"""

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus

from anyio import to_thread
from starlette.exceptions import HTTPException
from starlette.routing import Router
from starlette.types import Scope

from masthead.api.front import Front
from masthead.api.http.credentials import Callers
from masthead.api.http.metrics import count_database_error
from masthead.api.http.overload import RETRY_AFTER_S, Turns
from masthead.api.http.rate_limit import Allowances
from masthead.api.http.responses import ONLY_READS, Answer, error
from masthead.api.http.routing import Routes
from masthead.api.http.service import Service
from masthead.api.http.temporary_files import Making
from masthead.api.operation import in_time
from masthead.api.operations import (
    accounts,
    change_feed,
    custom_fields,
    digest,
    docs_page,
    mailing_lists,
    orders,
    subscribers,
    subscriptions,
)
from masthead.api.operations.health import Health
from masthead.errors import BadInput, MastheadError, NotFound, StoreUnavailable
from masthead.log import RequestLog, end_logs, get_logger
from masthead.store import Store, commits, keys, logins

__all__ = ["create_app"]

STAMP_EVERY_S = 3
UNREAD_BYTES_MAX = 4 * 2**30
_log = get_logger()


def create_app(
    store: Store,
    *,
    feed_overlap_s: int = 0,
    limits: logins.Limits | None = None,
    allowances: Allowances | None = None,
    unread_bytes_max: int = UNREAD_BYTES_MAX,
) -> Front:
    """Return the app that serves what is in ``store``.

    The change feed begins ``feed_overlap_s`` seconds earlier than a client asks; ``limits`` are
    those of the login check, ``allowances`` counts the requests of each account. Answers that their
    clients have not read yet take up at most ``unread_bytes_max`` bytes of temporary files.

    While it runs it also stamps what a killed load has left without a stamp, and writes down when
    credentials were last used.
    """
    uses = keys.Uses()

    @asynccontextmanager
    async def lifespan(front: Front) -> AsyncIterator[None]:
        at_end_of_turn = asyncio.get_running_loop().call_soon
        front.log = RequestLog(at_end_of_turn)
        try:
            database = store.open_loop_reader(at_end_of_turn)
        except MastheadError as reason:
            _log.error("the app cannot start", reason=str(reason))
            raise
        front.service = Service(
            store,
            database,
            feed_overlap_us=feed_overlap_s * 1_000_000,
            limits=limits or logins.Limits(),
            uses=uses,
            making=Making(unread_bytes_max),
            allowances=allowances,
            callers=Callers(at_end_of_turn),
        )
        stamping = asyncio.create_task(_stamp_for_ever(store, uses))
        # What is there now stays, and need not be looked through again and again.
        gc.collect()
        gc.freeze()
        yield
        stamping.cancel()
        with suppress(StoreUnavailable):
            await in_time(lambda _: uses.write(store, every_us=0), turns=Turns(1))
        if front.service.connection:
            front.service.connection.close()
        store.close()
        front.log.write()
        end_logs()

    routes = Routes(
        [
            *subscriptions.routes,
            *orders.routes,
            *subscribers.routes,
            *custom_fields.routes,
            *change_feed.routes,
            *digest.routes,
            *accounts.routes,
            *mailing_lists.routes,
            *Health(store).routes,
            *docs_page.routes,
        ]
    )
    return Front(routes, Router(lifespan=lifespan), _answer_to)


async def _stamp_for_ever(store: Store, uses: keys.Uses) -> None:
    while True:
        try:
            await to_thread.run_sync(_stamp, store, uses, abandon_on_cancel=True)
        except StoreUnavailable as reason:
            _log.warning("commits wait for their stamps", reason=str(reason))
        except Exception:  # noqa: BLE001 - whatever it is, the next try may do better
            _log.exception("commits wait for their stamps")
        await asyncio.sleep(STAMP_EVERY_S)


def _stamp(store: Store, uses: keys.Uses) -> None:
    store.check()
    store.write_heartbeat()
    commits.stamp_all(store)
    uses.write(store)


def _answer_to(reason: Exception, scope: Scope) -> Answer | None:
    if isinstance(reason, BadInput):
        return error(400, str(reason))
    if isinstance(reason, NotFound):
        return error(404, str(reason))
    if isinstance(reason, StoreUnavailable):
        _log.error("database unavailable", reason=str(reason))
        count_database_error()
        headers = {"Retry-After": str(RETRY_AFTER_S)}
        return error(503, "the database does not answer at the moment: try again soon", headers)
    return _http_error(reason, scope) if isinstance(reason, HTTPException) else None


def _http_error(reason: HTTPException, scope: Scope) -> Answer:
    if reason.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allow = {"Allow": "GET, HEAD"}
        return error(405, ONLY_READS, allow)
    if reason.detail == HTTPStatus.NOT_FOUND.phrase:
        return error(404, _no_such_path(scope["path"]))
    return error(reason.status_code, reason.detail, reason.headers)


def _no_such_path(path: str) -> str:
    version = path.split("/")[1]
    if version != "2" and version.isdecimal():
        return "this version is not served: paths begin with /2/"
    return "there is no such path: /docs lists those that there are, and they begin with /2/"
