"""Servers that count what requests cost them."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.costs.asking import Service
from tests.costs.data import fill
from tests.costs.listening import Listener
from tests.servers import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers import Store


@pytest.fixture(scope="session")
def service(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A server of a small and of a large account."""
    folder = tmp_path_factory.mktemp("costs")
    lines = folder / "lines"
    url = store.new_database("costs")
    since = fill(url, folder)
    with ExitStack() as stack:
        listener = database = None
        if store.kind == "postgresql":
            listener = stack.enter_context(closing(Listener(url)))
            database = stack.enter_context(psycopg.connect(url, autocommit=True))
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setenv("COSTS", str(lines))
        server = stack.enter_context(
            serving(listener.url if listener else url, module="tests.costs.counting")
        )
        yield Service(server, lines, since, listener, database)
