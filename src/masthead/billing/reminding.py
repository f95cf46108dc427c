"""Which invoices are due for a reminder, and at which level (billing, "Reminders").

Pure rules: ``books.reminders`` reads and records. All amounts are whole cents, and all days are
texts ``YYYY-MM-DD``.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import pairwise
from typing import NamedTuple

from masthead.billing.printed_reminders import ThenDo
from masthead.circulation.amounts import CENTS_MAX
from masthead.contract.printable import single_spaced
from masthead.errors import BadInput

REST_DAYS = 7
"""The least days between two reminders of an invoice, and those in which the payer is to pay.

They also pass after an invoice is open again because its payment came back.
"""

LEVEL_MAX = 9
DAYS_MAX = 365
TEXT_MAX = 1000
"""The most levels, days after the due day, and characters of a level's text."""


class Level(NamedTuple):
    """A level of reminders: ``days`` after the due day it is written, with a fee in cents.

    ``text`` is the publisher's own text of the letter, None for the template's.
    """

    level: int
    days: int
    fee: int
    then_do: ThenDo
    text: str | None


class Overdue(NamedTuple):
    """An open invoice whose due day is past, with the names of its payer.

    ``reminded`` is the level of its newest reminder, 0 without one. ``quiet_since`` is the day of
    that reminder, or the day on which a payment of it came back if that is later.
    """

    invoice_id: int
    number_text: str
    subscriber_id: int
    order_id: int | None
    issued_on: str
    due_on: str
    total: int
    open_cents: int
    payment_reference: str | None
    reminded: int
    quiet_since: str | None
    first_name: str | None
    last_name: str | None
    company: str | None


class Due(NamedTuple):
    """An invoice that is due for a reminder at a level."""

    invoice: Overdue
    level: Level
    days_overdue: int


class Letter(NamedTuple):
    """What one payer is reminded of: the invoices by their due days."""

    subscriber_id: int
    due: tuple[Due, ...]

    @property
    def leading(self) -> Due:
        """The invoice of the highest level, of these the one that is due for longest."""
        return max(self.due, key=lambda each: (each.level.level, each.days_overdue))

    @property
    def fee(self) -> int:
        """The fee of the letter: that of its highest level, once."""
        return self.leading.level.fee

    @property
    def open(self) -> int:
        """What is open of the invoices in all, without fees."""
        return sum(each.invoice.open_cents for each in self.due)


class Selected(NamedTuple):
    """The letters of a day by payer, and the invoices that are written off without a letter."""

    letters: Sequence[Letter]
    write_offs: Sequence[Due]


def day_after(day: str, days: int) -> str:
    """Return the day that is a number of days after another."""
    return (date.fromisoformat(day) + timedelta(days)).isoformat()


def days_between(first: str, last: str) -> int:
    """Return how many days the last day is after the first."""
    return (date.fromisoformat(last) - date.fromisoformat(first)).days


def level_due(
    levels: Sequence[Level], due_on: str, today: str, reminded: int, quiet_since: str | None
) -> Level | None:
    """Return the level at which an open invoice is due for a reminder today, None if it is not.

    It is the next one after ``reminded``: no level is left out, however late the invoice is.
    ``levels`` stand in their order. The other arguments are those of :class:`Overdue`.
    """
    following = next((each for each in levels if each.level > reminded), None)
    if following is None or days_between(due_on, today) < following.days:
        return None
    if quiet_since is not None and days_between(quiet_since, today) < REST_DAYS:
        return None
    return following


def select(
    levels: Sequence[Level],
    overdue: Iterable[Overdue],
    today: str,
    *,
    tolerance: int,
    credits_: Mapping[int, int],
) -> Selected:
    """Return whom to remind on a day: one letter for all invoices of a payer that are due.

    ``credits_`` are those of payers, in cents: they settle the oldest invoices first. An invoice of
    which no more than ``tolerance`` is then open gets no reminder.
    """
    left = {payer: max(cents, 0) for payer, cents in credits_.items()}
    letters: dict[int, list[Due]] = {}
    write_offs = []
    for each in sorted(overdue, key=lambda each: (each.due_on, each.invoice_id)):
        level = level_due(levels, each.due_on, today, each.reminded, each.quiet_since)
        if level is None:
            continue
        used = min(left.get(each.subscriber_id, 0), each.open_cents)
        left[each.subscriber_id] = left.get(each.subscriber_id, 0) - used
        invoice = each._replace(open_cents=each.open_cents - used)
        if invoice.open_cents <= tolerance:
            continue
        due = Due(invoice, level, days_between(each.due_on, today))
        if level.then_do == "write_off":
            write_offs.append(due)
        else:
            letters.setdefault(each.subscriber_id, []).append(due)
    return Selected(
        [Letter(payer, tuple(due)) for payer, due in sorted(letters.items())], write_offs
    )


def checked_level(level: Level, others: Iterable[Level]) -> Level:
    """Return a level as it is stored.

    Raises BadInput, with the ``field``, for a number, days, a fee or a text that there is not, and
    if a later level among ``others`` would not come after it.
    """
    if not 1 <= level.level <= LEVEL_MAX:
        raise BadInput(f"{level.level} is no level: they are 1 to {LEVEL_MAX}", field="level")
    if not 1 <= level.days <= DAYS_MAX:
        raise BadInput(
            f"a reminder is written 1 to {DAYS_MAX} days after the due day, not {level.days}",
            field="days",
        )
    if not 0 <= level.fee <= CENTS_MAX:
        raise BadInput("the fee of a reminder is 0 or more", field="fee")
    text = single_spaced(level.text or "")
    if len(text) > TEXT_MAX:
        raise BadInput(f"the text has {len(text)} characters: {TEXT_MAX} is the most", field="text")
    if level.then_do == "write_off" and (level.fee or text):
        raise BadInput(
            "a level that writes off writes no letter: it has neither a fee nor a text",
            field="fee" if level.fee else "text",
        )
    level = level._replace(text=text or None)
    chain = sorted([level, *(each for each in others if each.level != level.level)])
    for first, second in pairwise(chain):
        if second.days <= first.days:
            raise BadInput(
                f"level {first.level} comes {first.days} days after the due day, and level "
                f"{second.level} {second.days} days: a later level needs more days",
                field="days",
            )
        if first.then_do != "nothing":
            raise BadInput(
                f"level {first.level} is to {in_words(first.then_do)}: only the last level can, "
                f"and level {second.level} comes after it",
                field="then_do",
            )
    return level


def in_words(then_do: ThenDo) -> str:
    """Return what a level does, as a verb."""
    return {"nothing": "do nothing", "stop": "stop the service", "write_off": "write off"}[then_do]
