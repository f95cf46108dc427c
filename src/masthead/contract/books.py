"""The records of the tables that only the books have (circulation, "What is stored in addition").

``masthead.contract.records`` lists them among the tables. Amounts are whole cents, -1 ``issues``
are unlimited.
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
    DateTimeOrNull,
    IdOrNull,
    IntegerOrNull,
    Key,
    Text,
    Text50,
    TextOrNull,
)
from masthead.contract.subscription_types import TYPES, UNLIMITED

__all__ = [
    "CENTS_MAX",
    "Books",
    "Bundle",
    "BundleLine",
    "Cancellation",
    "CancellationReason",
    "CancelledTerm",
    "Cents",
    "CopyClass",
    "Count",
    "Product",
    "RenewalEffort",
    "RenewalSent",
    "Revenue",
    "Suspension",
    "TemporaryAddress",
    "Term",
]

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
RequiredDate = Annotated[dt.date, kinds.Date()]
KeyCode = Annotated[str | None, kinds.Text(50), Missing.NULL]


class Books(Struct):
    """The one row of an account that keeps its books here (mode ``here``).

    ``last_order_before`` is the newest order of before the opening; null if there was none.
    """

    books_id: Key
    opened_on: RequiredDate
    opened_at: DateTimeOrNull
    last_order_before: IdOrNull


class CopyClass(Struct):
    """A class of copies that is the publisher's own (circulation, "Class")."""

    class_id: Key
    name: Text50


class Bundle(Struct):
    """An offer of one or more publications; its price is the sum of its lines' prices."""

    bundle_id: Key
    name: Text
    active: Annotated[bool, kinds.Bool(when_missing=1)]
    price: Price
    tax: Price
    given_here: Bool


class BundleLine(Struct):
    """What a bundle gives of one publication; -1 ``issues`` are unlimited, for ``months``."""

    bundle_id: Key
    line_number: Key
    publication_id: Key
    issues: Issues
    type: Medium
    copies: Copies
    price: Price
    months: MonthsOrNull


class Product(Struct):
    """Something else that is sold, such as a book."""

    product_id: Key
    name: Text
    active: Annotated[bool, kinds.Bool(when_missing=1)]
    price: Price
    tax: Price
    given_here: Bool


class Term(Struct):
    """So many issues of a subscription for a price; -1 ``issues`` are unlimited.

    ``free_copies`` of ``free_class`` come beside ``copies``. ``allowed`` are the cents that an
    allowance has given back. ``spread_after`` issues have earned ``spread_earned``; the rest is
    spread over ``spread_parts``, issues times copies, null for those of the whole term.
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
    """Money of a term that was received, earned or refunded; rows are only ever added."""

    revenue_id: Key
    term_id: Key
    issue_id: IdOrNull
    kind: RevenueKind
    cents: Count
    booked_on: RequiredDate


class Suspension(Struct):
    """Days on which a subscription gets no issue; the last day included, null while it is open."""

    suspension_id: Key
    subscription_id: Key
    from_date: RequiredDate
    to_date: DateOrNull


class TemporaryAddress(Struct):
    """Where a subscription's issues go on some days; the last day included."""

    temporary_address_id: Key
    subscription_id: Key
    address_id: Key
    from_date: RequiredDate
    to_date: RequiredDate


class CancellationReason(Struct):
    """Why subscriptions are cancelled, in the publisher's words."""

    reason_id: Key
    name: Text


class Cancellation(Struct):
    """How a subscription was cancelled: at once, after an issue, or when its issues are used up.

    ``campaign`` is its ``renew_campaign_active`` before. ``ended_on`` is null until it has ended,
    and ``ended_issue_id`` the issue whose closing ended it. ``revenue_id`` is the newest row of
    ``revenue`` then, ``final_issue_id`` the first issue that was closed since: afterwards it cannot
    be undone.
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

    ``tax`` went back with what was refunded, and ``refund_date`` is the item's before.
    """

    term_id: Key
    issues_left: Count
    earned: Cents
    refunded: Cents
    tax: Cents
    refund_date: DateTimeOrNull


class RenewalEffort(Struct):
    """A publication's letter to its subscribers, due at so many issues left.

    It offers a bundle, and has a key code that an answer can name.
    """

    publication_id: Key
    effort: Key
    issues_left: Count
    bundle_id: IdOrNull
    key_code: KeyCode


class RenewalSent(Struct):
    """An effort that a subscription was sent for a term."""

    term_id: Key
    effort: Key
    subscription_id: Key
    sent_on: RequiredDate
