"""The Citus cluster that all tests of a process share."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.citus.cluster import STAMP, CitusCluster

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def citus() -> Iterator[CitusCluster]:
    """A coordinator and two workers; what kills one starts it again before it ends."""
    if not STAMP.exists():
        pytest.skip("needs Citus, built by `make test-citus CITUS_SOURCE=FOLDER` (.ci/citus)")
    with closing(CitusCluster()) as cluster:
        yield cluster
