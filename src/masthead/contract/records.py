"""The tables of an account's data, which are also the files of import and export.

Each record lists the columns of a table, the key first. A table whose rows equal a wire shape uses
that shape. Tables refer only to earlier tables, or to themselves. For what the books add, see
circulation, "What is stored in addition". ``cents`` and prices are whole cents.
"""

from typing import Annotated, NamedTuple

from msgspec import Struct

from masthead.contract import kinds, shapes
from masthead.contract.account_records import AccountRecord, ErasureRecord
from masthead.contract.books import (
    Books,
    Bundle,
    BundleLine,
    Cancellation,
    CancellationReason,
    CancelledTerm,
    Cents,
    Complaint,
    Copies,
    CopyClass,
    DisputeResult,
    Note,
    Product,
    RenewalEffort,
    RenewalSent,
    Replacement,
    Revenue,
    Suspension,
    TemporaryAddress,
    Term,
)
from masthead.contract.custom_fields import (
    CustomField,
    CustomFieldAnswerRecord,
    CustomFieldOptionRecord,
)
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
    Field,
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
    fields_of,
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
    bank says; it is open while ``dispute_ended_on`` is null.
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


class Table(NamedTuple):
    """A table; its files have the same ``name``.

    ``references`` maps a column to the table whose key it refers to, a key of one column. The
    values of ``unique`` columns are unique, ignoring ASCII letter case. The columns ``personal``
    are blanked when a subscriber is erased; tables with such columns have a ``subscriber_id``.
    """

    name: str
    columns: tuple[Field, ...]
    key: tuple[str, ...]
    references: dict[str, str]
    unique: tuple[str, ...] = ()
    personal: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[Field, ...]:
        """The columns that are not part of the key."""
        return tuple(column for column in self.columns if column.name not in self.key)


def _table(
    name: str,
    record: type,
    *,
    key: int = 1,
    unique: tuple[str, ...] = (),
    personal: tuple[str, ...] = (),
    **references: str,
) -> Table:
    columns = fields_of(record)
    return Table(name, columns, tuple(c.name for c in columns[:key]), references, unique, personal)


TABLES = (
    _table("books", Books),
    _table("publications", Publication),
    _table("list_downloads", shapes.ListDownload, parent_mailing_list_id="list_downloads"),
    _table("issues", Issue, publication_id="publications", mailing_list_id="list_downloads"),
    _table(
        "subscribers",
        SubscriberRecord,
        unique=("renewal_code",),
        personal=(
            "renewal_code",
            "email",
            "password_md5",
            "password_hash",
            "first_name",
            "last_name",
            "source",
        ),
        merged_into="subscribers",
    ),
    _table(
        "addresses",
        AddressRecord,
        personal=tuple(
            field.name
            for field in fields_of(shapes.Address)
            if field.name not in {"address_id", "subscriber_id"}
        ),
        subscriber_id="subscribers",
    ),
    _table(
        "subscriptions",
        SubscriptionRecord,
        subscriber_id="subscribers",
        publication_id="publications",
        mailing_address_id="addresses",
        billing_address_id="addresses",
        merged_into="subscriptions",
    ),
    _table("custom_fields", CustomField),
    _table("custom_field_options", CustomFieldOptionRecord, field_id="custom_fields"),
    _table(
        "custom_field_answers",
        CustomFieldAnswerRecord,
        key=2,
        personal=("option_ids", "text_value"),
        subscriber_id="subscribers",
        field_id="custom_fields",
    ),
    _table("classes", CopyClass),
    _table("bundles", Bundle),
    _table(
        "bundle_lines",
        BundleLine,
        key=2,
        bundle_id="bundles",
        publication_id="publications",
    ),
    _table("products", Product),
    _table(
        "orders",
        OrderRecord,
        unique=("external_reference",),
        personal=("import_name", "content_digest", "dispute"),
        subscriber_id="subscribers",
        mailing_address_id="addresses",
        billing_address_id="addresses",
    ),
    _table(
        "purchases",
        shapes.Purchase,
        personal=("notes", "name"),
        subscriber_id="subscribers",
        shipping_address_id="addresses",
        billing_address_id="addresses",
    ),
    _table("order_items", OrderItemRecord, order_id="orders", purchase_id="purchases"),
    _table("terms", Term, subscription_id="subscriptions", order_item_id="order_items"),
    _table("revenue", Revenue, term_id="terms", issue_id="issues"),
    _table(
        "subscription_issues",
        SubscriptionIssue,
        key=2,
        subscription_id="subscriptions",
        issue_id="issues",
        mailing_list_id="list_downloads",
        term_id="terms",
    ),
    _table("suspensions", Suspension, subscription_id="subscriptions"),
    _table(
        "temporary_addresses",
        TemporaryAddress,
        subscription_id="subscriptions",
        address_id="addresses",
    ),
    _table(
        "replacements",
        Replacement,
        subscription_id="subscriptions",
        issue_id="issues",
    ),
    _table("cancellation_reasons", CancellationReason),
    _table(
        "cancellations",
        Cancellation,
        subscription_id="subscriptions",
        after_issue_id="issues",
        ended_issue_id="issues",
        final_issue_id="issues",
    ),
    _table("cancelled_terms", CancelledTerm, term_id="terms"),
    _table(
        "renewal_efforts",
        RenewalEffort,
        key=2,
        publication_id="publications",
        bundle_id="bundles",
    ),
    _table(
        "renewals_sent",
        RenewalSent,
        key=2,
        term_id="terms",
        subscription_id="subscriptions",
    ),
    _table(
        "mailing_list_entries",
        MailingListEntryRecord,
        key=2,
        mailing_list_id="list_downloads",
        subscription_id="subscriptions",
    ),
    _table("notes", Note, personal=("text",), subscriber_id="subscribers"),
    _table(
        "complaints",
        Complaint,
        personal=("text",),
        subscriber_id="subscribers",
        subscription_id="subscriptions",
        issue_id="issues",
    ),
)

ERASURES = _table("erasures", ErasureRecord)
"""The erased subscribers, exported and imported so that they stay erased in another database. A row
may name a subscriber who does not exist yet: a later import keeps the data blank."""

TABLES_BY_NAME = {table.name: table for table in (*TABLES, ERASURES)}

ACCOUNTS = _table("accounts", AccountRecord)
