"""Golden answers of operation 4, typed by hand: every shape of the change feed."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from tests.api import test_golden_custom_fields as fields
from tests.api import test_golden_orders as orders
from tests.api.callers import ENTITIES, KEYS
from tests.api.conftest import EVERY_SERVER

if TYPE_CHECKING:
    from tests.api.callers import Caller

pytestmark = EVERY_SERVER

SUBSCRIPTIONS = (
    '{"subscriptions":['
    '{"subscription_id":"9","subscriber_id":"2","publication_id":"11",'
    '"mailing_address_id":"","billing_address_id":"","issues":"0","copies":"1",'
    '"type":"Both","date_created":"2024-02-29","date_expired":"2024-02-29",'
    '"date_last_renewed":null,"last_purchase_bundle_id":null,"last_purchase_id":null,'
    '"renew_campaign_active":true,"audit_classification":null,"audit_request_type":null},'
    '{"subscription_id":"31","subscriber_id":"1","publication_id":"11",'
    '"mailing_address_id":"21","billing_address_id":"22","issues":"12","copies":"1",'
    '"type":"Print","date_created":"2024-02-29","date_expired":"2099-12-31",'
    '"date_last_renewed":"2025-02-28","last_purchase_bundle_id":"501",'
    '"last_purchase_id":"61","renew_campaign_active":true,"audit_classification":"A1",'
    '"audit_request_type":"W"},'
    '{"subscription_id":"32","subscriber_id":"1","publication_id":"11",'
    '"mailing_address_id":"21","billing_address_id":"21","issues":"-1","copies":"2",'
    '"type":"Digital","date_created":"2023-01-01","date_expired":null,'
    '"date_last_renewed":null,"last_purchase_bundle_id":null,"last_purchase_id":null,'
    '"renew_campaign_active":false,"audit_classification":null,"audit_request_type":null},'
    '{"subscription_id":"9223372036854775807","subscriber_id":"9223372036854775807",'
    '"publication_id":"9223372036854775807","mailing_address_id":"9223372036854775807",'
    '"billing_address_id":"9223372036854775807","issues":"9223372036854775807",'
    '"copies":"9223372036854775807","type":"Both","date_created":"0001-01-01",'
    '"date_expired":"9999-12-31","date_last_renewed":"2000-02-29",'
    '"last_purchase_bundle_id":"9223372036854775807",'
    '"last_purchase_id":"9223372036854775807","renew_campaign_active":true,'
    '"audit_classification":"\\"\\\\ 😀 </script>","audit_request_type":"é"}]}'
)
ADDRESSES = (
    '{"addresses":['
    '{"address_id":"21","subscriber_id":"1","first_name":"Mira","last_name":"Lang",'
    '"company":"Lang & Co","address":"1 Long Road","city":"Springfield","state":"IL",'
    '"zip_code":"62701-1234","country_name":"United States",'
    '"country_abbreviation":"US","latitude":"39.7990","longitude":"-89.6440",'
    '"verified":1},'
    '{"address_id":"22","subscriber_id":"1","first_name":"","last_name":"",'
    '"company":"","address":"","city":"Łódź","state":"","zip_code":"90-001",'
    '"country_name":"","country_abbreviation":"","latitude":"","longitude":"",'
    '"verified":0},'
    '{"address_id":"9223372036854775807","subscriber_id":"9223372036854775807",'
    '"first_name":"\\"Zoë\\"","last_name":"\\\\","company":"</script>",'
    '"address":"Straße 1\\nHinterhaus 😀","city":"e\u0301","state":"\u2028",'
    '"zip_code":"00001","country_name":"Côte d\'Ivoire","country_abbreviation":"CI",'
    '"latitude":"0","longitude":"0.0","verified":1}]}'
)
PURCHASES = (
    '{"purchases":['
    '{"purchase_id":"61","payment_type":"Credit Card","notes":"paid \\"late\\"",'
    '"subscriber_id":"1","bundle_id":"501","shipping_address_id":"21",'
    '"billing_address_id":"22","name":"Garden & Field","invoice_id":"INV-1",'
    '"total":"10.50","product_total":"10.00","is_gift":"1"},'
    '{"purchase_id":"62","payment_type":"Check","notes":"","subscriber_id":"1",'
    '"bundle_id":"501","shipping_address_id":null,"billing_address_id":null,'
    '"name":null,"invoice_id":null,"total":"0.30","product_total":null,"is_gift":"0"},'
    '{"purchase_id":"9223372036854775807","payment_type":"😀 </script>","notes":"\\\\",'
    '"subscriber_id":"9223372036854775807","bundle_id":"9223372036854775807",'
    '"shipping_address_id":"9223372036854775807",'
    '"billing_address_id":"9223372036854775807","name":"é",'
    '"invoice_id":"9223372036854775807","total":"1234567890123.45",'
    '"product_total":"85","is_gift":"0"}]}'
)
LIST_DOWNLOADS = (
    '{"list_downloads":['
    '{"mailing_list_id":"81","name":"Spring list","status":"Complete","count":"4",'
    '"is_gap":"1","grace_from_date":"2024-02-29","grace_issues":"2",'
    '"parent_mailing_list_id":null,"date_created":"2024-02-29 23:59:59"},'
    '{"mailing_list_id":"82","name":"\\"\\\\ 😀 </script>","status":"Generating Galley",'
    '"count":"0","is_gap":"0","grace_from_date":null,"grace_issues":"",'
    '"parent_mailing_list_id":"81","date_created":"2024-03-01 00:00:00"},'
    '{"mailing_list_id":"9223372036854775807","name":"Edge","status":"Complete",'
    '"count":"1","is_gap":"0","grace_from_date":null,"grace_issues":"",'
    '"parent_mailing_list_id":null,"date_created":"2024-03-02 00:00:00"}]}'
)
CUSTOM_FIELDS = (
    '{"custom_fields":['
    f'{{"subscriber_id":"1","custom_fields":{fields.ANSWERS}}},'
    f'{{"subscriber_id":"2","custom_fields":{fields.NO_ANSWERS}}},'
    f'{{"subscriber_id":"3","custom_fields":{fields.NO_ANSWERS}}},'
    f'{{"subscriber_id":"9223372036854775807","custom_fields":{fields.ONE_AWKWARD_ANSWER}}}]}}'
)
ORDERS = f'{{"orders":[{orders.FULL},{orders.WITHOUT_ITEMS},{orders.AWKWARD}]}}'

BARE = {
    "customfields": (
        '{"custom_fields":[{"subscriber_id":"1","custom_fields":['
        '{"field_id":"1","name":"","display_as":"","type":"select","allow_other":0,'
        '"values":[{"option_id":"1","display_as":"","value":""}],"text_value":null},'
        '{"field_id":"2","name":"","display_as":"","type":"text","allow_other":0,'
        '"values":null,"text_value":null}]},{"subscriber_id":"2","custom_fields":['
        '{"field_id":"1","name":"","display_as":"","type":"select","allow_other":0,'
        '"values":null,"text_value":null},'
        '{"field_id":"2","name":"","display_as":"","type":"text","allow_other":0,'
        '"values":null,"text_value":null}]}]}'
    ),
    "subscriptions": (
        '{"subscriptions":[{"subscription_id":"1","subscriber_id":"1",'
        '"publication_id":"1","mailing_address_id":"","billing_address_id":"",'
        '"issues":"","copies":"","type":"","date_created":"","date_expired":null,'
        '"date_last_renewed":null,"last_purchase_bundle_id":null,'
        '"last_purchase_id":null,"renew_campaign_active":false,'
        '"audit_classification":null,"audit_request_type":null}]}'
    ),
    "addresses": (
        '{"addresses":[{"address_id":"1","subscriber_id":"1","first_name":"",'
        '"last_name":"","company":"","address":"","city":"","state":"","zip_code":"",'
        '"country_name":"","country_abbreviation":"","latitude":"","longitude":"",'
        '"verified":0}]}'
    ),
    "purchases": (
        '{"purchases":[{"purchase_id":"1","payment_type":"","notes":"",'
        '"subscriber_id":"1","bundle_id":"","shipping_address_id":null,'
        '"billing_address_id":null,"name":null,"invoice_id":null,"total":"",'
        '"product_total":null,"is_gift":"0"}]}'
    ),
    "listdownloads": (
        '{"list_downloads":[{"mailing_list_id":"1","name":"","status":"","count":"",'
        '"is_gap":"0","grace_from_date":null,"grace_issues":"",'
        '"parent_mailing_list_id":null,"date_created":""}]}'
    ),
    "orders": f'{{"orders":[{orders.BARE}]}}',
}


def since_yesterday(caller: Caller, entity: str) -> str:
    """Return the text of the feed of one entity since a day ago."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")
    return caller.answer("/2/cdc", changed_since=yesterday, entities=entity)


