"""A PostgreSQL for each module, which its tests may stop and freeze."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.postgres import Cluster

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A server of PostgreSQL that runs when a test begins, and when it ends."""
    with closing(Cluster()) as cluster:
        yield cluster
