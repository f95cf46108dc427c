"""An account in the middle of its life, and an operation of each kind that is possible then."""

from __future__ import annotations

import copy
from contextlib import closing
from datetime import date
from typing import TYPE_CHECKING, Any

from tests.circulation.beginning import ONE_PRINTED, TWO_LINES
from tests.circulation.doing import prepare
from tests.circulation.model_records import Asked
from tests.circulation.proving import Proof
from tests.circulation.story import STORY, tell

if TYPE_CHECKING:
    from tests.servers import Store

_UNTIL = ("gap", {"issue": 4})
"""The step of the story before which the operations are done."""

OPERATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "close": ("close", {"issue": 5, "grace_issues": 2, "since": date(2026, 1, 1)}),
    "gap": ("gap", {"issue": 4}),
    "reopen": ("reopen", {"issue": 4}),
    "file": ("file", {"issue": 4}),
    "order": (
        "order",
        {
            "payer": None,
            "address": "9 Row",
            "asked": (Asked(TWO_LINES, recipient=2), Asked(product=1), Asked(ONE_PRINTED)),
            "is_paid": True,
        },
    ),
    "pay": ("pay", {"order": 7}),
    "refund": ("refund", {"order": 9, "item_id": 10}),
    "allow": ("allow", {"order": 9, "item_id": 10, "amount": 1}),
    "cancel": ("cancel", {"key": 7, "refund": True}),
    "cancel_at_end": ("cancel", {"key": 7, "refund": False, "at_end": True}),
    "extend": ("extend", {"key": 3, "issues": 2}),
    "suspend": ("suspend", {"key": 5, "first": date(2026, 6, 1), "last": date(2026, 6, 30)}),
    "move": ("move", {"key": 1, "address": "9 Row"}),
    "set": ("set", {"key": 1, "type": "Both", "campaign": 0}),
    "set_copies": ("set_copies", {"key": 2, "copies": 4, "how": "free"}),
    "merge": ("merge", {"kept": 3, "gone": 1}),
    "select": ("select", {"publication": 1}),
    "plan": ("plan", {"publication": 1, "day": date(2026, 7, 15)}),
    "move_issue": ("move_issue", {"issue": 6, "day": date(2026, 6, 20)}),
}


class Middle:
    """A database with the account, whose copies are where operations are done; see ``url``."""

    def __init__(self, kind: Store) -> None:
        self.url = prepare(kind)
        with closing(Proof(self.url)) as proof:
            tell(proof, STORY[: STORY.index(_UNTIL)])
            self._books = proof.books
            self._now = proof.office.now
            self._follower = proof.follower

    def proof(self, url: str) -> Proof:
        """Return the account at ``url``, a copy of this one, with its model."""
        return Proof(
            url,
            books=copy.deepcopy(self._books),
            now=self._now,
            follower=copy.deepcopy(self._follower),
        )
