"""The HTTP protocol of pages: the limits of ``masthead serve``, and pages as refusals."""

from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

from starlette.responses import Response

from masthead.http_server.client_address import client_address
from masthead.http_server.protocol import LimitedProtocol
from masthead.http_server.request_checks import Refusal
from masthead.log import get_logger

_log = get_logger()


class PageProtocol(LimitedProtocol):
    """The protocol with limits, for an application of pages; subclasses have the limits."""

    app: Any
    # No browser closes its side and waits: who has closed it has gone, and leaves its queue.
    waits_for_half_closed = False

    def page_of(self, refusal: Refusal) -> Response:
        """Return the page that says why a request is refused."""
        raise NotImplementedError

    def refusal_response(self, refusal: Refusal) -> Response:
        """Return the refusal as a page."""
        response = self.page_of(refusal)
        response.headers.update({**self.app.state.headers, **refusal.headers})
        return response

    def log_refusal(
        self, refusal: Refusal, method: str | None, begun_ns: int, headers: Mapping[bytes, bytes]
    ) -> None:
        """Log the refusal like a page."""
        _log.info(
            "page",
            method=method,
            path=None,
            status=refusal.status,
            duration_ms=round((perf_counter_ns() - begun_ns) / 1_000_000, 1),
            client=client_address(self.client, headers, behind_proxy=self.app.state.behind_proxy),
        )
