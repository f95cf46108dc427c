"""What each wire shape and each of its fields means, in sentences for the documentation.

They are not in ``shapes``, which declares the fields, because they are long. The OpenAPI document
and the reference are derived from both. How a missing value looks is not written here: it follows
from :class:`masthead.contract.kinds.Missing`.
"""

from masthead.contract import shapes

SHAPES: dict[type, str] = {
    shapes.Account: "A publisher's account at this service.",
    shapes.Subscriber: "A person or an organisation that has, or had, a subscription.",
    shapes.ChangedSubscriber: "A subscriber as the change feed shows it, with the time of its last "
    "change.",
    shapes.Subscription: "A subscriber's subscription to one publication, as the list shows it.",
    shapes.ChangedSubscription: "A subscription as the change feed shows it: with its subscriber, "
    "and without the two fields of deferred revenue.",
    shapes.ReceivedIssue: "An issue that was delivered under a subscription.",
    shapes.AuthenticatedSubscription: "A subscription as the login check shows it, with the issues "
    "that it has received.",
    shapes.AuthenticatedSubscriber: "The subscriber whose login is right.",
    shapes.Address: "A postal address of a subscriber. Subscriptions, orders and purchases refer "
    "to it.",
    shapes.AnswerValue: "An option that the subscriber chose as an answer.",
    shapes.CustomFieldAnswer: "A subscriber's answer to one of the publisher's questions, together "
    "with the question. It is there for every question, answered or not.",
    shapes.AnswerRecord: "All answers of one subscriber. The record counts as changed when an "
    "answer changes, and also when a question or an option that it shows does.",
    shapes.CustomFieldOption: "A preset answer of a question.",
    shapes.CustomFieldDefinition: "A question that the publisher asks its subscribers, such as a "
    "field of its order form.",
    shapes.Purchase: "What a subscriber paid for at one time, as the change feed shows it.",
    shapes.ListDownload: "A mailing list: who gets one issue of a publication. Its entries are "
    "read with `GET /2/downloadmailinglist/{mailing_list_id}/`.",
    shapes.OrderItem: "One line of an order: a bundle or a product, so it has either `bundle_id` "
    "or `product_id` and never both.",
    shapes.Order: "An order with its items.",
    shapes.MailingListEntry: "One subscription that gets the issue of the mailing list.",
    shapes.Entitlement: "A publication that the reader may read now, in one format.",
    shapes.EntitledReader: "The reader whose login or code is right, and what the reader may read.",
}
"""What each shape stands for."""

IDS_IN_PATHS = {
    "account_id": "The id of the account, as `GET /2/accounts/` lists it.",
    "subscriber_id": "The id of the subscriber, as the search or the login check returns it.",
    "order_id": "The id of the order, as the entity `orders` of the change feed has it.",
    "mailing_list_id": "The id of the mailing list, as the entity `listdownloads` of the change "
    "feed has it. It stays the same; the list is complete when its status is `Complete`.",
}
"""What each id in a path stands for."""

_OF_ANY_SHAPE = {
    "address_id": "The id of the address.",
    "audit_classification": "The audit bureau's code for the kind of reader, as it was loaded.",
    "audit_request_type": "The audit bureau's code for how the subscription was requested, as it "
    "was loaded.",
    "billing_address_id": "The id of the address that the invoice goes to.",
    "bundle_id": "The id of the bundle that was bought, such as three years of one publication.",
    "copies": "How many copies of each issue the subscription gets.",
    "date_created": "The day on which the subscription was created.",
    "date_expired": "The day on which the subscription expires or has expired. A subscription "
    "without this day does not expire by date.",
    "date_last_renewed": "The day of the newest renewal.",
    "delete_date": "When the subscriber was deleted, in the publisher's time zone. A deleted "
    "subscriber is not found by the search and cannot log in.",
    "email": "The email address. Several subscribers may share one.",
    "field_id": "The id of the question.",
    "first_name": "The first name.",
    "grand_total": "The amount with tax, in the publisher's currency: `sub_total` and `tax_total`.",
    "issues": "How many issues remain to be delivered. `-1` means unlimited: the subscription is "
    "not counted in issues.",
    "last_name": "The last name.",
    "last_purchase_bundle_id": "The id of the bundle that was bought last for this subscription.",
    "last_purchase_id": "The id of the purchase that last changed this subscription.",
    "mailing_address_id": "The id of the address that printed issues are sent to.",
    "mailing_list_id": "The id of the mailing list.",
    "option_id": "The id of the option.",
    "password_md5": "The MD5 digest of the password, in hexadecimal digits. It is empty as well "
    "where the account hides digests. To check a password, use the login check.",
    "publication_id": "The id of the publication.",
    "renew_campaign_active": "Whether the subscription may be written to by automated renewal "
    "campaigns.",
    "renewal_code": "The code on the subscriber's label and renewal notices. It is unique within "
    "the account, and with a postal code it is a login.",
    "source": "Where the subscriber came from, such as a campaign.",
    "sub_total": "The amount without tax, in the publisher's currency.",
    "subscriber_id": "The id of the subscriber.",
    "subscription_id": "The id of the subscription.",
    "tax_total": "The tax, in the publisher's currency.",
    "type": "What is delivered: the printed issue, the digital one, or both.",
}

