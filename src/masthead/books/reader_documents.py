"""The letters of a reader that are kept, beside the reader's invoices: reminders.

Other letters are only noted when they are written, so there is nothing to show.
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.billing.printed import from_json
from masthead.billing.printed_reminders import PrintedReminder
from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of
from masthead.books.reader_acts import not_yours
from masthead.books.reader_offers import ask_offered
from masthead.databases.queries import Batch
from masthead.documents.prepared import Prepared
from masthead.store.billing import reminders
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading
from masthead.store.books.reader_home import reader


class Letter(NamedTuple):
    """A reminder of a reader: its id, its first invoice, its level, and its day."""

    reminder_id: int
    number: str
    level: int
    written_on: str


def letters_of(kept: Iterable[tuple[int, str, int, str, str]]) -> list[Letter]:
    """Return letters as they are listed, from those that are kept with their JSON."""
    return [Letter(*each[:-1]) for each in kept]


def reminder(books: Books, subscriber_id: int, reminder_id: int) -> Prepared:
    """Return a reminder of a reader. Raises NotFound if it is not the reader's."""
    with books.read() as reading:
        found = {key: text for key, *_, text in _kept(reading, subscriber_id)}
        if reminder_id not in found:
            raise not_yours()
        printed = from_json(found[reminder_id], PrintedReminder)
        return Prepared(printed, appearance_of(settings_of(reading)))


def _kept(reading: Reading, subscriber_id: int) -> list[tuple[int, str, int, str, str]]:
    batch = Batch(reading)
    reader_of = batch.add(reader(reading.account_id, subscriber_id))
    found = batch.add(reminders.kept_letters(subscriber_id))
    offered = ask_offered(batch)
    batch.send()
    reader_of()
    return found() if offered().documents else []
