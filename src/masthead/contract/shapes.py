"""The wire shapes of the interface, with their fields in the order of the JSON keys.

There is one class for each shape, not for each resource: a subscription has three, because
``issues`` is a count in operations 4 and 7 and an array in operation 3. Inheritance would change
the order of the keys.

:class:`masthead.Client` returns instances of these classes. A field whose value can be missing has
``None`` in its type, and a :class:`Missing`. A ``repr`` can end up in logs, so it hides credentials
and password digests.
"""

import datetime as dt
import decimal
from collections.abc import Callable, Sequence
from functools import cache
from typing import Annotated, NamedTuple, get_args, get_type_hints

from msgspec import Struct

from masthead.contract import kinds
from masthead.contract.kinds import Kind, Missing
from masthead.contract.subscription_types import TYPES

__all__ = [
    "Account",
    "Address",
    "AnswerRecord",
    "AnswerValue",
    "AuthenticatedSubscriber",
    "AuthenticatedSubscription",
    "ChangedSubscriber",
    "ChangedSubscription",
    "CustomFieldAnswer",
    "CustomFieldDefinition",
    "CustomFieldOption",
    "EntitledReader",
    "Entitlement",
    "Field",
    "ListDownload",
    "MailingListEntry",
    "Order",
    "OrderItem",
    "Purchase",
    "ReceivedIssue",
    "Subscriber",
    "Subscription",
    "fields_of",
]

_EMPTY, _NULL, _ABSENT = Missing.EMPTY, Missing.NULL, Missing.ABSENT

Key = Annotated[int, kinds.Identifier()]
Id = Annotated[int | None, kinds.Identifier(), _EMPTY]
IdOrNull = Annotated[int | None, kinds.Identifier(), _NULL]
IdOrAbsent = Annotated[int | None, kinds.Identifier(), _ABSENT]
Integer = Annotated[int | None, kinds.Integer(), _EMPTY]
IntegerOrNull = Annotated[int | None, kinds.Integer(), _NULL]
ApiKey = Annotated[str | None, kinds.Credential(is_user_name=True), _EMPTY]
ApiLogin = Annotated[str | None, kinds.Credential(is_user_name=False), _EMPTY]
Text = Annotated[str | None, kinds.Text(), _EMPTY]
Text50 = Annotated[str | None, kinds.Text(50), _EMPTY]
Text255 = Annotated[str | None, kinds.Text(255), _EMPTY]
TextOrNull = Annotated[str | None, kinds.Text(), _NULL]
Text30OrNull = Annotated[str | None, kinds.Text(30), _NULL]
RenewalCode = Annotated[str | None, kinds.Text(5), _EMPTY]
PasswordMd5 = Annotated[str | None, kinds.Digest(), _EMPTY]
Bool = Annotated[bool, kinds.Bool()]
Flag = Annotated[bool, kinds.Flag()]
Bit = Annotated[bool, kinds.Bit()]
Number = Annotated[decimal.Decimal, kinds.Number()]
Decimal = Annotated[decimal.Decimal | None, kinds.DecimalText(), _EMPTY]
DecimalOrNull = Annotated[decimal.Decimal | None, kinds.DecimalText(), _NULL]
Date = Annotated[dt.date | None, kinds.Date(), _EMPTY]
DateOrNull = Annotated[dt.date | None, kinds.Date(), _NULL]
DateTime = Annotated[dt.datetime | None, kinds.DateTime(), _EMPTY]
DateTimeOrNull = Annotated[dt.datetime | None, kinds.DateTime(), _NULL]
MediumType = Annotated[str | None, kinds.OneOf(*TYPES), _EMPTY]
FieldType = Annotated[str, kinds.OneOf("checkbox", "select", "radio", "text", "textarea")]


