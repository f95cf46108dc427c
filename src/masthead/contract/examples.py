"""Examples of the made-up publisher of the demo, Harbour Lane Press: values, records and errors.

They are consistent: Daniel King (subscriber 22) has subscription 28, which order 10 began. All of
them exist in ``masthead demo``, so that each example of a request works there unchanged. Only the
dates differ, since the demo's history ends on the day before the demo is created.
"""

from typing import Any

from masthead.contract import shapes

IDS_IN_PATHS = {
    "account_id": "1",
    "subscriber_id": "22",
    "order_id": "10",
    "mailing_list_id": "109",
}
"""An id for each path with one."""

PARAMETERS: dict[str, str | int | bool] = {
    "after": "27",
    "campaign_active": False,
    "changed_since": "2026-11-22T06:00:00+00:00",
    "code": "Qm4vF0n1x9cKd2hZ7sWbT5uLr8eYpA3J",
    "copies": "1",
    "download": True,
    "email": "danielking22@office.example",
    "entities": "subscribers,subscriptions,addresses",
    "first_name": "Daniel",
    "issues_left": "-1",
    "last_name": "king",
    "limit": 3,
    "login": "danielking22@office.example",
    "max_copies": "10",
    "max_issues_left": "2",
    "min_copies": "2",
    "min_issues_left": "1",
    "password": "password-22",
    "publication_id": "2",
    "renewal_code": "F3RXP",
    "source": "web",
    "subscriber_id": "22",
    "type": "Print",
}
"""A value for each parameter; each alone is a sensible request."""

_SUBSCRIBER = {
    "subscriber_id": "22",
    "renewal_code": "F3RXP",
    "email": "danielking22@office.example",
    "password_md5": "3856c3e994c62bae3f1d7a9f3aba9ee0",
    "first_name": "Daniel",
    "last_name": "King",
    "source": None,
    "delete_date": None,
}
_ISSUES = [
    {"issue_id": "2155", "name": "6 November 2026", "date": "2026-11-06"},
    {"issue_id": "2156", "name": "13 November 2026", "date": "2026-11-13"},
]
_ENTITLEMENT = {
    "publication_id": "2",
    "publication": "The Northfield Weekly",
    "format": "digital",
    "until": "2027-11-28",
}
_OPTION = {"option_id": "105", "display_as": "Retail & wholesale", "value": "RET"}
_ANSWER = {
    "field_id": "1",
    "name": "industry",
    "display_as": "Which industry do you work in?",
    "type": "select",
    "allow_other": 1,
    "values": [_OPTION],
    "text_value": None,
}
_DEFINED_OPTION = {
    "option_id": "105",
    "value": "RET",
    "display_as": "Retail & wholesale",
    "disqualifier": False,
    "active": True,
    "order": "5",
}
_ITEM = {
    "order_item_id": "11",
    "bundle_id": "23",
    "refund_date": None,
    "fulfilled_date": "2024-12-02 12:25:25",
    "sub_total": 285.6,
    "tax_total": 18.56,
    "grand_total": 304.16,
}
_NESTED_SUBSCRIPTION = {
    "subscription_id": "28",
    "date_created": "2024-11-28",
    "date_expired": "2027-11-28",
    "publication_id": "2",
    "issues_left": "54",
    "type": "Both",
    "issues": _ISSUES,
}

