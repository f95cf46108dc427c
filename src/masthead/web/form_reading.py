"""Reading the form of a request, and answering in a thread when it is the request's turn."""

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import chain
from typing import NamedTuple
from urllib.parse import parse_qsl

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response

from masthead.web.middleware import address_of
from masthead.web.turns import BusyError, Turns
from masthead.web.uploads import read_multipart
from masthead.web.words import marked

FORM_BYTES_MAX = 256 * 1024
"""A form contains a few addresses and notes."""

FormValues = dict[str, str]
_FIELDS_MAX = 500
_AS_TYPED = ("password", "new_password", "password_again")
_NOT_POSSIBLE = marked("Not possible")


class FormReading(NamedTuple):
    """How forms are read.

    ``problem`` is the page that says what is wrong, ``too_large`` its sentence for a form that is
    larger than any.
    """

    problem: Callable[[Request, int, str, str], Response]
    too_large: str

    async def respond(
        self,
        request: Request,
        respond: Callable[[FormValues], Response],
        turns: Turns | None = None,
        refuse: Callable[[FormValues], Response] | None = None,
        bytes_max: int = FORM_BYTES_MAX,
    ) -> Response:
        """Read the form, then respond in a thread, since database calls may block.

        The last value of each field counts, without spaces at its ends; a password stays as typed.
        ``turns`` limits how many of these run at the same time; ``refuse`` responds to too many.
        Without turns, the application's state can limit them by ``threads``; then they wait.
        """
        body = bytearray()
        if request.method == "POST":
            async for chunk in request.stream():
                body += chunk
                if len(body) > bytes_max:
                    return await self._refused(request, 413, marked("Too much"), self.too_large)
        try:
            kind = request.headers.get("content-type", "")
            if kind.startswith("multipart/form-data"):
                sent = read_multipart(kind, bytes(body))
                pairs, request.state.files = sent.fields, sent.files
            else:
                pairs = parse_qsl(
                    body.decode(),
                    keep_blank_values=True,
                    max_num_fields=_FIELDS_MAX,
                    errors="strict",
                )
        except ValueError:
            said = marked("The form could not be read. Nothing was changed.")
            return await self._refused(request, 400, _NOT_POSSIBLE, said)
        if any("\0" in text for text in (*chain(*pairs), *request.query_params.values())):
            said = marked("Texts cannot contain NUL. Nothing was changed.")
            return await self._refused(request, 400, _NOT_POSSIBLE, said)
        form = {name: value if name in _AS_TYPED else value.strip() for name, value in pairs}
        if turns is None:
            threads: CapacityLimiter | None = getattr(request.app.state, "threads", None)
            return await to_thread.run_sync(respond, form, limiter=threads)
        address = address_of(request.scope, behind_proxy=request.app.state.behind_proxy)
        try:
            return await turns.run(request, address or "", partial(respond, form))
        except BusyError:
            assert refuse
            return await to_thread.run_sync(refuse, form)

    def _refused(self, request: Request, status: int, title: str, said: str) -> Awaitable[Response]:
        return to_thread.run_sync(self.problem, request, status, title, said)