def _hiding(*hidden: str) -> Callable[[Struct], str]:
    """Return a ``__repr__`` that hides the values of these fields."""

    def written(record: Struct) -> str:
        values = (
            f"{name}={'…' if name in hidden else repr(getattr(record, name))}"
            for name in record.__struct_fields__
        )
        return f"{type(record).__name__}({', '.join(values)})"

    return written


class Account(Struct):
    """A publisher's account (interface, "Account")."""

    account_id: Key
    company_name: Text
    email: Text
    website: Text
    active: Bool
    api_active: Flag
    api_key: ApiKey
    api_login: ApiLogin
    plan: Text
    audit_type: TextOrNull
    created: DateTime
    master_checkout: Text

    __repr__ = _hiding("api_key", "api_login")


class Subscriber(Struct):
    """A subscriber in a search (interface, operation 8)."""

    subscriber_id: Key
    renewal_code: RenewalCode
    email: Text50
    password_md5: PasswordMd5
    first_name: Text50
    last_name: Text50
    source: TextOrNull
    delete_date: DateTimeOrNull

    __repr__ = _hiding("password_md5")


class ChangedSubscriber(Struct):
    """A subscriber in the change feed (interface, "Subscriber")."""

    subscriber_id: Key
    renewal_code: RenewalCode
    email: Text50
    password_md5: PasswordMd5
    first_name: Text50
    last_name: Text50
    source: TextOrNull
    delete_date: DateTimeOrNull
    modified_date: DateTimeOrNull

    __repr__ = _hiding("password_md5")


class Subscription(Struct):
    """A subscription in a list (interface, operation 7)."""

    subscription_id: Key
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


class ChangedSubscription(Struct):
    """A subscription in the change feed (interface, "Subscription")."""

    subscription_id: Key
    subscriber_id: Key
    publication_id: Key
    mailing_address_id: Id
    billing_address_id: Id
    issues: Integer
    copies: Integer
    type: MediumType
    date_created: Date
    date_expired: DateOrNull
    date_last_renewed: DateOrNull
    last_purchase_bundle_id: IdOrNull
    last_purchase_id: IdOrNull
    renew_campaign_active: Bool
    audit_classification: TextOrNull
    audit_request_type: TextOrNull


class ReceivedIssue(Struct):
    """An issue that a subscription has received (interface, operation 3)."""

    issue_id: Key
    name: Text50
    date: Date


class AuthenticatedSubscription(Struct):
    """A subscription in the login check (interface, operation 3)."""

    subscription_id: Key
    date_created: Date
    date_expired: DateOrNull
    publication_id: Key
    issues_left: Integer
    type: MediumType
    issues: Annotated[Sequence[ReceivedIssue] | None, kinds.Many(ReceivedIssue), _NULL]


class AuthenticatedSubscriber(Struct):
    """The subscriber of a successful login check (interface, operation 3)."""

    subscriber_id: Key
    renewal_code: RenewalCode
    email: Text50
    first_name: Text50
    last_name: Text50
    subscriptions: Annotated[
        Sequence[AuthenticatedSubscription], kinds.Many(AuthenticatedSubscription)
    ]


class Address(Struct):
    """An address in the change feed (interface, "Address")."""

    address_id: Key
    subscriber_id: Key
    first_name: Text
    last_name: Text
    company: Text
    address: Text
    city: Text
    state: Text
    zip_code: Text
    country_name: Text
    country_abbreviation: Text
    latitude: Text
    longitude: Text
    verified: Bit


class AnswerValue(Struct):
    """An option that a subscriber chose (interface, "Custom field answer set")."""

    option_id: Key
    display_as: Text
    value: Text


class CustomFieldAnswer(Struct):
    """A subscriber's answer to one custom field (interface, operation 5)."""

    field_id: Key
    name: Text255
    display_as: Text255
    type: FieldType
    allow_other: Bit
    values: Annotated[Sequence[AnswerValue] | None, kinds.Many(AnswerValue), _NULL]
    text_value: TextOrNull


