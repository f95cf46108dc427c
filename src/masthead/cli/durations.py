"""Durations as values of options."""

from re import fullmatch
from typing import ClassVar

import click

__all__ = ["Duration"]


class Duration(click.ParamType[int]):
    """A number with a unit, converted to seconds; fewer than ``at_least`` are refused."""

    name = "duration"
    _SECONDS: ClassVar = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

    def __init__(self, at_least: int = 0) -> None:
        self._at_least = at_least

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the seconds."""
        if isinstance(value, int):
            return value
        found = fullmatch(r"([0-9]{1,6})([smhd])", value)
        if found is None:
            self.fail(f"{value!r} is not a time such as 60s, 5m, 24h or 7d", param, ctx)
        seconds = int(found[1]) * self._SECONDS[found[2]]
        if seconds < self._at_least:
            self.fail(f"{value!r} is too short: take {self._at_least}s or more", param, ctx)
        return seconds
