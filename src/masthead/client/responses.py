"""The common part of both clients: building HTTP requests, reading responses, retries, errors."""

import base64
import binascii
import json
import logging
import re
import ssl
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import InvalidOperation
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import Any, NamedTuple, TypeVar

import httpx2
from msgspec import Struct
from tenacity import (
    RetryCallState,
    retry_if_exception_type,
    stop_before_delay,
    wait_random,
    wait_random_exponential,
)

from masthead import __version__
from masthead.client.pages import Page
from masthead.client.requests import SINCE_PATHS, Request
from masthead.contract.decoding import NO_NUMBER, OddRecord, ReadsRecord, decoder, read_record
from masthead.errors import (
    BadInput,
    ServiceError,
    ServiceUnreachable,
    TooManyRequests,
    TooOld,
    UnexpectedResponse,
)

THROUGH = "Masthead-Changes-Through"
CHUNK_BYTES = 32_768
"""The size of the chunks in which a stream is read.

Larger chunks fragment the heap of the C library: while it read and discarded a snapshot of 260 MB,
the process grew to 105 MB with chunks of 262,144 bytes, and to 38 MB with this size.
"""

FIRST_WAIT_S, LONGEST_WAIT_S = 0.2, 10.0
RETRIED_STATUSES = {429, 502, 503, 504}
_PASSING = (ServiceUnreachable, TooManyRequests)

_OF_THE_BODY = {b"content-encoding", b"content-length", b"transfer-encoding"}
_MESSAGE_CHARACTERS_MAX = 500
_RETRY_AFTER_MAX_S = 2.0**31
"""Greater numbers are lowered to this one (RFC 9111 section 1.2.2)."""

_LINK = re.compile(r"""<([^<>]*)>([^,"]*(?:"(?:\\.|[^"\\])*"[^,"]*)*)""")
_PARAMETER = re.compile(
    r"""
    ;\s*(?P<name>[^\s=;"]+)\s*=\s*(?:"(?P<quoted>(?:\\.|[^"\\])*)"|(?P<plain>[^\s;"]*))
    """,
    re.VERBOSE,
)

_log = logging.getLogger("masthead.client")

Result = TypeVar("Result")
Shape = TypeVar("Shape", bound=Struct)

TellsOdd = Callable[[str, OddRecord], None]
"""A function that is called with the path of a request and an odd record in its response."""


class Through(NamedTuple):
    """The next ``changed_since``, and whether it is only the server's ``Date``.

    The response can lack changes that are earlier than its ``Date``, and the server's clock can be
    set back, so request a somewhat earlier time.
    """

    changed_since: str
    is_date: bool


