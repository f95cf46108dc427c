"""Leaves out the tests that need PostgreSQL or a process: ``pytest --no-processes``.

`make check` runs it. No list says which tests these are. Those that ask for PostgreSQL are
deselected by their fixtures. Every other test is run, and is skipped as soon as it starts a
process, so that what passes has started none.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator

_STARTS = {
    *("subprocess.Popen", "os.system", "os.exec", "os.fork", "os.forkpty"),
    *("os.posix_spawn", "os.spawn"),
}
"""The events by which Python reports that a process is started (Python, "Audit events table")."""

_REASON = "starts a process"


def needs_postgresql(item: pytest.Item) -> bool:
    """Return whether a test asks for PostgreSQL, itself or as its kind of database."""
    chosen = item.callspec.params if hasattr(item, "callspec") else {}
    return "postgresql" in chosen.values() or "postgres" in getattr(item, "fixturenames", ())


class _Plugin:
    """Skips a test when it starts a process, in its fixtures and its threads too."""

    def __init__(self) -> None:
        self._is_watching = False
        self._has_started = False
        sys.addaudithook(self._notice)

    def _notice(self, event: str, _: tuple[object, ...]) -> None:
        if self._is_watching and event in _STARTS:
            self._has_started = True
            pytest.skip(_REASON)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        self._has_started = False
        return (yield from self._watched())

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None, object, object]:
        return (yield from self._watched())

    def _watched(self) -> Generator[None, object, object]:
        self._is_watching = True
        try:
            return (yield)
        finally:
            self._is_watching = False

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Skip a test that caught the exception, or whose server answered it with an error."""
        report = yield
        if self._has_started and report.when == "call" and not report.skipped:
            path, line, _ = item.location
            report.outcome, report.longrepr = "skipped", (path, (line or 0) + 1, _REASON)
        return report


def forbid_processes(config: pytest.Config) -> None:
    """Skip each test of this run that starts a process; it may then leave a file open."""
    config.addinivalue_line("filterwarnings", "ignore::pytest.PytestUnraisableExceptionWarning")
    config.pluginmanager.register(_Plugin())
