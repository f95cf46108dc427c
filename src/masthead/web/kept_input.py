"""Input of forms whose session had ended: kept until who typed it has signed in again."""

from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from time import monotonic
from typing import NamedTuple

import msgspec

OF_PAGE = {"once", "seen"}
"""Fields of a form that belong to the page as it was opened."""

NOT_TYPED = OF_PAGE | {"form_token", "sure", "will"}
"""Fields of a form that nobody types."""

_KEPT_MAX = 100
_KEPT_S_MAX = 10 * 60
_Values = dict[str, str]


class _Kept(NamedTuple):
    values: bytes
    since: float


class KeptInput:
    """The input of at most 100 forms, in memory, each for so many seconds and its new session.

    Each is kept as bytes, so it is at most as large as a form, and a form's path shows it once
    (decisions, "A form whose session had ended").
    """

    def __init__(self, *, seconds: int = _KEPT_S_MAX) -> None:
        self._seconds = seconds
        self._lock = Lock()
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    def keep(self, session: str, path: str, values: _Values) -> None:
        """Keep the input of a form for the page at ``path``."""
        with self._lock:
            self._kept[session, path] = _Kept(msgspec.json.encode(values), monotonic())
            if len(self._kept) > _KEPT_MAX:
                self._kept.popitem(last=False)

    def take(self, session: str, path: str) -> _Values:
        """Return the input and forget it; {} if there is none."""
        with self._lock:
            found = self._kept.pop((session, path), None)
        if found is None or monotonic() - found.since >= self._seconds:
            return {}
        return msgspec.json.decode(found.values, type=_Values)


def packed(form: Mapping[str, str]) -> str:
    """Return the input of a form as one text; '' if nothing was typed.

    ``seen`` is kept too: the form then tells what somebody else has changed since it was opened.
    So is ``once``: a form that had been saved is not saved again. Passwords and what was
    confirmed are not.
    """
    kept = {
        name: value
        for name, value in form.items()
        if name not in NOT_TYPED - OF_PAGE and "password" not in name
    }
    is_typed = any(value for name, value in kept.items() if name not in NOT_TYPED)
    return msgspec.json.encode(kept).decode() if is_typed else ""


def unpacked(text: str) -> _Values:
    """Return the input that :func:`packed` made a text of; {} for any other text.

    No form has NUL in a text, so neither has its input.
    """
    try:
        values = msgspec.json.decode(text, type=_Values)
    except msgspec.DecodeError:
        return {}
    return {} if any("\0" in each for each in values.values()) else values
