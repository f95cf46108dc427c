"""The base set: a small publisher with the cases that a partner's program has to handle.

Two titles are sold, one is free for readers who qualify. All days are relative to the emulator's
clock at the time of adding. For the subscriber ``n``, the ids of address, order, item and purchase
are ``n`` too, and those of the subscriptions ``10n + 1`` and ``10n + 2``. The password of each
subscriber with an email is ``PASSWORD``.
"""

from collections.abc import Callable
from datetime import date, timedelta
from enum import IntEnum
from hashlib import md5
from typing import Any

import msgspec

from masthead.contract.moments import date_in

PASSWORD = "reader"  # noqa: S105 - everybody may know it

WEEKLY, MONTHLY, FREE = 1, 2, 3
"""The publications"""

ONE_YEAR, BOTH_TITLES = 1, 2
"""The bundles"""

Day = Callable[[int], str]
_Record = dict[str, Any]


class BaseSet(IntEnum):
    """The subscribers of the base set; a value is the ``subscriber_id``."""

    ACTIVE = 1
    """A printed subscription that runs and was renewed."""
    DIGITAL = 2
    """A digital one."""
    BOTH = 3
    """One of the type Both."""
    UNLIMITED = 4
    """A subscription without an end: -1 issues left, no ``date_expired``."""
    UNPAID = 5
    """A subscription on credit: no paid issues are left."""
    EXPIRES_TODAY = 6
    """The last day of a subscription."""
    EXPIRED = 7
    """A subscription that expired two months ago."""
    GRACE = 8
    """One that expired a week ago, and still gets grace issues."""
    CANCELLED = 9
    """A subscription that was cancelled, and whose order was refunded."""
    PAYER = 10
    """Pays for the gift, and has no subscription."""
    GIFT = 11
    """Received the gift."""
    BUNDLE = 12
    """One order for a bundle of two publications."""
    ORGANISATION = 13
    """A company with 25 copies, one name, and no first name."""
    QUALIFIED = 14
    """A reader of the free title."""
    DISQUALIFIED = 15
    """A reader whose answer disqualifies from the free title."""
    WITHOUT_EMAIL = 16
    """Has neither email nor password, and logs in with renewal code and postal code."""
    SHARED_EMAIL = 17
    """Has the email of ``SHARED_EMAIL_TOO``."""
    SHARED_EMAIL_TOO = 18
    """Has the email of ``SHARED_EMAIL``."""
    BEYOND_ASCII = 19
    """Names and an address beyond ASCII, an apostrophe, and a plus in the email."""
    BARE = 20
    """Only an id: all other values are missing."""
    DELETED = 21
    """Was deleted: is not found by the search and cannot log in, but is in the change feed."""


def records(now_us: int) -> dict[str, list[bytes]]:
    """Return the records of each kind, JSON objects; ``now_us`` is the emulator's time."""
    today = date.fromisoformat(date_in("UTC", now_us))

    def day(days: int) -> str:
        return (today + timedelta(days)).isoformat()

    made = {**_titles(day), **_subscribers(day), **_questions(day), **_orders(day), **_lists()}
    return {kind: [msgspec.json.encode(each) for each in made[kind]] for kind in made}


