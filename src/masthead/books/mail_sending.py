"""Sending the mails of the outbox, once each (billing, "E-mail").

A sender takes one mail after the other (``store.billing.sending``). It notes that a mail may have
gone before it sends the line that ends it, and that it has gone after the server's answer. So a
sender that is killed loses no mail and sends none twice: what is uncertain is listed as failed, and
a person decides (decisions, "Mails are sent once").
"""

import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, get_args

from masthead.billing.mail_retries import LEASE_SECONDS, delay_after
from masthead.billing.settings import BillingSettings
from masthead.books.account import Books
from masthead.books.held_addresses import hold
from masthead.books.mail_contents import Contents, domain_of
from masthead.contract.moments import moment_of, second_in
from masthead.contract.printable import counted
from masthead.errors import BadInput, MastheadError
from masthead.mail import addresses
from masthead.mail.messages import Message, bytes_of
from masthead.mail.smtp import (
    ConnectionLost,
    NotHandedOver,
    Refused,
    ServerUnusable,
    Session,
    Timeouts,
)
from masthead.mail.smtp_url import Server
from masthead.private_files import make_file, make_folder
from masthead.store.audit import record_reading
from masthead.store.billing import mails as stored
from masthead.store.billing.outbox import LinkKind
from masthead.store.billing.sending import ERASED, LINK_ENDED, UNCERTAIN, Mail, Outbox
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Reading
from masthead.store.sign_in_links import LINK_US

_HOUR = 60 * 60
_PAGE = 100


class Problem(NamedTuple):
    """A mail that was not sent, and why; it names no address."""

    mail_id: int
    error: str


class Sent(NamedTuple):
    """What a run of the sender did; ``waiting`` mails are left by the limit of an hour."""

    sent: int = 0
    later: int = 0
    failed: int = 0
    waiting: int = 0
    problems: tuple[Problem, ...] = ()

    @property
    def sentence(self) -> str:
        """How many mails were sent, and what happened to the others."""
        said = f"{counted(self.sent, 'mail')} sent"
        if self.later:
            said += f"; {self.later} will be tried again"
        if self.failed:
            said += f"; {self.failed} failed"
        if self.waiting:
            said += f"; {self.waiting} wait for the next hour"
        return said


class Due(NamedTuple):
    """How many mails are due."""

    mails: int

    @property
    def sentence(self) -> str:
        """How many mails would be sent."""
        return f"{counted(self.mails, 'mail')} would be sent"


class Written(NamedTuple):
    """How many mails were written to a folder."""

    mails: int
    folder: Path

    @property
    def sentence(self) -> str:
        """How many mails were written, and that they still wait."""
        return f"{counted(self.mails, 'mail')} written to {self.folder}; none was sent"


def due(books: Books) -> Due:
    """Return how many mails are due, and send none."""
    with books.read() as reading:
        return Due(stored.count_due(reading))


def send(
    books: Books, server: Server, *, limit: int | None = None, timeouts: Timeouts | None = None
) -> Sent:
    """Send the mails that are due, the first first, until none is left or a limit is reached.

    ``limit`` is the most mails of this run, beside the setting ``mails_per_hour``. A mail that the
    server does not take for now is tried again later, with a growing delay. Raises ServerUnusable
    if the server takes no mails: those that were not sent stay queued. Raises BadInput if the
    account does not send, or for an error of a template.
    """
    with books.read() as reading:
        settings = settings_of(reading)
        time_zone = reading.time_zone
        is_any = stored.count_due(reading, most=1) > 0
    _check_sends(settings)
    if not is_any:
        return Sent()
    with books.store.writer() as connection:
        books.store.check_schema(connection)
        run = _Run(books, settings, Outbox(connection, books.account_id), time_zone)
        try:
            with run.contents:
                while not run.is_done:
                    with Session(server, timeouts) as session:
                        run.send_all(session, limit)
        finally:
            done = run.done()
            if done.sent or done.failed:
                with books.change() as change:
                    change.say(done.sentence)
    return done


def write(books: Books, folder: Path) -> Written:
    """Write the mails that are due to a folder as files ``.eml``, and mark nothing.

    Raises BadInput if the account has no address from which mails go, or for an error of a
    template.
    """
    with books.read() as reading:
        settings = settings_of(reading)
    _check_sender(settings)
    record_reading(
        books.store,
        books.actor,
        "the mails that wait were written to files",
        account_id=books.account_id,
    )
    count = 0
    with books.read() as reading, Contents(settings, books.store.clock) as contents:
        for mail in _all_due(reading):
            message = contents.message_of(reading, mail)
            if message is None:
                continue
            make_folder(folder)
            path = folder / f"mail-{mail.mail_id:06}.eml"
            make_file(path)
            path.write_bytes(bytes_of(message))
            count += 1
    return Written(count, folder)


def _all_due(reading: Reading) -> Iterator[Mail]:
    after = 0
    while page := stored.due_after(reading, after, _PAGE):
        yield from page
        after = page[-1].mail_id


def _check_sender(settings: BillingSettings) -> None:
    if not settings.mail_from:
        raise BadInput(
            "the account has no address from which mails go: set mail_from first",
            code="mail_settings_missing",
        )


