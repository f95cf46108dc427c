"""What every folder of tests shares: the stores that each test of behaviour runs on."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.servers import Store

if TYPE_CHECKING:
    from pathlib import Path

settings.register_profile(
    "masthead", deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("masthead")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the long runs of the change feed's proof be asked for."""
    group = parser.getgroup("the change feed's proof")
    group.addoption("--schedules", type=int, default=300, help="of loads, polls and crashes")
    group.addoption("--rounds", type=int, default=3, help="in which processes are killed")
    group.addoption("--seed", type=int, default=1, help="of those rounds")


@pytest.fixture(scope="session", params=["sqlite"])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Each kind of database in turn: all of them behave the same (design, "The store")."""
    folder: Path = tmp_path_factory.mktemp(f"store-{request.param}")
    return Store(kind=request.param, folder=folder)