class AnswerRecord(Struct):
    """A subscriber's answers in the change feed (interface, operation 4)."""

    subscriber_id: Key
    custom_fields: Annotated[Sequence[CustomFieldAnswer], kinds.Many(CustomFieldAnswer)]


class CustomFieldOption(Struct):
    """A preset answer of a custom field (interface, operation 6)."""

    option_id: Key
    value: Text
    display_as: Text
    disqualifier: Bool
    active: Bool
    order: Integer


class CustomFieldDefinition(Struct):
    """A custom field and its preset answers (interface, operation 6)."""

    field_id: Key
    name: Text255
    display_as: Text255
    type: FieldType
    allow_other: Bit
    value_options: Annotated[Sequence[CustomFieldOption], kinds.Many(CustomFieldOption)]


class Purchase(Struct):
    """A purchase in the change feed (interface, "Purchase")."""

    purchase_id: Key
    payment_type: Text
    notes: Text
    subscriber_id: Key
    bundle_id: Id
    shipping_address_id: IdOrNull
    billing_address_id: IdOrNull
    name: TextOrNull
    invoice_id: TextOrNull
    total: Decimal
    product_total: DecimalOrNull
    is_gift: Flag


class ListDownload(Struct):
    """A list download in the change feed (interface, "List download")."""

    mailing_list_id: Key
    name: Text
    status: Text
    count: Integer
    is_gap: Flag
    grace_from_date: DateOrNull
    grace_issues: Integer
    parent_mailing_list_id: IdOrNull
    date_created: DateTime


class OrderItem(Struct):
    """A bundle or a product of an order (interface, "Order item")."""

    order_item_id: Key
    bundle_id: IdOrAbsent
    product_id: IdOrAbsent
    refund_date: DateTimeOrNull
    fulfilled_date: DateTimeOrNull
    sub_total: Number
    tax_total: Number
    grand_total: Number


class Order(Struct):
    """An order with its items (interface, operation 9)."""

    order_id: Key
    mailing_address_id: Id
    billing_address_id: Id
    subscriber_id: Key
    import_name: Text30OrNull
    user_id: IdOrNull
    channel_id: IdOrNull
    order_date: DateTime
    is_gift: Bool
    sub_total: Number
    tax_total: Number
    grand_total: Number
    order_items: Annotated[Sequence[OrderItem], kinds.Many(OrderItem)]


class MailingListEntry(Struct):
    """A subscription on a mailing list (interface, operation 10)."""

    subscription_id: Key
    copies: Integer
    is_grace: Flag
    is_paid: Flag
    type: MediumType


class Entitlement(Struct):
    """A publication that a reader may read, in one format (an extension of Masthead)."""

    publication_id: Key
    publication: Text
    format: Annotated[str, kinds.OneOf("digital", "print")]
    until: DateOrNull


class EntitledReader(Struct):
    """What a reader may read now, as a list and as a signed token (an extension of Masthead)."""

    subscriber_id: Key
    expires_in: Annotated[int, kinds.Integer()]
    token: Annotated[str, kinds.Text()]
    entitlements: Annotated[Sequence[Entitlement], kinds.Many(Entitlement)]

    __repr__ = _hiding("token")


class Field(NamedTuple):
    """One field of a shape or of a record."""

    name: str
    kind: Kind
    missing: Missing

    @property
    def is_required(self) -> bool:
        """Whether a new row must have a value: there is no default."""
        return self.missing is Missing.NEVER and self.kind.when_missing is None


@cache
def fields_of(shape: type) -> tuple[Field, ...]:
    """Return the fields of a class with annotated kinds, in their order.

    A name that Python reserves ends with ``_`` in the class: ``class_`` is ``class``.
    """
    found = []
    for name, hint in get_type_hints(shape, include_extras=True).items():
        kind, *missing = get_args(hint)[1:]
        found.append(Field(name.rstrip("_"), kind, missing[0] if missing else Missing.NEVER))
    return tuple(found)
