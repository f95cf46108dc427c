"""Each renewal is announced and ordered once, whoever runs it and whatever is killed (billing)."""

from __future__ import annotations

import threading
from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from masthead.books import automatic_renewals, orders, renewal_consents
from masthead.circulation.ordering import Item, Order, Person
from tests.billing import bureau as billing
from tests.billing.dying_renewals import MODULE, run
from tests.billing.renewing import (
    ANNOUNCED,
    RENEWED,
    SHORT,
    WORDS,
    YEAR,
    night,
    orders_of,
    reader,
    sell_two_issues,
    statuses,
)
from tests.circulation.dying import Dying
from tests.circulation.statements import counting
from tests.long import SHORT_ON_SQLITE

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

KILLED = 12
WAIT_S = 0.05
"""So long the first run waits for the other one, who mostly waits for the first one."""


@pytest.fixture
def readers(bureau: Desk) -> list[int]:
    """The subscriptions of two readers who agreed."""
    sell_two_issues(bureau)
    return [reader(bureau, 1), reader(bureau, 2)]


def _state(desk: Desk, readers: list[int]) -> tuple[list[str], list[int]]:
    return statuses(desk), [len(orders_of(desk, each)) for each in readers]


@SHORT_ON_SQLITE
@pytest.mark.parametrize("half", ["announce", "renew"])
def test_a_run_that_is_killed_happened_or_not(bureau: Desk, readers: list[int], half: str) -> None:
    bureau.to(ANNOUNCED)
    if half == "renew":
        night(bureau, ANNOUNCED)
        bureau.to(RENEWED)
    with counting() as counts:
        (automatic_renewals.announce if half == "announce" else automatic_renewals.renew)(
            bureau.books, dry_run=True
        )
    before = _state(bureau, readers)
    after = (["announced"] * 2, [1, 1]) if half == "announce" else (["renewed"] * 2, [2, 2])
    ends = []
    with Dying(MODULE) as dying:
        for number in range(KILLED):
            at = 1 + (counts.sent - 1) * number // (KILLED - 1)
            ends.append(dying.do(bureau.url, bureau.now, half, at))
            assert _state(bureau, readers) in (before, after)
    assert ends.count(-SIGKILL) >= KILLED // 2
    run(bureau.url, bureau.now, half)
    assert _state(bureau, readers) == after


@SHORT_ON_SQLITE
@pytest.mark.parametrize("at", [3, 12, 30])
def test_two_runs_at_once_renew_once(bureau: Desk, readers: list[int], at: int) -> None:
    for half, day in (("announce", ANNOUNCED), ("renew", RENEWED)):
        bureau.to(day)
        beside = threading.Thread(target=run, args=(bureau.url, bureau.now, half))

        def start(other: threading.Thread = beside) -> None:
            other.start()
            other.join(WAIT_S)

        with counting(at, start):
            run(bureau.url, bureau.now, half)
        if beside.ident is None:
            beside.start()
        beside.join()
    assert _state(bureau, readers) == (["renewed"] * 2, [2, 2])


def test_an_account_that_does_not_bill_gets_orders_that_are_not_paid(shared: Desk) -> None:
    billing.fill(shared)
    sell_two_issues(shared)
    for table in ("billing_settings", "billing"):
        shared.connection.change(f"DELETE FROM {table} WHERE account_id = 1")
    wanted = Order(Person(subscriber_id=1), (Item(bundle_id=SHORT),), is_paid=True)
    one = orders.place(shared.books, wanted).begun[0]
    renewal_consents.give(shared.books, one, YEAR, WORDS)
    night(shared, ANNOUNCED)
    assert night(shared, RENEWED)[1].renewed == 1
    assert [row["paid_on"] for row in shared.table("orders")] == [billing.TODAY, None]
    assert shared.table("invoices") == []