def _titles(day: Day) -> dict[str, list[_Record]]:
    lists: list[_Record] = [
        {"mailing_list_id": 1, "name": "The Northfield Weekly No. 1", "count": 3},
        {"mailing_list_id": 2, "name": "The Northfield Weekly No. 2", "count": 4},
        {"mailing_list_id": 3, "name": "The Northfield Weekly No. 2", "count": 1},
        {"mailing_list_id": 4, "name": "The Northfield Weekly No. 3", "status": "Pending"},
    ]
    lists[1] |= {"grace_from_date": day(-30), "grace_issues": 2}
    lists[2] |= {"is_gap": True, "parent_mailing_list_id": 2}
    return {
        "publications": [
            {"publication_id": WEEKLY, "name": "The Northfield Weekly", "issues_per_year": 52},
            {"publication_id": MONTHLY, "name": "Garden & Orchard", "issues_per_year": 12},
            {"publication_id": FREE, "name": "The Trade Letter", "issues_per_year": 12},
        ],
        "list_downloads": lists,
        "issues": [
            {
                "issue_id": number,
                "publication_id": WEEKLY,
                "name": f"No. {number}",
                "number": number,
                "date": day(7 * number - 14),
                "mailing_list_id": of,
            }
            for number, of in ((1, 1), (2, 2), (3, 4))
        ],
        "bundles": [
            {"bundle_id": ONE_YEAR, "name": "The Weekly for a year", "active": True},
            {"bundle_id": BOTH_TITLES, "name": "Weekly and Garden", "active": True},
        ],
        "bundle_lines": [
            _line(ONE_YEAR, 1, WEEKLY, 52),
            _line(BOTH_TITLES, 1, WEEKLY, 52),
            _line(BOTH_TITLES, 2, MONTHLY, 12),
        ],
    }


def _line(bundle: int, number: int, publication: int, issues: int) -> _Record:
    return {
        "bundle_id": bundle,
        "line_number": number,
        "publication_id": publication,
        "issues": issues,
        "type": "Print",
    }


_NAMES = {
    BaseSet.ACTIVE: ("Ann", "Archer"),
    BaseSet.DIGITAL: ("Ben", "Barlow"),
    BaseSet.BOTH: ("Cleo", "Carter"),
    BaseSet.UNLIMITED: ("Dora", "Dale"),
    BaseSet.UNPAID: ("Edgar", "Ellis"),
    BaseSet.EXPIRES_TODAY: ("Fay", "Foster"),
    BaseSet.EXPIRED: ("Gus", "Gray"),
    BaseSet.GRACE: ("Hal", "Hunt"),
    BaseSet.CANCELLED: ("Ida", "Irwin"),
    BaseSet.PAYER: ("Jack", "Jones"),
    BaseSet.GIFT: ("Kim", "Jones"),
    BaseSet.BUNDLE: ("Lea", "Lane"),
    BaseSet.ORGANISATION: ("", "Northfield Library"),
    BaseSet.QUALIFIED: ("Mo", "Moss"),
    BaseSet.DISQUALIFIED: ("Nell", "Nash"),
    BaseSet.WITHOUT_EMAIL: ("Otto", "Olsen"),
    BaseSet.SHARED_EMAIL: ("Pia", "Penn"),
    BaseSet.SHARED_EMAIL_TOO: ("Paul", "Penn"),
    BaseSet.BEYOND_ASCII: ("Zoë Łucja", "O'Brien-Nuñez 王"),
    BaseSet.DELETED: ("Vera", "Vane"),
}


def _subscribers(day: Day) -> dict[str, list[_Record]]:
    digest = md5(PASSWORD.encode(), usedforsecurity=False).hexdigest()
    subscribers: dict[int, _Record] = {BaseSet.BARE: {"subscriber_id": BaseSet.BARE}}
    addresses: dict[int, _Record] = {}
    for subscriber, (first, last) in _NAMES.items():
        subscribers[subscriber] = {
            "subscriber_id": subscriber,
            "first_name": first,
            "last_name": last,
            "email": f"{(first or 'library').lower()}@reader.example",
            "password_md5": digest,
        }
        addresses[subscriber] = {
            "address_id": subscriber,
            "subscriber_id": subscriber,
            "first_name": first,
            "last_name": last,
            "address": f"{subscriber} Mill Lane",
            "city": "Northfield",
            "state": "MN",
            "zip_code": "55057",
            "country_name": "United States",
            "country_abbreviation": "US",
        }
    subscribers[BaseSet.WITHOUT_EMAIL] |= {"email": None, "password_md5": None}
    for shared in (BaseSet.SHARED_EMAIL, BaseSet.SHARED_EMAIL_TOO):
        subscribers[shared]["email"] = "penn@reader.example"
    subscribers[BaseSet.BEYOND_ASCII]["email"] = "zoe+weekly@reader.example"
    subscribers[BaseSet.DELETED]["delete_date"] = f"{day(-10)} 12:00:00"
    addresses[BaseSet.ORGANISATION] |= {"company": "Northfield Library", "last_name": None}
    addresses[BaseSet.BEYOND_ASCII] |= {
        "address": "Rue de l'Église 5 bis",
        "city": "Zürich",
        "state": None,
        "zip_code": "8001",
        "country_name": "Switzerland",
        "country_abbreviation": "CH",
    }
    return {
        "subscribers": [subscribers[subscriber] for subscriber in BaseSet],
        "addresses": list(addresses.values()),
        "subscriptions": _subscriptions(day),
    }


