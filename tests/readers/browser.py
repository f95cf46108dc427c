"""The readers' pages, served, and browsers of readers.

The pages run in this process, so that a test can set their clock.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2
import uvicorn

from masthead.readers.app import ReadersSettings, create_app
from masthead.readers.server import config_of
from masthead.server_socket import bind
from masthead.store import open_store
from masthead.store.postgresql import PostgresStore
from tests.console.browser import input_values
from tests.servers import KEPT, as_readers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.applications import Starlette

    from masthead.store import Store as OpenStore

SAME_SITE = {"Sec-Fetch-Site": "same-origin"}
SITE = "tide"


class Browser:
    """Asks for the pages as a browser does: it keeps cookies, and follows no redirect by itself."""

    def __init__(self, url: str, site: str) -> None:
        """``url`` is where the pages are, ``site`` the name of the site."""
        self.site = site
        self.client = httpx2.Client(base_url=url, timeout=60, limits=KEPT)

    def at(self, path: str) -> str:
        """Return the path of a page by its path within the site."""
        return f"/{self.site}/{path}"

    def get(self, path: str = "", **more: str) -> httpx2.Response:
        """Ask for a page of the site."""
        return self.client.get(self.at(path), params=more or None)

    def post(
        self,
        path: str,
        form: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
    ) -> httpx2.Response:
        """Send a form as the site's own page does, unless the headers or the token differ."""
        token = self.token() if token is None else token
        sent = {"form_token": token} if token else {}
        site = SAME_SITE if headers is None else headers
        return self.client.post(self.at(path), data={**sent, **(form or {})}, headers=dict(site))

    def token(self) -> str:
        """Return the token of this session's forms; '' without a session."""
        return input_values(self.get().text).get("form_token", "")

    def sign_in(self, login: str, password: str, **more: str) -> httpx2.Response:
        """Sign in; return the answer."""
        form = {"login": login, "password": password, **more}
        return self.post("sign-in", form, token="")

    @property
    def is_in(self) -> bool:
        """Whether a reader is signed in."""
        return self.get().status_code == 200


class Pages:
    """The readers' pages; ``store`` is what they serve, ``app`` the application."""

    def __init__(self, store: OpenStore, url: str, app: Starlette) -> None:
        """``url`` is where they are."""
        self.store = store
        self.url = url
        self.app = app
        self._browsers: list[Browser] = []

    def browser(self, site: str = SITE) -> Browser:
        """Return a browser of its own."""
        found = Browser(self.url, site)
        self._browsers.append(found)
        return found

    def signed_in(self, login: str, password: str, site: str = SITE) -> Browser:
        """Return a browser in which a reader is signed in."""
        browser = self.browser(site)
        answer = browser.sign_in(login, password)
        assert answer.status_code == 303, answer.text
        return browser

    def close(self) -> None:
        """Close all browsers."""
        for browser in self._browsers:
            browser.client.close()


@contextmanager
def _of_the_role(store: OpenStore) -> Iterator[OpenStore]:
    """The same database as the role of the pages has it open; a file has no roles."""
    if not isinstance(store, PostgresStore):
        yield store
        return
    served = open_store(as_readers(store._url), clock=store._stamp_clock)
    try:
        yield served
    finally:
        served.close()


@contextmanager
def serving_readers(store: OpenStore, *, behind_proxy: bool = False) -> Iterator[Pages]:
    """Serve the readers' pages on a free port of loopback for as long as the block lasts.

    On PostgreSQL, they log in as their role; ``store`` stays that of the database's owner.
    """
    with bind("127.0.0.1", 0) as listener, _of_the_role(store) as served:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        app = create_app(served, ReadersSettings(url, behind_proxy=behind_proxy, slot_s=0))
        server = uvicorn.Server(config_of(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        pages = Pages(store, url, app)
        try:
            yield pages
        finally:
            pages.close()
            server.should_exit = True
            thread.join()
            app.state.link_mails.close()
