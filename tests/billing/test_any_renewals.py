"""Whatever happens, a renewal is announced, ordered once, and as it was announced (billing).

Hypothesis chooses what readers and clerks do between the nights. What must hold is asked of the
tables alone.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from masthead.books import (
    cancelling,
    catalogue,
    payer_payments,
    renewal_consents,
    subscribers,
    subscriptions,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item
from masthead.errors import MastheadError
from tests.billing.bureau import TODAY, fill, order
from tests.billing.renewing import SHORT, WORDS, YEAR, night, reader, sell_two_issues
from tests.billing.sums import check_sums
from tests.long import SHORT_ON_SQLITE

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

_KEYS = st.integers(1, 3)
_STEPS = st.one_of(
    st.tuples(st.just("night"), st.integers(1, 40)),
    st.tuples(st.just("night"), st.integers(1, 40)),
    st.tuples(st.sampled_from(["agree", "agree", "stop", "order", "pay", "cancel"]), _KEYS),
    st.tuples(st.sampled_from(["uncancel", "suspend", "resume", "merge", "price"]), _KEYS),
)


class _Bureau:
    """The account, its day, and what its readers do; what is refused changes nothing."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.day = date.fromisoformat(TODAY)
        self.price = 1200
        fill(desk)
        sell_two_issues(desk)
        for payer in (1, 2, 3):
            reader(desk, payer)

    def do(self, step: str, value: int) -> None:
        """Do a step: the days of a night, or the id of a subscription or payer."""
        with suppress(MastheadError):
            getattr(self, f"_{step}")(value)

    def _night(self, days: int) -> None:
        self.day += timedelta(days)
        stopped = {
            row["subscription_id"] for row in self.desk.table("renewal_consents")
        } - self._running()
        before = len(self.desk.table("orders"))
        _, renewed = night(self.desk, f"{self.day}")
        new = self.desk.table("orders")[before:]
        assert len(new) == renewed.renewed
        made = self._renewed_by({row["order_id"] for row in new})
        assert not made & stopped, "it was renewed without a consent"
        check_sums(self.desk)

    def _running(self) -> set[int]:
        return {
            row["subscription_id"]
            for row in self.desk.table("renewal_consents")
            if row["stopped_on"] is None
        }

    def _renewed_by(self, made: set[int]) -> set[int]:
        return {
            row["subscription_id"]
            for row in self.desk.table("announced_renewals")
            if row["order_id"] in made
        }

    def _agree(self, key: int) -> None:
        renewal_consents.give(self.desk.books, key, YEAR, WORDS)

    def _stop(self, key: int) -> None:
        renewal_consents.stop(self.desk.books, key)

    def _order(self, key: int) -> None:
        order(self.desk, key, Item(bundle_id=SHORT, subscription_id=key))

    def _pay(self, payer: int) -> None:
        payer_payments.add(self.desk.books, Incoming(1_500), subscriber_id=payer)

    def _cancel(self, key: int) -> None:
        cancelling.cancel(self.desk.books, key, refund=False, at_end=True)

    def _uncancel(self, key: int) -> None:
        cancelling.uncancel(self.desk.books, key)

    def _suspend(self, key: int) -> None:
        subscriptions.suspend(self.desk.books, key, None, None)

    def _resume(self, key: int) -> None:
        subscriptions.resume(self.desk.books, key, None)

    def _merge(self, key: int) -> None:
        subscribers.merge(self.desk.books, 1 + key % 3, key, keep_both=False)

    def _price(self, more: int) -> None:
        self.price += 100 * more
        catalogue.set_bundle(self.desk.books, YEAR, {"price": self.price})

    def check(self) -> None:
        """Assert what must hold of all announced renewals, after any steps."""
        announced = self.desk.table("announced_renewals")
        assert max(Counter(row["term_id"] for row in announced).values(), default=0) <= 1
        orders = {row["order_id"]: row for row in self.desk.table("orders")}
        renewals = [row for row in announced if row["status"] == "renewed"]
        assert len({row["order_id"] for row in renewals}) == len(renewals)
        for row in renewals:
            _check(row, orders[row["order_id"]])
        running = Counter(
            row["subscription_id"]
            for row in self.desk.table("renewal_consents")
            if row["stopped_on"] is None
        )
        assert max(running.values(), default=0) <= 1


def _check(renewal: dict[str, Any], made: dict[str, Any]) -> None:
    """Assert that an order came after the notice, and at the announced price."""
    day = made["order_date"][:10]
    earliest = date.fromisoformat(renewal["announced_on"]) + timedelta(30)
    assert f"{earliest}" <= renewal["renews_on"] <= day
    total = f"{(renewal['price'] + renewal['tax']) / 100:.2f}"
    assert float(made["grand_total"]) == float(total)


@SHORT_ON_SQLITE
@settings(
    max_examples=6,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(_STEPS, min_size=4, max_size=12))
def test_a_renewal_is_ordered_once_and_as_it_was_announced(
    shared: Desk, steps: list[tuple[str, int]]
) -> None:
    office = _Bureau(shared)
    for step, value in steps:
        office.do(step, value)
        office.check()


def test_the_steps_renew(shared: Desk) -> None:
    """The steps lead to renewals: otherwise the test above could not fail."""
    office = _Bureau(shared)
    for step, value in (("night", 3), ("price", 1), ("night", 30), ("pay", 1), ("stop", 2)):
        office.do(step, value)
    office.check()
    found = [row["status"] for row in shared.table("announced_renewals")]
    assert found == ["renewed"] * 3
    dearer = shared.table("announced_renewals")[0] | {"price": 1201}
    with pytest.raises(AssertionError):
        _check(dearer, shared.table("orders")[-1])
