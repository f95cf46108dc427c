"""Notes about a reader: adding and correcting one."""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.errors import BadInput
from masthead.store.books import reader_notes
from masthead.store.books.reader_notes import Note

__all__ = ["TEXT_MAX", "Note", "Noted", "add", "correct", "may_correct", "show"]

TEXT_MAX = 10_000
"""The most characters of a note, and of the text of a complaint."""


class Noted(NamedTuple):
    """A note that was added or corrected. The sentence has no text, which is personal."""

    note_id: int
    subscriber_id: int
    was_corrected: bool = False

    @property
    def sentence(self) -> str:
        """Which note was added or corrected."""
        what = "corrected" if self.was_corrected else "added"
        return f"note {self.note_id} of subscriber {self.subscriber_id} was {what}"


def show(books: Books, note_id: int) -> Note:
    """Return a note. Raises NotFound if there is none."""
    with books.read() as reading:
        return reader_notes.note_of(reading, note_id)


def add(books: Books, subscriber_id: int, text: str, *, dry_run: bool = False) -> Noted:
    """Add a note in the name of the books' actor.

    Raises NotFound if there is no such subscriber. Raises BadInput if the subscriber is deleted, or
    if the text is empty or longer than :data:`TEXT_MAX`.
    """
    text = _needed(text)
    with books.change(dry_run=dry_run) as change:
        reader_notes.check_open(change, subscriber_id)
        note_id = reader_notes.add_note(change, subscriber_id, author_of(books), text)
        done = Noted(note_id, subscriber_id)
        change.say(done.sentence)
    return done


def may_correct(note: Note, author: str, today: str) -> bool:
    """Return whether an author may correct a note: it is the author's own, and of today."""
    return note.author == author and (note.noted_at or "")[:10] == today


def correct(
    books: Books, note_id: int, text: str, *, of_anybody: bool = False, dry_run: bool = False
) -> Noted:
    """Replace the text of a note; its author and its time stay.

    Raises NotFound if there is no such note. Raises BadInput if :func:`may_correct` is false and
    ``of_anybody`` is not set, for what :func:`add` refuses, and if the note was erased.
    """
    text = _needed(text)
    with books.change(dry_run=dry_run) as change:
        note = reader_notes.note_of(change, note_id)
        reader_notes.check_open(change, note.subscriber_id)
        if not (of_anybody or may_correct(note, author_of(books), change.today)):
            raise BadInput(
                f"the note is of {note.author} and of {(note.noted_at or '')[:10]}: authors "
                "correct their own notes on the same day, and managers correct any"
            )
        reader_notes.set_note(change, note_id, text)
        done = Noted(note_id, note.subscriber_id, was_corrected=True)
        change.say(done.sentence)
    return done


def _needed(text: str) -> str:
    text = checked(text)
    if not text:
        raise BadInput("the note has no text", field="text")
    return text


def author_of(books: Books) -> str:
    """Return the name of the user who works in the books; '' if they have no actor."""
    return books.actor.user_name if books.actor else ""


def checked(text: str) -> str:
    """Return a text with the line breaks of this system and without spaces at its ends.

    Browsers send a line break as two characters. Raises BadInput if the text is too long.
    """
    text = text.replace("\r\n", "\n").strip()
    if len(text) > TEXT_MAX:
        raise BadInput(
            f"the text has {len(text):,} characters; {TEXT_MAX:,} fit",
            field="text",
        )
    return text
