"""When the renewal letters of a publication are due (circulation, "Renewals").

Each letter is an effort. Efforts are due in the order of their numbers, each at fewer issues left
than the one before.
"""

from collections.abc import Iterable
from typing import NamedTuple

from masthead.circulation.effort_order import check_order
from masthead.contract.printable import counted, is_name
from masthead.errors import BadInput

_EFFORT_MAX = _ISSUES_LEFT_MAX = 1_000
_CODE_MAX = 50


class Effort(NamedTuple):
    """An effort of a publication: when it is due, by issues left, and what its letter names.

    ``bundle_id`` and ``key_code`` are None for a letter without a bundle.
    """

    publication_id: int
    effort: int
    issues_left: int
    bundle_id: int | None = None
    key_code: str | None = None

    @property
    def sentence(self) -> str:
        """When the effort is due, and the bundle its letter names."""
        code = "" if self.key_code is None else f", key code {self.key_code}"
        bundle = "" if self.bundle_id is None else f", with bundle {self.bundle_id}"
        return (
            f"effort {self.effort} of publication {self.publication_id} is due {self.when}{code}"
            f"{bundle}"
        )

    @property
    def when(self) -> str:
        """When the effort is due, in words."""
        return due_at(self.issues_left)


def due_at(issues_left: int) -> str:
    """Return when an effort is due, in words: ``at 3 issues left``."""
    issues = counted(abs(issues_left), "issue")
    if not issues_left:
        return "with the last issue"
    return f"{issues} after the last one" if issues_left < 0 else f"at {issues} left"


def check_effort(effort: Effort, others: Iterable[Effort]) -> None:
    """Raise BadInput for values out of bounds, and unless efforts are due in their order."""
    if not 1 <= effort.effort <= _EFFORT_MAX:
        raise BadInput(f"an effort has a number from 1 to {_EFFORT_MAX:,}, not {effort.effort:,}")
    if abs(effort.issues_left) > _ISSUES_LEFT_MAX:
        raise BadInput(
            f"an effort is due at {-_ISSUES_LEFT_MAX:,} to {_ISSUES_LEFT_MAX:,} issues left, "
            f"not at {effort.issues_left:,}"
        )
    if effort.key_code is not None and not is_name(effort.key_code, _CODE_MAX):
        raise BadInput(f"{effort.key_code!r} is no key code: it has 1 to {_CODE_MAX} characters")
    all_of_them = [effort, *(each for each in others if each.effort != effort.effort)]
    check_order([(each.effort, each.issues_left) for each in all_of_them], due_at)
