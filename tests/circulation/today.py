"""Today's date for tests of commands, also when a test runs past midnight."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

TODAY = datetime.now(UTC).date()
"""The day on which the tests were begun."""


def days() -> set[str]:
    """Return that day, and the one that it is now: what was just done is of one of them."""
    return {f"{TODAY}", f"{datetime.now(UTC).date()}"}


def a_year_from(day: str) -> str:
    """Return the last day of the year that begins on a day, both as ``1 December 2026``."""
    begins = datetime.strptime(day, "%d %B %Y").replace(tzinfo=UTC)
    ends = begins.replace(year=begins.year + 1) - timedelta(days=1)
    return f"{ends.day} {ends:%B %Y}"
