"""What the clerk of the model does about direct debit and reminders, to both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from masthead.books import debit_collections, reminders
from tests.bank_files.debits import Status, report
from tests.billing import debits

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.billing.clerk import Clerk


def _sign(clerk: Clerk, payer: int) -> bool:
    debits.sign(clerk.desk, payer)
    clerk.model.debits.signed.add(payer)
    return True


def _hand_in(clerk: Clerk, days: int) -> bool:
    """Hand in what can be collected so many days from today."""
    day = clerk.day(days)
    debits.run(clerk.desk, day)
    clerk.model.debits.hand_in(clerk.model, day)
    return True


def _collect(clerk: Clerk) -> bool:
    """The bank has collected the last run today."""
    run = len(clerk.model.debits.runs)
    return clerk.both(
        lambda: debit_collections.collected(clerk.desk.books, run, clerk.model.today),
        lambda: clerk.model.debits.collect(clerk.model),
    )


def _give_back(clerk: Clerk, claim: int, fee: int) -> bool:
    """Read a report of the bank, of April 14, that gives a claim back."""
    name = str(clerk.desk.table("claims")[claim]["end_to_end_id"])
    text = report(name.rpartition("-")[0], claims=[Status(name, fee=f"{fee / 100:.2f}")])
    debits.read_report(clerk.desk, text)
    clerk.model.debits.give_back(clerk.model, claim, fee=fee, day="2026-04-14")
    return True


def _remind(clerk: Clerk) -> bool:
    """Send the reminders that are due today."""
    return clerk.both(
        lambda: reminders.send(clerk.desk.books),
        lambda: clerk.model.reminders.remind(clerk.model),
    )


OPERATIONS: dict[str, Callable[..., bool]] = {
    "sign": _sign,
    "hand_in": _hand_in,
    "collect": _collect,
    "give_back": _give_back,
    "remind": _remind,
}
"""The operations by their names in sequences."""
