"""The accounts that files are loaded into."""

from __future__ import annotations

import itertools
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from masthead.store import open_store
from tests.loading.person import PERSON
from tests.loading.publisher import SMALL, Publisher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import masthead.store
    from tests.servers import Store

_account_ids = itertools.count(1)


def new_account(database: str, folder: Path, opened: masthead.store.Store) -> Publisher:
    """Add an account, which holds nothing, to the database."""
    return Publisher(database, folder, next(_account_ids), store=opened)


@pytest.fixture(scope="session")
def database(store: Store) -> str:
    """A database for the accounts of all tests."""
    return store.new_database("loading")


@pytest.fixture(scope="session")
def opened(database: str) -> Iterator[masthead.store.Store]:
    """That database, open."""
    with closing(open_store(database)) as opened:
        yield opened


@pytest.fixture
def new_publisher(
    database: str, opened: masthead.store.Store, tmp_path: Path
) -> Callable[[], Publisher]:
    """Makes an account that holds nothing."""
    return lambda: new_account(database, tmp_path, opened)


@pytest.fixture
def publisher(new_publisher: Callable[[], Publisher]) -> Publisher:
    """An account that holds nothing."""
    return new_publisher()


@pytest.fixture
def small(publisher: Publisher) -> Publisher:
    """An account that holds the small publisher."""
    publisher.load(SMALL)
    return publisher


@pytest.fixture(scope="session")
def unchanged(
    database: str, opened: masthead.store.Store, tmp_path_factory: pytest.TempPathFactory
) -> Publisher:
    """An account that holds the small publisher, for tests of what is refused."""
    publisher = new_account(database, tmp_path_factory.mktemp("unchanged"), opened)
    publisher.load(SMALL)
    return publisher


@pytest.fixture
def person(publisher: Publisher) -> Publisher:
    """An account whose subscriber 1 has a value in each personal column."""
    publisher.load(PERSON)
    return publisher
