"""Requalification: the efforts of publications, who is due, and asking them.

A reader of a free title is asked to qualify again before the qualification ends: by letter, by
email, or by telephone. What is written for an effort is noted after it was written, so that nobody
is asked twice by the same effort.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from masthead.billing.letter_mails import words_of_letter
from masthead.billing.printed_letters import AskedQuestion, PrintedRequalification
from masthead.billing.settings import BillingSettings
from masthead.billing.spoken import spoken
from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.books.invoice_documents import appearance_of, sender_of
from masthead.circulation.addresses import FIELDS
from masthead.circulation.qualifying import SEVERAL, Answer, Question, answers_of, told_apart
from masthead.circulation.requalifying import Effort, Window, check_efforts, windows
from masthead.contract.moments import is_day
from masthead.contract.printable import counted, printable
from masthead.documents.rendering import Appearance
from masthead.errors import BadInput
from masthead.store import audit
from masthead.store.billing.outbox import About, Words, queue_to
from masthead.store.billing.printing import person_of
from masthead.store.billing.settings import settings_of
from masthead.store.books import requalifying as stored
from masthead.store.books.efforts import REQUALIFICATION, efforts_of, unknown
from masthead.store.books.efforts import set_effort as store_effort
from masthead.store.books.issue import check_publication
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.qualification_forms import Form, form_of
from masthead.store.books.requalifying import Asked, InClass, Lapse, Lapsing
from masthead.store.login_check import takes_codes

__all__ = [
    "Due",
    "Effort",
    "Lapse",
    "Lapsing",
    "Outlook",
    "Sent",
    "Written",
    "call_columns",
    "calls",
    "due",
    "efforts",
    "lapsing",
    "letters",
    "note_sent",
    "outlook",
    "selected",
    "send_mails",
    "set_effort",
]

_TELEPHONE = "telephone"
_CALL = (
    *("subscriber_id", "renewal_code", *FIELDS),
    *("email", _TELEPHONE, "valid_until", "audit_classification"),
)


class Due(NamedTuple):
    """How many readers are due for an effort, and how many of them it reaches."""

    effort: Effort
    readers: int
    reached: int


class Written(NamedTuple):
    """The readers whom an effort asks: those who are due today, or those asked on a past day.

    ``form`` is the form of the publication, ``settings`` those of the account's documents.
    ``page`` is the address of the readers' pages, '' if there is none; ``takes_codes``: a renewal
    code signs in there.
    """

    effort: Effort
    day: str
    currency: str
    asked: Sequence[Asked]
    form: Form
    page: str
    takes_codes: bool
    settings: BillingSettings

    @property
    def appearance(self) -> Appearance:
        """How the letters look."""
        return appearance_of(self.settings)


class Sent(NamedTuple):
    """How many readers an effort asked."""

    effort: Effort
    readers: int

    @property
    def sentence(self) -> str:
        """What the operation did."""
        way = {
            "letter": "letter",
            "email": "mail",
            "telephone": "call",
        }[self.effort.way]
        return (
            f"{counted(self.readers, way)} of effort {self.effort.effort} of publication "
            f"{self.effort.publication_id} to qualify again"
        )


def efforts(books: Books, publication_id: int | None = None) -> list[Effort]:
    """Return the efforts, of one publication or of all.

    Raises NotFound if there is no such publication.
    """
    with books.read() as reading:
        if publication_id is not None:
            check_publication(reading, publication_id)
        return efforts_of(reading, REQUALIFICATION, publication_id)


def set_effort(books: Books, effort: Effort, *, dry_run: bool = False) -> Effort:
    """Add an effort, or change one.

    Raises NotFound if there is no such publication, and if it has no form. Raises BadInput for
    numbers out of bounds, and if the efforts would not be due in the order of their numbers.
    """
    with books.change(dry_run=dry_run) as change:
        form_of(change, effort.publication_id)
        others = efforts_of(change, REQUALIFICATION, effort.publication_id)
        check_efforts([effort, *(each for each in others if each.effort != effort.effort)])
        if store_effort(change, REQUALIFICATION, effort):
            change.say(effort.sentence)
    return effort


def due(books: Books, publication_id: int | None = None) -> list[Due]:
    """Return how many readers are due today, by publication and effort.

    Raises NotFound if there is no such publication.
    """
    with books.scan() as reading:
        if publication_id is not None:
            check_publication(reading, publication_id)
        return _due(reading, publication_id)


def _due(reading: Reading, publication_id: int | None = None) -> list[Due]:
    return [
        Due(each.effort, *stored.counts(reading, each))
        for each in _windows(reading, publication_id)
    ]


class Outlook(NamedTuple):
    """How the free titles stand: what lapses when, how many are in each class, and who is due.

    ``classes`` are by the id of the audit class.
    """

    lapses: Sequence[Lapse]
    classes: Mapping[int, InClass]
    due: Sequence[Due]


def outlook(books: Books) -> Outlook:
    """Return how the free titles of the account stand today."""
    with books.scan() as reading:
        return Outlook(
            stored.lapses(reading),
            {each.audit_class_id: each for each in stored.in_classes(reading)},
            _due(reading),
        )


def lapsing(
    books: Books, publication_id: int, month: str, *, after: tuple[str, int] = ("", -1), limit: int
) -> list[Lapsing]:
    """Return the readers whose copies end in a month, ``YYYY-MM``, sorted by the last day.

    ``after`` are the last day and the id of the subscription after which the list goes on. Raises
    NotFound if there is no such publication, BadInput if ``month`` is not a month.
    """
    if not is_day(f"{month}-01"):
        raise BadInput(f"{month!r} is not a month: write it as YYYY-MM")
    with books.read() as reading:
        check_publication(reading, publication_id)
        return stored.lapsing(reading, publication_id, month, after, limit)


def selected(
    books: Books, publication_id: int, effort: int, *, sent_on: str | None = None
) -> Written:
    """Return the readers whom an effort reaches today, or whom it asked on a day; note nothing.

    Readers of a past day who have qualified since are left out. Raises NotFound if there is no such
    publication, BadInput if it has no such effort, if ``sent_on`` is not a day or later than today,
    and if the settings have no name or no address of the seller.
    """
    with books.scan() as reading:
        window = _window(reading, publication_id, effort)
        day = reading.today if sent_on is None else check_past_day(sent_on, reading.today)
        if sent_on is None:
            asked = stored.due(reading, window)
        else:
            asked = stored.sent(reading, window.effort, day)
        found = _written(reading, window, asked)
    if sent_on is not None:
        audit.record_reading(
            books.store,
            books.actor,
            f"those whom effort {effort} of publication {publication_id} asked on {day} to qualify "
            "again were written once more",
            account_id=books.account_id,
        )
    return found._replace(day=day)


def note_sent(books: Books, written: Written) -> Sent:
    """Note that those who are due were asked, if they are still those who were ``written``.

    Raises BadInput if others are due by now: nothing is noted then.
    """
    effort = written.effort
    with books.change() as change:
        window = _window(change, effort.publication_id, effort.effort)
        if window.effort != effort or stored.due(change, window) != written.asked:
            raise BadInput(
                "the readers who are due changed while the file was written, and nothing was "
                "noted: write it again"
            )
        return _note(change, window)


def send_mails(books: Books, publication_id: int, effort: int, *, dry_run: bool = False) -> Sent:
    """Queue the mails of an effort to those who are due, and note that they were asked.

    ``masthead.books.mail_sending`` sends them. Raises what :func:`selected` does, and BadInput if
    the effort is not by email, or if the account has no address from which mails go.
    """
    with books.change(dry_run=dry_run) as change:
        window = _window(change, publication_id, effort)
        found = _written(change, window, stored.due(change, window))
        if window.effort.way != "email":
            raise BadInput(f"effort {effort} is by {window.effort.way}: it writes a file")
        if not found.settings.mail_from:
            raise BadInput(
                "the account has no address from which mails go: set mail_from first",
                code="mail_settings_missing",
            )
        addresses = {each.subscriber_id: each.email for each in found.asked}
        sent = _note(change, window)
        for letter in letters(found):
            reader = letter.recipient.subscriber_id
            queue_to(
                change,
                addresses[reader] or "",
                "requalification",
                reader,
                About(subscription_id=letter.subscription_id),
                Words(*words_of_letter(letter)),
            )
    return sent


def letters(written: Written) -> Iterator[PrintedRequalification]:
    """Yield what is printed for each reader."""
    settings, form = written.settings, written.form
    seller, questions = sender_of(settings), tuple(map(_printed, form.questions))
    for each in written.asked:
        recipient = person_of(each.subscriber_id, each.fields, email=each.email)
        yield PrintedRequalification(
            written_on=written.day,
            language=spoken(settings, recipient).language,
            currency=written.currency,
            seller=seller,
            recipient=recipient,
            subscription_id=each.subscription_id,
            publication=printable(form.publication),
            copies=each.copies or 1,
            effort=written.effort.effort,
            valid_until=each.valid_until,
            renewal_code=printable(each.renewal_code or ""),
            postal_code=recipient.postal_code if written.takes_codes else "",
            page=printable(written.page),
            agreed_text=printable(form.agreed_text or ""),
            questions=questions,
        )


def call_columns(written: Written) -> tuple[str, ...]:
    """Return the columns of a list of calls: the reader, then each question of the form."""
    names = {each.field_id: each.name for each in written.form.questions}
    return (*_CALL, *told_apart(names, "field").values())


def calls(written: Written) -> Iterator[tuple[str | int | None, ...]]:
    """Yield the rows of a list of calls, with the answers of the last time.

    The telephone number is that of the evidence ``telephone`` of the qualification.
    """
    for each in written.asked:
        evidence = msgspec.json.decode(each.evidence or "{}")
        answers = answers_of(each.answers)
        yield (
            *(each.subscriber_id, each.renewal_code, *each.fields),
            *(each.email, evidence.get(_TELEPHONE), each.valid_until, each.audit_class),
            *(
                _in_words(question, answers.get(question.field_id, Answer()))
                for question in written.form.questions
            ),
        )


def _in_words(question: Question, answer: Answer) -> str:
    words = [each.words for each in question.options if each.option_id in answer.options]
    return ", ".join(filter(None, [*words, answer.text]))


def _printed(question: Question) -> AskedQuestion:
    return AskedQuestion(
        words=printable(question.words),
        options=tuple(printable(each.words) for each in question.active_options),
        is_several=question.type == SEVERAL,
        has_other=question.allows_other,
    )


def _written(reading: Reading, window: Window, asked: Sequence[Asked]) -> Written:
    return Written(
        window.effort,
        reading.today,
        reading.currency,
        asked,
        form_of(reading, window.effort.publication_id),
        stored.page_of(reading),
        reading.ask(takes_codes()),
        settings_of(reading),
    )


def _note(change: Operation, window: Window) -> Sent:
    sent = Sent(window.effort, stored.record_sent(change, window))
    if sent.readers:
        change.say(sent.sentence)
    return sent


def _windows(reading: Reading, publication_id: int | None) -> list[Window]:
    by_publication: dict[int, list[Effort]] = {}
    for each in efforts_of(reading, REQUALIFICATION, publication_id):
        by_publication.setdefault(each.publication_id, []).append(each)
    return [window for found in by_publication.values() for window in windows(found, reading.today)]


def _window(reading: Reading, publication_id: int, effort: int) -> Window:
    check_publication(reading, publication_id)
    for each in _windows(reading, publication_id):
        if each.effort.effort == effort:
            return each
    raise unknown(REQUALIFICATION, effort)
