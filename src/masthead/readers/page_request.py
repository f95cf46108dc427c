"""A reader's request as the pages receive it, and the responses that pages return."""

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from masthead.books import Books, reader_home
from masthead.books.reader_home import Home
from masthead.circulation.page_settings import PageSettings
from masthead.documents.prepared import Prepared
from masthead.errors import MastheadError
from masthead.readers import languages
from masthead.readers.forms import Form
from masthead.readers.site import Site
from masthead.readers.templating import template, words_of
from masthead.readers.words import Words
from masthead.store import Connection, Store, audit, reader_sessions
from masthead.web import cookies
from masthead.web.cached import cached
from masthead.web.forgery import form_token
from masthead.web.kept_input import OF_PAGE
from masthead.web.page_request import ONCE_BYTES, WebRequest

Offered = Callable[[PageSettings], bool]
"""Whether the publisher offers a page."""


class PageRequest(WebRequest):
    """A request with its form, its site, and the reader who is signed in.

    ``reader`` is the id of the subscriber, None if nobody is signed in. ``session`` is the text of
    the session's cookie.
    """

    def __init__(
        self,
        request: Request,
        store: Store,
        site: Site,
        form: Mapping[str, str],
        *,
        reader: int | None = None,
        session: str = "",
    ) -> None:
        super().__init__(request, store, site.account_id, form)
        self.site = site
        self.settings = site.settings
        self.reader = reader
        self.session = session
        self.kept: Mapping[str, str] = {}
        """Input of the page's form that was kept while its reader signed in again."""
        self._renewed = ""
        self._snapshot: ExitStack | None = None
        self._books: Books | None = None

    @property
    def subscriber_id(self) -> int:
        """The id of the reader who is signed in. Pages that need a sign-in have one."""
        assert self.reader is not None
        return self.reader

    @property
    def reader_id(self) -> int | None:
        """The reader who is signed in; None before a sign-in."""
        return self.reader

    @property
    def books(self) -> Books:
        """The books of the account, for reading; within :meth:`one_snapshot`, from that one."""
        if self._snapshot is None:
            return super().books
        if self._books is None:
            self._books = self._snapshot.enter_context(super().books.snapshot())
        return self._books

    @cached
    def home(self) -> Home:
        """What the reader has, as the first page shows it. Raises NotFound without a reader."""
        return reader_home.home(self.books, self.subscriber_id)

    @contextmanager
    def one_snapshot(self) -> Iterator[None]:
        """Let the block read the books from one snapshot, which begins when they are first read."""
        with ExitStack() as stack:
            self._snapshot = stack
            try:
                yield
            finally:
                self._snapshot = self._books = None

    def pdf(self, name: str, document: Prepared) -> Response:
        """Send a document as PDF, under a name for the reader's file, without ``.pdf``.

        The snapshot of :meth:`one_snapshot` ends before the PDF is made, so that no request waits
        for a connection meanwhile (decisions, "A PDF without a connection").
        """
        if self._snapshot is not None:
            self._snapshot.close()
            self._snapshot = self._books = None
        return Response(
            document.pdf(),
            media_type="application/pdf",
            headers={"Content-Disposition": f'attachment; filename="{name}.pdf"'},
        )

    def books_for(self, what: str, then: str = "") -> Books:
        """Return the books for changes; mails that confirm them have the language of the page."""
        books = super().books_for(what, then)
        books.language = self.language
        return books

    def _speak(self, connection: Connection) -> None:
        super()._speak(connection)
        connection.set_reader(self.reader)

    @property
    def who(self) -> str:
        """The reader, as part of what identifies a form: another reader's form is another one."""
        return f" reader {self.reader}"

    @cached
    def languages(self) -> tuple[str, ...]:
        """The languages that the publisher offers, the first one first."""
        return languages.offered(self.settings.languages)

    @cached
    def language(self) -> str:
        """The language of the page, such as ``de``."""
        return languages.chosen(self.http, self.languages)

    @cached
    def words(self) -> Words:
        """The words of the page's language."""
        return words_of(self.language)

    def gettext(self, message: str, **values: object) -> str:
        """Return a message in the language, with the values in place of ``%(name)s``."""
        return self.words.gettext(message, **values)

    def new_form(self, values: Mapping[str, str] | None = None) -> Form:
        """Return a form with values, or with the input; its errors are in the language.

        Input that was kept takes the place of the values.
        """
        return Form(self.form if values is None else self.kept or values, self.words)

    @property
    def keeps_books(self) -> bool:
        """Whether the account's books are kept here; if not, pages that change are absent."""
        return self.site.keeps_books

    def actor(self, what: str) -> audit.Actor:
        """Return the actor for the audit log; ``what`` has no personal data except ids."""
        return audit.Actor(f"reader {self.subscriber_id}", f"readers: {what}")

    def at(self, path: str = "") -> str:
        """Return the path of a page by its path within the site: ``/harbor/address``."""
        return self.site.at(path)

    def url(self, path: str = "") -> str:
        """Return the whole address of a page, for mails and other sites."""
        return f"{self.http.app.state.base_url}{self.at(path)}"

    def stay_signed_in(self) -> None:
        """Begin another session for this reader, whose login has changed, with the next response.

        The sessions of all other browsers end by the change itself.
        """
        reader_sessions.end(self.store, self.session)
        with self.store.reader() as connection:
            self._speak(connection)
            mark = reader_sessions.mark_of(connection, self.account_id, self.subscriber_id)
        if mark is not None:
            self._renewed = reader_sessions.begin(
                self.store, self.account_id, self.subscriber_id, mark
            )

    def page(self, name: str, status: int = 200, /, **values: Any) -> Response:
        """Return the page of a template, with the values that every page shows.

        A form whose input was kept is still the one that was sent: it can be saved once.
        """
        if isinstance(values.get("form"), Form):
            values.update({name: text for name, text in self.kept.items() if name in OF_PAGE})
        response = HTMLResponse(
            template(name, self.language).render(
                request=self,
                settings=self.settings,
                language=self.language,
                languages=[(code, languages.own_name(code)) for code in self.languages],
                at=self.at,
                query=self._query,
                is_signed_in=self.reader is not None,
                form_token=form_token(self.session),
                said=cookies.said_of(self.http),
                tabs=self._tabs,
                **{
                    "path": self.http.url.path,
                    "once": secrets.token_urlsafe(ONCE_BYTES),
                    **values,
                },
            ),
            status,
        )
        cookies.forget_message(self.http, response, self.site.root)
        return self._with_session(response)

    def go(self, path: str, said: str = "") -> Response:
        """Return a redirect to a page of the site, which then shows the message of the change.

        ``path`` is the whole path, as :meth:`at` returns it.
        """
        response = RedirectResponse(path, 303)
        if said:
            cookies.say(self.http, response, said, self.site.root)
        return self._with_session(response)

    @property
    def _query(self) -> str:
        """The query string with what follows it, for the links to other languages."""
        found = self.http.url.remove_query_params("language").query
        return f"{found}&" if found else ""

    def _with_session(self, response: Response) -> Response:
        if self._renewed:
            self.site.session_cookie.write(response, self._renewed)
        return response

    @property
    def _tabs(self) -> list[tuple[str, str]]:
        from masthead.readers.pages import tabs  # noqa: PLC0415 - pages import this module

        return tabs(self) if self.reader is not None else []


