"""A request as the pages receive it, and that each of its forms is saved once."""

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import msgspec
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from masthead.books import Books
from masthead.contract.kinds import BIGGEST_INTEGER
from masthead.errors import MastheadError, NotFound
from masthead.store import Connection, Store, audit, saved_forms
from masthead.store.saved_forms import SavedForm
from masthead.web import cookies
from masthead.web.cached import cached

ONCE_BYTES = 16
"""Random bytes in the one-time value of a form."""


class WebRequest:
    """A request with its form and the account that it is for.

    ``form`` has the last value of each posted field, without spaces at its ends; ``query`` has
    the same for the query string; ``ids`` has the parts of the path that the page names.
    """

    def __init__(
        self, request: Request, store: Store, account_id: int, form: Mapping[str, str]
    ) -> None:
        self.http = request
        self.store = store
        self.account_id = account_id
        self.form = form
        self.query = {name: value.strip() for name, value in request.query_params.items()}
        self.ids = request.path_params

    @property
    def who(self) -> str:
        """Who sends the form, as part of what identifies it; '' if its session is enough."""
        return ""

    def actor(self, what: str) -> audit.Actor:
        """Return the actor for the audit log; ``what`` has no personal data except ids."""
        raise NotImplementedError

    @property
    def reader_id(self) -> int | None:
        """The reader to whose records the database limits the request; None on the console."""
        return None

    @property
    def books(self) -> Books:
        """The books of the account, for reading, with the timeout of a request."""
        return Books(self.store, self.account_id, has_time_limit=True, reader_id=self.reader_id)

    def books_for(self, what: str, then: str = "") -> Books:
        """Return the books for changes by the :meth:`actor` of this request.

        ``then`` is the path of the page that follows the change. With it, the form is saved once:
        sent again, it leads to that page and changes nothing (decisions, "A form is saved once").
        """
        form = SavedForm(self._digest, then) if then and self._digest else None
        return Books(
            self.store,
            self.account_id,
            self.actor(what),
            has_time_limit=True,
            form=form,
            reader_id=self.reader_id,
        )

    def path_after(self) -> str | None:
        """Return the path to which saving this form led; None if it was not saved."""
        if not self._digest:
            return None
        with self.reading() as connection:
            return saved_forms.path_after(connection, self.account_id, self._digest)

    def saved_once(self, respond: Callable[[], Response], said: str) -> Response:
        """Return the page's response; for a form that was saved before, redirect as it did then.

        ``said`` is the message that the page shows after such a redirect.
        """
        try:
            response = respond()
        except MastheadError:
            path = self.path_after()
            if path is None:
                raise
        else:
            path = self.path_after() if response.status_code >= 400 else None
            if path is None:
                return response
        return self.go(path, said)

    @cached
    def _digest(self) -> str:
        """What identifies the form and its input; '' if the form has no one-time value."""
        if not self.form.get("once"):
            return ""
        typed = {name: text for name, text in self.form.items() if text and name != "form_token"}
        sent = msgspec.json.encode((self.http.url.path + self.who, sorted(typed.items())))
        return hashlib.sha256(sent).hexdigest()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a snapshot for what is not of the books: the feed, the partners and the log."""
        with self.store.reader() as connection:
            self._speak(connection)
            with connection.read_snapshot():
                yield connection

    def _speak(self, connection: Connection) -> None:
        """Limit a connection to what the request may see."""
        connection.set_tenant(self.account_id)

    def go(self, path: str, said: str = "") -> Response:
        """Return a redirect to a page, which then shows the message of the change."""
        response = RedirectResponse(path, 303)
        if said:
            cookies.say(self.http, response, said)
        return response


def check_id(request: Request) -> None:
    """Raise NotFound if the path has an id that no record can have."""
    if request.path_params.get("id", 0) > BIGGEST_INTEGER:
        raise NotFound("there is no such id: ids end at 2^63 - 1")
