"""What is paid and not delivered: it is not in the change feed, and kept where it is asked for."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

pytestmark = pytest.mark.parametrize("new_kept", ["sqlite", "duckdb"], indirect=True)

KEPT = "SELECT paid_issues_left, unearned_revenue FROM unearned_revenue WHERE subscription_id = 1"


def load(publisher: Publisher, left: int, unearned: str) -> None:
    subscription = {"subscription_id": 1, "subscriber_id": 1, "publication_id": 1}
    values = {"paid_issues_left": left, "unearned_revenue": unearned}
    publisher.load(subscriptions=[{**subscription, **values}])


def amounts(kept: Kept) -> list[tuple[int, Decimal]]:
    return [(left, Decimal(unearned)) for left, unearned in kept.ask(KEPT)]


def test_unearned_revenue_is_fetched_for_each_changed_subscription(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: unearned revenue": all at first, and then what changes, also with history."""
    load(publisher, 7, "34.50")
    kept.update(publisher, history=True)
    assert kept.verify(publisher).not_compared is None
    kept.update(publisher, unearned=True)
    every = "SELECT subscription_id FROM {} ORDER BY 1"
    assert kept.column(every.format("unearned_revenue")) == kept.column(
        every.format("subscriptions")
    )
    assert amounts(kept) == [(7, Decimal("34.50"))]
    load(publisher, 6, "29.57")
    kept.update(publisher)
    assert amounts(kept) == [(6, Decimal("29.57"))]
    earlier = kept.column("SELECT unearned_revenue FROM unearned_revenue_history")
    assert [Decimal(amount) for amount in earlier] == [Decimal("34.50")]
    not_compared = kept.verify(publisher).not_compared
    assert not_compared == "paid_issues_left and unearned_revenue, which no digest contains"


def test_a_removed_subscription_has_none(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: unearned revenue"."""
    publisher.load(
        subscriptions=[
            {"subscription_id": 77, "subscriber_id": 1, "publication_id": 1, "unearned_revenue": 5}
        ]
    )
    kept.update(publisher, unearned=True)
    found = "SELECT unearned_revenue FROM unearned_revenue WHERE subscription_id = 77"
    assert [Decimal(amount) for amount in kept.column(found)] == [Decimal(5)]
    publisher.remove(subscriptions=[77])
    kept.update(publisher)
    assert kept.column(found) == []
