"""The answers as models of pydantic: those of the peers on FastAPI and on Flask."""

from collections.abc import Iterable
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer

from benchmarks.peers.models import CustomField, CustomFieldAnswer


def _or_empty(value: str | None) -> str:
    return value or ""


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def _is_none(value: object) -> bool:
    return value is None


Text = Annotated[str | None, PlainSerializer(_or_empty)]
"""A missing value is the empty string; of ``str | None`` it is null."""
TextOrAbsent = Annotated[str | None, Field(exclude_if=_is_none)]
Amount = Annotated[str, PlainSerializer(_number)]


class Wire(BaseModel, from_attributes=True, coerce_numbers_to_str=True):
    """What the answers have in common."""


class WireAccount(Wire):
    """An account."""

    account_id: str
    company_name: Text
    email: Text
    website: Text
    active: bool
    api_active: str
    api_key: Text
    api_login: Text
    plan: Text
    audit_type: str | None
    created: Text
    master_checkout: Text


class WireOneAccount(Wire):
    """The envelope of an account."""

    account: WireAccount


class WireItem(Wire):
    """An order item: a bundle or a product."""

    order_item_id: str
    bundle_id: TextOrAbsent
    product_id: TextOrAbsent
    refund_date: str | None
    fulfilled_date: str | None
    sub_total: Amount
    tax_total: Amount
    grand_total: Amount


class WireOrder(Wire):
    """An order."""

    order_id: str
    mailing_address_id: Text
    billing_address_id: Text
    subscriber_id: str
    import_name: str | None
    user_id: str | None
    channel_id: str | None
    order_date: Text
    is_gift: bool
    sub_total: Amount
    tax_total: Amount
    grand_total: Amount
    order_items: list[WireItem]


class WireSubscription(Wire):
    """A subscription of the list."""

    subscription_id: str
    publication_id: str
    mailing_address_id: Text
    billing_address_id: Text
    issues: Text
    copies: Text
    paid_issues_left: str | None
    unearned_revenue: str | None
    type: Text
    date_created: Text
    date_expired: str | None
    date_last_renewed: str | None
    last_purchase_bundle_id: str | None
    last_purchase_id: str | None
    renew_campaign_active: bool
    audit_classification: str | None
    audit_request_type: str | None


class WireSubscriptions(Wire):
    """The envelope of a list."""

    subscriptions: list[WireSubscription]


class WireIssue(Wire):
    """An issue that a subscription has received."""

    issue_id: str
    name: Text
    date: Text


class WireReceived(Wire):
    """A subscription of the login check."""

    subscription_id: str
    date_created: Text
    date_expired: str | None
    publication_id: str
    issues_left: Text = Field(validation_alias="issues")
    type: Text
    issues: Annotated[list[WireIssue] | None, BeforeValidator(lambda found: found or None)] = Field(
        validation_alias="received_issues"
    )


class WireSubscriber(Wire):
    """The subscriber whom the login check recognised."""

    subscriber_id: str
    renewal_code: Text
    email: Text
    first_name: Text
    last_name: Text
    subscriptions: list[WireReceived]


class WireLogin(Wire):
    """The envelope of the login check."""

    authenticated: bool
    subscribers: Annotated[WireSubscriber | None, Field(exclude_if=_is_none)] = None


class WireValue(Wire):
    """An option that a subscriber chose."""

    option_id: str
    display_as: Text
    value: Text


class WireAnswer(Wire):
    """What a subscriber answered to one custom field."""

    field_id: str
    name: Text
    display_as: Text
    type: str
    allow_other: int
    values: list[WireValue] | None
    text_value: str | None


def answer_sets(
    found: Iterable[tuple[CustomField, CustomFieldAnswer | None]],
) -> list[WireAnswer]:
    """Return an entry for each field, with the options in the order of the field."""
    return [
        WireAnswer(
            field_id=field.field_id,  # type: ignore[arg-type]
            name=field.name,
            display_as=field.display_as,
            type=field.type,
            allow_other=field.allow_other,
            values=_chosen(field, answer) or None,
            text_value=answer.text_value if answer else None,
        )
        for field, answer in found
    ]


def _chosen(field: CustomField, answer: CustomFieldAnswer | None) -> list[WireValue]:
    if answer is None or not answer.option_ids:
        return []
    chosen = set(map(int, answer.option_ids.split("|")))
    return [
        WireValue.model_validate(option) for option in field.options if option.option_id in chosen
    ]
