"""Numbers of invoices have no gaps, whoever writes and whatever is killed (billing, "Invoice")."""

from __future__ import annotations

import threading
from contextlib import closing
from signal import SIGKILL
from typing import TYPE_CHECKING

from masthead.books import invoices
from masthead.books.account import Books
from masthead.errors import MastheadError
from masthead.store import open_store
from tests.billing.bureau import number_of, order
from tests.billing.dying_bills import MODULE, take_order
from tests.billing.sums import check_sums
from tests.circulation.dying import Dying
from tests.circulation.statements import counting
from tests.long import SHORT_ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.circulation.desk import Desk

WRITERS = 8
EACH = 3
KILLED = 5
WAIT_S = 0.05
"""So long the first operator waits for the other one, who mostly waits for the first one."""


def _together(*tasks: Callable[[], object]) -> None:
    """Run tasks at once; raise what one of them raises."""
    errors: list[BaseException] = []

    def run(task: Callable[[], object]) -> None:
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - raised below, by the thread of the test
            errors.append(error)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def _numbers(desk: Desk, kind: str = "invoice") -> list[int]:
    return sorted(row["number"] for row in desk.table("invoices") if row["kind"] == kind)


@SHORT_ON_SQLITE
def test_eight_writers_leave_no_gap(bureau: Desk) -> None:
    got: list[str | None] = []

    def write(payer: int) -> None:
        got.extend(take_order(bureau.url, bureau.now, payer) for _ in range(EACH))

    _together(*(lambda n=n: write(1 + n % 3) for n in range(WRITERS)))
    many = WRITERS * EACH
    assert sorted(map(str, got)) == [f"2026-{n:06}" for n in range(1, many + 1)]
    assert _numbers(bureau) == [*range(1, many + 1)]
    check_sums(bureau)


@SHORT_ON_SQLITE
def test_writers_that_are_killed_leave_no_gap(bureau: Desk) -> None:
    order(bureau)
    with counting() as counts:
        take_order(bureau.url, bureau.now, 1)
    before = len(_numbers(bureau))

    def write() -> None:
        for _ in range(EACH):
            take_order(bureau.url, bureau.now, 2)

    ends: list[int] = []

    def die() -> None:
        with Dying(MODULE) as dying:
            for number in range(KILLED):
                at = 1 + (counts.sent - 1) * number // (KILLED - 1)
                ends.append(dying.do(bureau.url, bureau.now, "3", at))

    _together(write, die, write)
    assert ends.count(-SIGKILL) >= KILLED - 1
    many = before + 2 * EACH
    numbers = _numbers(bureau)
    assert many <= len(numbers) <= many + 2, "only the last statements come after the invoice"
    assert numbers == [*range(1, len(numbers) + 1)]
    check_sums(bureau)
    assert number_of(bureau, order(bureau)) == f"2026-{len(numbers) + 1:06}"


@SHORT_ON_SQLITE
def test_two_operators_cancel_one_invoice_once(bureau: Desk) -> None:
    number = number_of(bureau, order(bureau, is_paid=True))
    done: list[str] = []

    def cancel() -> None:
        with closing(open_store(bureau.url, clock=lambda: bureau.now)) as store:
            try:
                invoices.cancel(Books(store, 1, bureau.actor), number)
            except MastheadError as refusal:
                done.append(str(refusal))
            else:
                done.append("")

    beside = threading.Thread(target=cancel)

    def start() -> None:
        beside.start()
        beside.join(WAIT_S)

    with counting(12, start):
        cancel()
    beside.join()
    assert sorted(done) == ["", f"nothing of receipt {number} is left to take back"]
    assert _numbers(bureau, "credit_note") == [1]
    check_sums(bureau)
