"""Copies of an issue that are sent again because they were lost or damaged.

They take no issue from the subscription, earn nothing and change no list: they wait for the next
file of replacements (decisions, "Copies that are sent again").
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from masthead.books.account import Books
from masthead.contract.printable import counted
from masthead.contract.subscription_types import PRINTED
from masthead.errors import BadInput, NotFound
from masthead.store.books import replacements
from masthead.store.books.issue import find_issue
from masthead.store.books.names import subscription_named
from masthead.store.books.reader_notes import check_open
from masthead.store.books.replacements import COLUMNS, File, Received, Waiting
from masthead.store.books.subscription import stored_subscription
from masthead.store.database import Row

__all__ = [
    "COLUMNS",
    "File",
    "Received",
    "Removed",
    "SentAgain",
    "Waiting",
    "Written",
    "file_rows",
    "files",
    "mark_written",
    "received",
    "remove",
    "send_again",
    "waiting",
]


class SentAgain(NamedTuple):
    """Copies of an issue that wait for the next file of replacements; ``issue`` is its title."""

    replacement_id: int
    subscription_id: int
    issue: str
    copies: int

    @property
    def sentence(self) -> str:
        """What is sent again, and how."""
        copies = counted(self.copies, "copy", "copies")
        return (
            f"subscription {self.subscription_id} gets {copies} of {self.issue} again, with the "
            "next file of replacements"
        )


def received(books: Books, subscription_id: int, *, limit: int) -> list[Received]:
    """Return the newest issues that a subscription received, at most ``limit``, the newest first.

    Raises NotFound if there is no such subscription.
    """
    with books.read() as reading:
        stored_subscription(reading.connection, books.account_id, subscription_id)
        return replacements.received(reading, subscription_id, limit=limit)


def send_again(
    books: Books, subscription_id: int, issue_id: int, copies: int = 1, *, dry_run: bool = False
) -> SentAgain:
    """Send copies of a delivered issue again, with the next file of replacements.

    The subscription may have ended since. Raises NotFound if there is no such subscription or
    issue, BadInput if the reader was deleted. Raises BadInput, with the ``field``, if the
    subscription did not receive the issue, received it without a printed copy, has no address, or
    waits for copies of the issue already, and for more copies than it received.
    """
    with books.change(dry_run=dry_run) as change:
        found = stored_subscription(change.connection, books.account_id, subscription_id)
        check_open(change, found.subscriber_id)
        issue = find_issue(change, issue_id)
        had = replacements.received(change, subscription_id, issue_id=issue_id)
        if not had:
            raise BadInput(
                f"{subscription_named(change, subscription_id)} has not received {issue.title}: "
                "only a delivered copy is sent again",
                field="issue",
            )
        (one,) = had
        if one.type not in PRINTED:
            raise BadInput(
                f"{subscription_named(change, subscription_id)} received {issue.title} without a "
                "printed copy",
                field="issue",
            )
        if found.mailing_address_id is None:
            raise BadInput(
                f"{subscription_named(change, subscription_id)} has no address to send a copy to"
            )
        if not 1 <= copies <= one.copies:
            raise BadInput(
                f"copies are a number from 1 to {one.copies:,}, not {copies:,}: so many came",
                field="copies",
            )
        if replacements.waits(change, subscription_id, issue_id):
            raise BadInput(
                f"{issue.title} waits for the next file of replacements already", field="issue"
            )
        key = replacements.add(change, subscription_id, issue_id, copies)
        done = SentAgain(key, subscription_id, issue.title, copies)
        change.say(done.sentence)
    return done


class Removed(NamedTuple):
    """A replacement that is not sent after all."""

    replacement_id: int

    @property
    def sentence(self) -> str:
        """What was removed."""
        return f"replacement {self.replacement_id} was removed and is not sent"


def remove(books: Books, replacement_id: int, *, dry_run: bool = False) -> Removed:
    """Remove copies that wait. Raises NotFound if there are none, or a file has them already."""
    with books.change(dry_run=dry_run) as change:
        if not replacements.remove(change, replacement_id):
            raise NotFound("there is no such copy that waits for a file")
        done = Removed(replacement_id)
        change.say(done.sentence)
    return done


def waiting(books: Books) -> list[Waiting]:
    """Return the copies that wait for the next file, in the order of asking."""
    with books.read() as reading:
        return replacements.waiting(reading)


def files(books: Books) -> list[File]:
    """Return the newest files of replacements, the newest first."""
    with books.read() as reading:
        return replacements.files(reading)


class Written(NamedTuple):
    """A file of replacements: when it was first written, and its number of rows."""

    written_at: str
    rows: int

    @property
    def sentence(self) -> str:
        """What the operation noted."""
        return f"a file of {counted(self.rows, 'replacement')} was written out"


def mark_written(books: Books) -> Written:
    """Note that a file has all copies that wait, before it is written (:func:`file_rows`).

    Issues of these copies stay closed from now on. Raises BadInput if no copies wait.
    """
    with books.change() as change:
        if not replacements.waiting(change):
            raise BadInput("no copies wait: there is nothing to write")
        if replacements.has_file(change, change.now):
            raise BadInput("a file of replacements was written a moment ago: write that one again")
        done = Written(change.now, replacements.mark_written(change))
        change.say(done.sentence)
    return done


@contextmanager
def file_rows(books: Books, written_at: str) -> Iterator[Iterator[Row]]:
    """Yield the rows of a file, with :data:`COLUMNS`, from one snapshot without a time limit.

    Each copy goes to the address that the subscription has today. Raises NotFound if no file was
    written at that time.
    """
    with books.scan() as reading:
        if not replacements.has_file(reading, written_at):
            raise NotFound(f"no file of replacements was written at {written_at}")
        yield replacements.rows_of(reading, written_at)
