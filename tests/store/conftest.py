"""Databases whose clock the test sets, and the means to ask for one kind of database alone."""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from masthead.databases import sqlite
from masthead.store import accounts, open_store, postgresql
from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from masthead.store import Store as OpenStore
    from tests.servers import Store

_numbers = itertools.count()
START_US = 1_800_000_000_000_000

# For what the other kind of database does not have at all.
ON_SQLITE = pytest.mark.parametrize("store", ["sqlite"], indirect=True, scope="session")
ON_POSTGRESQL = pytest.mark.parametrize("store", ["postgresql"], indirect=True, scope="session")


class Clock:
    """Microseconds since 1970, as the test says."""

    def __init__(self) -> None:
        self.now = START_US

    def __call__(self) -> int:
        """Return the time."""
        return self.now


@contextmanager
def new_url(store: Store, *, is_empty: bool = False) -> Iterator[str]:
    """The URL of a database without accounts, or even without tables; it is dropped in the end.

    A file does not exist yet.
    """
    new = store.empty_database if is_empty else store.new_database
    url = new(f"store-{next(_numbers)}")
    try:
        yield url
    finally:
        store.drop_database(url)


@contextmanager
def opening(url: str, clock: Callable[[], int] | None = None) -> Iterator[OpenStore]:
    """The database at the URL, opened."""
    found = open_store(url, clock=clock)
    try:
        yield found
    finally:
        found.close()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writers that do not wait fail at once, and not after five seconds."""
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT_MS", 10)
    monkeypatch.setattr(postgresql, "LOCK_TIMEOUT", "10ms")


@pytest.fixture
def clock() -> Clock:
    """A clock that stands still."""
    return Clock()


@pytest.fixture
def url(store: Store) -> Iterator[str]:
    """A database without accounts; a file does not exist yet."""
    with new_url(store) as found:
        yield found


@pytest.fixture
def empty_url(store: Store) -> Iterator[str]:
    """A database without tables; a file does not exist yet."""
    with new_url(store, is_empty=True) as found:
        yield found


@contextmanager
def copied(store: Store, original: str, folder: Path) -> Iterator[Publisher]:
    """Account 1 in a copy of an unused database; it is dropped in the end."""
    url = store.copy_database(original, f"store-{next(_numbers)}")
    found = Publisher(url, folder, is_there=True)
    try:
        yield found
    finally:
        found.store.close()
        store.drop_database(url)


@pytest.fixture(scope="session")
def with_small(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database whose account 1 holds the small publisher; tests have copies of it."""
    with new_url(store) as url:
        found = Publisher(url, tmp_path_factory.mktemp("small"))
        found.load(SMALL)
        found.store.close()
        yield url


@pytest.fixture
def publisher(store: Store, with_small: str, tmp_path: Path) -> Iterator[Publisher]:
    """An account that holds the small publisher."""
    with copied(store, with_small, tmp_path) as found:
        yield found


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenStore]:
    """A database with the accounts 1 and 2, which goes by the clock."""
    with opening(url, clock) as found:
        for account_id in (1, 2):
            accounts.add_account(
                found,
                {
                    "account_id": account_id,
                    "api_key": f"key-{account_id}",
                    "api_login": f"login-{account_id}",
                },
            )
        yield found
