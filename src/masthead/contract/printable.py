"""Text from other people, made safe to show on a terminal, in lines of messages, or as a name."""

import re
from collections.abc import Mapping, Sequence

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""Characters that control a terminal, characters that change the direction of text, and lone
surrogates, which occur in file names; without tabs and line feeds."""

_ON_TERMINAL = re.compile(f"[{_CONTROLS}]")
_IN_LINE = re.compile(f"[{_CONTROLS}\\t\\n\\u2028\\u2029]")


def printable(text: object) -> str:
    r"""Return text for a line, with control characters as escapes such as ``\x1b`` and ``\n``.

    So the name of a reader or a file cannot look like another line or another column.
    """
    return _IN_LINE.sub(_escape, str(text))


def on_terminal(text: str) -> str:
    """Return text of one or more lines, with terminal control characters as escapes."""
    return _ON_TERMINAL.sub(_escape, text)


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 letter``, ``2 letters``; ``many`` if not "s" is added."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def listed(words: Sequence[str], last: str = "and") -> str:
    """Return words as a sentence lists them: ``a``, ``a and b``, ``a, b and c``."""
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end


def full_name(fields: Mapping[str, object]) -> str:
    """Return the first and the last name in the fields of a reader; '' without both."""
    return " ".join(str(fields[each]) for each in ("first_name", "last_name") if fields[each])


def single_spaced(text: str) -> str:
    """Return text with one space between its words, and none at its ends."""
    return " ".join(text.split())


def is_name(text: str, characters_max: int) -> bool:
    """Return whether text can be a name: 1 to ``characters_max`` printable characters."""
    return 0 < len(text) <= characters_max and text.isprintable()


def _escape(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode()
