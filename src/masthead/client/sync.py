"""The client for plain functions: each method asks, waits, and returns."""

import sys
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Self, TypeVar, Unpack

import httpx2
from tenacity import Retrying

from masthead.client import answers, requests
from masthead.client.readers import ChangedRecord, FeedReader, ListReader, RecordReader
from masthead.client.requests import (
    ALL_ENTITIES,
    EntityDigest,
    Listing,
    Request,
    SubscriberFilters,
    SubscriptionFilters,
)
from masthead.contract.shapes import (
    Account,
    AuthenticatedSubscriber,
    CustomFieldAnswer,
    CustomFieldDefinition,
    MailingListEntry,
    Order,
    Subscriber,
    Subscription,
)
from masthead.errors import ServiceError

__all__ = ["Changes", "Client"]

Result = TypeVar("Result")


class Client:
    """Asks a service of this interface.

    ``key`` and ``login`` are the account's credentials. No answer for ``timeout_s`` seconds is a
    lost connection; what may pass (lost connections, 429, 502, 503, 504) is tried again for
    ``patience_s`` seconds. A connection stays open for the next request, until :meth:`close` or the
    end of a ``with``. Any number of threads may share a client.

    Every method raises ServiceError with the status and the message of an answer that is not 200:
    of its kinds, ServiceUnreachable where nothing helped in time, and UnexpectedAnswer where the
    answer is not what the interface says.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        login: str,
        *,
        timeout_s: float = 30.0,
        patience_s: float = 60.0,
    ) -> None:
        self._http = httpx2.Client(**answers.settings(base_url, key, login, timeout_s))
        self._retries = answers.retry_policy(patience_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def list_accounts(self) -> list[Account]:
        """Return the accounts that the credentials open (interface, operation 1)."""
        return self._ask(requests.list_accounts())

    def get_account(self, account_id: int) -> Account:
        """Return one account (interface, operation 2)."""
        return self._ask(requests.get_account(account_id))

    def authenticate(self, login: str, password: str) -> AuthenticatedSubscriber | None:
        """Return the subscriber whose login this is, None where it is nobody's.

        ``login`` is an email and ``password`` the password, or ``login`` a renewal code and
        ``password`` a postal code (interface, operation 3).
        """
        return self._ask(requests.authenticate(login, password))

    def changes(
        self, changed_since: datetime | str, entities: Iterable[str] = ALL_ENTITIES
    ) -> "Changes":
        """Return all that changed at ``changed_since`` or later (interface, operation 4).

        That is what :attr:`Changes.through` of the answer before says, or a time with a
        zone, of which the second counts. Raises TooOld where the service does not have all changes
        since then any more.
        """
        names = list(entities)
        return self._changes(requests.changes(changed_since, names), names)

    def snapshot(self, entities: Iterable[str] = ALL_ENTITIES) -> "Changes":
        """Return everything, in the form of the change feed: an extension of Masthead.

        Raises ServiceError with the status 404 where the service has none.
        """
        names = list(entities)
        return self._changes(requests.snapshot(names), names)

    def digest(self, entities: Iterable[str] = ALL_ENTITIES) -> dict[str, EntityDigest]:
        """Return the digest of each entity's records: an extension of Masthead.

        Raises ServiceError with the status 404 where the service has none.
        """
        return self._ask(requests.digest(entities))

    def get_custom_field_answers(self, subscriber_id: int) -> list[CustomFieldAnswer]:
        """Return the answers of a subscriber to each custom field (interface, operation 5)."""
        return self._ask(requests.get_custom_field_answers(subscriber_id))

    def list_custom_fields(self) -> list[CustomFieldDefinition]:
        """Return the custom fields and their options (interface, operation 6)."""
        return self._ask(requests.list_custom_fields())

    def list_subscriptions(self, **filters: Unpack[SubscriptionFilters]) -> Iterator[Subscription]:
        """Yield the subscriptions that fit all filters (interface, operation 7).

        All of them, or ``limit`` of them, where the service offers further pages
        (``Link: <…>; rel="next"``); else the first 100.
        """
        return self._pages(requests.list_subscriptions(filters))

    def search_subscribers(self, **filters: Unpack[SubscriberFilters]) -> Iterator[Subscriber]:
        """Yield the subscribers that fit all filters (interface, operation 8).

        As many as :meth:`list_subscriptions` does of subscriptions.
        """
        return self._pages(requests.search_subscribers(filters))

    def get_order(self, order_id: int) -> Order:
        """Return an order with its items (interface, operation 9)."""
        return self._ask(requests.get_order(order_id))

    def download_mailing_list(
        self, mailing_list_id: int, *, download: bool = False
    ) -> Iterator[MailingListEntry]:
        """Yield the entries of a list download as they come (interface, operation 10).

        All of them were there once the iteration ends and has not raised ServiceError.
        ``download`` is sent as the interface's parameter, of which it leaves open what it changes.
        """
        request = requests.download_mailing_list(mailing_list_id, download=download)
        response = self._open(request)
        yield from _records(request, response, ListReader(MailingListEntry))

    def _ask(self, request: Request[Result]) -> Result:
        def once() -> Result:
            return answers.result_of(request, self._send(request))

        return Retrying(**self._retries)(once)

    def _page(self, request: Request[list[Result]]) -> answers.Page[Result]:
        def once() -> answers.Page[Result]:
            return answers.page_of(request, self._send(request))

        return Retrying(**self._retries)(once)

    def _pages(self, listing: Listing[Result]) -> Iterator[Result]:
        following: Request[list[Result]] | None = listing.first
        left = sys.maxsize if listing.limit is None else listing.limit
        walk = answers.Walk()
        while following and left > 0:
            page = self._page(following)
            walk.check(following, page)
            records, following = page
            yield from records[:left]
            left -= len(records)

    def _changes(self, request: Request[None], entities: list[str]) -> "Changes":
        reader = FeedReader(requests.entities_of(entities))
        response = self._open(request)
        try:
            return Changes(request, response, reader)
        except BaseException:
            response.close()
            raise

    def _open(self, request: Request[None]) -> httpx2.Response:
        def once() -> httpx2.Response:
            response = self._send(request, stream=True)
            if response.status_code == httpx2.codes.OK:
                return response
            try:
                response.read()
            except httpx2.HTTPError as error:
                raise answers.broken(request, error) from error
            finally:
                response.close()
            raise answers.refusal(request, response)

        return Retrying(**self._retries)(once)

    def _send(self, request: Request[Any], *, stream: bool = False) -> httpx2.Response:
        built = answers.built(self._http, request)
        try:
            response = self._http.send(built, stream=stream)
            if elsewhere := answers.moved(request, response):
                response.close()
                built = answers.built(self._http, elsewhere)
                response = self._http.send(built, stream=stream)
        except httpx2.HTTPError as error:
            raise answers.broken(request, error) from error
        return response


class Changes:
    """The records of an answer of the change feed, to be read once, in flat memory.

    ``through`` is the time to ask for next, once all of the answer was read and applied: iteration
    raises ServiceError where it is not whole, each time. To be closed if it is not read to the end.
    """

    def __init__(
        self, request: Request[None], response: httpx2.Response, reader: FeedReader
    ) -> None:
        self.through, self.is_date = answers.through_of(request, response.headers)
        self._response = response
        self._records = self._read(_records(request, response, reader))
        self._failure: ServiceError | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[ChangedRecord]:
        if self._failure:  # Whoever goes on must not take the rest for nothing.
            raise self._failure
        return self._records

    def close(self) -> None:
        """Give the connection back."""
        self._response.close()

    def _read(self, records: Iterator[ChangedRecord]) -> Iterator[ChangedRecord]:
        try:
            yield from records
        except ServiceError as error:
            self._failure = error
            raise


def _records(
    request: Request[None], response: httpx2.Response, reader: RecordReader[Result]
) -> Iterator[Result]:
    """Yield the records of an answer; raise ServiceError where it is not whole."""
    try:
        for piece in response.iter_bytes(answers.PIECE_BYTES):
            yield from reader.feed(piece)
        reader.finish()
    except httpx2.HTTPError as error:
        raise answers.broken(request, error) from error
    except ValueError as error:
        raise answers.unexpected(request, error) from None
    finally:
        response.close()