_ENDED = {
    BaseSet.EXPIRES_TODAY: 0,
    BaseSet.EXPIRED: -60,
    BaseSet.GRACE: -7,
    BaseSet.CANCELLED: -20,
    BaseSet.DISQUALIFIED: -30,
}
"""The last days of subscriptions"""


def _began(subscriber: BaseSet) -> int:
    """Return the first day of a subscription."""
    return _ENDED.get(subscriber, 224) - 364


def _subscriptions(day: Day) -> list[_Record]:
    special: dict[BaseSet, _Record] = {
        BaseSet.ACTIVE: {"date_created": day(-500), "date_last_renewed": day(-140)},
        BaseSet.DIGITAL: {"type": "Digital"},
        BaseSet.BOTH: {"type": "Both"},
        BaseSet.UNLIMITED: {
            "issues": -1,
            "date_expired": None,
            "paid_issues_left": None,
            "unearned_revenue": None,
        },
        BaseSet.UNPAID: {
            "paid_issues_left": 0,
            "unearned_revenue": "0.00",
            "last_purchase_id": None,
        },
        BaseSet.CANCELLED: {"cancelled_on": day(-20), "renew_campaign_active": False},
        BaseSet.GIFT: {"billing_address_id": BaseSet.PAYER, "last_purchase_id": BaseSet.PAYER},
        BaseSet.BUNDLE: {"last_purchase_bundle_id": BOTH_TITLES},
        BaseSet.ORGANISATION: {"copies": 25},
        BaseSet.QUALIFIED: {"audit_classification": "B", "audit_request_type": "W"},
        BaseSet.DISQUALIFIED: {"renew_campaign_active": False},
    }
    free = {
        "publication_id": FREE,
        "last_purchase_bundle_id": None,
        "last_purchase_id": None,
        "paid_issues_left": None,
        "unearned_revenue": None,
    }
    ended = {"issues": 0, "paid_issues_left": 0, "unearned_revenue": "0.00"}
    found = []
    for subscriber in _NAMES:
        if subscriber == BaseSet.PAYER:
            continue
        usual = {
            "subscription_id": 10 * subscriber + 1,
            "subscriber_id": subscriber,
            "publication_id": WEEKLY,
            "mailing_address_id": subscriber,
            "billing_address_id": subscriber,
            "issues": 32,
            "paid_issues_left": 32,
            "unearned_revenue": "64.00",
            "date_created": day(_began(subscriber)),
            "date_expired": day(_ENDED.get(subscriber, 224)),
            "last_purchase_bundle_id": ONE_YEAR,
            "last_purchase_id": subscriber,
            "renew_campaign_active": True,
        }
        if subscriber in _ENDED:
            usual |= ended
        if subscriber in {BaseSet.QUALIFIED, BaseSet.DISQUALIFIED}:
            usual |= free
        found.append(usual | special.get(subscriber, {}))
    bundle = next(each for each in found if each["subscriber_id"] == BaseSet.BUNDLE)
    second = {"subscription_id": 10 * BaseSet.BUNDLE + 2, "publication_id": MONTHLY}
    return [*found, bundle | second | {"issues": 8, "paid_issues_left": 8}]


