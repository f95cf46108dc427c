"""The checker finds nothing at Masthead itself."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from masthead.checker import CHECKS, asking, check, running, title_of
from masthead.checker.asking import Asker
from masthead.checker.service import Service
from tests.api.conftest import NO_LIMITS
from tests.checker.altering import altered, unaltered
from tests.checker.conftest import NAMES
from tests.long import ONLY_LONG
from tests.servers import serving

if TYPE_CHECKING:
    from tests.mirror.publisher import Publisher


@ONLY_LONG
@pytest.mark.parametrize("name", NAMES)
def test_masthead_is_as_the_interface_says_with_any_data(
    publishers: dict[str, Publisher], name: str
) -> None:
    """decisions, "Checker: differences and notes"."""
    found = publishers[name]
    report = check(found.url, found.key, found.login, 1000)
    assert report.differences == []
    # The golden data have a count that is not that of the entries, which Masthead serves as loaded.
    expected = {"list_downloads[].count"} if name == "golden" else set()
    assert {note.field for note in report.notes} == expected


@pytest.mark.parametrize("overlap", [0, 86_400])
def test_a_feed_of_days_is_as_the_interface_says(
    publishers: dict[str, Publisher], overlap: int
) -> None:
    """rules, "Checker: what `modified_date` proves"; "Change feed: the overlap"."""
    aged = publishers["aged"]
    options = (*NO_LIMITS, "--feed-overlap", str(overlap))
    with serving(aged.database, *options) as server:
        report = check(server.url, aged.key, aged.login, 1000)
        with Asker(server.url, aged.key, aged.login, 1000) as asker:
            service = Service(asker, aged.key, aged.login)
            counts = [
                len(service.changes(["subscribers"], asker.now() - window)[0]["subscribers"])
                for window in (timedelta(hours=1), timedelta(days=1), timedelta(days=4))
            ]
    assert report.findings == []
    assert counts == sorted(set(counts))


def test_each_check_is_tried_on_one_of_the_publishers(
    publishers: dict[str, Publisher], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What lies between the tests of deviations and Masthead alters nothing."""
    groups = {"small": CHECKS, "large": CHECKS, "aged": {"change feed": CHECKS["change feed"]}}
    tried = set()
    for name, checks in groups.items():
        found = publishers[name]
        monkeypatch.setattr(running, "CHECKS", checks)
        with altered(found.url, unaltered) as server:
            report = check(server.url, found.key, found.login, 1000)
        assert report.findings == []
        assert report.requests < asking.REQUESTS_MAX / 2
        titles = {title_of(each) for group in checks.values() for each in group}
        tried |= titles - report.not_tried.keys()
    assert tried == {title_of(each) for group in CHECKS.values() for each in group}
