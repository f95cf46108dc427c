"""What the tests of the readers' operations begin with: an account, and its readers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.billing.sums import check_sums
from tests.circulation.desk import Desk, at_desk
from tests.readers_books.household import fill

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account, which each test fills for itself."""
    with at_desk(store) as found:
        yield found


@pytest.fixture
def household(shared: Desk) -> Iterator[Desk]:
    """The account of ``tests.readers_books.household``; in the end, all sums must hold."""
    shared.fill(fill)
    yield shared
    check_sums(shared)
