"""Golden answers of operation 10, typed by hand from the Mailing list entry table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.api.conftest import EVERY_SERVER

if TYPE_CHECKING:
    from tests.api.callers import Caller

pytestmark = EVERY_SERVER


def test_a_list_without_entries(golden: Caller) -> None:
    """interface, operation 10: a top-level array."""
    assert golden.answer("/2/downloadmailinglist/82/") == "[]"


def test_a_list_of_one_entry_with_a_large_id(golden: Caller) -> None:
    """interface, operation 10; decisions, "Integers"; rules, "Bool"."""
    assert golden.answer("/2/downloadmailinglist/9223372036854775807/") == (
        '[{"subscription_id":"9223372036854775807","copies":"9223372036854775807",'
        '"is_grace":"1","is_paid":"1","type":"Both"}]'
    )


def test_a_list_of_many_entries_in_order_of_subscription(golden: Caller) -> None:
    """interface, operation 10; decisions, "Order of lists"."""
    assert golden.answer("/2/downloadmailinglist/81/") == (
        '[{"subscription_id":"9","copies":"3","is_grace":"1","is_paid":"0","type":"Both"},'
        '{"subscription_id":"31","copies":"1","is_grace":"0","is_paid":"1","type":"Print"},'
        '{"subscription_id":"32","copies":"2","is_grace":"0","is_paid":"0",'
        '"type":"Digital"}]'
    )


def test_an_entry_of_which_only_the_subscription_is_known(sparse: Caller) -> None:
    """rules, "Missing values" and "Missing Bool, flag, verified, Double"."""
    assert sparse.answer("/2/downloadmailinglist/1/") == (
        '[{"subscription_id":"1","copies":"","is_grace":"0","is_paid":"0","type":""}]'
    )
