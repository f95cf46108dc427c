"""The letters that announce automatic renewals (billing, "Automatic renewal").

A letter goes to the payer of a renewal, unless the announcement goes by email. It can be made
again at any time, with the names and addresses of that day.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from masthead.billing.printed_announcements import PrintedAnnouncement
from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.documents.rendering import Appearance
from masthead.store.billing import announcements_printed
from masthead.store.billing.settings import settings_of


class Selected(NamedTuple):
    """Letters to print: the day of the announcements, how many, their looks, what they print."""

    day: str
    number: int
    appearance: Appearance
    letters: Iterator[PrintedAnnouncement]


def count(books: Books) -> int:
    """Return how many of today's announcements go by letter."""
    with books.scan() as reading:
        return announcements_printed.count_of_day(reading, reading.today)


@contextmanager
def selected(books: Books, day: str | None = None) -> Iterator[Selected]:
    """Yield the letters of the renewals that were announced on a day, by default today.

    Those that were stopped since are left out, and so are those that go by email. Raises BadInput
    if the day is none or is to come, and if the settings have no name or no address of the seller.
    """
    with books.scan() as reading:
        settings = settings_of(reading)
        seller = sender_of(settings)
        day = reading.today if day is None else check_past_day(day, reading.today)
        yield Selected(
            day,
            announcements_printed.count_of_day(reading, day),
            appearance_of(settings),
            announcements_printed.announcements_of_day(reading, settings, seller, day),
        )
