"""Text of other people in what a person reads: on a terminal, in lines of messages, as a name."""

import re

__all__ = ["counted", "is_name", "on_terminal", "printable", "single_spaced"]

_CONTROLS = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff"
"""What a terminal acts on, what turns the direction of text, and halves of characters, which are in
the names of files; without tabs and line feeds."""

_ON_TERMINAL = re.compile(f"[{_CONTROLS}]")
_IN_LINE = re.compile(f"[{_CONTROLS}\\t\\n\\u2028\\u2029]")


def printable(text: object) -> str:
    r"""Return text as it stands in a line: control characters as escapes, ``\x1b`` and ``\n``.

    So a reader's name, or that of a file, cannot look like another line or another column.
    """
    return _IN_LINE.sub(_escape, str(text))


def on_terminal(text: str) -> str:
    """Return text of any lines without the characters that a terminal acts on, as escapes."""
    return _ON_TERMINAL.sub(_escape, text)


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number with its noun: ``1 letter``, ``2 letters``; ``many`` if not "s" is added."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def single_spaced(text: str) -> str:
    """Return text with one space between its words, and none at its ends."""
    return " ".join(text.split())


def is_name(text: str, characters_max: int) -> bool:
    """Return whether text can be a name: 1 to so many characters, all of them printable."""
    return 0 < len(text) <= characters_max and text.isprintable()


def _escape(found: re.Match[str]) -> str:
    return found.group().encode("unicode_escape").decode()
