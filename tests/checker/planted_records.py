"""Deviations of records from their tables, one at a time, and how the checker names each."""

from __future__ import annotations

from tests.checker.edits import (
    ACCOUNTS,
    CDC,
    FIELDS,
    GET_ACCOUNTS,
    GET_CDC,
    GET_FIELDS,
    GET_LIST,
    GET_ORDER,
    GET_SUBSCRIBERS,
    GET_SUBSCRIPTIONS,
    LIST,
    ORDER,
    SUBSCRIBERS,
    SUBSCRIPTIONS,
    Deviation,
    differs,
    drop,
    each,
    item_with_both,
    long_double,
    noted,
    put,
    reordered,
    says,
)

DEVIATIONS_OF_RECORDS: dict[str, Deviation] = {
    "ids as numbers": differs(
        says(SUBSCRIPTIONS, each("subscriptions", put(subscription_id=int))),
        *("Subscription", GET_SUBSCRIPTIONS, "subscriptions[].subscription_id"),
    ),
    "counts as numbers": differs(
        says(LIST, each(None, put(copies=7))), "Mailing list entry", GET_LIST, "[].copies"
    ),
    "the count of a list download as a number": differs(
        says(CDC, each("list_downloads", put(count=7))),
        *("List download", GET_CDC, "list_downloads[].count"),
    ),
    "fields in another order": differs(
        says(ACCOUNTS, each("accounts", reordered)), "Account", GET_ACCOUNTS, "accounts[]"
    ),
    "a missing field": differs(
        says(SUBSCRIBERS, each("subscribers", drop("source"))),
        *("Subscriber", GET_SUBSCRIBERS, "subscribers[].source"),
    ),
    "a missing field of the feed": differs(
        says(CDC, each("subscribers", drop("modified_date"))),
        *("Subscriber", GET_CDC, "subscribers[].modified_date"),
    ),
    "an additional field": differs(
        says(CDC, each("addresses", lambda one: one.update(address_2=""))),
        *("Address", GET_CDC, "addresses[]"),
    ),
    "null where text is due": noted(
        says(CDC, each("addresses", put(company=None))), "Address", GET_CDC, "addresses[].company"
    ),
    "an empty string where null is due": noted(
        says(
            SUBSCRIPTIONS,
            each("subscriptions", put(last_purchase_bundle_id=lambda found: found or "")),
        ),
        *("Subscription", GET_SUBSCRIPTIONS, "subscriptions[].last_purchase_bundle_id"),
    ),
    "null for an id": differs(
        says(CDC, each("addresses", put(subscriber_id=None))),
        *("Address", GET_CDC, "addresses[].subscriber_id"),
    ),
    "a number where only null is seen": noted(
        says(f"{CDC}|{SUBSCRIBERS}", each("subscribers", put(source=7))),
        *("Subscriber", GET_CDC, "subscribers[].source"),
    ),
    "a Double as a string": differs(
        says(ORDER, put(grand_total=str)), "Order", GET_ORDER, "grand_total"
    ),
    "a Double with the digits of a binary fraction": noted(
        says(rf"{ORDER}|{CDC}", long_double), "Order", GET_ORDER, "grand_total"
    ),
    "is_gift of an order as 0": differs(
        says(ORDER, put(is_gift="0")), "Order", GET_ORDER, "is_gift"
    ),
    "is_gift of a purchase as a boolean": differs(
        says(CDC, each("purchases", put(is_gift=False))), "Purchase", GET_CDC, "purchases[].is_gift"
    ),
    "a flag as a number": differs(
        says(LIST, each(None, put(is_paid=1))), "Mailing list entry", GET_LIST, "[].is_paid"
    ),
    "allow_other as a boolean": differs(
        says(FIELDS, each(None, put(allow_other=True))),
        *("Custom field definition", GET_FIELDS, "[].allow_other"),
    ),
    "verified as a string": differs(
        says(CDC, each("addresses", put(verified=str))), "Address", GET_CDC, "addresses[].verified"
    ),
    "active as a string": differs(
        says(ACCOUNTS, each("accounts", put(active="1"))),
        "Account",
        GET_ACCOUNTS,
        "accounts[].active",
    ),
    "a time with a zone": differs(
        says(ACCOUNTS, each("accounts", put(created=lambda text: f"{text}+00:00"))),
        *("Account", GET_ACCOUNTS, "accounts[].created"),
    ),
    "a date with a time": differs(
        says(SUBSCRIPTIONS, each("subscriptions", put(date_created=lambda t: f"{t} 00:00:00"))),
        *("Subscription", GET_SUBSCRIPTIONS, "subscriptions[].date_created"),
    ),
    "a date of the year zero": differs(
        says(SUBSCRIPTIONS, each("subscriptions", put(date_expired="0000-00-00"))),
        *("Subscription", GET_SUBSCRIPTIONS, "subscriptions[].date_expired"),
    ),
    "another word for a type": differs(
        says(SUBSCRIPTIONS, each("subscriptions", put(type=str.upper))),
        *("Subscription", GET_SUBSCRIPTIONS, "subscriptions[].type"),
    ),
    "text that is too long": differs(
        says(CDC, each("subscribers", put(first_name="x" * 51))),
        *("Subscriber", GET_CDC, "subscribers[].first_name"),
    ),
    "an item with bundle_id and product_id": differs(
        says(ORDER, item_with_both), "Order", GET_ORDER, "order_items[]"
    ),
    "an item without bundle_id and product_id": differs(
        says(
            ORDER,
            each("order_items", lambda one: (one.pop("bundle_id", 0), one.pop("product_id", 0))),
        ),
        *("Order", GET_ORDER, "order_items[]"),
    ),
}
