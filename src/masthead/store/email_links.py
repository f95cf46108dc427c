"""Links to a new email address, by which a reader shows that mails there arrive.

A link has all that it needs, sealed: the reader, the new address, the browser that asked, and the
time. It also has the mark of the reader's login (``store.reader_sessions``), so it ends when the
address is changed by it or anything else of the login is changed (decisions, "A reader's new email
address").
"""

from typing import NamedTuple

import msgspec

from masthead.errors import MastheadError
from masthead.store.database import Store
from masthead.store.session_tokens import digest
from masthead.store.sign_in_links import LINK_US


class EmailLink(NamedTuple):
    """What a link has: the reader's new address, and the mark of the login when it was made."""

    subscriber_id: int
    email: str
    browser_hash: str
    made_at: int
    mark: str

    @property
    def key(self) -> str:
        """What identifies the link among those of its reader, however its token is written."""
        return str(self.made_at)


def make(
    store: Store, account_id: int, subscriber_id: int, email: str, browser: str, mark: str
) -> str:
    """Return the token of a link for a browser, as an address of a page can have it."""
    link = EmailLink(subscriber_id, email, digest(browser), store.clock(), mark)
    sealed = store.secret.seal(msgspec.json.encode(link).decode(), _place(account_id))
    return sealed.replace("+", "-").replace("/", "_").rstrip("=")


def link_of(
    store: Store, account_id: int, subscriber_id: int, token: str, browser: str, mark: str | None
) -> EmailLink | None:
    """Return what a link has; None if it does not work.

    It works for its reader, in the browser that asked, for 30 minutes, while ``mark`` is that of
    the reader's login.
    """
    sealed = token.replace("-", "+").replace("_", "/") + "=" * (-len(token) % 4)
    try:
        found = msgspec.json.decode(store.secret.unseal(sealed, _place(account_id)), type=EmailLink)
    except MastheadError:
        return None
    works = (
        found.subscriber_id == subscriber_id
        and bool(browser)
        and found.browser_hash == digest(browser)
        and found.made_at > store.clock() - LINK_US
        and found.mark == mark
    )
    return found if works else None


def _place(account_id: int) -> str:
    return f"link to an email address of account {account_id}"
