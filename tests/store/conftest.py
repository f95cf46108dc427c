"""A database whose clock the test sets."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from masthead.store import accounts, open_store

if TYPE_CHECKING:
    from masthead.store import Store as OpenStore
    from tests.servers import Store

_numbers = itertools.count()
START_US = 1_800_000_000_000_000


class Clock:
    """Microseconds since 1970, as the test says."""

    def __init__(self) -> None:
        self.now = START_US

    def __call__(self) -> int:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def opened(store: Store, clock: Clock) -> OpenStore:
    """A database with the accounts 1 and 2, which goes by the clock."""
    found = open_store(store.new_database(f"store-{next(_numbers)}"), clock=clock)
    for account_id in (1, 2):
        accounts.add_account(
            found,
            {
                "account_id": account_id,
                "api_key": f"key-{account_id}",
                "api_login": f"login-{account_id}",
            },
        )
    return found
