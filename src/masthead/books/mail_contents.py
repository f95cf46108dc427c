"""What a mail of the outbox says, and what is attached (billing, "E-mail").

The words of invoices, receipts and credit notes follow from what they print; others were queued
with their words. Documents are made when the mail is sent, by the templates of that day.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import NamedTuple, Self

from masthead.billing.mail_texts import MailWords, words_of
from masthead.billing.printed import PrintedInvoice, from_json
from masthead.billing.printed_reminders import PrintedReminder
from masthead.billing.reader_mails import language_of
from masthead.billing.settings import BillingSettings
from masthead.books.invoice_documents import appearance_of
from masthead.documents.kinds import Printed
from masthead.documents.rendering import Renderer
from masthead.mail.messages import Attachment, Message
from masthead.store.billing.printing import printed_of, reminder_printed
from masthead.store.billing.publisher_name import publisher_name
from masthead.store.billing.sending import Mail
from masthead.store.books.operation import Reading

_ADVERTISING = {"renewal", "requalification"}
"""The kinds of mails that a reader may refuse: all others belong to a contract."""

_OF_PAGES = {"sign_in_link", "password_link", "confirmation"}
"""The kinds of mails about the readers' pages, in the language of the reader."""


class _Document(NamedTuple):
    """The words of a mail, their language, and what is attached."""

    words: MailWords | None
    language: str
    attachments: tuple[Attachment, ...] = ()


class Contents(AbstractContextManager["Contents"]):
    """Makes the messages of an account, with one look of its documents until the block ends."""

    def __init__(self, settings: BillingSettings, clock: Callable[[], int]) -> None:
        """``clock`` returns the time in microseconds since 1970."""
        self._settings = settings
        self._clock = clock
        self._open = ExitStack()
        self._renderer: Renderer | None = None

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """End the process that makes documents."""
        self._open.close()

    def message_of(self, reading: Reading, mail: Mail) -> Message | None:
        """Return the message of a mail; None if its payer was erased.

        Raises BadInput for an error of a template, with its file and line.
        """
        settings = self._settings
        found = self._document(reading, mail)
        if mail.address is None or found is None or found.words is None:
            return None
        sender = publisher_name(reading) if mail.kind in _OF_PAGES else settings.seller_name
        answers = settings.mail_reply_to or settings.mail_from
        return Message(
            sender=settings.mail_from,
            sender_name=sender,
            recipient=mail.address,
            subject=found.words.subject,
            text=found.words.text,
            message_id=mail.message_id or f"<{mail.mail_id}@{domain_of(settings)}>",
            moment_us=self._clock(),
            language=found.language,
            reply_to=settings.mail_reply_to,
            unsubscribe=answers if mail.kind in _ADVERTISING else "",
            attachments=found.attachments,
        )

    def _document(self, reading: Reading, mail: Mail) -> _Document | None:
        """Return the words and the document of a mail; None if its payer was erased."""
        words = MailWords(mail.subject, mail.text) if mail.subject and mail.text else None
        if mail.invoice_id is not None:
            stored = printed_of(reading, mail.invoice_id)
            if stored is None:
                return None
            printed = from_json(stored, PrintedInvoice)
            name = printed.number.replace("/", "-")
            made = self._attached(name, printed)
            return _Document(words or words_of(printed), printed.language, made)
        if mail.reminder_id is not None:
            stored = reminder_printed(reading, mail.reminder_id)
            if stored is None:
                return None
            reminder = from_json(stored, PrintedReminder)
            made = self._attached(f"{mail.kind}-{reminder.reminded_on}", reminder)
            return _Document(words, reminder.language, made)
        if words is not None and mail.kind in _OF_PAGES:
            return _Document(words, language_of(words.text))
        return _Document(words, self._settings.language)

    def _attached(self, name: str, printed: Printed) -> tuple[Attachment, ...]:
        return (Attachment(f"{name}.pdf", self._made_by().pdf(printed)),)

    def _made_by(self) -> Renderer:
        """Return what makes the documents; most runs of a sender find nothing to send."""
        if self._renderer is None:
            self._renderer = self._open.enter_context(Renderer(appearance_of(self._settings)))
        return self._renderer


def domain_of(settings: BillingSettings) -> str:
    """Return the domain of the address from which an account's mails go."""
    return settings.mail_from.rpartition("@")[2]
