"""The server that hostile requests are sent to, and how many of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.api.conftest import DATA, NO_LIMITS
from tests.hostile.wire import Wire
from tests.servers import import_files, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers import Server, Store

SHARE = {"sqlite": 0.7, "postgresql": 0.3}


@pytest.fixture
def cases(request: pytest.FixtureRequest, store: Store) -> Callable[[float], int]:
    """How many cases a part of ``--cases`` is on this kind of database."""
    every: int = request.config.getoption("--cases")
    return lambda part: max(10, round(every * part * SHARE[store.kind]))


@pytest.fixture(scope="module")
def server(store: Store) -> Iterator[Server]:
    """A server with the data of an account, which has made no mistake when it ends."""
    database = store.new_database("hostile")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    import_files(DATA / "golden", account_id="1", database=database)
    with serving(database, *NO_LIMITS) as server:
        yield server
        server.stop()
        faults = [line for line in server.output().splitlines() if "level='error'" in line]
        assert not faults
        assert "Traceback" not in server.output()


@pytest.fixture
def wire(server: Server) -> Wire:
    """A way to send that server any bytes, with the credentials of its account."""
    return Wire(server, "key-golden", "login-golden")
