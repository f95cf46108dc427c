"""The letters of a reader, beside the reader's invoices.

Reminders are kept as they were written. Other letters are only noted then, so they are made again
with the reader's present name and address (decisions, "Letters that readers open").
"""

from collections.abc import Container, Iterable
from typing import NamedTuple, TypeVar

import msgspec

from masthead.billing.printed import from_json
from masthead.billing.printed_reminders import PrintedReminder
from masthead.books import letters, renewal_letters
from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.books.reader_acts import not_yours
from masthead.books.reader_offers import ask_offered
from masthead.databases.queries import Batch, Query
from masthead.documents.kinds import Printed
from masthead.documents.prepared import Prepared
from masthead.store.billing import announcements_printed, reader_letters, reminders
from masthead.store.billing.reader_letters import SentKind, SentLetter
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading
from masthead.store.books.reader_home import reader

__all__ = ["Letter", "SentKind", "letter", "letters_of", "reminder"]

Written = TypeVar("Written")


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
        kept = _offered(reading, subscriber_id, reminders.kept_letters(subscriber_id))
        found = {key: text for key, *_, text in kept}
        if reminder_id not in found:
            raise not_yours()
        printed = from_json(found[reminder_id], PrintedReminder)
        return Prepared(printed, appearance_of(settings_of(reading)))


def letter(
    books: Books, subscriber_id: int, kinds: Container[SentKind], key: int, effort: int = 0
) -> Prepared:
    """Return a letter that was sent to a reader, made again; ``key`` is that of the list.

    Raises NotFound if no letter of these kinds with this key was sent to the reader, or if it
    cannot be made again.
    """
    with books.read() as reading:
        sent = _offered(reading, subscriber_id, reader_letters.sent(subscriber_id))
        found = (each for each in sent if each.is_current and each.kind in kinds)
        wanted = next((each for each in found if (each.key, each.effort) == (key, effort)), None)
        printed = None if wanted is None else _made_again(reading, wanted)
        if printed is None:
            raise not_yours()
        return Prepared(printed, appearance_of(settings_of(reading)))


def _made_again(reading: Reading, sent: SentLetter) -> Printed | None:
    if sent.kind == "renewal":
        return renewal_letters.sent_before(reading, sent.written_on, sent.key, sent.effort)
    if sent.kind == "announcement":
        settings = settings_of(reading)
        made = announcements_printed.printed_announcements(
            reading, settings, sender_of(settings), [sent.key]
        )
        return made[0] if made else None
    letter = letters.of_subscription(reading, sent.kind, sent.subscription_id)
    return letter and msgspec.structs.replace(letter, written_on=sent.written_on)


def _offered(reading: Reading, subscriber_id: int, query: Query[list[Written]]) -> list[Written]:
    """Return what was written to a reader, or nothing where documents are switched off.

    Raises NotFound if there is no such reader.
    """
    batch = Batch(reading)
    reader_of = batch.add(reader(reading.account_id, subscriber_id))
    found = batch.add(query)
    offered = ask_offered(batch)
    batch.send()
    reader_of()
    return found() if offered().documents else []
