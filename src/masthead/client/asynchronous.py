"""The asynchronous client: what ``async for`` reads needs no ``await``; all else is awaited."""

import sys
from collections.abc import AsyncIterator, Callable, Iterable
from datetime import datetime
from math import inf
from typing import Any, Generic, Self, TypeVar, Unpack

import httpx2
from tenacity import AsyncRetrying

from masthead.client import limits, pages, requests, responses
from masthead.client.opening import opened_by_use
from masthead.client.readers import (
    ChangedRecord,
    Deletion,
    DeletionsReader,
    FeedReader,
    ListReader,
    RecordReader,
)
from masthead.client.requests import (
    ALL_ENTITIES,
    EntityDigest,
    PagedRequest,
    Request,
    SubscriberFilters,
    SubscriptionFilters,
)
from masthead.contract.decoding import ReadsRecord
from masthead.contract.shapes import (
    Account,
    AuthenticatedSubscriber,
    CustomFieldAnswer,
    CustomFieldDefinition,
    EntitledReader,
    MailingListEntry,
    Order,
    Subscriber,
    Subscription,
)
from masthead.errors import ServiceError, UnexpectedResponse

Result = TypeVar("Result")
Opened = TypeVar("Opened")


class AsyncClient:
    """A client of a service with this interface.

    ``key`` and ``login`` are the account's credentials. A response, or the next record of a stream,
    is lost if it has not arrived after ``timeout_s`` seconds. The client retries lost connections
    and the statuses 429, 502, 503 and 504 for ``patience_s`` seconds, so a call takes no longer
    than both together. ``bytes_max`` is the maximum size of a response that is not a stream, after
    decompression. Connections stay open for further requests, until :meth:`close` or the end of
    an ``async with``. Any number of tasks may share a client.

    Every method raises ServiceError for a response that is not 200, with its status and message.
    Its subclass ServiceUnreachable means that all retries have failed, TooManyRequests that the
    service refuses requests for now, as for a locked login, and UnexpectedResponse that the
    interface does not allow the response, or that it is too long. Only a result means that somebody
    may read: an exception never does.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        login: str,
        *,
        timeout_s: float = 30.0,
        patience_s: float = 60.0,
        bytes_max: int = limits.BYTES_MAX,
    ) -> None:
        self._http = httpx2.AsyncClient(**responses.client_options(base_url, key, login, timeout_s))
        limits.keep_time(self._http)
        self._timeout_s = timeout_s
        self._bytes_max = bytes_max
        self._retries = responses.retry_policy(patience_s)
        self._sends_bodies = False
        self._tell_odd: responses.TellsOdd | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def list_accounts(self) -> list[Account]:
        """Return the accounts that the credentials open (interface, operation 1)."""
        return await self._get(requests.list_accounts())

    async def get_account(self, account_id: int) -> Account:
        """Return one account (interface, operation 2)."""
        return await self._get(requests.get_account(account_id))

    async def authenticate(self, login: str, password: str) -> AuthenticatedSubscriber | None:
        """Return the subscriber of a login, None if the login is refused.

        ``login`` is an email and ``password`` is the password, or ``login`` is a renewal code and
        ``password`` is a postal code (interface, operation 3).
        """
        return await self._get(requests.authenticate(login, password))

    async def entitlements(
        self,
        *,
        login: str | None = None,
        password: str | None = None,
        code: str | None = None,
    ) -> EntitledReader | None:
        """Return what a reader may read now, with a signed token: an extension of Masthead.

        The reader has a ``login`` with a ``password``, as in :meth:`authenticate`, or a ``code``
        from the readers' pages. They are sent in the body of the request. Returns None if they are
        refused. Raises ServiceError with status 404 if the publisher has no entitlements.
        """
        return await self._get(requests.entitlements(login, password, code))

    @opened_by_use
    async def changes(
        self, changed_since: datetime | str, entities: Iterable[str] = ALL_ENTITIES
    ) -> "AsyncChanges":
        """Return all records that changed at ``changed_since`` or later (interface, operation 4).

        ``changed_since`` is :attr:`AsyncChanges.through` of the previous response, or a time with a
        zone, rounded down to seconds. Raises TooOld if the changes since then are no longer
        available.
        """
        names = list(entities)
        request = requests.changes(changed_since, names)
        reader = FeedReader(requests.entities_of(names), self._reading(request))
        return await self._opened(AsyncChanges, request, reader)

    @opened_by_use
    async def deletions(
        self, changed_since: datetime | str, entities: Iterable[str] = ALL_ENTITIES
    ) -> "AsyncDeletions":
        """Return the records that were removed at ``changed_since`` or later and do not exist.

        This extension of Masthead complements :meth:`changes`: apply first the changes since a
        time, then the deletions since the same time, and continue from the earlier ``through`` of
        both. Raises TooOld as :meth:`changes` does, and ServiceError with status 404 if the service
        does not list deletions.
        """
        names = list(entities)
        reader = DeletionsReader(requests.entities_of(names))
        request = requests.deletions(changed_since, names)
        return await self._opened(AsyncDeletions, request, reader)

    @opened_by_use
    async def snapshot(self, entities: Iterable[str] = ALL_ENTITIES) -> "AsyncChanges":
        """Return all records, in the form of the change feed: an extension of Masthead.

        Raises ServiceError with status 404 if the service has no snapshots.
        """
        names = list(entities)
        request = requests.snapshot(names)
        reader = FeedReader(requests.entities_of(names), self._reading(request))
        return await self._opened(AsyncChanges, request, reader)

    async def digest(self, entities: Iterable[str] = ALL_ENTITIES) -> dict[str, EntityDigest]:
        """Return the digest of each entity's records: an extension of Masthead.

        Raises ServiceError with status 404 if the service has no digests.
        """
        return await self._get(requests.digest(entities))

    async def get_custom_field_answers(self, subscriber_id: int) -> list[CustomFieldAnswer]:
        """Return the answers of a subscriber to each custom field (interface, operation 5)."""
        return await self._get(requests.get_custom_field_answers(subscriber_id))

    async def list_custom_fields(self) -> list[CustomFieldDefinition]:
        """Return the custom fields and their options (interface, operation 6)."""
        return await self._get(requests.list_custom_fields())

    def list_subscriptions(
        self, **filters: Unpack[SubscriptionFilters]
    ) -> AsyncIterator[Subscription]:
        """Yield the subscriptions that match all filters (interface, operation 7).

        Yields all of them, or the first ``limit``; at most 100 if the service has no further pages
        (``Link: <…>; rel="next"``).
        """
        return self._listed(requests.list_subscriptions(filters))

    def search_subscribers(self, **filters: Unpack[SubscriberFilters]) -> AsyncIterator[Subscriber]:
        """Yield the subscribers that match all filters (interface, operation 8).

        Pages and ``limit`` are as in :meth:`list_subscriptions`.
        """
        return self._listed(requests.search_subscribers(filters))

    async def get_order(self, order_id: int) -> Order:
        """Return an order with its items (interface, operation 9)."""
        return await self._get(requests.get_order(order_id))

    def download_mailing_list(
        self, mailing_list_id: int, *, download: bool = False
    ) -> AsyncIterator[MailingListEntry]:
        """Yield the entries of a list download as a stream (interface, operation 10).

        The iteration raises ServiceError if the response is incomplete, and again if it goes on.
        ``download`` is the interface's parameter of this name.
        """
        request = requests.download_mailing_list(mailing_list_id, download=download)
        return _AsyncIteration(request.path, self._entries(request))

    async def send_bodies_if_needed(self) -> bool:
        """Send parameters as JSON bodies from now on if the service does not read the query.

        Returns whether that is so: a list ignores ``limit`` in the query, and reads it from a body.
        The interface leaves open where parameters travel.
        """
        for name in ("list_subscriptions", "search_subscribers"):
            self._sends_bodies = False
            if await self._get(requests.count(name)) > 1:
                self._sends_bodies = True
                self._sends_bodies = await self._get(requests.count(name)) == 1
                break
        return self._sends_bodies

    def omit_odd_records(self, tell: responses.TellsOdd) -> None:
        """Omit the records of lists and of streams that cannot be read, from now on.

        ``tell`` is called with the path of the request and each such record. Otherwise one of them
        makes the whole response invalid.
        """
        self._tell_odd = tell

    def _reading(self, request: Request[Any]) -> ReadsRecord:
        return responses.reading(request, self._tell_odd)

    async def _get(self, request: Request[Result]) -> Result:
        async def attempt() -> Result:
            return responses.result_of(request, await self._whole(request), self._tell_odd)

        return await AsyncRetrying(**self._retries)(attempt)

    async def _get_page(self, request: Request[list[Result]]) -> pages.Page[Result]:
        async def attempt() -> pages.Page[Result]:
            return responses.page_of(request, await self._whole(request), self._tell_odd)

        return await AsyncRetrying(**self._retries)(attempt)

    def _listed(self, paged: PagedRequest[Result]) -> AsyncIterator[Result]:
        return _AsyncIteration(paged.first.path, self._pages(paged))

    async def _pages(self, paged: PagedRequest[Result]) -> AsyncIterator[Result]:
        next_request: Request[list[Result]] | None = paged.first
        left = sys.maxsize if paged.limit is None else paged.limit
        loop_check = pages.LoopCheck()
        while next_request and left > 0:
            page = await self._get_page(next_request)
            loop_check.check(next_request, page)
            next_request = page.next_request
            for record in page.records[:left]:
                yield record
            left -= len(page.records)

    async def _entries(self, request: Request[None]) -> AsyncIterator[MailingListEntry]:
        response = await self._stream(request)
        reader = ListReader(MailingListEntry, self._reading(request))
        async for entry in _records(request, response, reader, self._timeout_s):
            yield entry

    async def _opened(
        self,
        make: Callable[[Request[None], httpx2.Response, RecordReader[Result], float], Opened],
        request: Request[None],
        reader: RecordReader[Result],
    ) -> Opened:
        response = await self._stream(request)
        try:
            return make(request, response, reader, self._timeout_s)
        except BaseException:
            await response.aclose()
            raise

    async def _stream(self, request: Request[None]) -> httpx2.Response:
        async def attempt() -> httpx2.Response:
            with limits.within(self._timeout_s):
                response = await self._send(request)
                if response.status_code == httpx2.codes.OK:
                    return response
                raise responses.status_error(request, await self._read(request, response))

        response: httpx2.Response = await AsyncRetrying(**self._retries)(attempt)
        return response

    async def _whole(self, request: Request[Any]) -> httpx2.Response:
        """Return a response with its whole body."""
        with limits.within(inf if request.takes_long else self._timeout_s):
            return await self._read(request, await self._send(request))

    async def _read(self, request: Request[Any], response: httpx2.Response) -> httpx2.Response:
        body = limits.Body(response, self._bytes_max)
        try:
            async for piece in response.aiter_bytes():
                if not body.add(piece):
                    break
        except limits.TooLong as error:
            raise UnexpectedResponse(request.path, 200, str(error)) from None
        except httpx2.HTTPError as error:
            raise responses.connection_error(request, error) from error
        finally:
            await response.aclose()
        return responses.read_whole(response, body.content())

    def _built(self, request: Request[Any]) -> httpx2.Request:
        has_json_body = self._sends_bodies and not request.in_body
        return responses.build_request(self._http, request, has_json_body=has_json_body)

    async def _send(self, request: Request[Any]) -> httpx2.Response:
        """Return a response, whose body has not been read."""
        built = self._built(request)
        try:
            response = await self._http.send(built, stream=True)
            if redirect := responses.redirected(request, response):
                await self._read(request, response)
                built = self._built(redirect)
                response = await self._http.send(built, stream=True)
        except httpx2.HTTPError as error:
            raise responses.connection_error(request, error) from error
        return response


class _AsyncIteration(Generic[Result]):
    """Records to iterate over once.

    After an exception, also one of the caller's such as a timeout, every further step raises
    ServiceError: what was read until then must not look complete.
    """

    def __init__(self, path: str, records: AsyncIterator[Result]) -> None:
        self._path = path
        self._records = records
        self._failure: ServiceError | None = None

    def __aiter__(self) -> AsyncIterator[Result]:
        return self

    async def __anext__(self) -> Result:
        if self._failure:
            raise self._failure
        try:
            return await anext(self._records)
        except StopAsyncIteration:
            raise
        except ServiceError as error:
            self._failure = error
            raise
        except BaseException as error:
            reason = f"the response was not read to its end: {type(error).__name__}"
            self._failure = ServiceError(self._path, None, reason)
            raise


class _AsyncStream(_AsyncIteration[Result]):
    """The records of some entities in a response, a stream to iterate over once.

    ``through`` is the next ``changed_since``, valid once all records have been read and applied;
    ``is_date`` says that it is only the server's ``Date``. The iteration raises ServiceError if the
    response is incomplete, and again whenever it goes on. Close it if you do not read it to the
    end.
    """

    def __init__(
        self,
        request: Request[None],
        response: httpx2.Response,
        reader: RecordReader[Result],
        timeout_s: float,
    ) -> None:
        super().__init__(request.path, _records(request, response, reader, timeout_s))
        self.through, self.is_date = responses.through_of(request, response.headers)
        self._response = response

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Release the connection."""
        await self._response.aclose()


class AsyncChanges(_AsyncStream[ChangedRecord]):
    """The records of a response of the change feed, or of a snapshot."""


class AsyncDeletions(_AsyncStream[Deletion]):
    """The removed records of a response."""


async def _records(
    request: Request[None],
    response: httpx2.Response,
    reader: RecordReader[Result],
    timeout_s: float,
) -> AsyncIterator[Result]:
    """Yield the records of a response; raise ServiceError if it is incomplete."""
    idle = limits.Idle(timeout_s)
    pieces = response.aiter_bytes()
    try:
        while True:
            with idle.waiting():
                piece = await anext(pieces, None)
            if piece is None:
                break
            values = reader.values
            for first in range(0, len(piece), responses.CHUNK_BYTES):
                for record in reader.feed(piece[first : first + responses.CHUNK_BYTES]):
                    yield record
            if reader.values > values:
                idle.restart()
        reader.finish()
    except httpx2.HTTPError as error:
        raise responses.connection_error(request, error) from error
    except ValueError as error:
        raise responses.decoding_error(request, error) from None
    finally:
        await response.aclose()
