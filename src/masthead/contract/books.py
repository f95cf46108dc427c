"""The records of the tables that only the books have (circulation, "What is stored in addition").

``masthead.contract.records`` lists them among the tables. Amounts are whole cents. -1 ``issues``
means unlimited.
"""

import datetime as dt
from typing import Annotated

from msgspec import Struct

from masthead.contract import kinds
from masthead.contract.file_kinds import Range
from masthead.contract.kinds import Missing
from masthead.contract.shapes import (
    Bool,
    DateOrNull,
    DateTime,
    DateTimeOrNull,
    IdOrNull,
    IntegerOrNull,
    Key,
    Text,
    Text50,
    TextOrNull,
)
from masthead.contract.subscription_types import TYPES, UNLIMITED

CENTS_MAX = 9_999_999_999_999
"""The greatest amount: with two decimals, it has the fifteen digits that the interface allows."""

Cents = Annotated[int, kinds.Integer(0)]
Count = Annotated[int, kinds.Integer()]
Copies = Annotated[int, Range(1, 1_000_000, 1)]
Price = Annotated[int, Range(0, CENTS_MAX, 0, unit="whole cents")]
Issues = Annotated[int, Range(1, 1_000_000, instead=UNLIMITED)]
MonthsOrNull = Annotated[int | None, Range(1, 1_200), Missing.NULL]
ClassName = Annotated[str, kinds.Text(50, when_missing="paid")]
Medium = Annotated[str, kinds.OneOf(*TYPES)]
TermKind = Annotated[str, kinds.OneOf("paid", "free", "opening", "extension")]
RevenueKind = Annotated[str, kinds.OneOf("received", "earned", "refunded")]
DisputeResult = Annotated[str | None, kinds.OneOf("upheld", "rejected"), Missing.NULL]
COMPLAINTS = ("lost", "damaged", "late", "other")
ANSWERS = ("extended", "sent_again", "nothing")
ComplaintKind = Annotated[str, kinds.OneOf(*COMPLAINTS)]
ComplaintAnswer = Annotated[str, kinds.OneOf(*ANSWERS)]
RequiredDate = Annotated[dt.date, kinds.Date()]
KeyCode = Annotated[str | None, kinds.Text(50), Missing.NULL]


class Books(Struct):
    """The one row of an account that keeps its books here (mode ``here``).

    ``last_order_before`` is the newest order before the opening; null if there was none.
    """

    books_id: Key
    opened_on: RequiredDate
    opened_at: DateTimeOrNull
    last_order_before: IdOrNull


class CopyClass(Struct):
    """A publisher's own class of copies (circulation, "Class")."""

    class_id: Key
    name: Text50


class Bundle(Struct):
    """Issues of publications, sold together; its price is the sum of its lines' prices."""

    bundle_id: Key
    name: Text
    active: Annotated[bool, kinds.Bool(when_missing=1)]
    price: Price
    tax: Price
    given_here: Bool


class BundleLine(Struct):
    """One publication in a bundle; -1 ``issues`` means unlimited issues for ``months``.

    ``digital_share`` is the part of the price that is for the digital issues, in hundredths of a
    percent; null: none.
    """

    bundle_id: Key
    line_number: Key
    publication_id: Key
    issues: Issues
    type: Medium
    copies: Copies
    price: Price
    months: MonthsOrNull
    digital_share: Annotated[
        int | None, Range(0, 10_000, unit="hundredths of a percent"), Missing.NULL
    ]


class Product(Struct):
    """Something else that is sold, such as a book."""

    product_id: Key
    name: Text
    active: Annotated[bool, kinds.Bool(when_missing=1)]
    price: Price
    tax: Price
    given_here: Bool


