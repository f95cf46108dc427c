"""Today's date for tests of commands, also when a test runs past midnight."""

from __future__ import annotations

from datetime import UTC, datetime

TODAY = datetime.now(UTC).date()
"""The day on which the tests were begun."""


def days() -> set[str]:
    """Return that day, and the one that it is now: what was just done is of one of them."""
    return {f"{TODAY}", f"{datetime.now(UTC).date()}"}
