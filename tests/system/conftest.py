"""The server that browser and PHP call: the records that the golden answers are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.callers import Caller
from tests.api.conftest import DATA
from tests.servers import Store, import_files, serving

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def golden(store: Store) -> Iterator[Caller]:
    """The account whose records are full or awkward."""
    database = store.new_database("system")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    import_files(DATA / "golden", account_id="1", database=database)
    with serving(database) as server:
        caller = Caller(server, "key-golden", "login-golden")
        yield caller
        caller.close()
