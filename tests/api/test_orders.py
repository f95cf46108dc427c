"""Operation 9: one order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

if TYPE_CHECKING:
    from tests.api.callers import Caller
    from tests.api.conftest import Publisher


@pytest.mark.parametrize(
    "order_id", ["071", "0", "-71", "71.0", "abc", "9223372036854775808", "+71", "7_1", "%D9%A1"]
)
def test_an_id_that_is_not_plain_digits_is_unknown(golden: Caller, order_id: str) -> None:
    """rules, "Ids in paths"."""
    answer = golden.raw(f"/2/orders/{order_id}")
    assert answer.status == 404
    assert answer.error()


def test_an_unknown_order_is_not_found(golden: Caller) -> None:
    """rules, "Statuses": 404 unknown id."""
    assert golden.refusal(404, "/2/orders/123456789")


def test_an_item_is_a_bundle_or_a_product(golden: Caller) -> None:
    """interface, Order item: ``product_id`` in place of ``bundle_id``."""
    for item in golden.read("/2/orders/71")["order_items"]:
        assert ("bundle_id" in item) != ("product_id" in item)


def test_an_order_of_a_deleted_subscriber_is_answered(publisher: Publisher) -> None:
    """decisions, "Deleted subscribers" keep answering in operations 5, 7, 9 and 10."""
    paths = ("/2/customfields/1", "/2/subscriptions/", "/2/orders/1", "/2/downloadmailinglist/1/")
    before = [publisher.caller.answer(path) for path in paths]
    publisher.load(subscribers=[{"subscriber_id": 1, "delete_date": "2026-11-19 08:00:00"}])
    assert [publisher.caller.answer(path) for path in paths] == before
    assert "FED01" not in publisher.caller.answer("/2/subscribers/")


def shortest(cents: int) -> str:
    """Return an amount of cents as the shortest decimal, made of digits alone."""
    sign, whole, rest = "-" if cents < 0 else "", abs(cents) // 100, abs(cents) % 100
    decimals = f"{rest:02d}".rstrip("0")
    return f"{sign}{whole}.{decimals}" if decimals else f"{sign}{whole}"


@settings(max_examples=3)
@given(amounts=st.lists(st.integers(-(10**15) + 1, 10**15 - 1), min_size=60, max_size=90))
def test_any_amount_of_cents_comes_back_exact_and_short(
    shared_publisher: Publisher, amounts: list[int]
) -> None:
    """rules, "Double": never ``101.16000000000001``; at most 15 digits."""
    shared_publisher.load(
        orders=[
            {"order_id": 5000 + number, "subscriber_id": 10, "sub_total": f"{cents / 100:.2f}"}
            if abs(cents) < 10**13
            else {
                "order_id": 5000 + number,
                "subscriber_id": 10,
                "sub_total": ("-" if cents < 0 else "")
                + f"{abs(cents) // 100}.{abs(cents) % 100:02d}",
            }
            for number, cents in enumerate(amounts)
        ]
    )
    for number, cents in enumerate(amounts):
        answer = shared_publisher.caller.answer(f"/2/orders/{5000 + number}")
        written = re.search(r'"sub_total":([^,]*),', answer)
        assert written is not None
        assert written[1] == shortest(cents)
