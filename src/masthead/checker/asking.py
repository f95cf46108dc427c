"""Sends requests to the checked service, and returns its responses unchanged.

:class:`masthead.Client` is lenient, follows redirects and returns records; a check must see the
original response. So this module sends single requests at a limited rate and does not decode them.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Self
from urllib.parse import quote, urlencode

import httpx2
from tenacity import Retrying, retry_if_exception

from masthead.checker.findings import NotTried
from masthead.checker.repeating import MadeUp, Shown, as_body, curl
from masthead.client import limits, responses
from masthead.client.requests import Request
from masthead.contract.operations import OPERATIONS
from masthead.errors import ServiceUnreachable

REQUESTS_MAX = 600
"""The maximum number of requests in a run."""

RESPONSE_BYTES_MAX = 8 * 1024 * 1024
"""The maximum number of bytes read from a response."""

FEED_BYTES_MAX = 128 * 1024 * 1024
"""The maximum number of bytes read from all responses of the feed together."""

_FEED_PATH = OPERATIONS["changes"].path
_TOO_MANY = 429
_PATIENCE_S = 60.0
_TIMEOUT_S = 30.0
_WHOLE_S_MAX = 120.0
"""The maximum duration of a response, including the feed's."""


@dataclass(frozen=True)
class Asking:
    """How a request differs from a plain GET with the account's credentials.

    ``credentials`` replace the account's; () means none. ``content`` is a body. ``query`` is
    sent unchanged in place of the parameters. With ``in_body``, the parameters are a JSON body.
    """

    method: str = "GET"
    credentials: tuple[str, ...] | None = None
    content: bytes | None = None
    content_type: str = "application/json"
    query: str | None = None
    in_body: bool = False


@dataclass(frozen=True)
class Response:
    """A response; ``is_whole`` is False if its body was too long to be read completely."""

    request: str
    status: int
    headers: Mapping[str, str]
    content: bytes
    is_whole: bool


