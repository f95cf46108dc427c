"""The readers of ``tests.readers_books.household``, and the pages that they use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import page_settings
from tests.circulation.desk import Desk, at_desk
from tests.readers.browser import SITE, serving_readers
from tests.readers_books import household
from tests.readers_pages.house import House

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.readers.browser import Pages
    from tests.servers import Store


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account, which each test fills for itself."""
    with at_desk(store) as found:
        yield found


@pytest.fixture(scope="module")
def served(shared: Desk) -> Iterator[Pages]:
    """The pages of the account."""
    with serving_readers(shared.store) as pages:
        yield pages


@pytest.fixture
def house(shared: Desk, served: Pages) -> House:
    """The household, whose account has the site; all that the pages can have is on."""
    shared.fill(_begin)
    return House(shared, served)


def _begin(desk: Desk) -> None:
    household.fill(desk)
    page_settings.set_values(
        desk.books,
        {"site": SITE, "name": "Harbor Press", "cancel": "at_end", "contact": "desk@example.org"},
    )
