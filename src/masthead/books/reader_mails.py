"""Mails to readers about their own pages, queued by the operation that they are about.

They go to the reader's own address of now, and each says the same in English or German
(``billing.reader_mails``). Nothing is queued if the reader has no address or one that is on hold,
or if the account has no address from which mails go (the setting ``mail_from``). A reader who wants
no invoices by mail gets these, since the reader asked for them.
"""

from collections.abc import Callable
from typing import get_args

from masthead.billing.printed import Language
from masthead.billing.reader_mails import (
    Confirmed,
    Values,
    words_of_confirmation,
    words_of_link,
)
from masthead.circulation.page_settings import PageSettings
from masthead.databases.queries import Batch
from masthead.store.billing.held_addresses import held_address, reached
from masthead.store.billing.outbox import About, LinkKind, Words, queue_to
from masthead.store.billing.publisher_name import publisher_name
from masthead.store.billing.settings import settings as billing_settings
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation, Reading
from masthead.store.page_settings import settings_of as page_settings_of

__all__ = [
    "Confirmed",
    "Values",
    "ask_reach",
    "confirmation",
    "email_link",
    "password_link",
    "sign_in_link",
]


def sign_in_link(
    change: Operation, subscriber_id: int, url: str, *, language: str = ""
) -> int | None:
    """Queue the mail with the link ``url`` by which a reader signs in; return its id.

    ``language`` is that of the page on which the reader asked; without one it is the first one of
    the account's pages. Returns None if nothing is queued.
    """
    return _link(change, "sign_in_link", subscriber_id, url, language)


def password_link(
    change: Operation, subscriber_id: int, url: str, *, language: str = ""
) -> int | None:
    """Queue the mail with the link ``url`` by which a reader sets a password, as above."""
    return _link(change, "password_link", subscriber_id, url, language)


def email_link(
    change: Operation, subscriber_id: int, email: str, url: str, *, language: str = ""
) -> int | None:
    """Queue the mail with the link ``url`` to a reader's new address ``email``, as above.

    It does not name the reader, whose words would come to an address that nobody has confirmed.
    """
    if not settings_of(change).mail_from or held_address(change, email) is not None:
        return None
    words = words_of_link(
        "email_link",
        _language(page_settings_of(change), language),
        publisher=publisher_name(change),
        name="",
        url=url,
    )
    return queue_to(change, email, "sign_in_link", subscriber_id, About(), Words(*words))


def confirmation(
    change: Operation,
    subscriber_id: int,
    kind: Confirmed,
    values: Values,
    *,
    subscription_id: int | None = None,
    language: str = "",
) -> int | None:
    """Queue the mail that confirms what a reader did, in the transaction that did it.

    ``values`` has what the mail names (``billing.reader_mails.VALUES``); what is missing or None is
    not said. Returns the mail's id, None if nothing is queued.
    """
    reader = _reader(change, subscriber_id)
    if reader is None:
        return None
    address, name = reader
    pages = page_settings_of(change)
    words = words_of_confirmation(
        kind,
        _language(pages, language),
        values,
        publisher=publisher_name(change),
        name=name,
        contact=pages.contact or settings_of(change).mail_reply_to,
        currency=change.currency,
    )
    about = About(subscription_id=subscription_id)
    return queue_to(change, address, "confirmation", subscriber_id, about, Words(*words))


def ask_reach(batch: Batch, subscriber_id: int) -> Callable[[], bool]:
    """Add to a batch whether mails go to a reader; return the function that answers after it."""
    settings, reader = batch.add(billing_settings()), batch.add(reached(subscriber_id))
    return lambda: bool(settings().mail_from) and reader() is not None


def _link(
    change: Operation,
    kind: LinkKind,
    subscriber_id: int,
    url: str,
    language: str,
) -> int | None:
    reader = _reader(change, subscriber_id)
    if reader is None:
        return None
    address, name = reader
    words = words_of_link(
        kind,
        _language(page_settings_of(change), language),
        publisher=publisher_name(change),
        name=name,
        url=url,
    )
    return queue_to(change, address, kind, subscriber_id, About(), Words(*words))


def _reader(reading: Reading, subscriber_id: int) -> tuple[str, str] | None:
    """Return the address and the name of a reader to whom mails go; None if none go there."""
    return reading.ask(reached(subscriber_id)) if settings_of(reading).mail_from else None


def _language(pages: PageSettings, asked: str) -> Language:
    """Return the first of these languages that mails have: English if they have none."""
    languages: tuple[Language, ...] = get_args(Language)
    wanted = [asked, *pages.languages]
    return next((each for want in wanted for each in languages if each == want), "en")
