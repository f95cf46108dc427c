"""Number formats of cells that show more than the number: ``00000`` shows 4530 as 04530.

Such a format makes codes: postal codes and numbers of members. A format of amounts, such as
``0.00 €`` or ``0%``, is no such format (rules, "Workbooks").
"""

import operator
import re
from collections.abc import Callable

ShowCode = Callable[[int], str | None]

_TOKEN = re.compile(r'"([^"]*)"|\\(.)|[_*].|\[([^\]]*)\]|([0#?])|([-() :])|(.)', re.DOTALL)
_SECTION = re.compile(r'(?:"[^"]*"|\\.|[^;"\\])*', re.DOTALL)
_CONDITION = re.compile(r"(<=|>=|<>|<|>|=)([0-9]{1,15})")
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<>": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
}
_PLACES = frozenset("0#?")


class _Section:
    """A part of a format: its condition, and its places and texts in their order."""

    def __init__(self, written: str) -> None:
        self.test: Callable[[int], bool] | None = None
        self.tokens: list[tuple[bool, str]] = []
        """Whether each token is a place of a digit, and the token."""
        self._is_known = True
        for quoted, escaped, bracket, place, sign, other in _TOKEN.findall(written):
            if condition := _CONDITION.fullmatch(bracket):
                test, limit = _TESTS[condition[1]], int(condition[2])
                self.test = lambda number, test=test, limit=limit: test(number, limit)
            elif place:
                self.tokens.append((True, place))
            elif text := quoted or escaped or sign:
                self.tokens.append((False, text))
            elif other:
                self._is_known = False

    @property
    def is_code(self) -> bool:
        """Whether the section shows zeros or signs that the number does not have."""
        places = [n for n, (is_place, _) in enumerate(self.tokens) if is_place]
        return (
            self._is_known
            and len(places) > 1
            and (
                places[-1] - places[0] >= len(places)
                or sum(self.tokens[n][1] == "0" for n in places) > 1
            )
        )

    def show(self, number: int) -> str:
        """Return the digits of a number in the places, with the texts between."""
        digits = str(number)
        missing = sum(is_place for is_place, _ in self.tokens) - len(digits)
        shown = []
        place = 0
        for is_place, sign in self.tokens:
            if not is_place:
                shown.append(sign)
                continue
            if place < missing:
                shown.append(sign if sign == "0" else "")
            else:
                # The first place takes all digits that have no place.
                shown.append(digits[place - missing] if place else digits[: 1 - missing])
            place += 1
        return "".join(shown).strip()


def code_format(written: str) -> ShowCode | None:
    """Return a function that shows a number from 0 on as a format does, None for other formats.

    The function returns None for a number that the format shows as a number.
    """
    if _PLACES.isdisjoint(written):
        return None
    sections = [_Section(part) for part in _SECTION.findall(written) if part]
    if not any(section.is_code for section in sections):
        return None

    def show(number: int) -> str | None:
        chosen = next((s for s in sections if s.test and s.test(number)), None)
        chosen = chosen or next((s for s in sections if not s.test), None)
        return chosen.show(number) if chosen and chosen.is_code else None

    return show
