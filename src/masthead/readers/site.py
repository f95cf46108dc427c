"""The site of an account: its short name in the path, its settings, and its cookies."""

from typing import NamedTuple

from starlette.requests import Request

from masthead.books import page_settings
from masthead.circulation.page_settings import PageSettings
from masthead.web.cookies import Cookie


class Site(NamedTuple):
    """The readers' pages of an account."""

    name: str
    account_id: int
    keeps_books: bool
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
        return Cookie(f"masthead_reader_{self.name}", self.behind_proxy, same_site="lax")

    @property
    def browser_cookie(self) -> Cookie:
        """The cookie of a browser that asked for links by email, to which they are bound."""
        return Cookie(f"masthead_link_{self.name}", self.behind_proxy, same_site="lax")

    def is_own(self, path: str) -> bool:
        """Return whether a path is one of this site."""
        return path.startswith(self.root)


def site_of(request: Request) -> Site:
    """Return the site that a request's path names.

    Raises NotFound if no account has such a site.
    """
    name = request.path_params["site"]
    return Site(
        name,
        *page_settings.of_site(request.app.state.store, name),
        request.app.state.behind_proxy,
    )
