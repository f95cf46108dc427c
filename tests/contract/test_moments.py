"""Times in an account's time zone, and the moments that they are."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from masthead.contract.moments import moment_of, second_in

HOUR_US = 60 * 60 * 1_000_000


def at(moment: str) -> int:
    """Return a moment of UTC in microseconds since 1970."""
    return int(datetime.fromisoformat(moment).replace(tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize("moment", ["2026-10-25T01:30", "2026-03-29T01:00", "2026-07-01T12:00"])
def test_a_time_is_its_moment(moment: str) -> None:
    assert moment_of("Europe/Berlin", second_in("Europe/Berlin", at(moment))) == at(moment)


def test_a_time_that_a_night_has_twice_is_the_later_one() -> None:
    """So a link that still works is never taken for one that has ended."""
    first = at("2026-10-25T00:30")
    assert second_in("Europe/Berlin", first) == second_in("Europe/Berlin", first + HOUR_US)
    assert moment_of("Europe/Berlin", second_in("Europe/Berlin", first)) == first + HOUR_US
