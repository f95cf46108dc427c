"""The records of the tables with which billing collects, reminds, renews and writes to payers.

``masthead.contract.records`` lists them among the tables (billing, "Direct debit", "Reminders",
"Automatic renewal" and "E-mail"). Amounts are whole cents.
"""

from typing import Annotated

from msgspec import Struct

from masthead.contract import kinds
from masthead.contract.billing import RequiredText
from masthead.contract.books import Cents, Count, RequiredDate
from masthead.contract.file_kinds import Range
from masthead.contract.shapes import Bit, DateOrNull, DateTime, IdOrNull, Key, TextOrNull

SCHEMES = ("core", "b2b")
MANDATE_STATES = ("active", "resting", "ended")
MESSAGE_VERSIONS = ("pain.008.001.08", "pain.008.001.02")
SEQUENCES = ("FRST", "RCUR", "OOFF", "FNAL")
CLAIM_STATES = ("sent", "paid", "returned", "cancelled")
THEN_DO = ("nothing", "stop", "write_off")
ANNOUNCEMENT_STATES = ("announced", "renewed", "stopped", "refused")
MAIL_KINDS = (
    *("invoice", "credit_note", "reminder", "announcement", "welcome", "cancellation", "renewal"),
    *("sign_in_link", "password_link", "confirmation", "requalification"),
)
MAIL_STATES = ("queued", "sent", "failed", "held", "cancelled")
LETTER_KINDS = ("welcome", "cancellation")

Scheme = Annotated[str, kinds.OneOf(*SCHEMES)]
MandateState = Annotated[str, kinds.OneOf(*MANDATE_STATES)]
MessageVersion = Annotated[str, kinds.OneOf(*MESSAGE_VERSIONS)]
Sequence = Annotated[str, kinds.OneOf(*SEQUENCES)]
ClaimState = Annotated[str, kinds.OneOf(*CLAIM_STATES)]
Level = Annotated[int, Range(1, 9)]
Days = Annotated[int, Range(0, 3_650, unit="days")]
ThenDo = Annotated[str, kinds.OneOf(*THEN_DO)]
AnnouncementState = Annotated[str, kinds.OneOf(*ANNOUNCEMENT_STATES)]
MailKind = Annotated[str, kinds.OneOf(*MAIL_KINDS)]
MailState = Annotated[str, kinds.OneOf(*MAIL_STATES)]
LetterKind = Annotated[str, kinds.OneOf(*LETTER_KINDS)]


class Mandate(Struct):
    """The permission of a payer to collect from a bank account, which never changes its account.

    ``iban`` is stored sealed, and stands in an export in clear. ``iban_end`` has its last four
    characters. ``status_since`` is the day since which the mandate has its ``status``, and
    ``used_on`` the day of the last collection. Erasing blanks the holder and the account.
    """

    mandate_id: Key
    subscriber_id: Key
    reference: RequiredText
    scheme: Scheme
    account_holder: TextOrNull
    iban: TextOrNull
    iban_end: TextOrNull
    bic: TextOrNull
    signed_on: RequiredDate
    status: MandateState
    status_since: RequiredDate
    reason: TextOrNull
    used_on: DateOrNull


class DebitRun(Struct):
    """A file of collections for the bank.

    ``claims`` is their number and ``cents`` their sum. ``collected_on`` is the day that the file
    asks for. ``creditor`` is the publisher's account, as JSON.
    """

    debit_run_id: Key
    created_at: DateTime
    collected_on: RequiredDate
    message_id: RequiredText
    version: MessageVersion
    claims: Count
    cents: Count
    creditor: TextOrNull


class Claim(Struct):
    """An invoice that a run hands in to the bank for collection.

    ``payment_id`` is the payment, once the bank has collected it. ``fee`` is what the bank charged
    for a return.
    """

    claim_id: Key
    debit_run_id: Key
    invoice_id: Key
    mandate_id: Key
    subscriber_id: Key
    cents: Count
    end_to_end_id: RequiredText
    sequence: Sequence
    status: ClaimState
    payment_id: IdOrNull
    returned_on: DateOrNull
    return_reason: TextOrNull
    fee: Cents


class ReminderLevel(Struct):
    """A step of reminding: so many ``days`` after the due date, with its fee and what follows."""

    level: Level
    days: Days
    fee: Cents
    then_do: ThenDo
    text: TextOrNull


class Reminder(Struct):
    """A reminder that was written for an open invoice.

    ``fee_invoice_id`` is the invoice of its fee. ``read_until`` is the value date up to which
    payments were read. ``printed`` is everything that is printed, as JSON; it is null once the
    payer is erased.
    """

    reminder_id: Key
    invoice_id: Key
    subscriber_id: Key
    level: Level
    reminded_on: RequiredDate
    fee: Cents
    fee_invoice_id: IdOrNull
    read_until: DateOrNull
    printed: TextOrNull


class RenewalConsent(Struct):
    """The consent of a subscriber to automatic renewal with a bundle.

    ``words`` are those by which it was given, and ``source`` is where, such as ``telephone``. A
    subscription has at most one that is not stopped.
    """

    consent_id: Key
    subscription_id: Key
    subscriber_id: Key
    bundle_id: Key
    given_on: RequiredDate
    words: TextOrNull
    source: TextOrNull
    stopped_on: DateOrNull
    stop_reason: TextOrNull


class AnnouncedRenewal(Struct):
    """An automatic renewal that was announced, with its price; ``order_id`` is its order.

    ``term_id`` is the term that runs out. A term is renewed once. ``reason`` says why the renewal
    was stopped or refused, and names no person.
    """

    announcement_id: Key
    consent_id: Key
    subscription_id: Key
    term_id: Key
    bundle_id: Key
    price: Cents
    tax: Cents
    announced_on: RequiredDate
    renews_on: RequiredDate
    status: AnnouncementState
    order_id: IdOrNull
    reason: TextOrNull


class Mail(Struct):
    """An email that is sent, or was; it is sent not before ``due_at``.

    ``tries`` counts the attempts, and ``error`` is why the last one failed. ``message_id`` is the
    one of the email's header.
    """

    mail_id: Key
    subscriber_id: IdOrNull
    address: TextOrNull
    kind: MailKind
    subject: TextOrNull
    text: TextOrNull
    invoice_id: IdOrNull
    reminder_id: IdOrNull
    subscription_id: IdOrNull
    status: MailState
    queued_at: DateTime
    due_at: DateTime
    tries: Cents
    sent_at: DateTime
    error: TextOrNull
    message_id: TextOrNull


class HeldAddress(Struct):
    """An email address that gets no emails, since they bounce.

    ``subscriber_id`` is whose address it is; erasing that subscriber blanks it. ``bounces`` counts
    the emails that came back.
    """

    held_address_id: Key
    subscriber_id: IdOrNull
    address: TextOrNull
    held_on: RequiredDate
    reason: TextOrNull
    bounces: Cents


class Letter(Struct):
    """A letter about a subscription that was written, on paper or by email."""

    letter_id: Key
    kind: LetterKind
    subscription_id: Key
    subscriber_id: Key
    written_on: RequiredDate
    by_email: Bit
