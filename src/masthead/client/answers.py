"""What the sync and the async client share: how a request is built, how its answer is judged."""

import base64
import binascii
import json
import logging
import re
import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import InvalidOperation
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, Generic, NamedTuple, TypeVar

import httpx2
from tenacity import (
    RetryCallState,
    retry_if_exception_type,
    stop_before_delay,
    wait_random,
    wait_random_exponential,
)

from masthead import __version__
from masthead.client.requests import CHANGES_PATH, Request
from masthead.contract.decoding import NO_NUMBER, decoder
from masthead.errors import BadInput, ServiceError, ServiceUnreachable, TooOld, UnexpectedAnswer

__all__ = [
    "PIECE_BYTES",
    "THROUGH",
    "Page",
    "Through",
    "Walk",
    "broken",
    "built",
    "moved",
    "page_of",
    "refusal",
    "result_of",
    "retry_policy",
    "settings",
    "through_of",
    "unexpected",
]

THROUGH = "Masthead-Changes-Through"
PIECE_BYTES = 262_144
"""The change feed is read in pieces of this size."""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 10.0
PASSING = {429, 502, 503, 504}
"""Statuses that a later try may not get: too many requests, and nobody there behind a proxy."""

_MESSAGE_CHARACTERS_MAX = 500
_PAGES_MAX = 1_000_000
"""A list of more pages has no end: so many of them are remembered at most."""

_RETRY_AFTER_MAX_S = 2.0**31
"""What RFC 9111 section 1.2.2 takes for any number that is too great; more no clock can wait."""

_LINK = re.compile(r"""<([^<>]*)>([^,"]*(?:"(?:\\.|[^"\\])*"[^,"]*)*)""")
_PARAMETER = re.compile(
    r"""
    ;\s*(?P<name>[^\s=;"]+)\s*=\s*(?:"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<plain>[^\s;"]*))
    """,
    re.VERBOSE,
)

Result = TypeVar("Result")


class Page(NamedTuple, Generic[Result]):
    """A page of a list: its records, and the request for the page behind it, if there is one."""

    records: list[Result]
    following: Request[list[Result]] | None


class Through(NamedTuple):
    """The time to ask for next, and whether it is only the server's ``Date``.

    A ``Date`` is good as long as the server's clock is not set back, and may lie after changes
    that the answer does not have: ask for somewhat earlier.
    """

    changed_since: str
    is_date: bool


class _WithoutQuery(logging.Filter):
    """Takes the query out of the addresses in an answer's headers as the connection logs them.

    A redirect of a login check repeats login and password there.
    """

    _address = re.compile(
        r"""(\(b'(?:content-location|link|location)',\ b(["'])(?:(?!\2)[^?])*\?)
            (?:\\.|(?!\2).)*""",
        re.IGNORECASE | re.VERBOSE,
    )

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = self._address.sub(r"\1…", str(record.msg))
        return True


logging.getLogger("httpcore2.http11").addFilter(_WithoutQuery())


def settings(base_url: str, key: str, login: str, timeout_s: float) -> dict[str, Any]:
    """Return what an HTTP client of the service is made with; raises BadInput for a bad URL."""
    try:
        url = httpx2.URL(base_url)
    except (httpx2.InvalidURL, UnicodeError):
        url = httpx2.URL()
    if url.scheme not in {"http", "https"} or not url.host:
        raise BadInput("the base URL reads https://host, or https://host/path")
    if url.query or url.fragment or url.userinfo:
        raise BadInput("the base URL holds neither credentials nor a query nor a fragment")
    return {
        "base_url": url,
        "auth": httpx2.BasicAuth(key, login),
        "timeout": timeout_s,
        "headers": {"User-Agent": f"masthead/{__version__}", "Accept": "application/json"},
        "follow_redirects": False,  # but by ``moved``
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none is kept
    }


