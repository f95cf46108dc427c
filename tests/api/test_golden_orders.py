"""Golden answers of operation 9, typed by hand from the interface's Order tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.conftest import EVERY_SERVER

if TYPE_CHECKING:
    from tests.api.callers import Caller

pytestmark = EVERY_SERVER

FULL = (
    '{"order_id":"71","mailing_address_id":"21","billing_address_id":"22",'
    '"subscriber_id":"1","import_name":"spring","user_id":"5","channel_id":"3",'
    '"order_date":"2024-02-29 23:59:59","is_gift":true,"sub_total":0.3,"tax_total":0.03,'
    '"grand_total":0.33,"order_items":['
    '{"order_item_id":"9","bundle_id":"9223372036854775807","refund_date":null,'
    '"fulfilled_date":null,"sub_total":85,"tax_total":10.5,"grand_total":0},'
    '{"order_item_id":"711","bundle_id":"501","refund_date":null,'
    '"fulfilled_date":"2024-03-01 08:00:00","sub_total":0.1,"tax_total":0.01,'
    '"grand_total":0.11},'
    '{"order_item_id":"712","product_id":"601","refund_date":"2024-03-02 09:15:30",'
    '"fulfilled_date":null,"sub_total":0.2,"tax_total":0.02,"grand_total":0.22}]}'
)
WITHOUT_ITEMS = (
    '{"order_id":"72","mailing_address_id":"21","billing_address_id":"21",'
    '"subscriber_id":"1","import_name":null,"user_id":null,"channel_id":null,'
    '"order_date":"2024-03-01 00:00:00","is_gift":false,"sub_total":0,"tax_total":0,'
    '"grand_total":0,"order_items":[]}'
)
AWKWARD = (
    '{"order_id":"9223372036854775807","mailing_address_id":"9223372036854775807",'
    '"billing_address_id":"9223372036854775807","subscriber_id":"9223372036854775807",'
    '"import_name":"\\"\\\\😀</script>é67890123456789012","user_id":"9223372036854775807",'
    '"channel_id":"9223372036854775807","order_date":"0001-01-01 00:00:00",'
    '"is_gift":false,"sub_total":101.16,"tax_total":-5.25,"grand_total":1234567890123.45,'
    '"order_items":[{"order_item_id":"9223372036854775807",'
    '"product_id":"9223372036854775807","refund_date":null,"fulfilled_date":null,'
    '"sub_total":1000000,"tax_total":0.05,"grand_total":999999999999.99}]}'
)
BARE = (
    '{"order_id":"1","mailing_address_id":"","billing_address_id":"","subscriber_id":"1",'
    '"import_name":null,"user_id":null,"channel_id":null,"order_date":"","is_gift":false,'
    '"sub_total":0,"tax_total":0,"grand_total":0,"order_items":['
    '{"order_item_id":"1","product_id":"1","refund_date":null,"fulfilled_date":null,'
    '"sub_total":0,"tax_total":0,"grand_total":0}]}'
)
ONE = (
    '{"order_id":"1","mailing_address_id":"","billing_address_id":"","subscriber_id":"1",'
    '"import_name":null,"user_id":null,"channel_id":null,'
    '"order_date":"2024-02-29 00:00:00","is_gift":false,"sub_total":10.5,"tax_total":0,'
    '"grand_total":10.5,"order_items":[]}'
)


def test_an_order_with_a_bundle_and_a_product(golden: Caller) -> None:
    """interface, operation 9; rules, "Double": 0.1 and 0.2 stay cents; items by id."""
    assert golden.answer("/2/orders/71") == FULL


def test_an_order_without_items(golden: Caller) -> None:
    """rules, "Empty collections" and "Missing Bool, flag, verified, Double"."""
    assert golden.answer("/2/orders/72") == WITHOUT_ITEMS


def test_an_order_with_large_ids_and_sums(golden: Caller) -> None:
    """rules, "Double": exact decimals in their shortest form, as JSON numbers."""
    assert golden.answer("/2/orders/9223372036854775807") == AWKWARD


def test_an_order_of_which_only_the_references_are_known(sparse: Caller) -> None:
    """rules, "Missing values": null where the table says nullable, else empty."""
    assert sparse.answer("/2/orders/1") == BARE


def test_the_one_order_of_an_account(one: Caller) -> None:
    """interface, operation 9: one Order object, in no envelope."""
    assert one.answer("/2/orders/1") == ONE