class Term(Struct):
    """A number of issues of a subscription for a price; -1 ``issues`` means unlimited.

    ``free_copies`` of ``free_class`` come in addition to ``copies``. ``allowed`` is the cents that
    an allowance has given back. The first ``spread_after`` issues have earned ``spread_earned``.
    The rest is spread over ``spread_parts`` (issues times copies; null: those of the whole term).
    """

    term_id: Key
    subscription_id: Key
    order_item_id: IdOrNull
    issues: Count
    issues_left: Count
    copies: Copies
    price: Cents
    paid_on: DateOrNull
    kind: TermKind
    class_: ClassName
    months: IntegerOrNull
    starts_on: DateOrNull
    ended_at: DateTimeOrNull
    moved_after: IdOrNull
    free_copies: Cents
    free_class: TextOrNull
    allowed: Cents
    spread_after: Cents
    spread_earned: Cents
    spread_parts: IntegerOrNull


class Revenue(Struct):
    """Money of a term that was received, earned or refunded; rows never change."""

    revenue_id: Key
    term_id: Key
    issue_id: IdOrNull
    kind: RevenueKind
    cents: Count
    booked_on: RequiredDate


class Suspension(Struct):
    """Days without issues for a subscription, both included; ``to_date`` is null while open."""

    suspension_id: Key
    subscription_id: Key
    from_date: RequiredDate
    to_date: DateOrNull


class TemporaryAddress(Struct):
    """The address of a subscription's issues from one day to another, both included."""

    temporary_address_id: Key
    subscription_id: Key
    address_id: Key
    from_date: RequiredDate
    to_date: RequiredDate


class Replacement(Struct):
    """Copies of a delivered issue that are sent again; ``written_at`` is null while they wait."""

    replacement_id: Key
    subscription_id: Key
    issue_id: Key
    copies: Copies
    asked_on: RequiredDate
    written_at: DateTimeOrNull


class CancellationReason(Struct):
    """A reason to cancel subscriptions, in the publisher's words."""

    reason_id: Key
    name: Text


class Cancellation(Struct):
    """How a subscription was cancelled: at once, after an issue, or when its issues are used up.

    ``campaign`` is the subscription's ``renew_campaign_active`` before that. ``ended_on`` is null
    until the subscription has ended. ``ended_issue_id`` is the issue whose closing ended it, and
    ``revenue_id`` the newest row of ``revenue`` at that time. ``final_issue_id`` is the first issue
    that was closed since then; after that closing, the cancellation cannot be undone.
    """

    subscription_id: Key
    reason: TextOrNull
    made_on: RequiredDate
    after_issue_id: IdOrNull
    at_end: Bool
    is_refund: Bool
    campaign: Bool
    ended_on: DateOrNull
    ended_issue_id: IdOrNull
    revenue_id: IdOrNull
    final_issue_id: IdOrNull


class CancelledTerm(Struct):
    """A term as it was when its subscription was cancelled, and what was booked then.

    ``tax`` was refunded in addition. ``refund_date`` is the item's earlier value.
    """

    term_id: Key
    issues_left: Count
    earned: Cents
    refunded: Cents
    tax: Cents
    refund_date: DateTimeOrNull


class Note(Struct):
    """What an operator wrote about a subscriber; the text is null once the subscriber is erased."""

    note_id: Key
    subscriber_id: Key
    noted_at: DateTime
    author: Text
    text: TextOrNull


class Complaint(Struct):
    """A complaint about an issue that a subscription received, and how it was answered.

    The answer ``extended`` is a free issue, ``sent_again`` a replacement copy.
    """

    complaint_id: Key
    subscriber_id: Key
    subscription_id: Key
    issue_id: Key
    kind: ComplaintKind
    answer: ComplaintAnswer
    made_at: DateTime
    author: Text
    text: TextOrNull


class RenewalEffort(Struct):
    """An effort of a publication, whose letter is due at a number of issues left.

    It can name a bundle, and has a key code that a reply can name.
    """

    publication_id: Key
    effort: Key
    issues_left: Count
    bundle_id: IdOrNull
    key_code: KeyCode


class RenewalSent(Struct):
    """An effort that was sent to a subscription for a term."""

    term_id: Key
    effort: Key
    subscription_id: Key
    sent_on: RequiredDate
