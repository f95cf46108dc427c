"""The clients of both flavours, and what they ask: Masthead on both stores, or another service."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from tests.api.conftest import DATA
from tests.client.flavours import FLAVOURS, Connect, connecting
from tests.client.service import Answering, Serve, Service
from tests.servers import Store, import_files, masthead, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from masthead import Client

ACCOUNTS = {"golden": "1", "neighbour": "2", "sparse": "5", "lists": "6", "people": "7"}


@pytest.fixture(params=FLAVOURS)
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Makes clients of each flavour."""
    with ExitStack() as stack:
        yield connecting(request.param, stack)


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts services of someone else's, which end with the test."""
    with ExitStack() as stack:

        def serve(answer: Answering) -> Service:
            service = Service(answer)
            stack.callback(service.close)
            return service

        yield serve


@pytest.fixture(scope="session")
def masthead_url(store: Store) -> Iterator[str]:
    """Masthead's base URL, with the accounts that the wire form is judged on."""
    database = store.new_database("client")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    for name, account_id in ACCOUNTS.items():
        import_files(DATA / name, account_id=account_id, database=database)
    for table, number in (("purchases", 61), ("orders", 71)):
        masthead("remove", table, number, "--account", 2, database=database)
    with serving(database) as server:
        yield server.url


@pytest.fixture
def golden(connect: Connect, masthead_url: str) -> Client:
    """The account whose records are full or awkward."""
    return connect(masthead_url, "key-golden", "login-golden")


@pytest.fixture
def neighbour(connect: Connect, masthead_url: str) -> Client:
    """The account of which some records were removed."""
    return connect(masthead_url, "key-neighbour", "login-neighbour")


@pytest.fixture
def sparse(connect: Connect, masthead_url: str) -> Client:
    """The account whose records hold their ids and nothing else."""
    return connect(masthead_url, "key-sparse", "login-sparse")


@pytest.fixture
def lists(connect: Connect, masthead_url: str) -> Client:
    """The account with more than two hundred subscriptions."""
    return connect(masthead_url, "key-lists", "login-lists")


@pytest.fixture
def people(connect: Connect, masthead_url: str) -> Client:
    """The account whose subscribers try the search."""
    return connect(masthead_url, "key-people", "login-people")
