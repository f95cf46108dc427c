"""Renewals: the efforts of publications, the letters that are due, and noting them as sent."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.circulation.renewal_efforts import Effort, check_effort
from masthead.contract.printable import counted
from masthead.store import audit
from masthead.store.books import efforts as stored
from masthead.store.books import renewing
from masthead.store.books.catalogue import bundles
from masthead.store.books.catalogue_records import Bundle
from masthead.store.books.efforts import RENEWAL
from masthead.store.books.issue import check_publication
from masthead.store.books.operation import Reading
from masthead.store.books.renewing import FILE_WITH, LETTER, Due, Letter

__all__ = [
    "LETTER",
    "Due",
    "Effort",
    "Letter",
    "Letters",
    "Sent",
    "due",
    "efforts",
    "is_noted",
    "selected",
    "send",
    "set_effort",
    "written_letters",
]


class Letters(NamedTuple):
    """Letters of a day: how many by publication and effort, and their rows (:data:`LETTER`)."""

    day: str
    due: list[Due]
    rows: Iterator[Letter]


class Sent(NamedTuple):
    """Letters that were noted as sent, of one publication or of all.

    ``digest`` is the SHA-256 of their file, if they were written into one.
    """

    publication_id: int | None
    day: str
    due: list[Due]
    digest: str | None

    @property
    def sentence(self) -> str:
        """What the operation did."""
        letters = counted(sum(each.letters for each in self.due), "letter")
        whose = "" if self.publication_id is None else f" of publication {self.publication_id}"
        verb = "was" if letters.startswith("1 ") else "were"
        file = "" if self.digest is None else f", into the {FILE_WITH}{self.digest}"
        return f"{letters} of renewal{whose} {verb} written out{file}"


def efforts(books: Books, publication_id: int | None = None) -> list[tuple[Effort, Bundle | None]]:
    """Return the efforts, of one publication or of all, each with its bundle.

    Raises NotFound if there is no such publication.
    """
    with books.read() as reading:
        if publication_id is not None:
            check_publication(reading, publication_id)
        found = {each.bundle_id: each for each in bundles(reading)}
        return [
            (effort, None if effort.bundle_id is None else found.get(effort.bundle_id))
            for effort in stored.efforts_of(reading, RENEWAL, publication_id)
        ]


def set_effort(books: Books, effort: Effort, *, dry_run: bool = False) -> Effort:
    """Add an effort, or replace one: a value that is None in ``effort`` is removed.

    Raises NotFound if there is no such publication. Raises BadInput if the efforts would not be due
    in the order of their numbers, for a number or a key code that is out of bounds, and for a
    bundle that is not for sale or has no line for the publication.
    """
    with books.change(dry_run=dry_run) as change:
        check_publication(change, effort.publication_id)
        check_effort(effort, stored.efforts_of(change, RENEWAL, effort.publication_id))
        if effort.bundle_id is not None:
            renewing.check_bundle(change, effort.publication_id, effort.bundle_id)
        if stored.set_effort(change, RENEWAL, effort):
            change.say(effort.sentence)
    return effort


def due(books: Books, publication_id: int | None = None) -> list[Due]:
    """Return how many letters are due today, by publication and effort.

    Raises NotFound if there is no such publication.
    """
    with books.scan() as reading:
        if publication_id is not None:
            check_publication(reading, publication_id)
        return renewing.due(reading, reading.today, publication_id)


@contextmanager
def written_letters(
    books: Books, publication_id: int | None = None, *, sent_on: str | None = None
) -> Iterator[Letters]:
    """Yield what :func:`selected` does; the audit log records the reading."""
    with books.scan() as reading:
        day = _checked(reading, publication_id, sent_on)
    what = "were previewed" if sent_on is None else f"of {day} were written once more"
    audit.record_reading(
        books.store, books.actor, f"letters of renewal {what}", account_id=books.account_id
    )
    with selected(books, publication_id, sent_on=sent_on) as letters:
        yield letters


@contextmanager
def selected(
    books: Books, publication_id: int | None = None, *, sent_on: str | None = None
) -> Iterator[Letters]:
    """Yield the letters that are due today, or those sent on the day ``sent_on``; notes nothing.

    Letters of a past day have the reader's current data. What follows records the reading. Raises
    NotFound if there is no such publication, BadInput if ``sent_on`` is not a day, or later than
    today.
    """
    again = sent_on is not None
    with books.scan() as reading:
        day = _checked(reading, publication_id, sent_on)
        counts = renewing.due(reading, day, publication_id, again=again)
        rows = renewing.letters(reading, day, publication_id, again=again)
        yield Letters(day, counts, rows)


def _checked(reading: Reading, publication_id: int | None, sent_on: str | None) -> str:
    """Return the day of the letters."""
    if publication_id is not None:
        check_publication(reading, publication_id)
    return reading.today if sent_on is None else check_past_day(sent_on, reading.today)


def send(
    books: Books,
    write: Callable[[Iterator[Letter]], str | None],
    publication_id: int | None = None,
) -> Sent:
    """Note the letters that are due today as sent, after ``write`` has got them.

    ``write`` returns the SHA-256 of their file, by which :func:`is_noted` finds it, or None. The
    next letter of a subscription is due at a later call (circulation, "Renewals"). Raises NotFound
    if there is no such publication.
    """
    with books.change() as change:
        if publication_id is not None:
            check_publication(change, publication_id)
        counts = renewing.due(change, change.today, publication_id)
        digest = write(renewing.letters(change, change.today, publication_id))
        sent = Sent(publication_id, change.today, counts, digest)
        if renewing.record_sent(change, publication_id):
            change.say(sent.sentence)
    return sent


def is_noted(books: Books, digest: str) -> bool:
    """Return whether the audit log says that the letters of a file were sent."""
    with books.read() as reading:
        return renewing.is_noted(reading, digest)
