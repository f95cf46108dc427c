"""Durations and times as option values."""

from re import fullmatch
from typing import ClassVar

import click

from masthead.contract.moments import parse_moment


class Duration(click.ParamType[int]):
    """A number with a unit, converted to seconds; values below ``at_least`` are refused."""

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


class Moment(click.ParamType[int]):
    """A time in the change feed's format, converted to microseconds since 1970."""

    name = "time"

    def convert(
        self, value: str | int, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        """Return the microseconds."""
        if isinstance(value, int):
            return value
        try:
            return parse_moment(value)
        except ValueError:
            self.fail(f"{value!r} is not a time such as 2026-11-20T08:30:00Z", param, ctx)
