"""The accounts that files are loaded into."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.servers import Store

_numbers = itertools.count()


@pytest.fixture
def new_publisher(store: Store, tmp_path: Path) -> Callable[[], Publisher]:
    """Makes an account that holds nothing, in a database of its own."""
    return lambda: Publisher(store.new_database(f"loading-{next(_numbers)}"), tmp_path)


@pytest.fixture
def publisher(new_publisher: Callable[[], Publisher]) -> Publisher:
    """An account that holds nothing."""
    return new_publisher()


@pytest.fixture
def small(publisher: Publisher) -> Publisher:
    """An account that holds the small publisher."""
    publisher.load(SMALL)
    return publisher
