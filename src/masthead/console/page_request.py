"""An operator's request as the pages receive it, and the responses that pages return."""

import secrets
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from masthead.books import open_items, opening
from masthead.books.opening import Account
from masthead.console.account_figures import Asker, Counted, Counting
from masthead.console.forms import Form
from masthead.console.roles import Action, may, who_may
from masthead.console.templating import template
from masthead.store import Store, audit
from masthead.store.operators import Operator
from masthead.web import cookies
from masthead.web.cached import cached
from masthead.web.forgery import form_token
from masthead.web.kept_input import OF_PAGE
from masthead.web.page_request import ONCE_BYTES, WebRequest

if TYPE_CHECKING:
    from masthead.web.uploads import KeptFiles, Upload

Value = TypeVar("Value")


class PageRequest(WebRequest):
    """A request with its form, its operator, and the operator's account."""

    def __init__(
        self, request: Request, store: Store, operator: Operator, form: Mapping[str, str]
    ) -> None:
        super().__init__(request, store, operator.account_id, form)
        self.operator = operator
        self.kept: Mapping[str, str] = {}
        """Input of the page's form that was kept while its operator signed in again."""
        self._counting: Counting = request.app.state.counting
        self.files: Mapping[str, Upload] = getattr(request.state, "files", {})
        """The files that the form sent, by field."""
        self.kept_files: KeptFiles = request.app.state.kept_files

    @cached
    def account(self) -> Account:
        """The account's name, whether its books are here, and its current day."""
        return opening.account_of(self.books)

    @property
    def keeps_books(self) -> bool:
        """Whether the account's books are kept here; if not, pages that write are absent."""
        return self.account.opened_on is not None

    @cached
    def bills(self) -> bool:
        """Whether the account makes invoices; if not, the pages of billing are absent."""
        return self.keeps_books and open_items.bills(self.books)

    def may(self, action: Action) -> bool:
        """Return whether the operator may do the action."""
        return may(self.operator.role, action)

    def may_write(self, action: Action) -> bool:
        """Return whether the operator may do the action and the books are here."""
        return self.keeps_books and self.may(action)

    def actor(self, what: str) -> audit.Actor:
        """Return the actor for the audit log; ``what`` has no personal data except ids."""
        return audit.Actor(self.operator.name, f"console: {what}")

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
        said = cookies.said_of(self.http)
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
                    "once": secrets.token_urlsafe(ONCE_BYTES),
                    **values,
                },
            ),
            status,
        )
        cookies.forget_message(self.http, response)
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
    """Return the target of a form with files (``web.uploads``)."""
    return Page("POST", path, respond, action, writes=True, has_files=True)
