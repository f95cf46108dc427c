"""Sending readers the links by which they sign in or set a password (decisions, "Links by email").

The links themselves are in ``store.sign_in_links``.
"""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.reader_mails import password_link, sign_in_link
from masthead.databases.queries import Batch
from masthead.store.billing.settings import settings as billing_settings
from masthead.store.billing.settings import settings_of
from masthead.store.login_check import takes_codes
from masthead.store.sign_in_links import Purpose


class Link(NamedTuple):
    """A link: whom it signs in, and its whole address."""

    subscriber_id: int
    url: str


class SentLink(NamedTuple):
    """A link that was queued to be mailed. The sentence has neither address nor link."""

    subscriber_id: int

    @property
    def sentence(self) -> str:
        """To whom a link is mailed."""
        return f"a link to the readers' pages was mailed to subscriber {self.subscriber_id}"


class Ways(NamedTuple):
    """How readers sign in without an email and a password: by links, and by codes of letters."""

    links: bool
    codes: bool


def ways(books: Books) -> Ways:
    """Return how readers can sign in."""
    with books.read() as reading:
        batch = Batch(reading)
        settings, codes = batch.add(billing_settings()), batch.add(takes_codes())
        batch.send()
        return Ways(bool(settings().mail_from), codes())


def are_offered(books: Books) -> bool:
    """Return whether links can be mailed: the account has an address from which mails go.

    Raises NotFound if there is no such account.
    """
    with books.read() as reading:
        return bool(settings_of(reading).mail_from)


def send(books: Books, link: Link, purpose: Purpose, *, language: str = "") -> SentLink | None:
    """Queue a mail with the link to its reader, in the language of the page.

    Several subscribers with one address get a mail each, since a mail belongs to one of them: it is
    exported, merged and erased with the subscriber. Returns None if no mail is queued, such as to
    an address that is on hold. Raises NotFound if there is no such account, MastheadError if its
    books are elsewhere.
    """
    queue = password_link if purpose == "password" else sign_in_link
    with books.change() as change:
        if queue(change, link.subscriber_id, link.url, language=language) is None:
            return None
        done = SentLink(link.subscriber_id)
        change.say(done.sentence)
    return done
