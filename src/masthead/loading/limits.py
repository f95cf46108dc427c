"""Limits of rows: a number of them, or a share of all."""

from decimal import Decimal
from re import ASCII, fullmatch
from typing import NamedTuple, Self


class Limit(NamedTuple):
    """A maximum number of rows, or percentage of all rows; ``text`` is the limit as given."""

    text: str
    rows: int
    percent: Decimal | None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the limit of a text such as ``20`` or ``1.5%``; raise ValueError for others."""
        if fullmatch(r"[0-9]{1,18}", text, ASCII):
            return cls(text, int(text), None)
        if fullmatch(r"[0-9]{1,3}(\.[0-9]{1,3})?%", text, ASCII) and Decimal(text[:-1]) <= 100:
            return cls(text, 0, Decimal(text[:-1]))
        raise ValueError(f"{text!r} is neither a number of rows nor a share of them, such as 1%")

    def allows(self, count: int, of: int) -> bool:
        """Return whether ``count`` rows of all ``of`` rows are within the limit."""
        return count <= self.rows if self.percent is None else count * 100 <= self.percent * of
