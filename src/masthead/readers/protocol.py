"""The HTTP protocol of the readers' pages: their limits, and their page as a refusal."""

from starlette.responses import Response

from masthead.http_server.request_checks import Limits, Refusal
from masthead.readers.problems import bare
from masthead.web.form_reading import FORM_BYTES_MAX
from masthead.web.forms import as_sentence
from masthead.web.protocol import PageProtocol
from masthead.web.words import marked

TOO_LARGE = marked("The form is larger than any form of these pages.")


class ReadersProtocol(PageProtocol):
    """The protocol with limits, for the application of the readers' pages."""

    limits = Limits(
        FORM_BYTES_MAX,
        too_large=Refusal(413, TOO_LARGE),
        unknown_method=Refusal(
            405, "These pages do not know this method.", {"Allow": "GET, HEAD, POST"}
        ),
    )

    def page_of(self, refusal: Refusal) -> Response:
        """Return the bare page that says why a request is refused."""
        return bare(None, refusal.status, "Not possible", as_sentence(refusal.sentence))
