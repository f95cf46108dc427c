"""Services to keep copies of, and databases for the copies: each kind with each."""

from __future__ import annotations

import itertools
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

import psycopg
import pytest

from masthead.store import open_store
from tests.api.conftest import DATA
from tests.client.service import Answering, Serve, Service
from tests.conftest import KINDS
from tests.long import ONLY_LONG
from tests.mirror.kept import Kept
from tests.mirror.publisher import Publisher
from tests.postgres import unique
from tests.servers import Store, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.postgres import Databases

_account_ids = itertools.count(1)
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def new_publisher(
    store: Store, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[], Publisher]]:
    """Makes accounts without data, served by one server on each kind of database."""
    database = store.new_database("mirrored")
    folder = tmp_path_factory.mktemp("publishers")
    with closing(open_store(database)) as opened, serving(database) as server:

        def new_publisher() -> Publisher:
            number = next(_account_ids)
            keys = (f"key-{number}", f"login-{number}")
            publisher = Publisher(opened, database, server.url, number, folder, *keys)
            publisher.add()
            return publisher

        yield new_publisher


@pytest.fixture
def publisher(new_publisher: Callable[[], Publisher]) -> Publisher:
    """A publisher with some records of each kind, which a test may change."""
    publisher = new_publisher()
    publisher.load_folder(DATA / "feed")
    return publisher


@pytest.fixture(scope="session")
def golden(new_publisher: Callable[[], Publisher]) -> Publisher:
    """The publisher whose records are full or awkward; no test changes it."""
    publisher = new_publisher()
    publisher.load_folder(DATA / "golden")
    return publisher


@pytest.fixture(scope="session")
def sparse(new_publisher: Callable[[], Publisher]) -> Publisher:
    """The publisher whose records hold their ids and nothing else; no test changes it."""
    publisher = new_publisher()
    publisher.load_folder(DATA / "sparse")
    return publisher


@pytest.fixture(scope="session")
def database_of_copies(postgres: Databases) -> str:
    """A database in which each copy has a schema of its own."""
    name = unique("copies")
    postgres.create(name)
    return postgres.url(name)


IN_FILES = ("duckdb", "parquet")

EACH_COPY = pytest.mark.parametrize("new_kept", [*KINDS, *IN_FILES], indirect=True)
"""For what says of each kind of copy that it works: the short form has all of them."""


@pytest.fixture(params=[*KINDS, *(pytest.param(kind, marks=ONLY_LONG) for kind in IN_FILES)])
def new_kept(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Kept]:
    """Makes copies that have not begun, in each kind of database in turn.

    Those in files do by the same code what others do, and cost most: they are for the long form.
    """

    def new_kept() -> Kept:
        name = f"copy_{next(_numbers)}"
        if request.param != "postgresql":
            slashes = "//" if request.param == "parquet" else "///"
            return Kept(f"{request.param}:{slashes}{tmp_path / name}")
        url: str = request.getfixturevalue("database_of_copies")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"CREATE SCHEMA {name}".encode())
        return Kept(f"{url}?options=-csearch_path%3D{name}")

    return new_kept


@pytest.fixture
def kept(new_kept: Callable[[], Kept]) -> Kept:
    """A copy that has not begun."""
    return new_kept()


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts services of someone else's, which end with the test."""
    with ExitStack() as stack:

        def serve(answer: Answering) -> Service:
            service = Service(answer)
            stack.callback(service.close)
            return service

        yield serve
