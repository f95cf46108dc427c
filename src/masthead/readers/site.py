"""The site of an account: its short name in the path, its settings, and its cookies."""

from typing import TYPE_CHECKING, NamedTuple

from starlette.requests import Request

from masthead.books import Books, opening, page_settings
from masthead.books.opening import Account
from masthead.circulation.page_settings import PageSettings
from masthead.errors import NotFound
from masthead.store.page_settings import account_of_site
from masthead.web.cookies import Cookie

if TYPE_CHECKING:
    from masthead.store import Store


class Site(NamedTuple):
    """The readers' pages of an account."""

    name: str
    account_id: int
    account: Account
    settings: PageSettings
    behind_proxy: bool

    @property
    def root(self) -> str:
        """The path below which the pages are: ``/harbor/``."""
        return f"/{self.name}/"

    def at(self, path: str) -> str:
        """Return the path of a page by its path within the site: ``/harbor/address``."""
        return self.root + path

    @property
    def session_cookie(self) -> Cookie:
        """The cookie of a reader's session."""
        return Cookie(f"masthead_reader_{self.name}", self.behind_proxy)

    @property
    def browser_cookie(self) -> Cookie:
        """The cookie of a browser that asked for links by email, to which they are bound."""
        return Cookie(f"masthead_link_{self.name}", self.behind_proxy)

    def is_own(self, path: str) -> bool:
        """Return whether a path is one of this site."""
        return path.startswith(self.root)


def site_of(request: Request) -> Site:
    """Return the site that a request's path names.

    Raises NotFound if no account has such a site.
    """
    store: Store = request.app.state.store
    name = request.path_params["site"]
    with store.reader() as connection:
        account_id = account_of_site(connection, name)
    if account_id is None:
        raise NotFound(f"there is no site {name!r}")
    with Books(store, account_id, has_time_limit=True).snapshot() as books:
        account, settings = opening.account_of(books), page_settings.show(books)
    return Site(name, account_id, account, settings, request.app.state.behind_proxy)
