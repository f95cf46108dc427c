"""Links by email, which one thread sends after the responses.

A response to a request for a link depends on nothing that the email decides: neither its words, its
status, its time nor what the database does meanwhile. What follows is done by a thread that takes
one request at a time, each for the same time at least, so that neither the queue nor the database
tells whose email it was (decisions, "Links by email").
"""

import threading
from collections.abc import Callable
from queue import Full, Queue
from time import monotonic
from typing import NamedTuple, Protocol

from masthead.books import Books, reader_details, reader_links
from masthead.books.reader_links import Link
from masthead.errors import MastheadError, StoreBusy
from masthead.log import get_logger
from masthead.store import Store, sign_in_links
from masthead.store.audit import Actor
from masthead.store.sign_in_links import Purpose

WAITING_MAX = 200
"""The most requests that wait; further ones are asked to come back."""

SLOT_S = 0.1
"""The seconds that each request takes at least."""

_TRIES = 6
"""How often a mail is queued again after another program has written for five seconds."""

_log = get_logger()


class Mailing(Protocol):
    """What the thread does for a request, as one of those below."""

    @property
    def account_id(self) -> int:
        """The account of the request."""

    def send(self, store: Store) -> None:
        """Queue the mails, as far as the limits allow it."""


class LinkRequest(NamedTuple):
    """A request for links: who asks for what, and from which browser."""

    account_id: int
    email: str
    purpose: Purpose
    browser: str
    language: str
    address: Callable[[str], str]
    """Returns the whole address of the page that uses a token."""

    def __repr__(self) -> str:
        """Return a text without personal data."""
        return f"<LinkRequest of account {self.account_id}>"

    def send(self, store: Store) -> None:
        """Queue a mail with a link for each subscriber who has the email."""
        for link in _links_of(store, self):
            _queue(store, self, link)


class NewEmailRequest(NamedTuple):
    """A request of a reader for a link to a new address ``email``, by which it is confirmed.

    ``url`` is the whole address of the page that uses it.
    """

    account_id: int
    subscriber_id: int
    email: str
    language: str
    url: str

    def __repr__(self) -> str:
        """Return a text without personal data."""
        return f"<NewEmailRequest of account {self.account_id}>"

    def send(self, store: Store) -> None:
        """Queue the mail with the link."""
        if not (
            sign_in_links.may_request(store, self.account_id, self.email)
            and sign_in_links.may_send(store, self.account_id)
        ):
            return
        books = _books_of(store, self.account_id, self.subscriber_id, "email link")
        books.language = self.language
        _patiently(
            lambda: reader_details.mail_email_link(books, self.subscriber_id, self.email, self.url)
        )


class LinkMails:
    """The thread, and the requests that wait for it. It starts with the first request."""

    def __init__(self, store: Store, *, slot_s: float = SLOT_S) -> None:
        self._store = store
        self._slot_s = slot_s
        self._waiting: Queue[Mailing | None] = Queue(WAITING_MAX)
        self._thread: threading.Thread | None = None
        self._starting = threading.Lock()
        self._closing = threading.Event()

    def request(self, request: Mailing) -> bool:
        """Queue a request; return False if too many wait."""
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._run, name="links", daemon=True)
                self._thread.start()
        try:
            self._waiting.put_nowait(request)
        except Full:
            return False
        return True

    def wait(self) -> None:
        """Wait until all requests so far are done."""
        self._waiting.join()

    def close(self) -> None:
        """Do what waits, without pauses, and end the thread."""
        self._closing.set()
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join()

    def _run(self) -> None:
        while True:
            request = self._waiting.get()
            try:
                if request is None:
                    return
                until = monotonic() + self._slot_s
                self._send(request)
                self._closing.wait(max(0.0, until - monotonic()))
            finally:
                self._waiting.task_done()

    def _send(self, request: Mailing) -> None:
        try:
            request.send(self._store)
        except MastheadError as error:
            # Its message may have an email.
            _log.error(
                "links were not sent", account=request.account_id, reason=type(error).__name__
            )
        except Exception:  # noqa: BLE001
            # The thread goes on: one request must not end it for all others.
            _log.exception("links were not sent", account=request.account_id)


def _links_of(store: Store, request: LinkRequest) -> list[Link]:
    """Return a link for each subscriber who has the email, as far as the limits allow it.

    The links are stored first: a mail that cannot be queued leaves links that nobody has.
    """
    account_id = request.account_id
    if not sign_in_links.may_request(store, account_id, request.email):
        return []
    with store.reader() as connection:
        connection.set_tenant(account_id)
        connection.set_reader(None)
        readers = sign_in_links.readers_of(connection, account_id, request.email)
    if not readers or not sign_in_links.may_send(store, account_id):
        return []
    purpose, browser = request.purpose, request.browser
    return [
        Link(
            reader, request.address(sign_in_links.make(store, account_id, reader, purpose, browser))
        )
        for reader in readers
    ]


def _queue(store: Store, request: LinkRequest, link: Link) -> None:
    books = _books_of(store, request.account_id, link.subscriber_id, f"{request.purpose} link")
    _patiently(lambda: reader_links.send(books, link, request.purpose, language=request.language))


def _books_of(store: Store, account_id: int, reader: int, what: str) -> Books:
    actor = Actor(f"reader {reader}", f"readers: {what}")
    return Books(store, account_id, actor, reader_id=reader)


def _patiently(queue: Callable[[], object]) -> None:
    """Queue a mail, also while another program writes for some time."""
    for is_last in [*[False] * _TRIES, True]:
        try:
            queue()
        except StoreBusy:  # a load writes, for longer than a save waits
            if is_last:
                raise
        else:
            return
