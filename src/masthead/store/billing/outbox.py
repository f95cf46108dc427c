"""The outbox: mails that wait, and addresses that are on hold (billing, "E-mail").

A mail is queued in the transaction of the operation that makes the document, and sent later by a
process of its own (``store.billing.sending``).
"""

from collections.abc import Iterable
from typing import Literal, NamedTuple

from masthead.store.billing.invoices import Invoice
from masthead.store.billing.settings import settings_of
from masthead.store.books.operation import Operation, Reading
from masthead.store.books.order_keys import listed

LinkKind = Literal["sign_in_link", "password_link"]
"""A mail with a link, which is sent only while the link works (decisions, "Links by email")."""

MailKind = Literal[
    LinkKind,
    "invoice",
    "credit_note",
    "reminder",
    "announcement",
    "welcome",
    "cancellation",
    "renewal",
    "confirmation",
    "requalification",
]
"""What a mail is about. A receipt is sent as ``invoice``."""


class About(NamedTuple):
    """The records that a mail is about; the PDF of an invoice or a reminder is attached."""

    invoice_id: int | None = None
    reminder_id: int | None = None
    subscription_id: int | None = None


class Words(NamedTuple):
    """The subject of a mail, on one line, and its text, in the language of the reader."""

    subject: str
    text: str


def queue(
    change: Operation,
    kind: MailKind,
    subscriber_id: int,
    about: About,
    words: Words | None = None,
) -> int | None:
    """Queue a mail to a payer, in the transaction of the operation; return its id.

    Nothing is queued, and None is returned, if the payer wants no mails, has no address or one
    that is on hold, and if the account has no address from which mails go. ``words`` is None for
    invoices, receipts and credit notes: their words follow from what they print.
    """
    address = addresses_of(change, [subscriber_id]).get(subscriber_id)
    if address is None:
        return None
    return queue_to(change, address, kind, subscriber_id, about, words)


def queue_to(
    change: Operation,
    address: str,
    kind: MailKind,
    subscriber_id: int,
    about: About,
    words: Words | None = None,
) -> int:
    """Queue a mail to an address of :func:`addresses_of`, as :func:`queue` does; return its id.

    For many payers, the addresses are then found by one statement.
    """
    mail_id = change.new_id("mails")
    change.add(
        "mails",
        mail_id=mail_id,
        subscriber_id=subscriber_id,
        address=address,
        kind=kind,
        subject=words and words.subject,
        text=words and words.text,
        **about._asdict(),
        status="queued",
        queued_at=change.now,
        due_at=change.now,
        tries=0,
    )
    return mail_id


def addresses_of(reading: Reading, subscribers: Iterable[int]) -> dict[int, str]:
    """Return the addresses of the payers to whom documents go by mail, by the payer's id.

    Payers who want no mails, have no address, or one that is on hold, are left out. So are all if
    the account has no address from which mails go (the setting ``mail_from``).
    """
    if not settings_of(reading).mail_from:
        return {}
    return dict(
        reading.rows_as(
            tuple[int, str],
            f"""
            SELECT s.subscriber_id, s.email
            FROM payer_details AS d
            JOIN subscribers AS s
                ON s.account_id = :account_id AND s.subscriber_id = d.subscriber_id
            WHERE d.account_id = :account_id AND d.subscriber_id IN ({listed(subscribers)})
                AND d.by_email = 1 AND s.email <> '' AND NOT EXISTS (
                    SELECT 1 FROM held_addresses AS h
                    WHERE h.account_id = :account_id AND h.address = s.email_lower)
            """,
        )
    )


def queue_document(change: Operation, invoice: Invoice) -> int | None:
    """Queue the mail with an invoice, a receipt or a credit note, as :func:`queue` does."""
    kind: MailKind = "credit_note" if invoice.kind == "credit_note" else "invoice"
    return queue(change, kind, invoice.subscriber_id, About(invoice_id=invoice.invoice_id))
