"""Each deviation that is planted into a server is named, with the section of the interface."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.checker import check, running
from tests.checker.altering import altered
from tests.checker.planted_filters import DEVIATIONS_OF_FILTERS
from tests.checker.planted_losses import DEVIATIONS_OF_LOSSES, OF_MANY_RECORDS
from tests.checker.planted_records import DEVIATIONS_OF_RECORDS
from tests.checker.planted_requests import DEVIATIONS_OF_REQUESTS
from tests.checker.touched import hear, touched
from tests.long import ONLY_LONG
from tests.store.conftest import ON_SQLITE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.checker.altering import Replies
    from tests.checker.touched import Heard
    from tests.mirror.publisher import Publisher

DEVIATIONS = (
    DEVIATIONS_OF_RECORDS | DEVIATIONS_OF_REQUESTS | DEVIATIONS_OF_LOSSES | DEVIATIONS_OF_FILTERS
)
OF_MANY = OF_MANY_RECORDS | {
    "pages that overlap",
    "more than a hundred",
    "a row limit of each entity",
    "an upper bound that loses 0, of many",
    "subscriptions of many limited before the filters",
    "subscribers of many limited before the search",
}
"""What only shows with more records than a list shows."""


@pytest.fixture(scope="session")
def replies() -> dict[str, Replies]:
    """What Masthead replied so far, for each publisher: their data do not change."""
    return {"small": {}, "large": {}}


@pytest.fixture(scope="session")
def heard(publishers: dict[str, Publisher], replies: dict[str, Replies]) -> Sequence[Heard]:
    """What each check asks a small publisher."""
    return hear(publishers["small"], replies["small"])


@ONLY_LONG
@ON_SQLITE
@pytest.mark.parametrize("name", DEVIATIONS)
def test_a_planted_deviation_is_named(
    publishers: dict[str, Publisher],
    replies: dict[str, Replies],
    heard: Sequence[Heard],
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """decisions, "Checker: differences and notes"; rules, "Checker: row limits of the feed"."""
    deviation = DEVIATIONS[name]
    size = "large" if name in OF_MANY else "small"
    if size == "small":
        monkeypatch.setattr(running, "CHECKS", {"touched": touched(deviation.alter, heard)})
    found = publishers[size]
    with altered(found.url, deviation.alter, replies[size]) as server:
        report = check(server.url, found.key, found.login, 1000)
    named = {finding[:4] for finding in report.findings}
    assert deviation[1:] in named, named
    assert bool(report.differences) == (deviation.severity == "difference"), report.differences
