"""The console's HTTP protocol: the limits of ``masthead serve``, and pages as refusals."""

from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

from starlette.responses import Response

from masthead.console.forms import sentence
from masthead.console.problems import outside
from masthead.console.uploads import UPLOAD_BYTES_MAX
from masthead.http_server.client_address import client_address
from masthead.http_server.protocol import LimitedProtocol
from masthead.http_server.request_checks import Limits, Refusal
from masthead.log import get_logger

__all__ = ["FORM_BYTES_MAX", "TOO_LARGE", "ConsoleProtocol"]

FORM_BYTES_MAX = 256 * 1024
"""A form contains a few addresses and notes."""

TOO_LARGE = "The form is larger than any form of the console."
_log = get_logger()


class ConsoleProtocol(LimitedProtocol):
    """The protocol with limits, for the console's application."""

    app: Any
    limits = Limits(
        UPLOAD_BYTES_MAX,  # The app reads less of a form without files, or of a stranger.
        too_large=Refusal(413, TOO_LARGE),
        unknown_method=Refusal(
            405, "The console does not know this method.", {"Allow": "GET, HEAD, POST"}
        ),
    )
    # No browser closes its side and waits: who has closed it has gone, and leaves its queue.
    waits_for_half_closed = False

    def refusal_response(self, refusal: Refusal) -> Response:
        """Return the refusal as a page."""
        response = outside(refusal.status, "Not possible", sentence(refusal.sentence))
        response.headers.update({**self.app.state.headers, **refusal.headers})
        return response

    def log_refusal(
        self, refusal: Refusal, method: str | None, begun_ns: int, headers: Mapping[bytes, bytes]
    ) -> None:
        """Log the refusal like a page."""
        behind_proxy = self.app.state.cookie.is_secure
        _log.info(
            "page",
            method=method,
            path=None,
            status=refusal.status,
            duration_ms=round((perf_counter_ns() - begun_ns) / 1_000_000, 1),
            client=client_address(self.client, headers, behind_proxy=behind_proxy),
        )