RECORDS: dict[type, dict[str, Any]] = {
    shapes.Account: {
        "account_id": "1",
        "company_name": "Harbour Lane Press (demo)",
        "email": "office@harbour-lane.example",
        "website": "https://harbour-lane.example",
        "active": True,
        "api_active": "1",
        "api_key": "demo-key",
        "api_login": "demo-login",
        "plan": "Premium",
        "audit_type": None,
        "created": "2026-11-12 12:52:48",
        "master_checkout": "https://harbour-lane.example/subscribe",
    },
    shapes.Subscriber: _SUBSCRIBER,
    shapes.ChangedSubscriber: {**_SUBSCRIBER, "modified_date": "2026-11-14 06:52:49"},
    shapes.Subscription: {
        "subscription_id": "28",
        "publication_id": "2",
        "mailing_address_id": "25",
        "billing_address_id": "25",
        "issues": "54",
        "copies": "1",
        "paid_issues_left": "54",
        "unearned_revenue": "98.86",
        "type": "Both",
        "date_created": "2024-11-28",
        "date_expired": "2027-11-28",
        "date_last_renewed": None,
        "last_purchase_bundle_id": "23",
        "last_purchase_id": "21",
        "renew_campaign_active": False,
        "audit_classification": None,
        "audit_request_type": None,
    },
    shapes.ChangedSubscription: {
        "subscription_id": "28",
        "subscriber_id": "22",
        "publication_id": "2",
        "mailing_address_id": "25",
        "billing_address_id": "25",
        "issues": "54",
        "copies": "1",
        "type": "Both",
        "date_created": "2024-11-28",
        "date_expired": "2027-11-28",
        "date_last_renewed": None,
        "last_purchase_bundle_id": "23",
        "last_purchase_id": "21",
        "renew_campaign_active": False,
        "audit_classification": None,
        "audit_request_type": None,
    },
    shapes.ReceivedIssue: _ISSUES[0],
    shapes.AuthenticatedSubscription: _NESTED_SUBSCRIPTION,
    shapes.AuthenticatedSubscriber: {
        "subscriber_id": "22",
        "renewal_code": "F3RXP",
        "email": "danielking22@office.example",
        "first_name": "Daniel",
        "last_name": "King",
        "subscriptions": [_NESTED_SUBSCRIPTION],
    },
    shapes.Address: {
        "address_id": "25",
        "subscriber_id": "22",
        "first_name": "Daniel",
        "last_name": "King",
        "company": "",
        "address": "4618 Railroad Ln",
        "city": "San Francisco",
        "state": "CA",
        "zip_code": "94132",
        "country_name": "United States",
        "country_abbreviation": "US",
        "latitude": "37.739162",
        "longitude": "-122.421739",
        "verified": 1,
    },
    shapes.AnswerValue: _OPTION,
    shapes.CustomFieldAnswer: _ANSWER,
    shapes.AnswerRecord: {"subscriber_id": "22", "custom_fields": [_ANSWER]},
    shapes.CustomFieldOption: _DEFINED_OPTION,
    shapes.CustomFieldDefinition: {
        "field_id": "1",
        "name": "industry",
        "display_as": "Which industry do you work in?",
        "type": "select",
        "allow_other": 1,
        "value_options": [_DEFINED_OPTION],
    },
    shapes.Purchase: {
        "purchase_id": "21",
        "payment_type": "Cash",
        "notes": "",
        "subscriber_id": "22",
        "bundle_id": "23",
        "shipping_address_id": "25",
        "billing_address_id": "25",
        "name": "The Northfield Weekly, 3 years",
        "invoice_id": None,
        "total": "304.16",
        "product_total": "285.60",
        "is_gift": "0",
    },
    shapes.ListDownload: {
        "mailing_list_id": "109",
        "name": "Metal & Lathe, December 2026",
        "status": "Complete",
        "count": "255",
        "is_gap": "0",
        "grace_from_date": "2026-10-02",
        "grace_issues": "2",
        "parent_mailing_list_id": None,
        "date_created": "2026-11-22 10:30:30",
    },
    shapes.OrderItem: _ITEM,
    shapes.Order: {
        "order_id": "10",
        "mailing_address_id": "25",
        "billing_address_id": "25",
        "subscriber_id": "22",
        "import_name": None,
        "user_id": None,
        "channel_id": "4",
        "order_date": "2024-11-28 10:20:20",
        "is_gift": False,
        "sub_total": 285.6,
        "tax_total": 18.56,
        "grand_total": 304.16,
        "order_items": [_ITEM],
    },
    shapes.Entitlement: _ENTITLEMENT,
    shapes.EntitledReader: {
        "subscriber_id": "22",
        "expires_in": "86400",
        "token": "eyJhbGciOiJFUzI1NiIsImtpZCI6IjlmMDgyYTQ3YzYxZDNlNTgiLCJ0eXAiOiJKV1QifQ.eyJpc3MiO"
        "iJtYXN0aGVhZCJ9.tZ1mPqkL8n3xV2c7sWbT5uLr8eYpA3JQm4vF0n1x9cKd2hZ7",
        "entitlements": [_ENTITLEMENT],
    },
    shapes.MailingListEntry: {
        "subscription_id": "2",
        "copies": "5",
        "is_grace": "0",
        "is_paid": "1",
        "type": "Digital",
    },
}
"""A record of each shape."""

DIGESTS = {
    "subscribers": {
        "count": "2000",
        "digest": "bb5965757001ee7e385b219a3c4ef3aad6b3994e6aaad758e487f791020e2414",
    },
    "subscriptions": {
        "count": "2316",
        "digest": "4e4cc767ee6d6c2df493c4ba78a01deb2a7f24dcdb8ae510cd99ceb44a18ff31",
    },
    "addresses": {
        "count": "2215",
        "digest": "af089ee458e960af521dff64279716570b944241289371c109a01eb788345f5d",
    },
}
"""The digest of each entity that ``entities`` names, by its name."""

REMOVED = {"subscriptions": ["90028"], "addresses": ["90025", "90026"]}
"""The ids of removed records, by the name of their entity; the demo has no records of these ids."""

ERRORS = {
    400: "there is no parameter 'emial' here; the nearest is 'email'",
    401: "this needs credentials: HTTP Basic with the account's api_key as user name and its "
    "api_login as password",
    403: "these credentials open no account",
    404: "there is no order 999999999",
    408: "a request has to arrive completely within 20 seconds",
    410: "changed_since lies more than 5 days back, before "
    "2026-11-18T12:00:00.000000+00:00: earlier changes are lost to this client; load "
    "everything again from GET /snapshot?entities=… and go on from the time in its "
    "Masthead-Changes-Through",
    413: "the body of a request is at most 16384 bytes: send fewer or shorter parameters",
    414: "the address of a request is at most 8192 bytes",
    417: "this server meets no expectation but 100-continue",
    429: "too many logins have failed: try again in 900 seconds",
    431: "the headers of a request are at most 32768 bytes",
    500: "the server made a mistake; its log has it under 48f75d3800000000",
    503: "the database does not answer at the moment: try again soon",
}
"""The sentence of each error, by status."""

RETRY_AFTER = {429: 900, 503: 2}
"""The seconds of ``Retry-After``, by status."""
