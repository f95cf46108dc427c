"""Letters and cancelling in a sequence that touches each of their rules: see ``story``."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from tests.circulation.beginning import FREE, LONG, ONE_PRINTED, TWO_LINES
from tests.circulation.model_records import Asked
from tests.circulation.story import REFUSED, Step

if TYPE_CHECKING:
    from collections.abc import Sequence

TIDE, EBB = 1, 2


def _order(payer: int | None, bundle: int, recipient: int | None = None) -> Step:
    asked = (Asked(bundle, recipient=recipient),)
    return "order", {"payer": payer, "address": None, "asked": asked, "is_paid": True}


def _effort(effort: int, issues_left: int, *, is_refused: bool = False) -> Step:
    name = f"{REFUSED} set_effort" if is_refused else "set_effort"
    return name, {"publication": TIDE, "effort": effort, "issues_left": issues_left}


def _close(issue: int) -> Step:
    return "close", {"issue": issue, "grace_issues": 2, "since": date(2026, 1, 1)}


def _no(name: str, **given: Any) -> Step:
    return f"{REFUSED} {name}", given


LETTERS: Step = ("select", {"publication": TIDE})

STORY_OF_RENEWALS: Sequence[Step] = [
    _effort(1, 5),
    _effort(3, 0),
    _effort(2, 5, is_refused=True),
    _effort(2, 3),
    _effort(2, 0, is_refused=True),
    # Gifts of reader 1: for subscription 5, which has nothing else, and for a new one of reader 2.
    # A long term for subscription 1, which has others.
    _order(1, ONE_PRINTED, recipient=4),
    _order(1, ONE_PRINTED, recipient=2),
    _order(1, LONG),
    # With three left it is the second effort, and the next call has nothing more; nor do free
    # copies bring back the first one.
    LETTERS,
    LETTERS,
    ("extend", {"key": 5, "issues": 2}),
    LETTERS,
    _close(3),
    _close(4),
    _close(5),
    LETTERS,
    # The reader pays for a term, so that the letters are the reader's, also after another gift.
    _order(2, ONE_PRINTED),
    _order(1, ONE_PRINTED, recipient=2),
    _close(6),
    LETTERS,
    # What is left of the long term is given back: neither letter nor grace, even in the campaign.
    ("refund", {"order": 3, "item_id": 3}),
    ("set", {"key": 1, "campaign": 1}),
    LETTERS,
    _close(7),
    # Who is not in the campaign gets neither, either.
    ("set", {"key": 5, "campaign": 0}),
    ("plan", {"publication": TIDE, "day": date(2026, 8, 1)}),
    _close(12),
    LETTERS,
]

STORY_OF_CANCELLING: Sequence[Step] = [
    # Subscriptions 6 and 7 of reader 1: two lines. 4 of a deleted reader, 2 unlimited. 8 runs.
    ("order", {"payer": 1, "address": None, "asked": (Asked(TWO_LINES),), "is_paid": True}),
    _order(2, LONG),
    (
        "order",
        {
            "payer": 2,
            "address": None,
            "asked": (Asked(ONE_PRINTED, is_new=True),),
            "is_paid": False,
        },
    ),
    # Now, with a refund and without, and undone: twice, so that nothing comes back twice. What an
    # allowance has given back stays.
    ("allow", {"order": 2, "item_id": 2, "amount": 5}),
    ("cancel", {"key": 8, "refund": True}),
    _no("cancel", key=8, refund=False),
    ("uncancel", {"key": 8}),
    _no("uncancel", key=8),
    ("cancel", {"key": 8, "refund": False}),
    ("uncancel", {"key": 8}),
    ("cancel", {"key": 6, "refund": True}),
    ("cancel", {"key": 7, "refund": True}),
    _no("uncancel", key=6),
    ("uncancel", {"key": 7}),
    ("cancel", {"key": 9, "refund": False}),
    _no("pay", order=3),
    ("uncancel", {"key": 9}),
    # After an issue: neither one of another publication nor a closed one.
    _no("cancel", key=8, refund=True, after_issue=8),
    ("cancel", {"key": 8, "refund": True, "after_issue": 4}),
    _no("set", key=8, campaign=1),
    _no("remove_issue", issue=4),
    ("cancel", {"key": 2, "refund": True, "after_issue": 4}),
    ("cancel", {"key": 1, "refund": False, "after_issue": 3}),
    ("uncancel", {"key": 1}),
    ("cancel", {"key": 9, "refund": False, "at_end": True}),
    _no("cancel", key=5, refund=False, at_end=True),
    _no("cancel", key=1, refund=True, at_end=True),
    ("cancel", {"key": 1, "refund": False, "at_end": True}),
    _close(3),
    _no("uncancel", key=6),
    ("move_issue", {"issue": 5, "day": date(2026, 5, 11)}),
    _close(4),
    # What has just ended goes on, or would have ended again after the issue was reopened.
    ("reopen", {"issue": 4}),
    _close(4),
    ("uncancel", {"key": 8}),
    # Who orders goes on, and is asked to renew.
    ("cancel", {"key": 8, "refund": False, "after_issue": 6}),
    _order(2, LONG),
    ("cancel", {"key": 8, "refund": False, "after_issue": 5}),
    _close(5),
    ("pass_days", {"days": 40}),
    ("uncancel", {"key": 8}),
    _close(6),
    _no("uncancel", key=2),
    _no("uncancel", key=1),
    ("gap", {"issue": 6}),
    # Subscriptions 10 and 11 of two readers who are one: that 10 ends was said of its issues alone.
    # All issues of 12 come, and then nothing ends that a refund of nothing could end.
    _order(None, ONE_PRINTED),
    _order(None, ONE_PRINTED),
    ("cancel", {"key": 10, "refund": True, "after_issue": 7}),
    ("merge", {"kept": 6, "gone": 7}),
    _order(4, FREE),
    _close(7),
    _no("refund", order=7, item_id=7, amount=0),
]