def _questions(day: Day) -> dict[str, list[_Record]]:
    options = {
        1: {"value": "owner", "display_as": "I own a farm", "order": 1},
        2: {"value": "staff", "display_as": "I work on a farm", "order": 2},
        3: {"value": "none", "display_as": "Neither", "order": 3, "disqualifier": True},
    }
    return {
        "custom_fields": [
            {"field_id": 1, "name": "trade", "display_as": "Your trade?", "type": "radio"},
            {"field_id": 2, "name": "remark", "display_as": "Anything else?", "type": "text"},
        ],
        "custom_field_options": [
            {"option_id": number, "field_id": 1, **option} for number, option in options.items()
        ],
        "custom_field_answers": [
            _answer(BaseSet.QUALIFIED, 1, day(-40), option_ids=[1]),
            _answer(BaseSet.DISQUALIFIED, 1, day(-40), option_ids=[3]),
            _answer(BaseSet.BEYOND_ASCII, 2, day(-40), text_value="Schöne Grüße"),
        ],
    }


def _answer(subscriber: BaseSet, field: int, on: str, **value: Any) -> _Record:
    return {"subscriber_id": subscriber, "field_id": field, "answered_on": on, **value}


def _orders(day: Day) -> dict[str, list[_Record]]:
    without = {BaseSet.GIFT, BaseSet.QUALIFIED, BaseSet.DISQUALIFIED}
    payers = [subscriber for subscriber in _NAMES if subscriber not in without]
    orders, purchases, items = [], [], []
    for payer in payers:
        bundle = BOTH_TITLES if payer == BaseSet.BUNDLE else ONE_YEAR
        is_gift = payer == BaseSet.PAYER
        ordered = f"{day(_began(payer))} 10:30:00"
        amounts = {"sub_total": "104.00", "tax_total": "7.28", "grand_total": "111.28"}
        orders.append(
            {
                "order_id": payer,
                "subscriber_id": payer,
                "mailing_address_id": BaseSet.GIFT if is_gift else payer,
                "billing_address_id": payer,
                "order_date": ordered,
                "is_gift": is_gift,
                **amounts,
            }
        )
        purchase = {
            "purchase_id": payer,
            "subscriber_id": payer,
            "bundle_id": bundle,
            "payment_type": "Credit Card",
            "shipping_address_id": BaseSet.GIFT if is_gift else payer,
            "billing_address_id": payer,
            "total": "111.28",
            "product_total": "104.00",
            "is_gift": is_gift,
        }
        if is_paid := payer != BaseSet.UNPAID:
            purchases.append(purchase)
        items.append(
            {
                "order_item_id": payer,
                "order_id": payer,
                "bundle_id": bundle,
                "purchase_id": payer if is_paid else None,
                "fulfilled_date": ordered,
                "refund_date": f"{day(-20)} 09:00:00" if payer == BaseSet.CANCELLED else None,
                **amounts,
            }
        )
    return {"orders": orders, "purchases": purchases, "order_items": items}


def _lists() -> dict[str, list[_Record]]:
    entries = {
        1: (BaseSet.ACTIVE, BaseSet.ORGANISATION, BaseSet.GRACE),
        2: (BaseSet.ACTIVE, BaseSet.ORGANISATION, BaseSet.UNPAID, BaseSet.GRACE),
        3: (BaseSet.BEYOND_ASCII,),
    }
    return {
        "subscription_issues": [
            {
                "subscription_id": 10 * subscriber + 1,
                "issue_id": min(number, 2),
                "mailing_list_id": number,
                "is_grace": subscriber == BaseSet.GRACE and number == 2,
            }
            for number, subscribers in entries.items()
            for subscriber in subscribers
        ],
        "mailing_list_entries": [
            {
                "mailing_list_id": number,
                "subscription_id": 10 * subscriber + 1,
                "copies": 25 if subscriber == BaseSet.ORGANISATION else 1,
                "is_grace": subscriber == BaseSet.GRACE and number == 2,
                "is_paid": subscriber != BaseSet.UNPAID,
            }
            for number, subscribers in entries.items()
            for subscriber in subscribers
        ],
    }
