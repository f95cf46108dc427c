"""What the operations of readers share: whose a record is, what is refused, what is noted.

A reader changes only what is the reader's. An id of somebody else's record is answered as one that
does not exist.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from masthead.books import reader_mails
from masthead.books.account import Books
from masthead.books.reader_mails import Confirmed
from masthead.books.reader_offers import ask_offered
from masthead.circulation.reader_pages import Offered
from masthead.circulation.reader_rules import REFUSALS, refused
from masthead.databases.queries import Batch
from masthead.errors import BadInput, NotFound
from masthead.store.books import reader_changes, reader_home
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.reader_home import Reader, publication_of
from masthead.store.books.subscription import StoredSubscription, stored_subscription

__all__ = [
    "Act",
    "Look",
    "acting",
    "check_offered",
    "looking",
    "not_yours",
    "own_subscription",
    "running_subscription",
]


class Act(NamedTuple):
    """A running operation of a reader.

    ``books`` are those in which all of it is one operation, ``offered`` is what the account has.
    """

    books: Books
    change: Operation
    reader: Reader
    offered: Offered

    def note(
        self,
        kind: str,
        subscription_id: int | None,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
    ) -> int:
        """Note what the reader changed, for the desk and for undoing; return the id of the note.

        ``before`` also has the newest closed issues, by which undoing knows what was closed since.
        """
        subscriber_id = self.reader.subscriber_id
        closed = reader_changes.closed_of(self.change, subscriber_id, subscription_id)
        before = {**before, "closed": closed}
        return reader_changes.add(self.change, subscriber_id, kind, subscription_id, before, after)

    def confirm(
        self, kind: Confirmed, subscription_id: int | None, **values: str | int | None
    ) -> bool:
        """Queue the mail that confirms what the reader did (``billing.reader_mails.VALUES``).

        It has the language of the books. The name of the subscription's publication is added.
        Returns whether a mail is queued.
        """
        if subscription_id is not None:
            values["publication"] = publication_of(self.change, subscription_id)
        queued = reader_mails.confirmation(
            self.change,
            self.reader.subscriber_id,
            kind,
            values,
            subscription_id=subscription_id,
            language=self.books.language,
        )
        return queued is not None


@contextmanager
def acting(
    books: Books, subscriber_id: int, offered: str, *, dry_run: bool = False
) -> Iterator[Act]:
    """Yield one operation of a reader.

    ``offered`` is the name of what the account must have for it (``circulation.reader_pages``).
    Raises NotFound if there is no such reader, and if the reader was deleted. Raises BadInput with
    a code of ``circulation.reader_rules.REFUSALS`` if it is not offered, and for what the
    operations below refuse for another reason.
    """
    with books.together(dry_run=dry_run) as inside, inside.change() as change:
        look = _look(change, subscriber_id, offered)
        with _refusing_in_own_words():
            yield Act(inside, change, look.reader, look.offered)


class Look(NamedTuple):
    """What the preview of an operation reads: one snapshot, the reader, and what is offered."""

    reading: Reading
    reader: Reader
    offered: Offered


@contextmanager
def looking(books: Books, subscriber_id: int, offered: str) -> Iterator[Look]:
    """Yield what a preview of an operation of a reader reads; it writes and locks nothing.

    Pages show previews to many readers at once, and a dry run would make each wait for all others
    (decisions, "Previews of readers"). Takes and raises the same as :func:`acting`.
    """
    with books.read() as reading:
        look = _look(reading, subscriber_id, offered)
        with _refusing_in_own_words():
            yield look


def _look(reading: Reading, subscriber_id: int, offered: str) -> Look:
    batch = Batch(reading)
    reader = batch.add(reader_home.reader(reading.account_id, subscriber_id))
    offering = ask_offered(batch)
    batch.send()
    found = offering()
    who = reader()
    if getattr(found, offered) in {False, "no"}:
        raise refused("not_offered")
    return Look(reading, who, found)


@contextmanager
def _refusing_in_own_words() -> Iterator[None]:
    """Raise a refusal that is not one of the readers' pages as one that is."""
    try:
        yield
    except BadInput as error:
        if error.code in REFUSALS:
            raise
        raise refused("write_to_us") from error


def check_offered(books: Books, subscriber_id: int, offered: str) -> None:
    """Raise NotFound unless there is such a reader, and BadInput unless the account has something.

    ``offered`` is as in :func:`acting`.
    """
    with books.read() as reading:
        _look(reading, subscriber_id, offered)


def not_yours() -> NotFound:
    """Return the error for a record that is not the reader's, or that does not exist."""
    return NotFound(REFUSALS["not_yours"])


def own_subscription(
    reading: Reading, subscriber_id: int, subscription_id: int
) -> StoredSubscription:
    """Return a subscription of the reader. Raises NotFound if it is not the reader's."""
    try:
        found = stored_subscription(reading.connection, reading.account_id, subscription_id)
    except NotFound:
        raise not_yours() from None
    if found.subscriber_id != subscriber_id:
        raise not_yours()
    return found


def running_subscription(
    reading: Reading, subscriber_id: int, subscription_id: int
) -> StoredSubscription:
    """Return a subscription of the reader that has not ended.

    Raises what :func:`own_subscription` raises, and BadInput if it was cancelled or merged, or has
    no issues left.
    """
    found = own_subscription(reading, subscriber_id, subscription_id)
    if found.cancelled_on is not None or found.merged_into is not None or not found.issues:
        raise refused("ended")
    return found
