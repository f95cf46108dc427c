"""A story of reminders finds each planted mistake, a kill leaves all or nothing, and two send once.

Rule: billing, "Reminders" and "What must hold".
"""

from __future__ import annotations

import threading
from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest

from masthead.billing.reminding import Level
from masthead.books import (
    disputes,
    invoices,
    journal,
    payer_payments,
    reminder_levels,
    reminders,
)
from masthead.books.payer_payments import Incoming
from masthead.circulation.ordering import Item
from tests.billing.bureau import accounts, fill, number_of, order, pay
from tests.billing.dying_reminders import MODULE, send
from tests.billing.reminder_faults import FAULTS
from tests.billing.sums import check_sums
from tests.billing.test_reminders import FIRST, SECOND, THIRD, claim, letters, sent
from tests.circulation.dying import Dying
from tests.circulation.statements import counting
from tests.long import LONG_ON_SQLITE, ONLY_LONG, SHORT_ON_SQLITE

if TYPE_CHECKING:
    from tests.circulation.desk import Desk

ALWAYS_FOUND = {
    "the fee of a reminder is earned as revenue",
    "a level is left out",
    "a payer who paid in time is reminded",
}
"""Faults that the short form plants too."""

WAIT_S = 0.05
KILLED = 12


def _levels(desk: Desk) -> None:
    for level in (
        Level(1, 10, 0, "nothing", None),
        Level(2, 24, 500, "nothing", None),
        Level(3, 40, 0, "stop", None),
    ):
        reminder_levels.set_level(desk.books, level)


def _tell(desk: Desk) -> None:
    """Remind three payers of six orders for three months, and check every figure."""
    _levels(desk)
    ada, ben = order(desk), order(desk, 2)
    paid, in_dispute, by_debit = order(desk, 3), order(desk, 3), order(desk, 3)
    claim(desk, by_debit, "sent")
    with desk.connection.transaction():
        desk.connection.change("UPDATE mandates SET status = 'ended'")
    disputes.dispute(desk.books, in_dispute, "never ordered")
    desk.to("2026-04-25")
    pay(desk, paid, Incoming(1284))
    # Ben has a credit, which is less than what he owes.
    gone = order(desk, 2, Item(product_id=1), is_paid=True)
    invoices.cancel(desk.books, number_of(desk, gone))
    for day in ("2026-04-30", "2026-05-08", FIRST, FIRST, SECOND, "2026-05-28", THIRD):
        desk.to(day)
        reminders.send(desk.books)
        check_sums(desk)
        assert journal.check(desk.books).wrong == [], day
    assert sent(desk) == [
        *((1, 1, FIRST, 0), (2, 1, FIRST, 0)),
        *((1, 2, SECOND, 500), (2, 2, SECOND, 500)),
        *((1, 3, THIRD, 0), (2, 3, THIRD, 0)),
    ]
    assert [letter.due for letter in letters(desk)] == [1284, 321, 1784, 821, 500, 500]
    fees = {
        row["subscriber_id"]: row["number_text"]
        for row in desk.table("invoices")
        if row["order_id"] is None
    }
    assert [row["open_cents"] for row in desk.table("invoices") if row["order_id"] is None] == [
        *(500, 500),
    ]
    for one in (ada, ben):
        assert invoices.show(desk.books, number_of(desk, one)).settled.credited == 1284
    # Ada orders again, pays for that, and then the fee; Ben's is waived.
    again = order(desk)
    payer_payments.add(desk.books, Incoming(1284), subscriber_id=1)
    assert invoices.show(desk.books, number_of(desk, again)).invoice.open_cents == 0
    payer_payments.add(desk.books, Incoming(500), subscriber_id=1)
    payer_payments.pay_back(desk.books, 2)
    invoices.write_off(desk.books, fees[2])
    assert accounts(desk) == {
        "receivables": 2 * 1284,
        "unpaid": -2400,
        "tax_not_due": -168,
        "bank": 2 * 1284 + 500,
        "deferred": -2400,
        "tax": -168,
        "reminder_fees": -500,
    }
    # The dispute is rejected after 52 days: Cora begins at level 1, and has a week for each.
    desk.to("2026-06-20")
    disputes.settle(desk.books, in_dispute, is_upheld=False)
    reminder_levels.set_level(desk.books, Level(3, 40, 0, "write_off", None))
    late = ("2026-06-20", "2026-06-27", "2026-07-04")
    for day in (late[0], "2026-06-21", late[1], "2026-06-28", late[2], "2026-07-20"):
        desk.to(day)
        reminders.send(desk.books)
        check_sums(desk)
    assert sent(desk)[6:] == [(3, 1, late[0], 0), (3, 2, late[1], 500), (3, 3, late[2], 0)]
    assert invoices.show(desk.books, number_of(desk, in_dispute)).settled.written_off == 1284
    assert journal.check(desk.books).wrong == []


@LONG_ON_SQLITE
def test_the_story_of_reminders_is_as_it_is_worked_out_by_hand(bureau: Desk) -> None:
    _tell(bureau)


@LONG_ON_SQLITE
@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=() if fault in ALWAYS_FOUND else ONLY_LONG) for fault in FAULTS],
)
def test_the_story_of_reminders_finds_each_fault(
    shared: Desk, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(shared)
    times = FAULTS[fault](monkeypatch)
    # The product itself refuses what the database does not take, such as a number twice.
    with pytest.raises(AssertionError):
        _tell(shared)
    monkeypatch.undo()
    assert times(), "the mistake was never made"


@SHORT_ON_SQLITE
def test_reminders_that_are_killed_are_recorded_wholly_or_not_at_all(bureau: Desk) -> None:
    _levels(bureau)
    for payer in (1, 2, 3):
        order(bureau, payer)
    bureau.to(FIRST)
    reminders.send(bureau.books)
    bureau.to(SECOND)
    before = bureau.everything()
    with counting() as counts:
        reminders.send(bureau.books, dry_run=True)
    with Dying(MODULE) as dying:
        ends = [
            dying.do(bureau.url, bureau.now, "send", 1 + counts.sent * number // KILLED)
            for number in range(KILLED)
        ]
        assert ends == [-SIGKILL] * KILLED
    after = bureau.everything()
    assert after == before or [row[1:] for row in sent(bureau)[3:]] == [(2, SECOND, 500)] * 3
    reminders.send(bureau.books)
    assert sent(bureau)[3:] == [(payer, 2, SECOND, 500) for payer in (1, 2, 3)]
    assert len([row for row in bureau.table("invoices") if row["order_id"] is None]) == 3


@SHORT_ON_SQLITE
def test_two_operators_send_the_reminders_once(bureau: Desk) -> None:
    _levels(bureau)
    order(bureau)
    bureau.to(FIRST)
    reminders.send(bureau.books)
    bureau.to(SECOND)
    done: list[str] = []

    def remind() -> None:
        done.append(send(bureau.url, bureau.now))

    beside = threading.Thread(target=remind)

    def start() -> None:
        beside.start()
        beside.join(WAIT_S)

    with counting(12, start):
        remind()
    beside.join()
    assert sorted(each.partition(":")[0] for each in done) == [
        "1 letter for 12.84 USD, with fees of 5.00 USD; level 2",
        "nobody is due for a reminder; no payment was read yet",
    ]
    assert sent(bureau) == [(1, 1, FIRST, 0), (1, 2, SECOND, 500)]