class Page(NamedTuple):
    """A page: its path within the site, the function that responds, and when it is there.

    ``is_offered`` says whether the publisher offers it; what is not offered is not found.
    ``is_open``: it is shown without a sign-in. ``writes``: it changes data, so the account's books
    must be here. ``is_sign_in``: it checks a login, which takes long.
    """

    method: str
    path: str
    respond: Callable[[PageRequest], Response]
    is_offered: Offered
    is_open: bool = False
    writes: bool = False
    is_sign_in: bool = False


def always(_: PageSettings) -> bool:
    """Return True: the page is always offered."""
    return True


def get(
    path: str, respond: Callable[[PageRequest], Response], is_offered: Offered = always
) -> Page:
    """Return a page that only shows data of the reader who is signed in."""
    return Page("GET", path, respond, is_offered)


def post(
    path: str,
    respond: Callable[[PageRequest], Response],
    is_offered: Offered = always,
    *,
    writes: bool = True,
) -> Page:
    """Return the target of a form. ``writes`` is False for changes outside the books."""
    return Page("POST", path, respond, is_offered, writes=writes)


def open_get(
    path: str, respond: Callable[[PageRequest], Response], is_offered: Offered = always
) -> Page:
    """Return a page that is shown without a sign-in."""
    return Page("GET", path, respond, is_offered, is_open=True)


def open_post(
    path: str,
    respond: Callable[[PageRequest], Response],
    is_offered: Offered = always,
    *,
    is_sign_in: bool = False,
) -> Page:
    """Return the target of a form without a sign-in. Its site is checked, and it has no token."""
    return Page("POST", path, respond, is_offered, is_open=True, is_sign_in=is_sign_in)


def sentence_of(request: PageRequest, error: MastheadError) -> str:
    """Return the message of an error in the reader's language."""
    return request.new_form({}).sentence(error)
