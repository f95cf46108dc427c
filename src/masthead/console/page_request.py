"""An operator's request as the pages receive it, and the responses that pages return."""

import hashlib
import secrets
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from hmac import compare_digest
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote

import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from masthead.books import Books, open_items, opening
from masthead.books.opening import Account
from masthead.console.account_figures import Asker, Counted, Counting
from masthead.console.forms import Form
from masthead.console.kept_input import OF_PAGE
from masthead.console.roles import Action, may, who_may
from masthead.console.templating import template
from masthead.store import Connection, Store, audit, saved_forms
from masthead.store.operators import Operator
from masthead.store.saved_forms import SavedForm

if TYPE_CHECKING:
    from masthead.console.uploads import KeptFiles, Upload

Value = TypeVar("Value")

_ONCE_BYTES = 16

SAID = "masthead_said"
"""The cookie with the message of a change, which the next page shows."""


class PageRequest:
    """A request with its form, its operator, and the operator's account.

    ``form`` has the last value of each posted field, without spaces at its ends; ``query`` has
    the same for the query string.
    """

    def __init__(
        self, request: Request, store: Store, operator: Operator, form: Mapping[str, str]
    ) -> None:
        self.http = request
        self.store = store
        self.operator = operator
        self.account_id = operator.account_id
        self.form = form
        self.query = {name: value.strip() for name, value in request.query_params.items()}
        self.ids = request.path_params
        self.kept: Mapping[str, str] = {}
        """Input of the page's form that was kept while its operator signed in again."""
        self._counting: Counting = request.app.state.counting
        self.files: Mapping[str, Upload] = getattr(request.state, "files", {})
        """The files that the form sent, by field."""
        self.kept_files: KeptFiles = request.app.state.kept_files

    @cached_property
    def account(self) -> Account:
        """The account's name, whether its books are here, and its current day."""
        return opening.account_of(self.books)

    @property
    def keeps_books(self) -> bool:
        """Whether the account's books are kept here; if not, pages that write are absent."""
        return self.account.opened_on is not None

    @cached_property
    def bills(self) -> bool:
        """Whether the account makes invoices; if not, the pages of billing are absent."""
        return self.keeps_books and open_items.bills(self.books)

    def may(self, action: Action) -> bool:
        """Return whether the operator may do the action."""
        return may(self.operator.role, action)

    def may_write(self, action: Action) -> bool:
        """Return whether the operator may do the action and the books are here."""
        return self.keeps_books and self.may(action)

    @property
    def books(self) -> Books:
        """The books of the operator's account, for reading, with the timeout of a request."""
        return Books(self.store, self.account_id, has_time_limit=True)

    def books_for(self, what: str, then: str = "") -> Books:
        """Return the books for changes under the operator's name (:meth:`actor`).

        ``then`` is the path of the page that follows the change. With it, the form is saved once:
        sent again, it leads to that page and changes nothing (decisions, "A form is saved once").
        """
        form = SavedForm(self._digest, then) if then and self._digest else None
        return Books(self.store, self.account_id, self.actor(what), has_time_limit=True, form=form)

    def path_after(self) -> str | None:
        """Return the path to which saving this form led; None if it was not saved."""
        if not self._digest:
            return None
        with self.reading() as connection:
            return saved_forms.path_after(connection, self.account_id, self._digest)

    @cached_property
    def _digest(self) -> str:
        """What identifies the form and its input; '' if the form has no one-time value."""
        if not self.form.get("once"):
            return ""
        typed = {name: text for name, text in self.form.items() if text and name != "form_token"}
        sent = msgspec.json.encode((self.http.url.path, sorted(typed.items())))
        return hashlib.sha256(sent).hexdigest()

    def actor(self, what: str) -> audit.Actor:
        """Return the actor for the audit log; ``what`` has no personal data except ids."""
        return audit.Actor(self.operator.name, f"console: {what}")

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a snapshot for what is not of the books: the feed, the partners and the log."""
        with self.store.reader() as connection:
            connection.set_tenant(self.account_id)
            with connection.read_snapshot():
                yield connection

    @property
    def owner(self) -> tuple[int, int]:
        """The account and the operator, as the owner of files that wait to be confirmed."""
        return self.account_id, self.operator.operator_id

    @property
    def _asker(self) -> Asker:
        return Asker(self.account_id, self.operator.operator_id)

    def counted(self, what: Hashable, count: Callable[[], Value]) -> Counted[Value]:
        """Return a figure over the account, as :meth:`Counting.of` does.

        If the books are elsewhere, the value is None and current.
        """
        if not self.keeps_books:
            return Counted(None, None, is_current=True)
        return self._counting.of(self._asker, what, count)

    def for_download(self, what: Hashable, count: Callable[[], Value]) -> Value:
        """Return a figure for a file, as :meth:`Counting.for_download` does."""
        return self._counting.for_download(self._asker, what, count)

    def page(self, name: str, status: int = 200, /, **values: Any) -> Response:
        """Return the page of a template, with the values that every page shows.

        Input that was kept fills the page's form.
        """
        said = _said(self.http)
        if self.kept and isinstance(values.get("form"), Form):
            values["form"].values.update(self.kept)
            values.update({name: text for name, text in self.kept.items() if name in OF_PAGE})
        response = HTMLResponse(
            template(name).render(
                request=self,
                account=self.account,
                operator=self.operator,
                may=self.may,
                may_write=self.may_write,
                who_may=who_may,
                Action=Action,
                form_token=form_token(self.http.state.session),
                said=said,
                **{
                    "path": self.http.url.path,
                    "kept": self.kept,
                    "once": secrets.token_urlsafe(_ONCE_BYTES),
                    **values,
                },
            ),
            status,
        )
        if said:
            response.delete_cookie(SAID, path="/")
        return response

    def go(self, path: str, said: str = "") -> Response:
        """Return a redirect to a page, which then shows the message of the change."""
        response = RedirectResponse(path, 303)
        if said:
            response.set_cookie(
                SAID,
                quote(said),
                max_age=60,
                path="/",
                secure=self.http.app.state.cookie.is_secure,
                httponly=True,
                samesite="strict",
            )
        return response


class Page(NamedTuple):
    """A path of the console, the function that responds, and the action that it needs.

    ``writes``: the page changes data, so the account's books must be here. ``has_files``: its form
    sends files, so it may be larger than others.
    """

    method: str
    path: str
    respond: Callable[[PageRequest], Response]
    action: Action
    writes: bool
    has_files: bool = False


def get(
    path: str, respond: Callable[[PageRequest], Response], action: Action = Action.LOOK
) -> Page:
    """Return a page that only shows data."""
    return Page("GET", path, respond, action, writes=False)


def post(
    path: str, respond: Callable[[PageRequest], Response], action: Action, *, writes: bool = True
) -> Page:
    """Return the target of a form. ``writes`` is False for changes outside the books."""
    return Page("POST", path, respond, action, writes=writes)


def post_files(path: str, respond: Callable[[PageRequest], Response], action: Action) -> Page:
    """Return the target of a form with files (``console.uploads``)."""
    return Page("POST", path, respond, action, writes=True, has_files=True)


def form_token(session: str) -> str:
    """Return the token in each form of a session; it stops other sites from sending forms."""
    return hashlib.sha256(f"form {session}".encode()).hexdigest()


def has_token(form: Mapping[str, str], session: str) -> bool:
    """Return whether a form carries the session's token."""
    return compare_digest(form.get("form_token", "").encode(), form_token(session).encode())


def _said(request: Request) -> str:
    return unquote(request.cookies.get(SAID, ""))