def retry_policy(patience_s: float) -> dict[str, Any]:
    """Return when to ask again: as tenacity's ``Retrying`` and ``AsyncRetrying`` take it.

    After whatever raises ServiceUnreachable: at a growing and scattered distance, or when
    ``Retry-After`` says, as long as that is within ``patience_s`` of the first try (decisions,
    "Client: what is tried again").
    """
    growing = wait_random_exponential(FIRST_WAIT_S, LONGEST_WAIT_S)
    scattered = wait_random(0, FIRST_WAIT_S)

    def wait_s(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        asked_for = failure.retry_after_s if isinstance(failure, ServiceUnreachable) else None
        return growing(state) if asked_for is None else asked_for + scattered(state)

    return {
        "retry": retry_if_exception_type(ServiceUnreachable),
        "wait": wait_s,
        "stop": stop_before_delay(patience_s),
        "reraise": True,
    }


def built(http: httpx2.Client | httpx2.AsyncClient, request: Request[Any]) -> httpx2.Request:
    """Return the request as it is sent; raises BadInput where it cannot be.

    Its query, which can hold a password, travels but is not part of the request's URL: that one
    stands in logs, in exceptions and in whatever watches HTTP clients.
    """
    try:
        found = http.build_request(
            "GET", request.address or request.path, params=request.parameters or None
        )
    except (httpx2.InvalidURL, UnicodeError):
        raise BadInput(
            f"{request.path}: a parameter is too long, or no text that UTF-8 can write"
        ) from None
    found.extensions["target"] = found.url.raw_path
    found.url = found.url.copy_with(query=None)
    return found


def moved(request: Request[Result], response: httpx2.Response) -> Request[Result] | None:
    """Return the request to make instead where the answer says so, and None where it does not.

    That is one to the same host and with the same parameters: some services answer only one of
    ``/path`` and ``/path/``. Credentials go nowhere else, and no filter is lost.
    """
    if not response.has_redirect_location:
        return None
    place = _joined(response, response.headers["Location"])
    if place is None or place.params != _asked(response).params:
        return None
    return request._replace(address=str(place), parameters={})


def broken(request: Request[Any], error: httpx2.HTTPError) -> ServiceError:
    """Return the exception for an answer that did not come, or broke off."""
    reason = str(error) or type(error).__name__
    if _is_about_a_certificate(error):
        return ServiceError(request.path, None, f"its certificate is not to be trusted: {reason}")
    if isinstance(error, httpx2.TransportError):
        return ServiceUnreachable(request.path, None, f"no whole answer: {reason}")
    return UnexpectedAnswer(request.path, None, f"the answer cannot be unpacked: {reason}")


def refusal(request: Request[Any], response: httpx2.Response) -> ServiceError:
    """Return the exception for an answer that is not 200, of which the body was read."""
    status = response.status_code
    if response.has_redirect_location:
        return ServiceError(request.path, status, _elsewhere(response))
    message = _message(request, response)
    if status == HTTPStatus.GONE and request.path == CHANGES_PATH:
        return TooOld(request.path, status, message)
    if status in PASSING:
        return ServiceUnreachable(request.path, status, message, _retry_after_s(response.headers))
    return ServiceError(request.path, status, message)


def result_of(request: Request[Result], response: httpx2.Response) -> Result:
    """Return what was asked for; raises ServiceError where the answer is something else."""
    if response.status_code != HTTPStatus.OK:
        raise refusal(request, response)
    try:
        return request.read(_decoded(response))
    except (ValueError, RecursionError) as error:
        raise unexpected(request, error) from None


def page_of(request: Request[list[Result]], response: httpx2.Response) -> Page[Result]:
    """Return a page of a list and, from ``Link: <…>; rel="next"``, where the next one is.

    Raises ServiceError where the answer is something else, or the next page is elsewhere.
    """
    records = result_of(request, response)
    link = _next_in(response.headers.get("Link", ""))
    if link is None:
        return Page(records, None)
    place = _joined(response, link)
    if place is None:
        raise UnexpectedAnswer(request.path, 200, "the next page is at another host")
    if place.path.rstrip("/") == request.path.rstrip("/"):
        # The service may not know under which path a proxy in front of it serves it.
        place = _asked(response).copy_with(query=place.query)
    return Page(records, request._replace(address=str(place), parameters={}))


class Walk:
    """The pages of a list that were read, to tell where they come again.

    A page is known by the id of its first record. It is an error where two begin with the same one,
    or two are empty and lead on: whoever followed such links would do so for ever.
    """

    def __init__(self) -> None:
        self._begun: set[int | None] = set()

    def check(self, request: Request[list[Any]], page: Page[Any]) -> None:
        """Raise UnexpectedAnswer where there was such a page before, or there is no end of them."""
        if not page.records and not page.following:
            return
        first = page.records[0] if page.records else None
        begins = first and getattr(first, first.__struct_fields__[0])
        if begins in self._begun:
            fault = "the same page comes again: its links to the next one lead in a circle"
            raise UnexpectedAnswer(request.path, 200, fault)
        if len(self._begun) == _PAGES_MAX:
            fault = f"the list has more than {_PAGES_MAX:,} pages"
            raise UnexpectedAnswer(request.path, 200, fault)
        if page.following:
            self._begun.add(begins)


def _next_in(links: str) -> str | None:
    """Return the reference of the relation "next" in a ``Link`` header (RFC 8288 section 3)."""
    for link in _LINK.finditer(links):
        named = (found for found in _PARAMETER.finditer(link[2]) if found["name"].lower() == "rel")
        rel = next(named, None)
        if rel and "next" in (rel["quoted"] or rel["plain"] or "").lower().split():
            return link[1]
    return None


def through_of(request: Request[Any], headers: Mapping[str, str]) -> Through:
    """Return the time to ask for after this answer; raises UnexpectedAnswer where it has none."""
    if found := headers.get(THROUGH):
        return Through(found, is_date=False)
    if date := _date(headers.get("Date")):
        return Through(date.isoformat(), is_date=True)
    raise UnexpectedAnswer(request.path, 200, f"it has neither a header {THROUGH} nor a Date")


def unexpected(request: Request[Any], error: Exception) -> UnexpectedAnswer:
    """Return the exception for an answer that cannot be read."""
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return UnexpectedAnswer(request.path, 200, "the answer is not JSON")
    return UnexpectedAnswer(request.path, 200, str(error))


def _decoded(response: httpx2.Response) -> Any:
    try:
        return decoder.decode(response.content.decode("utf-8-sig"))
    except InvalidOperation:
        raise ValueError(NO_NUMBER) from None


def _asked(response: httpx2.Response) -> httpx2.URL:
    """The whole address that was asked, with its query."""
    return response.url.copy_with(raw_path=response.request.extensions["target"])


def _joined(response: httpx2.Response, reference: str) -> httpx2.URL | None:
    """Return what a reference in the answer means, None where that is another host."""
    try:
        found = _asked(response).join(reference)
    except (httpx2.InvalidURL, ValueError):
        return None
    return found if found.origin == response.url.origin else None


def _elsewhere(response: httpx2.Response) -> str:
    """Say where a redirect leads that is not followed, without its path and query."""
    try:
        place = response.url.join(response.headers["Location"])
    except (httpx2.InvalidURL, ValueError):
        return "it redirects to what is no address"
    if place.origin == response.url.origin:
        return "it redirects to another of its addresses; is the base URL right?"
    return (
        f"it redirects to {place.scheme}://{place.netloc.decode()}, which may be the right base URL"
    )


def _message(request: Request[Any], response: httpx2.Response) -> str:
    """Return what the body says was wrong, or else what the status says; nothing secret."""
    try:
        body = _decoded(response)
    except (ValueError, RecursionError):
        body = None
    said = body.get("error", body.get("message")) if isinstance(body, dict) else None
    message = said if isinstance(said, str) and said else response.reason_phrase
    for secret in (*request.secrets, *_credentials(response.request)):
        if secret:
            message = message.replace(secret, "…")
    return message[:_MESSAGE_CHARACTERS_MAX] or "it gives no reason"


def _credentials(request: httpx2.Request) -> list[str]:
    encoded = request.headers.get("Authorization", "").removeprefix("Basic ")
    try:
        return base64.b64decode(encoded).decode().split(":", 1)
    except (binascii.Error, UnicodeDecodeError):
        return []


def _is_about_a_certificate(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _date(text: str | None) -> datetime | None:
    """Return the moment of an HTTP date, None where it is none (RFC 9110 section 5.6.7)."""
    try:
        found = parsedate_to_datetime(text or "")
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110 section 10.2.3), None without a valid one.

    A date is held against the server's own, so that clocks need not agree.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _RETRY_AFTER_MAX_S)
    if (moment := _date(text)) is None:
        return None
    now = _date(headers.get("Date")) or datetime.now(UTC)
    return min(max(0.0, (moment - now).total_seconds()), _RETRY_AFTER_MAX_S)
