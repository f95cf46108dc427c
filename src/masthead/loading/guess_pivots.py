"""Titles that have columns of their own, such as ``tide_copies`` and ``tide_until``."""

import re
from collections import Counter, defaultdict
from typing import NamedTuple

from masthead.loading.guess_columns import Values
from masthead.loading.guess_words import COLUMNS, GROUPS, KNOWN, PARTS, plain

_NAME = re.compile(r"(.*[^\W_])[\W_]+([^\W\d_]+)")
_COUNTED = {"copies", "issues", "type"}
_NO_TITLE = re.compile("trial|period|term|order|item|renew|start|end|last|next|gift|total|line")


class Pivot(NamedTuple):
    """A title, and its column of the file for each column of subscriptions."""

    title: str
    columns: dict[str, str]


def pivots(values: Values) -> list[Pivot]:
    """Return the titles that have the same columns; [] if there is not more than one."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for name in values:
        parts = _NAME.fullmatch(name)
        if parts is None or plain(name) in KNOWN or not _is_title(plain(parts[1])):
            continue
        target = COLUMNS.get(plain(parts[2]), "")
        if target.startswith("subscriptions."):
            found[parts[1]].setdefault(target.removeprefix("subscriptions."), name)
    alike = Counter(frozenset(columns) for columns in found.values())
    shapes = {
        shape for shape, count in alike.items() if count > 1 and not _COUNTED.isdisjoint(shape)
    }
    return [
        Pivot(title.replace("_", " ").title() if title.islower() else title, columns)
        for title, columns in found.items()
        if frozenset(columns) in shapes
    ]


def _is_title(word: str) -> bool:
    words = (*GROUPS.values(), *PARTS.values(), _NO_TITLE)
    return not any(pattern.match(word) for pattern in words)