def modified_date_of_the_only_commit(caller: Caller) -> str:
    """Return the second of the account's newest stamp, from the header of the feed."""
    yesterday = (datetime.now(UTC) - timedelta(days=1)).isoformat(timespec="seconds")
    response = caller.ask("/2/cdc", changed_since=yesterday, entities="orders")
    through = datetime.fromisoformat(response.headers["Masthead-Changes-Through"])
    stamp = through - timedelta(microseconds=1)
    return stamp.strftime("%Y-%m-%d %H:%M:%S")


@pytest.mark.parametrize(
    ("entity", "answer"),
    [
        ("customfields", CUSTOM_FIELDS),
        ("subscriptions", SUBSCRIPTIONS),
        ("addresses", ADDRESSES),
        ("purchases", PURCHASES),
        ("listdownloads", LIST_DOWNLOADS),
        ("orders", ORDERS),
    ],
)
def test_the_feed_shows_full_and_awkward_records(golden: Caller, entity: str, answer: str) -> None:
    """interface, operation 4, each entity's table; rules, "Change feed".

    rules, "`list_downloads.status` and `plan`"; decisions, "Dates and times of records".
    """
    assert since_yesterday(golden, entity) == answer


def test_the_feed_shows_subscribers_with_the_time_of_their_change(golden: Caller) -> None:
    """interface, Subscriber: ``modified_date`` in the feed; rules, "source, …": in UTC."""
    modified = modified_date_of_the_only_commit(golden)
    assert since_yesterday(golden, "subscribers") == (
        '{"subscribers":[{"subscriber_id":"1","renewal_code":"GF001",'
        '"email":"mira.lang@example.org",'
        '"password_md5":"5ebe2294ecd0e0f08eab7690d2a6ee69","first_name":"Mira",'
        '"last_name":"Lang","source":"spring-mailing","delete_date":null,'
        f'"modified_date":"{modified}"}},'
        '{"subscriber_id":"2","renewal_code":"GF002","email":"","password_md5":"",'
        '"first_name":"","last_name":"","source":null,"delete_date":null,'
        f'"modified_date":"{modified}"}},'
        '{"subscriber_id":"3","renewal_code":"GF003","email":"gone@example.org",'
        '"password_md5":"50c1f58be7f5e47e0f53d64c094783c2","first_name":"Gone",'
        '"last_name":"Away","source":"web","delete_date":"2024-02-29 23:59:59",'
        f'"modified_date":"{modified}"}},'
        '{"subscriber_id":"9223372036854775807","renewal_code":"G\\"\\\\é😀",'
        '"email":"o\'brien+\\"tag\\"@exämple.org",'
        '"password_md5":"a4c5547e797d95863f43685c8c7b1049",'
        '"first_name":"Zoe\u0308 \\"Zo\\" \\\\ 😀 </script> & <b>",'
        '"last_name":"12345678901234567890\u2028\u2029\\tA\\nB/é6789012345678901234567",'
        '"source":"\\"quoted\\" \\\\ </script> 😀 e\u0301","delete_date":null,'
        f'"modified_date":"{modified}"}}]}}'
    )


@pytest.mark.parametrize("entity", sorted(BARE))
def test_the_feed_shows_records_of_which_only_the_references_are_known(
    sparse: Caller, entity: str
) -> None:
    """rules, "Missing values" and "Missing Bool, flag, verified, Double"."""
    assert since_yesterday(sparse, entity) == BARE[entity]


@pytest.mark.parametrize("entity", ENTITIES)
def test_the_feed_of_an_account_without_records(empty: Caller, entity: str) -> None:
    """rules, "Change feed": every requested key is present, an empty array."""
    assert since_yesterday(empty, entity) == f'{{"{KEYS[entity]}":[]}}'


def test_the_feed_of_one_record(one: Caller) -> None:
    """interface, operation 4."""
    assert since_yesterday(one, "listdownloads") == (
        '{"list_downloads":[{"mailing_list_id":"1","name":"One list",'
        '"status":"Complete","count":"1","is_gap":"0","grace_from_date":null,'
        '"grace_issues":"","parent_mailing_list_id":null,'
        '"date_created":"2024-02-29 00:00:00"}]}'
    )
