"""The letters of a reader that are kept: the reader's own, as PDF, and nobody else's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.billing.reminding import Level
from masthead.books import (
    reader_documents,
    reader_home,
    reminder_documents,
    reminder_levels,
    reminders,
)
from masthead.errors import NotFound
from tests.documents.shown import lines_of
from tests.readers_books.household import ADA, BEN, reader, refused

if TYPE_CHECKING:
    from masthead.books import Books
    from masthead.books.reader_documents import Letter
    from tests.circulation.desk import Desk

DAY = "2026-05-09"


def remind(desk: Desk) -> None:
    """Remind Ada, who has paid nothing."""
    reminder_levels.set_level(desk.books, Level(1, 10, 350, "stop", None))
    desk.to(DAY)
    reminders.send(desk.books)


def letters_of(books: Books, subscriber_id: int) -> list[Letter]:
    """Return the letters that the reader's first page lists."""
    return reader_home.first_page(books, subscriber_id, requests_max=1).letters


def test_a_reminder_is_the_letter_that_was_written(household: Desk) -> None:
    assert letters_of(reader(household, ADA), ADA) == []
    remind(household)
    (letter,) = letters_of(reader(household, ADA), ADA)
    assert (letter.number, letter.level, letter.written_on) == ("2026-000001", 1, DAY)
    pdf = reader_documents.reminder(reader(household, ADA), ADA, letter.reminder_id).pdf()
    (written,) = reminder_documents.letters(household.books)
    assert lines_of(pdf) == lines_of(written.pdf)


def test_another_readers_letter_is_answered_as_an_unknown_one(household: Desk) -> None:
    remind(household)
    (letter,) = letters_of(reader(household, ADA), ADA)
    assert letters_of(reader(household, BEN), BEN) == []
    books = reader(household, BEN)
    theirs = refused(household, reader_documents.reminder, books, BEN, letter.reminder_id)
    unknown = refused(household, reader_documents.reminder, books, BEN, 987)
    assert isinstance(theirs, NotFound)
    assert str(theirs) == str(unknown)


def test_where_documents_are_switched_off_no_letter_is_shown(household: Desk) -> None:
    remind(household)
    (letter,) = letters_of(reader(household, ADA), ADA)
    household.put("page_settings", setting_id=1, name="documents", value="no")
    books = reader(household, ADA)
    assert letters_of(books, ADA) == []
    refused(household, reader_documents.reminder, books, ADA, letter.reminder_id)
