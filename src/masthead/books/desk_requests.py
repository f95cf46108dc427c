"""What readers ask the desk for on their pages, and that it was answered."""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.notes import author_of
from masthead.errors import BadInput
from masthead.store.books import desk_requests as stored
from masthead.store.books.desk_requests import ReaderRequest

__all__ = ["Answered", "ReaderRequest", "answer", "find", "waiting"]


class Answered(NamedTuple):
    """A request that was answered."""

    reader_request_id: int
    subscriber_id: int

    @property
    def sentence(self) -> str:
        """Which request was answered."""
        return f"request {self.reader_request_id} of subscriber {self.subscriber_id} was answered"


def waiting(books: Books, limit: int) -> list[ReaderRequest]:
    """Return what nobody has answered yet, the oldest first, at most ``limit``."""
    with books.read() as reading:
        return stored.open_requests(reading, limit)


def find(books: Books, reader_request_id: int) -> ReaderRequest:
    """Return a request. Raises NotFound if there is none."""
    with books.read() as reading:
        return stored.the_request(reading, reader_request_id)


def answer(books: Books, reader_request_id: int, *, dry_run: bool = False) -> Answered:
    """Note that the desk has answered a request, however it did.

    Raises NotFound if there is no such request, BadInput if it was answered before.
    """
    with books.change(dry_run=dry_run) as change:
        found = stored.the_request(change, reader_request_id)
        if found.answered_at is not None:
            raise BadInput(f"the request was answered on {found.answered_at[:10]} already")
        stored.mark_answered(change, reader_request_id, author_of(books))
        done = Answered(reader_request_id, found.subscriber_id)
        change.say(done.sentence)
    return done
