"""What the tests of billing begin with: an account, and a shop."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from masthead.books import journal, opening
from tests.billing.bureau import fill
from tests.billing.sums import check_sums
from tests.circulation.desk import Desk, at_desk
from tests.circulation.shop import stock

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store

_numbers = itertools.count()


@pytest.fixture(scope="module")
def shared(store: Store) -> Iterator[Desk]:
    """An account, which each test fills for itself."""
    with at_desk(store) as found:
        yield found


@pytest.fixture(scope="module")
def stocked(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The database of a shop, which no test changes."""
    url = store.new_database(f"stocked-{next(_numbers)}")
    stock(url, tmp_path_factory.mktemp("stocked"))
    yield url
    store.drop_database(url)


@pytest.fixture
def shop(store: Store, stocked: str) -> Iterator[str]:
    """The same, for a test that changes it."""
    url = store.copy_database(stocked, f"shop-{next(_numbers)}")
    yield url
    store.drop_database(url)


@pytest.fixture
def bureau(shared: Desk) -> Iterator[Desk]:
    """The account of ``tests.billing.bureau``, as it is before any order.

    After the test, all sums must hold, and the journal must agree with the books, now and at the
    end of each month (billing, "Month end").
    """
    fill(shared)
    yield shared
    check_sums(shared)
    assert journal.check(shared.books).wrong == []
    today = opening.account_of(shared.books).today
    for day in ("2026-03-31", "2026-04-30", "2026-05-31"):
        if day <= today:
            assert journal.check(shared.books, day).wrong == []
