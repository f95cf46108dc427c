"""What every folder of tests shares: the stores that each test of behaviour runs on."""

from __future__ import annotations

import os
from contextlib import closing
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.postgres import EXTERNAL, Cluster, Databases
from tests.servers import SECRET_KEY, Store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# The kinds of database that each test of behaviour runs on.
KINDS = ("sqlite", "postgresql")

# The key of all databases of the tests, but for those that try the file beside a database.
os.environ[SECRET_KEY] = "5ec2e7" * 10 + "abcd"

settings.register_profile(
    "masthead", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("masthead")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the long runs of the change feed's proof be asked for."""
    group = parser.getgroup("the change feed's proof")
    group.addoption("--schedules", type=int, default=300, help="of loads, polls and crashes")
    group.addoption("--rounds", type=int, default=3, help="in which processes are killed")
    group.addoption("--leaving", type=int, default=400, help="of the clients that leave")
    group.addoption("--minutes", type=float, default=0, help="of the proof of endurance")
    group.addoption("--seed", type=int, default=1, help="of those rounds")
    group = parser.getgroup("hostile input")
    group.addoption("--cases", type=int, default=1_000, help="of requests and import files")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Databases]:
    """The PostgreSQL server that all tests of a process share, started when one wants it.

    It is the server of MASTHEAD_TEST_POSTGRES if the environment names one. What stops, freezes or
    replicates a server makes a Cluster of its own.
    """
    external = os.environ.get(EXTERNAL)
    with closing(Databases(external) if external else Cluster()) as found:
        yield found


@pytest.fixture(scope="session", params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Each kind of database in turn: all of them behave the same (design, "The store")."""
    folder: Path = tmp_path_factory.mktemp(f"store-{request.param}")
    if request.param == "postgresql":
        return Store("postgresql", folder, request.getfixturevalue("postgres"))
    return Store(request.param, folder)
