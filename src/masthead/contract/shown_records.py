"""The records of the tables that the interface shows, with what only the store has.

``masthead.contract.records`` lists them among the tables. For what the books add, see circulation,
"What is stored in addition".
"""

from typing import Annotated

from msgspec import Struct

from masthead.contract import kinds, shapes
from masthead.contract.books import Cents, Copies, DisputeResult
from masthead.contract.file_kinds import Range
from masthead.contract.kinds import Missing
from masthead.contract.passwords import PasswordHash
from masthead.contract.shapes import (
    Bool,
    Date,
    DateOrNull,
    DateTime,
    DateTimeOrNull,
    DecimalOrNull,
    Flag,
    Id,
    IdOrAbsent,
    IdOrNull,
    Integer,
    IntegerOrNull,
    Key,
    MediumType,
    Number,
    PasswordMd5,
    RenewalCode,
    Text,
    Text30OrNull,
    Text50,
    TextOrNull,
)


class Publication(Struct):
    """A publication, and how its subscriptions run (circulation, "What is stored in addition")."""

    publication_id: Key
    name: Text
    issues_per_year: Annotated[int, Range(1, 366, 12)]
    late_start: Annotated[str, kinds.OneOf("next", "current", when_missing="next")]
    grace_counts: Bool
    credit_issues: Annotated[int, Range(0, 1_000, 1)]
    unlimited_term_months: Annotated[int, Range(1, 1_200, 12)]
    given_here: Bool


class Issue(Struct):
    """An issue of a publication; ``closed_at`` is null until it is closed."""

    issue_id: Key
    publication_id: Key
    name: Text50
    date: Date
    number: IntegerOrNull
    closes_on: DateOrNull
    mailed_on: DateOrNull
    closed_at: DateTimeOrNull
    mailing_list_id: IdOrNull
    file_written_at: DateTimeOrNull
    given_here: Bool


class SubscriberRecord(Struct):
    """A subscriber; a merged one has a ``delete_date``, and ``merged_into`` is who was kept."""

    subscriber_id: Key
    renewal_code: RenewalCode
    email: Text50
    password_md5: PasswordMd5
    password_hash: Annotated[str | None, PasswordHash(), Missing.EMPTY]
    first_name: Text50
    last_name: Text50
    source: TextOrNull
    delete_date: DateTimeOrNull
    merged_into: IdOrNull
    given_here: Bool


class AddressRecord(shapes.Address):
    """A subscriber's postal address."""

    given_here: Bool


class SubscriptionRecord(Struct):
    """A subscription; ``merged_into`` is the one that has had its terms since a merging."""

    subscription_id: Key
    subscriber_id: Key
    publication_id: Key
    mailing_address_id: Id
    billing_address_id: Id
    issues: Integer
    copies: Integer
    paid_issues_left: IntegerOrNull
    unearned_revenue: DecimalOrNull
    type: MediumType
    date_created: Date
    date_expired: DateOrNull
    date_last_renewed: DateOrNull
    last_purchase_bundle_id: IdOrNull
    last_purchase_id: IdOrNull
    renew_campaign_active: Bool
    audit_classification: TextOrNull
    audit_request_type: TextOrNull
    begins_on: DateOrNull
    cancelled_on: DateOrNull
    merged_into: IdOrNull


class SubscriptionIssue(Struct):
    """An issue that a subscription has received, with its list and its term.

    ``address_id`` is the address that was in force on the issue's date, and may no longer exist.
    """

    subscription_id: Key
    issue_id: Key
    mailing_list_id: IdOrNull
    term_id: IdOrNull
    is_grace: Flag
    address_id: IdOrNull


class OrderRecord(Struct):
    """An order, without its items.

    ``payment_reference`` is such as the number of a transfer. ``dispute`` is what the reader or the
    bank says; it is open while ``dispute_ended_on`` is null. ``shipping`` is included in
    ``grand_total``, and its tax in ``tax_total``; both are whole cents.
    """

    order_id: Key
    subscriber_id: Key
    mailing_address_id: Id
    billing_address_id: Id
    import_name: Text30OrNull
    user_id: IdOrNull
    channel_id: IdOrNull
    order_date: DateTime
    is_gift: Bool
    sub_total: Number
    tax_total: Number
    grand_total: Number
    external_reference: TextOrNull
    content_digest: TextOrNull
    paid_on: DateOrNull
    payment_type: TextOrNull
    payment_reference: TextOrNull
    disputed_on: DateOrNull
    dispute: TextOrNull
    dispute_ended_on: DateOrNull
    dispute_result: DisputeResult
    shipping: Cents
    shipping_tax: Cents


class OrderItemRecord(Struct):
    """A bundle or a product of an order.

    ``is_dropped`` marks a product that ended before the order was paid, so it was never sent.
    ``copies`` is how many were ordered, which the totals are for. ``list_price`` is what one cost
    in the catalogue, in cents with tax, if the order had another price.
    """

    order_item_id: Key
    order_id: Key
    bundle_id: IdOrAbsent
    product_id: IdOrAbsent
    refund_date: DateTimeOrNull
    fulfilled_date: DateTimeOrNull
    sub_total: Number
    tax_total: Number
    grand_total: Number
    purchase_id: IdOrNull
    refunded: Cents
    is_dropped: Flag
    copies: Copies
    list_price: IntegerOrNull


class MailingListEntryRecord(Struct):
    """A subscription on a mailing list.

    ``copies`` counts all copies. ``free_copies`` of them are of ``free_class``, the others of
    ``class``, which is null for a list that was loaded from a file.
    ``qualification_id`` is the qualification by which the copies go out, and no reference.
    """

    mailing_list_id: Key
    subscription_id: Key
    copies: Integer
    is_grace: Flag
    is_paid: Flag
    type: MediumType
    class_: TextOrNull
    free_copies: Cents
    free_class: TextOrNull
    qualification_id: IdOrNull
