"""Durations as values of options."""

from re import fullmatch
from typing import ClassVar

import click

__all__ = ["Duration"]


class Duration(click.ParamType[int]):
    """A number with a unit, converted to seconds."""

    name = "duration"
    _SECONDS: ClassVar = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the seconds."""
        if isinstance(value, int):
            return value
        found = fullmatch(r"([0-9]{1,6})([smhd])", value)
        if found is None:
            self.fail(f"{value!r} is not a time such as 60s, 5m, 24h or 7d", param, ctx)
        return int(found[1]) * self._SECONDS[found[2]]