def _check_sends(settings: BillingSettings) -> None:
    _check_sender(settings)
    if not settings.mail_sending:
        raise BadInput(
            "the account sends no mails: mail_sending is no", code="mail_settings_missing"
        )


class _Run:
    """One run of a sender."""

    def __init__(
        self, books: Books, settings: BillingSettings, mails: Outbox, time_zone: str
    ) -> None:
        self._books = books
        self._settings = settings
        self._mails = mails
        self._time_zone = time_zone
        self.contents = Contents(settings, books.store.clock)
        self.is_done = False
        self._sent = self._later = self._failed = self._waiting = 0
        self._problems = list[Problem]()

    def done(self) -> Sent:
        """Return what was done so far."""
        return Sent(self._sent, self._later, self._failed, self._waiting, tuple(self._problems))

    def send_all(self, session: Session, limit: int | None) -> None:
        """Send until no mail is due, or a limit is reached; then the run is done.

        It is not if the server ended the connection after it had taken mails. Raises ServerUnusable
        if it took none.
        """
        before = self._sent
        in_hour = self._settings.mails_per_hour - self._mails.sent_since(self._time(-_HOUR))
        most = in_hour if limit is None else min(in_hour, limit - before)
        try:
            while self._sent - before < most and (mail := self._take()):
                self._send(session, mail)
        except ServerUnusable:
            if self._sent == before:
                raise
            return
        self.is_done = True
        if self._sent - before == in_hour:
            with self._books.read() as reading:
                self._waiting = stored.count_due(reading)

    def _take(self) -> Mail | None:
        new_id = f"<{secrets.token_hex(16)}@{domain_of(self._settings)}>"
        return self._mails.take(self._time(), self._time(LEASE_SECONDS), new_id)

    def _send(self, session: Session, mail: Mail) -> None:
        message = self._message_of(mail)
        if message is None:
            return
        try:
            self._hand_over(session, mail, message)
        except Refused as refusal:
            self._refused(mail, refusal)
        except ConnectionLost as lost:
            if lost.is_uncertain:
                self._fail(mail, UNCERTAIN)
            else:
                self._try_later(mail, str(lost), is_permanent=False)
            raise ServerUnusable(f"the connection to the mail server ended: {lost}") from None
        except ServerUnusable as unusable:
            self._try_later(mail, str(unusable), is_permanent=False)
            raise
        else:
            self._mails.sent(mail, self._time())
            self._sent += 1

    def _message_of(self, mail: Mail) -> Message | None:
        """Return the message of a mail; None if it cannot be sent, which is noted."""
        if mail.kind in get_args(LinkKind) and self._age_us(mail) >= LINK_US:
            self._mails.cancelled(mail, LINK_ENDED, self._time())
            return None
        try:
            with self._books.read() as reading:
                message = self.contents.message_of(reading, mail)
        except BaseException:
            self._mails.give_back(mail, self._time())
            raise
        if message is None:
            self._mails.cancelled(mail, ERASED, self._time())
        elif not addresses.is_address(message.recipient):
            self._fail(mail, "the payer's address is not an email address")
            return None
        return message

    def _hand_over(self, session: Session, mail: Mail, message: Message) -> None:
        is_ending = False

        def begin_end() -> bool:
            nonlocal is_ending
            is_ending = self._mails.begin_end(mail, self._time(LEASE_SECONDS))
            return is_ending

        sender = self._settings.mail_bounces_to or self._settings.mail_from
        try:
            session.hand_over(sender, message.recipient, bytes_of(message), begin_end)
        except NotHandedOver:
            raise MastheadError(
                "a mail was changed while it was being sent, and was not sent: begin again"
            ) from None
        except MastheadError:
            raise
        except BaseException:
            if not is_ending:
                self._mails.give_back(mail, self._time())
            raise

    def _refused(self, mail: Mail, refusal: Refused) -> None:
        assert mail.address is not None
        self._try_later(mail, str(refusal), is_permanent=refusal.is_permanent)
        if refusal.is_unknown_address:
            hold(self._books, mail.address, addresses.without(str(refusal), mail.address))

    def _try_later(self, mail: Mail, error: str, *, is_permanent: bool) -> None:
        said = addresses.without(error, mail.address or "")
        delay = delay_after(mail.tries)
        if is_permanent or delay is None:
            self._fail(mail, said)
        else:
            self._mails.later(mail, said, self._time(delay))
            self._later += 1

    def _fail(self, mail: Mail, error: str) -> None:
        self._mails.failed(mail, error, self._time())
        self._failed += 1
        self._problems.append(Problem(mail.mail_id, error))

    def _age_us(self, mail: Mail) -> int:
        """Return the microseconds since a mail was queued."""
        return self._books.store.clock() - moment_of(self._time_zone, mail.queued_at)

    def _time(self, seconds: int = 0) -> str:
        """Return the time in so many seconds, in the account's time zone."""
        moment_us = self._books.store.clock() + seconds * 1_000_000
        return second_in(self._time_zone, moment_us)
