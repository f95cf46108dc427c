"""The console's HTTP protocol: its limits, and its page as a refusal."""

from starlette.responses import Response

from masthead.console.forms import sentence
from masthead.console.problems import outside
from masthead.http_server.request_checks import Limits, Refusal
from masthead.web.protocol import PageProtocol
from masthead.web.uploads import UPLOAD_BYTES_MAX

TOO_LARGE = "The form is larger than any form of the console."


class ConsoleProtocol(PageProtocol):
    """The protocol with limits, for the console's application."""

    limits = Limits(
        UPLOAD_BYTES_MAX,  # The app reads less of a form without files, or of a stranger.
        too_large=Refusal(413, TOO_LARGE),
        unknown_method=Refusal(
            405, "The console does not know this method.", {"Allow": "GET, HEAD, POST"}
        ),
    )

    def page_of(self, refusal: Refusal) -> Response:
        """Return the console's page that says why a request is refused."""
        return outside(refusal.status, "Not possible", sentence(refusal.sentence))