class Asker:
    """Sends at most ``rate`` requests a second, and at most :data:`REQUESTS_MAX` in all.

    Raises BadInput for an invalid URL. ``wait`` is called with the seconds to wait. ``repeats`` has
    the last request of each method and path as a line of a shell; the line has ids of records only
    with ``show_ids``, and then ``source_of`` names the record of a person's value.
    """

    def __init__(
        self,
        base_url: str,
        key: str,
        login: str,
        rate: float,
        wait: Callable[[float], None] = time.sleep,
        *,
        show_ids: bool = False,
    ) -> None:
        options = responses.client_options(base_url, key, login, _TIMEOUT_S)
        self._http = httpx2.Client(**options)
        limits.keep_time(self._http)
        self._credentials = (key, login)
        self._retries = responses.retry_policy(_PATIENCE_S) | {
            "retry": retry_if_exception(_has_status),
            "sleep": wait,
        }
        self._interval_s = 1 / rate
        self._wait = wait
        self._next_at = time.monotonic()
        self._clock: tuple[datetime, float] | None = None
        self._feed_bytes_left = FEED_BYTES_MAX
        self.count = 0
        self._base_url = base_url.rstrip("/")
        self._show_ids = show_ids
        self.source_of: Callable[[str, str], str] = lambda name, _value: name
        self.repeats: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def ask(
        self,
        path: str,
        parameters: Mapping[str, str] | None = None,
        ids: Mapping[str, str] | None = None,
        asking: Asking | None = None,
    ) -> Response:
        """Return the response to one request.

        ``ids`` fill the placeholders of the path. 429, 502, 503 and 504 are retried, after
        ``Retry-After`` if the response has it, and returned if they persist. Raises
        ServiceUnreachable if there is no complete response. Raises NotTried for too many requests:
        if this run has sent too many, or a 429 persists (rules, "Checker: how politely it asks").
        """
        asking = asking or Asking()
        request = self._request(path, parameters or {}, ids or {}, asking)
        self.repeats[f"{asking.method} {path}"] = self.line(
            path, parameters or {}, ids or {}, asking
        )
        credentials = self._credentials if asking.credentials is None else asking.credentials
        auth = httpx2.BasicAuth(*credentials) if credentials else None
        last: list[Response] = []

        def send() -> Response:
            last.clear()
            self._keep_the_rate()
            response = self._send(request, f"{asking.method} {path}", auth)
            last.append(response)
            if response.status in responses.RETRIED_STATUSES:
                wanted_s = responses.retry_after_s(response.headers)
                raise ServiceUnreachable(path, response.status, "it asks for patience", wanted_s)
            return response

        try:
            return Retrying(**self._retries)(send)
        except ServiceUnreachable:
            if not last:
                raise
            if last[0].status == _TOO_MANY:
                text = f"{last[0].request} is answered with 429, after all retries"
                raise NotTried(text) from None
            return last[0]

    def line(
        self, path: str, parameters: Mapping[str, str], ids: Mapping[str, str], asking: Asking
    ) -> str:
        """Return a request as a line of a shell."""
        shown = Shown(self.source_of if self._show_ids else None)
        filled = path.format_map(_Placeholders({k: shown.escaped(k, v) for k, v in ids.items()}))
        query = "&".join(f"{name}={shown.escaped(name, v)}" for name, v in parameters.items())
        if asking.query is not None:
            query = asking.query if isinstance(asking.query, MadeUp) else "{query of the link}"
        body = (asking.content or b"").decode()
        if asking.in_body:
            body, query = as_body({k: shown.value(k, v) for k, v in parameters.items()}), ""
        return curl(
            f"{self._base_url}{filled}{'?' if query else ''}{query}",
            asking.method,
            self._credentials if asking.credentials is None else asking.credentials,
            self._credentials,
            body,
            asking.content_type,
        )

    def now(self) -> datetime:
        """Return the service's time, from the ``Date`` of its first response, or this machine's."""
        if self._clock is None:
            return datetime.now(UTC)
        at, then_s = self._clock
        return at + timedelta(seconds=time.monotonic() - then_s)

    def _request(
        self, path: str, parameters: Mapping[str, str], ids: Mapping[str, str], asking: Asking
    ) -> httpx2.Request:
        filled = path.format(**{name: quote(value, safe="") for name, value in ids.items()})
        content = as_body(parameters).encode() if asking.in_body else asking.content
        headers = {"Content-Type": asking.content_type} if content is not None else {}
        request = self._http.build_request(asking.method, filled, content=content, headers=headers)
        query = asking.query
        if query is None:
            query = "" if asking.in_body else urlencode(parameters, quote_via=quote)
        target = request.url.raw_path
        # Not in the URL, which appears in logs: the query can contain a login.
        request.extensions["target"] = target + b"?" + query.encode() if query else target
        return request

    def _send(self, request: httpx2.Request, label: str, auth: httpx2.Auth | None) -> Response:
        path = label.partition(" ")[2]
        is_feed = path == _FEED_PATH
        bytes_max = (
            min(RESPONSE_BYTES_MAX, self._feed_bytes_left) if is_feed else RESPONSE_BYTES_MAX
        )
        try:
            with limits.within(_WHOLE_S_MAX):
                response = self._http.send(request, stream=True, auth=auth)
                try:
                    content, is_whole = _read(response, bytes_max)
                finally:
                    response.close()
        except httpx2.HTTPError as error:
            raise responses.connection_error(Request(path, {}, _unread), error) from None
        if is_feed:
            self._feed_bytes_left -= len(content)
        if self._clock is None:
            self._clock = _clock_of(response)
        return Response(label, response.status_code, response.headers, content, is_whole)

    def _keep_the_rate(self) -> None:
        if self.count == REQUESTS_MAX:
            raise NotTried(f"{REQUESTS_MAX} requests were made, which is the most of one run")
        self.count += 1
        now = time.monotonic()
        if self._next_at > now:
            self._wait(self._next_at - now)
        self._next_at = max(now, self._next_at) + self._interval_s


class _Placeholders(dict[str, str]):
    """The ids of a path; a placeholder without an id stays as it is."""

    def __missing__(self, key: str) -> str:
        return f"{{{key}}}"


def _has_status(error: BaseException) -> bool:
    """Tell whether the status calls for a retry; a failed connection is not retried."""
    return isinstance(error, ServiceUnreachable) and error.status is not None


def _unread(body: object) -> object:
    return body


def _read(response: httpx2.Response, bytes_max: int) -> tuple[bytes, bool]:
    pieces, count = [], 0
    for piece in response.iter_bytes(responses.CHUNK_BYTES):
        if count + len(piece) > bytes_max:
            pieces.append(piece[: bytes_max - count])
            return b"".join(pieces), False
        pieces.append(piece)
        count += len(piece)
    return b"".join(pieces), True


def _clock_of(response: httpx2.Response) -> tuple[datetime, float] | None:
    try:
        date = parsedate_to_datetime(response.headers.get("Date", ""))
    except ValueError:
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)), time.monotonic()
