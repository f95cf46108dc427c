"""A database for each test of a command."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest

from tests.servers import masthead

if TYPE_CHECKING:
    from tests.servers import Store

_numbers = itertools.count()


@pytest.fixture
def database(store: Store) -> str:
    """A database that does not exist yet."""
    return store.new_database(f"cli-{next(_numbers)}")


@pytest.fixture
def account(database: str) -> str:
    """The database, with account 1, whose credentials are ``key`` and ``login``."""
    masthead("accounts", "add", 1, "--api-key=key", "--api-login=login", database=database)
    return database