_ALLOW_OTHER = "1 if the question also accepts an answer of the subscriber's own words, else 0."
_LABEL = "The question as subscribers read it."
_NAME = "The publisher's own short name for the question; it is not shown to subscribers."
_TYPE_OF_FIELD = (
    "How the question is asked. `checkbox` allows several options; `select` and `radio` allow one; "
    "`text` and `textarea` have free text and no options."
)
_OF_ONE_SHAPE: dict[type, dict[str, str]] = {
    shapes.Account: {
        "account_id": "The id of the account.",
        "company_name": "The name of the publisher.",
        "email": "The email address of the account's contact.",
        "website": "The address of the publisher's web site.",
        "active": "Whether the account is in use. The credentials of one that is not get 403.",
        "api_active": '`"1"` if programs may use the account\'s credentials. If `"0"`, they open '
        "nothing, and `api_key` and `api_login` are empty.",
        "api_key": "The user name for HTTP Basic. It is empty while `api_active` is `0`.",
        "api_login": "The password for HTTP Basic. It is empty while `api_active` is `0`. Keep it "
        "secret: it opens all data of the account.",
        "plan": "The plan that the publisher has booked, such as `Premium` or `Standard`.",
        "audit_type": "The kind of circulation audit, as it was loaded.",
        "created": "When the account was created.",
        "master_checkout": "The address of the page where readers subscribe.",
    },
    shapes.ChangedSubscriber: {
        "modified_date": "When the newest change became visible, in UTC. A change that became "
        "visible a moment ago has no time yet: the next poll shows the record again, with its time."
    },
    shapes.Subscription: {
        "paid_issues_left": "How many of the remaining issues are paid for, for computing deferred "
        "revenue.",
        "unearned_revenue": "The part of the price that belongs to issues not delivered yet, in "
        "the publisher's currency.",
    },
    shapes.ReceivedIssue: {
        "issue_id": "The id of the issue.",
        "name": "The name of the issue, such as its month.",
        "date": "The day of publication.",
    },
    shapes.AuthenticatedSubscription: {
        "issues_left": "How many issues remain to be delivered; the list of subscriptions calls "
        "it `issues`. `-1` means unlimited.",
        "issues": "The issues that the subscription has received, in order of their ids.",
    },
    shapes.AuthenticatedSubscriber: {
        "subscriptions": "All subscriptions of the subscriber, also expired ones, in order of "
        "their ids. Whether they let the reader in is for you to decide.",
    },
    shapes.Address: {
        "company": "The company or organisation.",
        "address": "The street and number, or what stands in their place.",
        "city": "The city or town.",
        "state": "The state, province or region.",
        "zip_code": "The postal code. With the renewal code it is a login.",
        "country_name": "The name of the country.",
        "country_abbreviation": "The two letters of the country, such as `US`.",
        "latitude": "The latitude in degrees, as it was loaded.",
        "longitude": "The longitude in degrees, as it was loaded.",
        "verified": "1 if the postal address has been verified, else 0.",
    },
    shapes.AnswerValue: {
        "display_as": "The option as subscribers read it.",
        "value": "The publisher's own value for the option.",
    },
    shapes.CustomFieldAnswer: {
        "name": _NAME,
        "display_as": _LABEL,
        "type": _TYPE_OF_FIELD,
        "allow_other": _ALLOW_OTHER,
        "values": "The options that the subscriber chose. An option that is no longer offered "
        "stays in the answers that chose it.",
        "text_value": "The answer in the subscriber's own words: to a question of free text, or "
        "as another answer than the options.",
    },
    shapes.AnswerRecord: {
        "custom_fields": "An entry for every question of the account, in order of `field_id`.",
    },
    shapes.CustomFieldOption: {
        "value": "The publisher's own value for the option.",
        "display_as": "The option as subscribers read it.",
        "disqualifier": "Whether choosing the option disqualifies the subscriber, for instance "
        "from a free subscription.",
        "active": "Whether the option is offered. One that is not stays in earlier answers.",
        "order": "The position of the option; options are listed in this order, then by id.",
    },
    shapes.CustomFieldDefinition: {
        "name": _NAME,
        "display_as": _LABEL,
        "type": _TYPE_OF_FIELD,
        "allow_other": _ALLOW_OTHER,
        "value_options": "The options, in their order. A question of free text has none.",
    },
    shapes.Purchase: {
        "purchase_id": "The id of the purchase.",
        "payment_type": "How it was paid, such as `Credit Card` or `Check`.",
        "notes": "Notes of the publisher's staff.",
        "shipping_address_id": "The id of the address that the goods go to.",
        "name": "What was bought, as it is named on the invoice.",
        "invoice_id": "The number of the invoice.",
        "total": "The amount paid with tax, in the publisher's currency, with its decimals.",
        "product_total": "The amount without tax, in the publisher's currency.",
        "is_gift": '`"1"` if it was bought for somebody else, else `"0"`.',
    },
    shapes.ListDownload: {
        "name": "The name of the list: the publication and the issue. A gap list has the name "
        "of its main list.",
        "status": "How far the list is. Only a list that is `Complete` has all of its entries. "
        "Others are `Pending`, `Generating`, `Generating Galley`, `Error`, `Auto-renewal Pending`, "
        "`Auto-renewal Processing` and `Auto-renewal Complete`; more may be added.",
        "count": "How many entries the list has.",
        "is_gap": '`"1"` for a gap list, which has those who subscribed after the main list of '
        'the same issue was made; else `"0"`.',
        "grace_from_date": "The list also has subscriptions that have expired on this day or "
        "later: they get grace issues. Without a day there are none.",
        "grace_issues": "How many issues a subscription gets at most after it has expired, in the "
        "hope that it is renewed.",
        "parent_mailing_list_id": "For a gap list, the id of the main list of the issue.",
        "date_created": "When the list was created.",
    },
    shapes.OrderItem: {
        "order_item_id": "The id of the item.",
        "bundle_id": "The id of the bundle, if the item is one, such as three years of "
        "one publication. The key is absent otherwise.",
        "product_id": "The id of the product, if the item is one, such as a book. The key is "
        "absent otherwise.",
        "refund_date": "When the item was refunded.",
        "fulfilled_date": "When the item was sent, or the subscription started.",
    },
    shapes.Order: {
        "order_id": "The id of the order.",
        "import_name": "The name of the import that the order came with.",
        "user_id": "The id of the member of staff who took the order.",
        "channel_id": "The id of the channel, such as telephone or web, that the order came by.",
        "order_date": "When the order was placed, in the publisher's time zone.",
        "is_gift": "Whether the order is a gift: who pays is not who receives.",
        "order_items": "The items of the order, in order of their ids.",
    },
    shapes.Entitlement: {
        "publication": "The name of the publication.",
        "format": "`digital` or `print`. A subscription to both gives two entitlements.",
        "until": "The last day, in the publisher's time zone. Without a day no end is known, as "
        "for an unlimited subscription.",
    },
    shapes.EntitledReader: {
        "expires_in": "For how many seconds the token is valid.",
        "token": "The token: a signed JWT with the claims `iss`, `sub`, `aud`, `iat`, `exp` and "
        "`entitlements`, which is the list beside it.",
        "entitlements": "What the reader may read now, in order of publication and format; empty "
        "if there is nothing.",
    },
    shapes.MailingListEntry: {
        "copies": "How many copies of this issue to send.",
        "is_grace": '`"1"` for a grace entry: the subscription has expired, and the issue is sent '
        'in the hope that it is renewed. Else `"0"`.',
        "is_paid": '`"1"` if the subscription was paid for, `"0"` if it is free.',
    },
}

FIELDS: dict[tuple[type, str], str] = {
    (shape, field.name): meaning
    for shape in SHAPES
    for field in shapes.fields_of(shape)
    if (meaning := _OF_ONE_SHAPE.get(shape, {}).get(field.name) or _OF_ANY_SHAPE.get(field.name))
}
"""The meaning of each field, by shape and name."""


def meaning_of(shape: type, name: str) -> str:
    """Return what a field means, in one or more sentences."""
    return FIELDS[shape, name]
