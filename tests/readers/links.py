"""Links by email, as their readers get them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

    from tests.circulation.desk import Desk
    from tests.readers.browser import Browser, Pages

_LINK = re.compile(r"http://127\.0\.0\.1:[0-9]+/tide/(sign-in/link/[A-Za-z0-9_-]{43})(?![^\s])")


def mails_to(desk: Desk, reader: int) -> list[str]:
    """Return the texts of the mails that were queued to a reader, by their ids."""
    return [str(mail["text"]) for mail in desk.table("mails") if mail["subscriber_id"] == reader]


def links_in(text: str) -> list[str]:
    """Return the paths of the links in a mail, within the site."""
    return _LINK.findall(text)


def ask(browser: Browser, email: str) -> httpx2.Response:
    """Ask for a link by email."""
    return browser.post("sign-in/link", {"email": email}, token="")


def link_for(pages: Pages, desk: Desk, browser: Browser, email: str, reader: int) -> str:
    """Ask for a link; return the path of that which the reader's newest mail has."""
    assert ask(browser, email).status_code == 303
    pages.app.state.link_mails.wait()
    (link,) = links_in(mails_to(desk, reader)[-1])
    return link
