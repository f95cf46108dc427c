"""Numbers of invoices have no gaps, whoever writes and whatever is killed (billing, "Invoice")."""

from __future__ import annotations

import threading
from contextlib import closing
from signal import SIGKILL
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.billing import numbering
from masthead.books import billing_settings, invoices
from masthead.books.account import Books
from masthead.errors import BadInput, MastheadError
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


@pytest.mark.parametrize(
    ("form", "other", "is_refused"),
    [
        ("{year}-{number:06}", "2026-{number:06}", True),
        ("2026-{number:06}", "{year}-{number:06}", True),
        ("R{number}", "{year}-{number}", False),
        ("A{number}", "a{year}-{number}", False),
        ("R1{number}", "R{number:02}", True),
        ("{year}-{number:06}", "{year}-{number:04}", False),
    ],
)
def test_a_new_form_gives_no_number_a_second_time(
    bureau: Desk, form: str, other: str, *, is_refused: bool
) -> None:
    billing_settings.set_values(bureau.books, {"invoice_number": form})
    first = number_of(bureau, order(bureau, 1))
    if is_refused:
        with pytest.raises(BadInput, match=f"gives the number {first} a second time"):
            billing_settings.set_values(bureau.books, {"invoice_number": other})
    else:
        billing_settings.set_values(bureau.books, {"invoice_number": other})
    second = number_of(bureau, order(bureau, 2))
    assert first != second
    assert invoices.show(bureau.books, first).invoice.number_text == first


@given(
    form=st.sampled_from(["{year}-{number:06}", "R{number}", "{number:03}/{year}", "7{number}"]),
    year=st.integers(2000, 2100),
    number=st.integers(1, 10_000_000),
)
def test_a_written_number_is_read(form: str, year: int, number: int) -> None:
    found = numbering.read(form, numbering.written(form, year, number).lower())
    assert found == (year if numbering.has_year(form) else None, number)
    assert numbering.read(form, "C-00001") is None
