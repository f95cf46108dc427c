"""Welcome and cancellation letters: what is due, and noting it (billing, "Documents")."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, timedelta
from typing import NamedTuple

from masthead.billing.letter_mails import words_of_letter
from masthead.billing.printed_letters import PrintedCancellation, PrintedWelcome
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.contract.printable import counted, printable
from masthead.documents.rendering import Appearance
from masthead.errors import BadInput
from masthead.store import audit
from masthead.store.billing import letters, outbox
from masthead.store.billing.letters import LetterKind
from masthead.store.billing.printing import person_of
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation, Reading

__all__ = [
    "SINCE_DAYS",
    "Due",
    "Letter",
    "LetterKind",
    "Written",
    "due",
    "note_written",
    "of_day",
    "of_subscription",
    "written_again",
]

SINCE_DAYS = 30
"""How many days back subscriptions and cancellings get a letter, if nothing else is said."""

Letter = PrintedWelcome | PrintedCancellation


class Due(NamedTuple):
    """Letters that are due for what happened since a day, by how they go.

    ``printed`` go by post. ``mailed`` go by email, each with its address, because their readers
    want it. ``without_address`` are subscriptions whose letter can go neither way.
    """

    kind: LetterKind
    since: str
    appearance: Appearance
    printed: list[Letter]
    mailed: list[tuple[Letter, str]]
    without_address: list[int]


class Written(NamedTuple):
    """Letters that were noted: how many were printed, and how many go by email."""

    kind: LetterKind
    printed: int
    mailed: int

    @property
    def sentence(self) -> str:
        """What the operation noted."""
        said = f"{counted(self.printed, f'{self.kind} letter')} written"
        return f"{said}, {self.mailed} more by email" if self.mailed else said


def due(books: Books, kind: LetterKind, *, since: str | None = None) -> Due:
    """Return the letters for what began or was cancelled since a day; notes nothing.

    By default, it is :data:`SINCE_DAYS` days ago. A subscription gets one welcome letter, and one
    cancellation letter for each day on which it is cancelled. Raises BadInput if the day is later
    than today, and if the settings have no name or no address of the seller.
    """
    with books.scan() as reading:
        since = _since(reading, since)
        settings = settings_of(reading)
        found = list(_letters(reading, kind, settings, since))
        addresses = outbox.addresses_of(reading, {to for _, to, _ in found})
    return _by_way(kind, since, settings, found, addresses)


def of_day(books: Books, kind: LetterKind, day: str) -> Due:
    """Return the letters of a day that are on paper, with the data of today.

    They are those that were printed, and those by email whose mail failed. Raises what :func:`due`
    does.
    """
    with books.scan() as reading:
        check_past_day(day, reading.today)
        settings = settings_of(reading)
        found = list(_letters(reading, kind, settings, "", day))
    return _by_way(kind, day, settings, found, {})


def of_subscription(reading: Reading, kind: LetterKind, subscription_id: int) -> Letter | None:
    """Return the letter of a subscription with the data of today; None if it is not cancelled.

    Raises BadInput if the settings have no name or no address of the seller.
    """
    settings = settings_of(reading)
    found = _letters(reading, kind, settings, "", of_one=subscription_id)
    return next((letter for letter, _, _ in found), None)


def written_again(books: Books, kind: LetterKind, day: str) -> Due:
    """Return what :func:`of_day` does; the audit log records the reading."""
    found = of_day(books, kind, day)
    audit.record_reading(
        books.store,
        books.actor,
        f"{kind} letters of {day} were written once more",
        account_id=books.account_id,
    )
    return found


def _by_way(
    kind: LetterKind,
    since: str,
    settings: BillingSettings,
    found: Iterable[tuple[Letter, int, bool]],
    addresses: Mapping[int, str],
) -> Due:
    due = Due(kind, since, appearance_of(settings), [], [], [])
    for letter, to, has_address in found:
        if to in addresses:
            due.mailed.append((letter, addresses[to]))
        elif has_address:
            due.printed.append(letter)
        else:
            due.without_address.append(letter.subscription_id)
    return due


def note_written(books: Books, found: Due, *, dry_run: bool = False) -> Written:
    """Note letters as written today, and queue those that go by email.

    Call this after the printed ones were made. Raises BadInput if one of them is not due any more,
    such as after the cancelling was undone, or because another command wrote it: nothing is noted
    then.
    """
    done = Written(found.kind, len(found.printed), len(found.mailed))
    with books.change(dry_run=dry_run) as change:
        here = [*found.printed, *(letter for letter, _ in found.mailed)]
        gone = {each.subscription_id for each in here} - letters.still_due(
            change, found.kind, found.since
        )
        if gone:
            raise BadInput(
                f"some {found.kind} letters are not due any more, and nothing was noted: write "
                "them again"
            )
        if here:
            _note(change, found)
            change.say(done.sentence)
    return done


def _note(change: Operation, found: Due) -> None:
    for letter, address in found.mailed:
        outbox.queue_to(
            change,
            address,
            found.kind,
            letter.recipient.subscriber_id,
            outbox.About(subscription_id=letter.subscription_id),
            outbox.Words(*words_of_letter(letter)),
        )
    of_post = [(each.subscription_id, each.recipient.subscriber_id) for each in found.printed]
    letters.note_written(change, found.kind, of_post, by_email=False)
    of_mail = [(each.subscription_id, each.recipient.subscriber_id) for each, _ in found.mailed]
    letters.note_written(change, found.kind, of_mail, by_email=True)


def _since(reading: Reading, since: str | None) -> str:
    if since is not None:
        return check_past_day(since, reading.today)
    return (date.fromisoformat(reading.today) - timedelta(days=SINCE_DAYS)).isoformat()


def _letters(
    reading: Reading,
    kind: LetterKind,
    settings: BillingSettings,
    since: str,
    written_on: str | None = None,
    of_one: int | None = None,
) -> Iterator[tuple[Letter, int, bool]]:
    """Yield letters, each with who gets it, and whether there is an address for it."""
    if kind == "welcome":
        names = letters.issue_names(reading)
        for row, fields in letters.welcomes(reading, since, written_on, of_one):
            has_address = bool(row.has_address)
            welcome = _welcome(reading, row, fields, settings, names)
            yield welcome, row.subscriber_id, has_address
        return
    notes: dict[int, list[str]] = {}
    for subscription_id, number in letters.credit_notes(reading, since, written_on, of_one):
        notes.setdefault(subscription_id, []).append(number)
    for cancelled, fields in letters.cancellations(reading, since, written_on, of_one):
        letter = _cancellation(reading, cancelled, fields, settings, notes)
        yield letter, cancelled.subscriber_id, bool(cancelled.has_address)


def _name(first: str | None, last: str | None) -> str:
    return printable(" ".join(filter(None, (first, last))))


def _welcome(
    reading: Reading,
    row: letters.Welcome,
    fields: tuple[str | None, ...],
    settings: BillingSettings,
    names: dict[tuple[int, str], str],
) -> PrintedWelcome:
    is_gift = row.payer_id != row.subscriber_id
    recipient = person_of(row.subscriber_id, fields, email=row.email)
    return PrintedWelcome(
        written_on=reading.today,
        language=spoken(settings, recipient).language,
        currency=reading.currency,
        seller=sender_of(settings),
        recipient=recipient,
        subscription_id=row.subscription_id,
        publication=printable(row.publication or ""),
        copies=row.copies or 1,
        type=row.type or "Print",
        issues=row.issues or 0,
        first_issue=printable(names.get((row.publication_id, row.first_on or ""), "")),
        first_on=row.first_on,
        until=row.until,
        payer=_name(row.payer_first_name, row.payer_last_name) if is_gift else "",
        renewal_code=printable(row.renewal_code or ""),
    )


def _cancellation(
    reading: Reading,
    row: letters.Cancellation,
    fields: tuple[str | None, ...],
    settings: BillingSettings,
    notes: dict[int, list[str]],
) -> PrintedCancellation:
    is_gift = row.reader_id != row.subscriber_id
    goes_on = row.ended_on is None and bool(row.at_end)
    recipient = person_of(row.subscriber_id, fields, email=row.email)
    return PrintedCancellation(
        written_on=reading.today,
        language=spoken(settings, recipient).language,
        currency=reading.currency,
        seller=sender_of(settings),
        recipient=recipient,
        subscription_id=row.subscription_id,
        reader=_name(row.reader_first_name, row.reader_last_name) if is_gift else "",
        publication=printable(row.publication or ""),
        copies=row.copies or 1,
        cancelled_on=row.cancelled_on,
        reason=printable(row.reason or ""),
        ended_on=row.ended_on,
        last_issue="" if row.ended_on else printable(row.last_issue or ""),
        last_on=None if row.ended_on else row.last_on,
        issues_left=max(row.issues or 0, 0) if goes_on else 0,
        until=row.until if goes_on else None,
        is_refund=bool(row.is_refund),
        refunded=row.refunded,
        credit_notes=tuple(notes.get(row.subscription_id, ())),
    )
