"""What is built, and environments with it: for the client, for the mirror, for all commands."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING

import pytest

from tests.release import BUILT, SECONDS_MAX, Environment, Release, installed

if TYPE_CHECKING:
    from collections.abc import Iterator

DEMO = "Masthead serves on "


@pytest.fixture(scope="session")
def release() -> Release:
    """The two files that `make release` built."""
    found = sorted(BUILT.glob("*")) if BUILT.exists() else []
    assert [path.suffix for path in found] == [".whl", ".gz"], "run `make release`: it builds first"
    return Release(*found)


@pytest.fixture(scope="session")
def client(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and no extra."""
    return installed(tmp_path_factory.mktemp("client"), str(release.wheel))


@pytest.fixture(scope="session")
def mirror(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and its extra ``mirror``."""
    return installed(tmp_path_factory.mktemp("mirror"), f"{release.wheel}[mirror]")


@pytest.fixture(scope="session")
def server(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """An environment with the wheel and its extra ``server``."""
    return installed(tmp_path_factory.mktemp("server"), f"{release.wheel}[server]")


@pytest.fixture(scope="session")
def demo(server: Environment) -> Iterator[str]:
    """The address of the demo, which the installed command serves; it ends when it is told to."""
    process = server.start("masthead", "demo", "--port", "0")
    watchdog = threading.Timer(SECONDS_MAX, process.kill)
    watchdog.start()
    try:
        assert process.stdout
        first = next((line for line in process.stdout if line.startswith(DEMO)), None)
        watchdog.cancel()  # Only the start has a limit: the tests take as long as they need.
        assert first, (server.work / "errors.log").read_text()
        yield first.removeprefix(DEMO).strip()
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS_MAX) == 0, (server.work / "errors.log").read_text()
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()
