"""The outbox as people see and change it: lists, trying again, cancelling (billing, "E-mail").

``books.mail_sending`` sends, ``books.held_addresses`` reads what came back.
"""

from collections.abc import Sequence
from typing import NamedTuple

from masthead.books.account import Books
from masthead.contract.printable import counted
from masthead.errors import BadInput, NotFound
from masthead.store.billing import held_addresses, mails
from masthead.store.billing.held_addresses import HeldAddress
from masthead.store.billing.mails import ListedMail, Status
from masthead.store.billing.payer_movements import kept_payer
from masthead.store.billing.sending import UNCERTAIN
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation

__all__ = [
    "Changed",
    "ListedMail",
    "Overview",
    "PayerMails",
    "Status",
    "cancel",
    "find",
    "listed",
    "of_payer",
    "overview",
    "retry",
    "retry_failed",
]


class Changed(NamedTuple):
    """Mails whose state changed, and what they are now: ``queued again``, ``cancelled``."""

    mails: int
    now: str

    @property
    def sentence(self) -> str:
        """How many mails changed."""
        return f"{counted(self.mails, 'mail')} {self.now}"


def retry(books: Books, ids: Sequence[int], *, dry_run: bool = False) -> Changed:
    """Queue mails again that failed, were put on hold or cancelled: to the payer's address now.

    Raises NotFound for an unknown id. Raises BadInput if a mail was sent, waits or is being sent,
    and if the payer has no address or one that is on hold.
    """
    with books.change(dry_run=dry_run) as change:
        for mail in _found(change, ids):
            if mail.status in {"sent", "queued"}:
                was = "was sent" if mail.status == "sent" else "waits"
                raise BadInput(f"{_named(mail)} {was}: nothing was changed")
            if _is_being_sent(change, mail):
                raise BadInput(f"{_named(mail)} is being sent: try again after {mail.due_at}")
            address = _address(change, mail)
            if address is None:
                raise BadInput(
                    f"{_named(mail)} cannot be sent: its payer has no address, or one that "
                    "is on hold"
                )
            mails.queue_again(change, mail.mail_id, address)
        done = Changed(len(set(ids)), "queued again")
        change.say(done.sentence)
    return done


def retry_failed(books: Books, *, dry_run: bool = False) -> Changed:
    """Queue all failed mails again, but for those that the server may have.

    Mails whose payer has no address, or one that is on hold, stay as they are.
    """
    with books.change(dry_run=dry_run) as change:
        count = after = 0
        while page := mails.list_mails(change, ["failed"], after=after):
            for mail in page:
                address = None if mail.error == UNCERTAIN else _address(change, mail)
                if address is not None:
                    mails.queue_again(change, mail.mail_id, address)
                    count += 1
            after = page[-1].mail_id
        done = Changed(count, "queued again")
        if count:
            change.say(done.sentence)
    return done


def cancel(books: Books, ids: Sequence[int], *, dry_run: bool = False) -> Changed:
    """Mark mails as not to be sent any more.

    Raises NotFound for an unknown id, BadInput if one was sent or cancelled before.
    """
    with books.change(dry_run=dry_run) as change:
        for mail in _found(change, ids):
            if mail.status in {"sent", "cancelled"}:
                raise BadInput(f"{_named(mail)} was {mail.status}: nothing was changed")
            if _is_being_sent(change, mail):
                raise BadInput(f"{_named(mail)} is being sent: it cannot be cancelled any more")
            mails.cancel_mail(change, mail.mail_id)
        done = Changed(len(set(ids)), "cancelled")
        change.say(done.sentence)
    return done


def _found(change: Operation, ids: Sequence[int]) -> list[ListedMail]:
    found = mails.mails_by_id(change, ids)
    missing = sorted(set(ids) - {each.mail_id for each in found})
    if missing:
        raise NotFound(f"there is no mail {missing[0]}", code="unknown_mail")
    return found


def _named(mail: ListedMail) -> str:
    return f"the mail about {mail.about}"


def _is_being_sent(change: Operation, mail: ListedMail) -> bool:
    return mail.error == UNCERTAIN and mail.due_at > change.now


def _address(change: Operation, mail: ListedMail) -> str | None:
    """Return the payer's address of now, if mails go there."""
    if mail.subscriber_id is None:
        return None
    address = held_addresses.email_of(change, mail.subscriber_id)
    if not address or held_addresses.held_address(change, address) is not None:
        return None
    return address


def listed(
    books: Books, statuses: Sequence[Status], *, after: int = 0, limit: int = 100
) -> list[ListedMail]:
    """Return mails with some states after an id, by id."""
    with books.read() as reading:
        return mails.list_mails(reading, statuses, after=after, limit=limit)


def find(books: Books, mail_id: int) -> ListedMail | None:
    """Return a mail by its id, None if there is none."""
    with books.read() as reading:
        return next(iter(mails.mails_by_id(reading, [mail_id])), None)


class Overview(NamedTuple):
    """How the outbox stands: mails that wait, failed or are on hold, and addresses on hold.

    ``counts`` has the number of mails by their state. ``is_sending``: mails are sent at all.
    """

    counts: dict[str, int]
    mails: Sequence[ListedMail]
    held: Sequence[HeldAddress]
    mail_from: str
    is_sending: bool


def overview(books: Books, limit: int) -> Overview:
    """Return how the outbox stands, with at most ``limit`` mails and addresses."""
    with books.read() as reading:
        settings = settings_of(reading)
        return Overview(
            mails.count_by_status(reading),
            mails.list_mails(reading, ["failed", "held", "queued"], limit=limit),
            held_addresses.held_addresses(reading, limit=limit),
            settings.mail_from,
            settings.mail_sending,
        )


class PayerMails(NamedTuple):
    """What was mailed to a payer, the newest first, and the payer's address if it is on hold."""

    mails: Sequence[ListedMail]
    held: HeldAddress | None


def of_payer(books: Books, subscriber_id: int, limit: int = 100) -> PayerMails:
    """Return what was mailed to a payer. Raises NotFound for an unknown payer."""
    with books.read() as reading:
        subscriber_id = kept_payer(reading, subscriber_id)
        email = held_addresses.email_of(reading, subscriber_id)
        return PayerMails(
            mails.mails_of(reading, subscriber_id, limit),
            held_addresses.held_address(reading, email) if email else None,
        )
