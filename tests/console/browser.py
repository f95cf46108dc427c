"""A console that is served, and browsers of its operators.

The console runs in this process, so that a test can set its clock.
"""

from __future__ import annotations

import html
import re
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx2
import uvicorn

from masthead.console.app import create_app
from masthead.console.server import config_of
from masthead.server_socket import bind
from masthead.store import operators
from tests.servers import KEPT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from masthead.store import Store as OpenStore
    from masthead.store.operators import Role

PASSWORD = "correct horse"
SIGN_IN = "/sign-in"
_INPUT = re.compile(r'<input [^>]*?name="([^"]*)"[^>]*?value="([^"]*)"')


class Browser:
    """Asks a console as a browser does: it keeps cookies, and follows no redirect by itself."""

    def __init__(self, url: str) -> None:
        """``url`` is where the console is."""
        self.url = url
        self.client = httpx2.Client(base_url=url, timeout=60, limits=KEPT)

    def get(self, path: str, **more: str) -> httpx2.Response:
        """Ask for a page."""
        return self.client.get(path, params=more or None)

    def post(
        self,
        path: str,
        form: Mapping[str, str] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        token: str | None = None,
    ) -> httpx2.Response:
        """Send a form as the console's own page does, unless the headers or the token differ."""
        token = self.token() if token is None else token
        sent = {"form_token": token} if token else {}
        site = {"Sec-Fetch-Site": "same-origin"} if headers is None else headers
        return self.client.post(path, data={**sent, **(form or {})}, headers=site)

    def token(self) -> str:
        """Return the token of this session's forms; '' without a session."""
        return input_values(self.get("/find").text).get("form_token", "")

    def sign_in(self, name: str, password: str = PASSWORD, **more: str) -> httpx2.Response:
        """Sign in; return the answer."""
        return self.post(SIGN_IN, {"name": name, "password": password, **more}, token="")

    @property
    def is_in(self) -> bool:
        """Whether an operator is signed in."""
        return self.get("/find").status_code == 200


class Console:
    """A console; ``store`` is what it serves."""

    def __init__(self, store: OpenStore, url: str) -> None:
        """``url`` is where it is."""
        self.store = store
        self.url = url
        self._browsers: list[Browser] = []

    def add(self, name: str, role: Role = "manager", *, account_id: int = 1) -> None:
        """Add an operator with the password of all of them."""
        operators.add_operator(self.store, account_id, name, role, PASSWORD)

    def browser(self) -> Browser:
        """Return a browser of its own."""
        found = Browser(self.url)
        self._browsers.append(found)
        return found

    def signed_in(self, name: str, *, account_id: int = 1) -> Browser:
        """Return a browser in which an operator is signed in."""
        browser = self.browser()
        answer = browser.sign_in(name, account=str(account_id))
        assert answer.status_code == 303, answer.text
        return browser

    def close(self) -> None:
        """Close all browsers."""
        for browser in self._browsers:
            browser.client.close()


def input_values(page: str) -> dict[str, str]:
    """Return the value of each input of a page by its name, the last one of a name."""
    return {name: html.unescape(value) for name, value in _INPUT.findall(page)}


@contextmanager
def serving_console(store: OpenStore, *, behind_proxy: bool = False) -> Iterator[Console]:
    """Serve the console on a free port of loopback for as long as the block lasts."""
    with bind("127.0.0.1", 0) as listener:
        config = config_of(create_app(store, behind_proxy=behind_proxy))
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        console = Console(store, f"http://127.0.0.1:{listener.getsockname()[1]}")
        try:
            yield console
        finally:
            console.close()
            server.should_exit = True
            thread.join()


def text_of(page: str) -> str:
    """Return the text of a page, without marks and with single spaces."""
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page)).split())
