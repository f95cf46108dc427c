"""What the tests of billing begin with: an account of its own, on each kind of database."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.circulation.desk import Desk, at_desk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account, which each test fills for itself."""
    with at_desk(store) as found:
        yield found
