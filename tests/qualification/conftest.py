"""What these tests begin with: an account with a free title."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.circulation.desk import Desk, at_desk
from tests.qualification.press import fill, open_form

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account, which each test fills for itself."""
    with at_desk(store) as found:
        yield found


@pytest.fixture
def press(shared: Desk) -> Desk:
    """The account of ``tests.qualification.press``, whose title has its form and classes."""
    fill(shared)
    open_form(shared)
    return shared
