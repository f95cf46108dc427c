"""Golden answers of operation 7, typed by hand from the interface's Subscription table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.conftest import EVERY_SERVER

if TYPE_CHECKING:
    from tests.api.callers import Caller

pytestmark = EVERY_SERVER

EXPIRED = (
    '{"subscription_id":"9","publication_id":"11","mailing_address_id":"",'
    '"billing_address_id":"","issues":"0","copies":"1","paid_issues_left":"0",'
    '"unearned_revenue":"0.00","type":"Both","date_created":"2024-02-29",'
    '"date_expired":"2024-02-29","date_last_renewed":null,"last_purchase_bundle_id":null,'
    '"last_purchase_id":null,"renew_campaign_active":true,"audit_classification":null,'
    '"audit_request_type":null}'
)
FULL = (
    '{"subscription_id":"31","publication_id":"11","mailing_address_id":"21",'
    '"billing_address_id":"22","issues":"12","copies":"1","paid_issues_left":"7",'
    '"unearned_revenue":"10.50","type":"Print","date_created":"2024-02-29",'
    '"date_expired":"2099-12-31","date_last_renewed":"2025-02-28",'
    '"last_purchase_bundle_id":"501","last_purchase_id":"61","renew_campaign_active":true,'
    '"audit_classification":"A1","audit_request_type":"W"}'
)
UNLIMITED = (
    '{"subscription_id":"32","publication_id":"11","mailing_address_id":"21",'
    '"billing_address_id":"21","issues":"-1","copies":"2","paid_issues_left":null,'
    '"unearned_revenue":null,"type":"Digital","date_created":"2023-01-01",'
    '"date_expired":null,"date_last_renewed":null,"last_purchase_bundle_id":null,'
    '"last_purchase_id":null,"renew_campaign_active":false,"audit_classification":null,'
    '"audit_request_type":null}'
)
AWKWARD = (
    '{"subscription_id":"9223372036854775807","publication_id":"9223372036854775807",'
    '"mailing_address_id":"9223372036854775807","billing_address_id":"9223372036854775807",'
    '"issues":"9223372036854775807","copies":"9223372036854775807",'
    '"paid_issues_left":"9223372036854775807","unearned_revenue":"1234567890123.45",'
    '"type":"Both","date_created":"0001-01-01","date_expired":"9999-12-31",'
    '"date_last_renewed":"2000-02-29","last_purchase_bundle_id":"9223372036854775807",'
    '"last_purchase_id":"9223372036854775807","renew_campaign_active":true,'
    '"audit_classification":"\\"\\\\ 😀 </script>","audit_request_type":"é"}'
)
BARE = (
    '{"subscription_id":"1","publication_id":"1","mailing_address_id":"",'
    '"billing_address_id":"","issues":"","copies":"","paid_issues_left":null,'
    '"unearned_revenue":null,"type":"","date_created":"","date_expired":null,'
    '"date_last_renewed":null,"last_purchase_bundle_id":null,"last_purchase_id":null,'
    '"renew_campaign_active":false,"audit_classification":null,"audit_request_type":null}'
)
ONE = (
    '{"subscription_id":"1","publication_id":"1","mailing_address_id":"",'
    '"billing_address_id":"","issues":"6","copies":"1","paid_issues_left":null,'
    '"unearned_revenue":null,"type":"Print","date_created":"2024-02-29",'
    '"date_expired":null,"date_last_renewed":null,"last_purchase_bundle_id":null,'
    '"last_purchase_id":null,"renew_campaign_active":true,"audit_classification":null,'
    '"audit_request_type":null}'
)


def test_no_subscription(empty: Caller) -> None:
    """interface, operation 7; rules, "Empty collections": envelopes are ``[]``."""
    assert empty.answer("/2/subscriptions/") == '{"subscriptions":[]}'


def test_one_subscription(one: Caller) -> None:
    """interface, operation 7."""
    assert one.answer("/2/subscriptions/") == f'{{"subscriptions":[{ONE}]}}'


def test_many_subscriptions_full_and_awkward(golden: Caller) -> None:
    """interface, operation 7; rules, "Decimal strings"; decisions, "Integers", "Order of lists".

    rules, "`last_purchase_id`".
    """
    records = f"{EXPIRED},{FULL},{UNLIMITED},{AWKWARD}"
    assert golden.answer("/2/subscriptions/") == f'{{"subscriptions":[{records}]}}'


def test_a_subscription_of_which_only_the_references_are_known(sparse: Caller) -> None:
    """rules, "Missing values" and "Missing Bool, flag, verified, Double"."""
    assert sparse.answer("/2/subscriptions/") == f'{{"subscriptions":[{BARE}]}}'
