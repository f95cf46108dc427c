"""The server that browser and PHP call, and poolers before a PostgreSQL."""

from __future__ import annotations

from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.api.callers import Caller
from tests.api.conftest import DATA
from tests.postgres import Cluster, unique
from tests.postgresql.service import fill
from tests.servers import Store, as_server, import_files, serving
from tests.system.pooler import DEBIANS, NEWER, Pooler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.system.browsing import Browser


@pytest.fixture(scope="session")
def golden(store: Store) -> Iterator[Caller]:
    """The account whose records are full or awkward: the golden responses are about them."""
    database = store.new_database("system")
    import_files(DATA / "accounts.csv", account_id=None, database=database)
    import_files(DATA / "golden", account_id="1", database=database)
    with serving(database) as server:
        caller = Caller(server, "key-golden", "login-golden")
        yield caller
        caller.close()


def _browser(folder: Path, *, javascript: bool) -> Iterator[Browser]:
    # Without selenium, the tests that import it are skipped, and no others.
    from tests.system import browsing  # noqa: PLC0415

    browser = browsing.Browser(folder, javascript=javascript)
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A browser; each test lets it begin again."""
    yield from _browser(tmp_path_factory.mktemp("chromium"), javascript=True)


@pytest.fixture(scope="session")
def bare_chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The same, without JavaScript."""
    yield from _browser(tmp_path_factory.mktemp("bare-chromium"), javascript=False)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A server of PostgreSQL that tests may stop."""
    with closing(Cluster()) as cluster:
        yield cluster


@pytest.fixture(scope="module", params=["Debian's", "newer"])
def program(request: pytest.FixtureRequest) -> str:
    """A PgBouncer; the newer one can keep prepared statements."""
    found = NEWER if request.param == "newer" else DEBIANS
    if found is None or not Path(found).exists():
        pytest.skip("needs pgbouncer (Debian's; the newer one by .ci/pgbouncer)")
    return str(found)


@pytest.fixture
def new_database(cluster: Cluster) -> Callable[[], str]:
    """Makes databases with tables."""

    def new_database() -> str:
        name = unique("pooled")
        cluster.copy_migrated(name)
        return cluster.url(name)

    return new_database


@pytest.fixture
def new_pooler(program: str, cluster: Cluster) -> Iterator[Callable[[str], Pooler]]:
    """Starts poolers for the users of a database."""
    with ExitStack() as stack:

        def new_pooler(database: str) -> Pooler:
            pooler = Pooler(program, cluster, [database, as_server(database)])
            return stack.enter_context(closing(pooler))

        yield new_pooler


@pytest.fixture
def small(new_database: Callable[[], str], tmp_path: Path) -> str:
    """A database that holds the small publisher."""
    database = new_database()
    fill(database, tmp_path / "small")
    return database
