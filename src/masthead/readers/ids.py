"""Ids that a form sends."""

from masthead.contract.kinds import BIGGEST_INTEGER


def id_of(text: str) -> int:
    """Return the id that a text is; 0, which no record has, if it is none."""
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(BIGGEST_INTEGER))):
        return 0
    number = int(text)
    return number if number <= BIGGEST_INTEGER else 0
