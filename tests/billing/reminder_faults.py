"""Ways in which reminders can go wrong, each of which can be planted into the product.

``tests.circulation.faults`` says how.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from masthead.billing import reminding
from masthead.books import reminder_fees, reminder_letters, reminders, settlement
from masthead.store.billing import reminders as stored
from tests.billing.faults import _posted
from tests.circulation.faults import _call, _nothing, _sql

if TYPE_CHECKING:
    from tests.circulation.faults import Plant


def _latest(right: Any, levels: Any, due_on: str, today: str, reminded: int, quiet: Any) -> Any:
    """Choose the highest level whose days have passed, in place of the next one."""
    found = None
    while right(levels, due_on, today, reminded, quiet) is not None:
        found = right(levels, due_on, today, reminded, quiet)
        reminded = found.level
    return found


def _without_rest(right: Any, levels: Any, due_on: str, today: str, reminded: int, _: Any) -> Any:
    return right(levels, due_on, today, reminded, None)


def _twice(right: Any, *given: Any) -> Any:
    right(*given)
    return right(*given)


FAULTS: dict[str, Plant] = {
    "the fee of a reminder is earned as revenue": _posted(settlement, reminder_fees="revenue"),
    "the fee of a reminder is billed twice": _call(reminder_letters, "bill_fee", _twice),
    "the fee of a reminder is not posted": _call(reminder_fees, "post_invoice", _nothing),
    "the fee of a reminder is settled before what was ordered": _sql(
        r"CASE WHEN i\.order_id IS NULL THEN 1 ELSE 0 END",
        "CASE WHEN i.order_id IS NULL THEN 0 ELSE 1 END",
    ),
    "the fee of a reminder is reminded of": _sql(
        r"JOIN orders AS o ON (o\.account_id = :account_id AND o\.order_id = i\.order_id\s+LEFT)",
        r"LEFT JOIN orders AS o ON \1",
    ),
    "a level is left out": _call(reminding, "level_due", _latest),
    "a payer is reminded twice within days": _call(reminding, "level_due", _without_rest),
    "a payer who paid in time is reminded": _sql(
        r"i\.total, i\.open_cents((?s:.*?))i\.open_cents > 0(\s+AND coalesce\(i\.due_on)",
        r"i.total, i.total\1TRUE\2",
    ),
    "a payer is reminded before the due day": _call(
        reminding, "days_between", lambda right, *days: right(*days) + 30
    ),
    "an invoice that is with the bank is reminded of": _sql(r"c\.status = 'sent'", "FALSE"),
    "a disputed order is reminded of": _sql(
        r"AND \(o\.disputed_on IS NULL OR o\.dispute_ended_on IS NOT NULL\)", ""
    ),
    "the credit of a payer is not used before": _call(stored, "credits_of", lambda *_: {}),
    "a reminder is not noted": _call(stored, "add_reminder", _nothing),
    "what stops stays claimed": _call(reminder_letters, "credit_what_ended", lambda *_, **__: None),
    "what is to be written off stays open": _call(reminders, "give_up", _nothing),
}
"""What goes wrong, and how it is planted."""
