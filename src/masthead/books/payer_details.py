"""How a payer gets documents: on paper or by email (billing, "E-mail")."""

from typing import NamedTuple

from masthead.books.account import Books
from masthead.errors import BadInput
from masthead.store.billing import payer_details as stored
from masthead.store.billing.held_addresses import email_of
from masthead.store.billing.settings import settings_of
from masthead.store.books.names import reader_named
from masthead.store.books.reader_notes import check_open


class Delivered(NamedTuple):
    """How a payer gets documents from now on."""

    subscriber_id: int
    by_email: bool
    sentence: str


def wants_email(books: Books, subscriber_id: int) -> bool:
    """Return whether the documents of a payer go by email."""
    with books.read() as reading:
        return stored.wants_email(reading, subscriber_id)


def deliver(
    books: Books, subscriber_id: int, *, by_email: bool, dry_run: bool = False
) -> Delivered:
    """Let invoices, credit notes, reminders and letters of a payer go by email, or on paper.

    It counts for later documents. Raises NotFound if there is no such subscriber. Raises BadInput
    if the subscriber is deleted, or is to get emails and has no email address.
    """
    with books.change(dry_run=dry_run) as change:
        check_open(change, subscriber_id)
        how = "by email" if by_email else "on paper"
        name = reader_named(change, subscriber_id)
        if stored.wants_email(change, subscriber_id) == by_email:
            said = f"nothing changed: the documents of {name} go {how} already"
            return Delivered(subscriber_id, by_email, said)
        if by_email and not email_of(change, subscriber_id):
            raise BadInput(
                f"{name} has no email address: set it first, and then send documents there",
                field="by_email",
            )
        stored.set_by_email(change, subscriber_id, by_email=by_email)
        said = f"the documents of subscriber {subscriber_id} go {how} from now on"
        if by_email and not settings_of(change).mail_from:
            said += ", once the account has an address from which mails go (mail_from)"
        change.say(said)
    return Delivered(subscriber_id, by_email, said)