class _WithoutQuery(logging.Filter):
    """Removes the query from URLs in response headers, which httpcore2 logs.

    A redirect of a login check repeats login and password in its query.
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


def client_options(base_url: str, key: str, login: str, timeout_s: float) -> dict[str, Any]:
    """Return the keyword arguments for httpx2.Client; raises BadInput for an invalid URL."""
    try:
        url = httpx2.URL(base_url)
    except (httpx2.InvalidURL, UnicodeError):
        url = httpx2.URL()
    if url.scheme not in {"http", "https"} or not _is_host(url.raw_host):
        raise BadInput("the base URL reads https://host, or https://host/path")
    if url.query or url.fragment or url.userinfo:
        raise BadInput("the base URL holds neither credentials nor a query nor a fragment")
    return {
        "base_url": url,
        "auth": httpx2.BasicAuth(key, login),
        "timeout": timeout_s,
        "headers": {"User-Agent": f"masthead/{__version__}", "Accept": "application/json"},
        "follow_redirects": False,  # see ``redirected``
        "cookies": CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # keeps none
    }


def _is_host(name: bytes) -> bool:
    """Return whether a name can be looked up: none of its parts is empty or too long."""
    try:
        return bool(name.decode("ascii").encode("idna"))
    except UnicodeError:
        return False


def retry_policy(patience_s: float) -> dict[str, Any]:
    """Return the keyword arguments for tenacity's ``Retrying`` and ``AsyncRetrying``.

    After ServiceUnreachable and TooManyRequests, a request is retried with exponential backoff and
    jitter, or after ``Retry-After``, up to ``patience_s`` seconds after the first attempt
    (rules, "Client: what is tried again"). Each retry is logged.
    """
    backoff = wait_random_exponential(FIRST_WAIT_S, LONGEST_WAIT_S)
    jitter = wait_random(0, FIRST_WAIT_S)

    def wait_s(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        wanted_s = failure.retry_after_s if isinstance(failure, _PASSING) else None
        return backoff(state) if wanted_s is None else wanted_s + jitter(state)

    return {
        "retry": retry_if_exception_type(_PASSING),
        "wait": wait_s,
        "before_sleep": _log_retry,
        "stop": stop_before_delay(patience_s),
        "reraise": True,
    }


def _log_retry(state: RetryCallState) -> None:
    failure = state.outcome.exception() if state.outcome else None
    _log.warning("%s; the next attempt is in %.1f s", failure, state.upcoming_sleep)


def build_request(
    http: httpx2.Client | httpx2.AsyncClient, request: Request[Any], *, has_json_body: bool
) -> httpx2.Request:
    """Return the HTTP request; raises BadInput for parameters that a URL cannot hold.

    With ``has_json_body``, the parameters are not in the query but in a JSON body.
    The query, which can hold a password, is only in the request target, and not in the request's
    URL, which appears in logs, exceptions and traces.
    """
    try:
        built = http.build_request(
            "GET",
            request.url or request.path,
            params=None if request.in_body or has_json_body else request.parameters or None,
            data=request.parameters if request.in_body else None,
            json=request.parameters if has_json_body and request.parameters else None,
        )
    except (httpx2.InvalidURL, UnicodeError):
        raise BadInput(
            f"{request.path}: a parameter is too long, or no text that UTF-8 can write"
        ) from None
    built.extensions["target"] = built.url.raw_path
    built.url = built.url.copy_with(query=None)
    return built


def redirected(request: Request[Result], response: httpx2.Response) -> Request[Result] | None:
    """Return the request that a redirect asks for, None if it must not be followed.

    The client follows a redirect to the same origin with the same parameters, because some services
    know only one of ``/path`` and ``/path/``. So it sends credentials to no other origin, and loses
    no filter.
    """
    if not response.has_redirect_location:
        return None
    place = _resolved(response, response.headers["Location"])
    if place is None or place.params != _full_url(response).params:
        return None
    parameters = request.parameters if response.request.headers.get("Content-Type") else {}
    return request._replace(url=str(place), parameters=parameters)


def connection_error(request: Request[Any], error: httpx2.HTTPError) -> ServiceError:
    """Return the exception for a missing or incomplete response."""
    reason = str(error) or type(error).__name__
    if _is_about_a_certificate(error):
        return ServiceError(request.path, None, f"its certificate is not to be trusted: {reason}")
    if isinstance(error, httpx2.TransportError):
        return ServiceUnreachable(request.path, None, f"no complete response: {reason}")
    return UnexpectedResponse(request.path, None, f"the response cannot be decompressed: {reason}")


def status_error(request: Request[Any], response: httpx2.Response) -> ServiceError:
    """Return the exception for a response that is not 200; its body has been read."""
    status = response.status_code
    if response.has_redirect_location:
        return ServiceError(request.path, status, _redirect_message(response))
    message = _message(request, response)
    if status == HTTPStatus.GONE and request.path in SINCE_PATHS:
        return TooOld(request.path, status, message)
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return TooManyRequests(request.path, status, message, retry_after_s(response.headers))
    if status in RETRIED_STATUSES:
        return ServiceUnreachable(request.path, status, message, retry_after_s(response.headers))
    return ServiceError(request.path, status, message)


def read_whole(response: httpx2.Response, content: bytes) -> httpx2.Response:
    """Return the response with its whole content, which has been read and decompressed."""
    return httpx2.Response(
        response.status_code,
        headers=[pair for pair in response.headers.raw if pair[0].lower() not in _OF_THE_BODY],
        content=content,
        request=response.request,
        extensions=response.extensions,
    )


def reading(request: Request[Any], tell: TellsOdd | None) -> ReadsRecord:
    """Return the function that reads a record of a list; with ``tell``, it omits odd ones."""
    if tell is None:
        return read_record

    def read(shape: type[Shape], record: Any) -> Shape | None:
        try:
            return read_record(shape, record)
        except OddRecord as odd:
            tell(request.path, odd)
            return None

    return read


def result_of(
    request: Request[Result], response: httpx2.Response, tell: TellsOdd | None = None
) -> Result:
    """Return the result of a request; raises ServiceError for any other response.

    With ``tell``, odd records of a list are omitted. If another response has an odd record, this is
    the cause of the exception.
    """
    if response.status_code != HTTPStatus.OK:
        raise status_error(request, response)
    try:
        body = _decoded(response)
        if request.read_each:
            return request.read_each(body, reading(request, tell))
        return request.read(body)
    except OddRecord as odd:
        raise decoding_error(request, odd) from odd
    except (ValueError, RecursionError) as error:
        raise decoding_error(request, error) from None


def page_of(
    request: Request[list[Result]], response: httpx2.Response, tell: TellsOdd | None = None
) -> Page[Result]:
    """Return a page of a list, with the request for the next one from ``Link: <…>; rel="next"``.

    Raises ServiceError for any other response, and for a next page at another origin.
    """
    omitted: list[OddRecord] = []

    def omit(path: str, odd: OddRecord) -> None:
        assert tell is not None
        omitted.append(odd)
        tell(path, odd)

    records = result_of(request, response, omit if tell else None)
    link = _next_in(response.headers.get("Link", ""))
    if link is None:
        return Page(records, None)
    place = _resolved(response, link)
    if place is None:
        raise UnexpectedResponse(request.path, 200, "the next page is at another host")
    if place.path.rstrip("/") == request.path.rstrip("/"):
        # The service may not know the path prefix of a proxy in front of it.
        place = _full_url(response).copy_with(query=place.query)
    return Page(records, request._replace(url=str(place), parameters={}), bool(omitted))


def _next_in(links: str) -> str | None:
    """Return the target of the relation "next" in a ``Link`` header (RFC 8288 section 3)."""
    for link in _LINK.finditer(links):
        named = (found for found in _PARAMETER.finditer(link[2]) if found["name"].lower() == "rel")
        rel = next(named, None)
        if rel and "next" in (rel["quoted"] or rel["plain"] or "").lower().split():
            return link[1]
    return None


def through_of(request: Request[Any], headers: Mapping[str, str]) -> Through:
    """Return the next ``changed_since``; raises UnexpectedResponse if the headers have none."""
    if found := headers.get(THROUGH):
        return Through(found, is_date=False)
    if date := _date(headers.get("Date")):
        return Through(date.isoformat(), is_date=True)
    raise UnexpectedResponse(request.path, 200, f"it has neither a header {THROUGH} nor a Date")


def decoding_error(request: Request[Any], error: Exception) -> UnexpectedResponse:
    """Return the exception for a response that cannot be decoded."""
    if isinstance(error, json.JSONDecodeError | UnicodeDecodeError | RecursionError):
        return UnexpectedResponse(request.path, 200, "the response is not JSON")
    return UnexpectedResponse(request.path, 200, str(error))


def _decoded(response: httpx2.Response) -> Any:
    try:
        return decoder.decode(response.content.decode("utf-8-sig"))
    except InvalidOperation:
        raise ValueError(NO_NUMBER) from None


def _full_url(response: httpx2.Response) -> httpx2.URL:
    """Return the URL of the request, with its query."""
    return response.url.copy_with(raw_path=response.request.extensions["target"])


def _place_of(response: httpx2.Response, reference: str) -> tuple[httpx2.URL, bool] | None:
    """Return the URL of a reference in a response, and whether its origin is the response's.

    Returns None if it is not a URL, or a URL without an origin, such as "mailto:x".
    """
    try:
        found = _full_url(response).join(reference)
        is_own = found.origin == response.url.origin
    except (httpx2.InvalidURL, ValueError):
        return None
    return found, is_own


def _resolved(response: httpx2.Response, reference: str) -> httpx2.URL | None:
    """Return the URL of a reference in a response, None if it has another origin."""
    place, is_own = _place_of(response, reference) or (None, False)
    return place if is_own else None


def _redirect_message(response: httpx2.Response) -> str:
    """Return the message for a redirect that is not followed; it shows no path and no query."""
    place, is_own = _place_of(response, response.headers["Location"]) or (None, False)
    if place is None:
        return "it redirects to something that is not an address"
    if is_own:
        return "it redirects to another of its addresses; is the base URL right?"
    return (
        f"it redirects to {place.scheme}://{place.netloc.decode()}, which may be the right base URL"
    )


def _message(request: Request[Any], response: httpx2.Response) -> str:
    """Return the message of an error response, else its reason phrase, without secrets."""
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
    """Return the time of an HTTP date, None if it is invalid (RFC 9110 section 5.6.7)."""
    try:
        found = parsedate_to_datetime(text or "")
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of ``Retry-After`` (RFC 9110 section 10.2.3), None without a valid one.

    An HTTP date is compared with the server's ``Date``, so clocks may differ.
    """
    text = headers.get("Retry-After", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text), _RETRY_AFTER_MAX_S)
    if (moment := _date(text)) is None:
        return None
    now = _date(headers.get("Date")) or datetime.now(UTC)
    return min(max(0.0, (moment - now).total_seconds()), _RETRY_AFTER_MAX_S)
