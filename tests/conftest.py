"""What every folder of tests shares: the stores that each test of behaviour runs on."""

from __future__ import annotations

import gc
import os
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from argon2 import PasswordHasher

from masthead.store import passwords
from tests import forks, long, no_processes, patience, statements
from tests.citus.cluster import CitusCluster
from tests.citus.databases import CitusDatabases
from tests.postgres import EXTERNAL, Cluster, Databases, memory
from tests.servers import SECRET_KEY, Store, environment

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

# The kinds of database that each test of behaviour runs on.
KINDS = ("sqlite", "postgresql")

# The key of all databases of the tests, but for those that try the file beside a database.
os.environ[SECRET_KEY] = "5ec2e7" * 10 + "abcd"

# All servers are on loopback, without a proxy, and the tests of TLS say whom they trust: to load
# what a system trusts takes a client longer than most tests.
os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"
os.environ.pop("SSL_CERT_FILE", None)
os.environ["SSL_CERT_DIR"] = os.devnull

# Files are in memory, if there is room: elsewhere, SQLite waits for the disk at each commit. What a
# commit leaves after a power failure is tested with a disk of our own (tests/faulty.py).
if _folder := memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", _folder)

# What is compiled is kept: the tests start too many programs to compile all of it for each.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
forks.expect(environment(""))

patience.be_patient()
statements.record()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the other forms of the tests be asked for."""
    long.add_options(parser)
    parser.addoption(
        "--citus",
        action="store_true",
        help="run the tests of PostgreSQL on a Citus cluster, and no others",
    )
    parser.addoption(
        "--no-processes",
        action="store_true",
        help="run the tests that need neither PostgreSQL nor a process (make check)",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Take the form that was asked for."""
    long.choose(config)
    if config.getoption("--no-processes"):
        no_processes.forbid_processes(config)
    if config.getoption("--ci"):
        config.pluginmanager.register(_Failures(config))
        config.pluginmanager.register(_SlowLast())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what CI has no time for (decisions, "Which tests CI runs")."""
    statements.name_test(item.nodeid)
    until = os.environ.get("CI_TESTS_UNTIL")
    if until and time.time() > float(until):
        pytest.skip("CI had no time left for it")


class _Failures:
    """Shows each failure at once: a run that is cut off has then said what failed."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if report.failed and terminal:
            terminal.ensure_newline()
            terminal.section(report.nodeid, "_")
            terminal.write_line(report.longreprtext)


class _SlowLast:
    """Puts the slow tests behind all others: where time runs out, they are what is left out."""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=long.is_slow)


def _fits_citus(item: pytest.Item) -> bool:
    callspec = getattr(item, "callspec", None)
    is_of_postgresql = callspec is not None and callspec.params.get("store") == "postgresql"
    if not is_of_postgresql or item.get_closest_marker("one_server"):
        return False
    return bool(statements.FOLDER) or not long.is_left_out_on_citus(item)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make tests only for the kinds of database that the form has."""
    long.choose_databases(metafunc, on_citus=metafunc.config.getoption("--citus"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only other forms have, and with --citus what is of SQLite."""
    on_citus = config.getoption("--citus")
    others = set(long.left_out(items, config, with_neighbours=on_citus))
    if on_citus:
        others.update(item for item in items if not _fits_citus(item))
    if config.getoption("--no-processes"):
        others.update(item for item in items if no_processes.needs_postgresql(item))
    if others:
        config.hook.pytest_deselected(items=[*others])
        items[:] = [item for item in items if item not in others]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let the garbage collector pass over the tests, which live until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure() -> None:
    """End what programs were forked from."""
    forks.close()


@pytest.fixture(scope="session", autouse=True)
def _quick_passwords() -> Iterator[None]:
    """Hash passwords with the least work; each hash says how much it takes to check."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passwords, "HASHER", PasswordHasher(1, 8, 1))
        yield


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[Databases]:
    """The PostgreSQL server that all tests of a process share, started when one wants it.

    It is the server of MASTHEAD_TEST_POSTGRES if the environment names one. What stops, freezes or
    replicates a server makes a Cluster of its own.
    """
    external = os.environ.get(EXTERNAL)
    if request.config.getoption("--citus") and not statements.FOLDER:
        with closing(CitusCluster()) as cluster, closing(CitusDatabases(cluster)) as distributed:
            yield distributed
        return
    with closing(Databases(external) if external else Cluster()) as found:
        yield found


@pytest.fixture(scope="session", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Each kind of database in turn: all of them behave the same (architecture, "The store")."""
    folder: Path = tmp_path_factory.mktemp(f"store-{request.param}")
    if request.param == "postgresql":
        return Store("postgresql", folder, request.getfixturevalue("postgres"))
    return Store(request.param, folder)
