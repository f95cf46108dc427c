"""A household whose readers use their pages: browsers in which they are signed in, and forms."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, NamedTuple

from masthead.books import page_settings
from tests.console.browser import input_values
from tests.readers_books import household

if TYPE_CHECKING:
    import httpx2

    from tests.circulation.desk import Desk
    from tests.readers.browser import Browser, Pages
    from tests.readers_books.household import Subscriptions

POSTAL_CODE = "T12"
HIDDEN = {"once", "form_token", "first", "sure", "switch"}
"""Fields that a form has without being typed; ``first`` is typed in some."""

_TAG = re.compile(r"<[^>]+>")
_ERROR = re.compile(r'<p class="error" id="([\w-]+)-error">(.*?)</p>', re.DOTALL)


class House(NamedTuple):
    """The account's desk, and its readers' pages."""

    desk: Desk
    pages: Pages

    @property
    def subscriptions(self) -> Subscriptions:
        """The subscriptions of the readers."""
        return household.of(self.desk)

    def signed_in(self, reader: int, language: str = "en") -> Browser:
        """Return a browser in which a reader is signed in."""
        browser = self.pages.signed_in(f"CODE{reader}", POSTAL_CODE)
        browser.client.headers["accept-language"] = language
        return browser

    def set(self, **settings: str) -> None:
        """Change settings of the pages."""
        page_settings.set_values(self.desk.books, settings)


def name_by_day(house: House, issue_id: int) -> None:
    """Name an issue by its day, as files do."""
    house.desk.connection.change(
        "UPDATE issues SET name = date WHERE account_id = 1 AND issue_id = :issue_id",
        issue_id=issue_id,
    )


def text_of(answer: httpx2.Response) -> str:
    """Return the words of a page, in one line."""
    page = answer.text[answer.text.index("<main") :]
    return " ".join(html.unescape(_TAG.sub(" ", page)).split())


def said_after(browser: Browser, answer: httpx2.Response) -> str:
    """Return the words of the page to which the answer of a form leads."""
    assert answer.status_code == 303, text_of(answer)
    return text_of(browser.client.get(answer.headers["location"]))


def errors_of(answer: httpx2.Response) -> dict[str, str]:
    """Return the errors that stand beside fields, by the name of the field."""
    return {name: html.unescape(text.strip()) for name, text in _ERROR.findall(answer.text)}


def send(browser: Browser, path: str, form: dict[str, str] | None = None) -> httpx2.Response:
    """Open the page of a form, and send the form with what it has and the given input."""
    shown = input_values(browser.get(path).text)
    hidden = {name: text for name, text in shown.items() if name in HIDDEN}
    return browser.post(path, {**hidden, **(form or {})}, token="")
