"""The plugin, in runs of pytest of their own: the first test of the page, and runs without it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

from tests.docs.pages import ROOT
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

PAGE = (ROOT / "docs" / "testing.md").read_text()
FIRST_TEST, SECOND_TEST, *_ = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
SECONDS_MAX = 120
PLUGIN = "masthead.pytest_plugin"


def pytest_in(
    folder: Path, *options: str, plugin: str = PLUGIN
) -> subprocess.CompletedProcess[str]:
    """Run pytest in a folder with this plugin and no other, with each warning an error."""
    environment = {n: v for n, v in os.environ.items() if not n.startswith(("MASTHEAD_", "PYTEST"))}
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", plugin, "-W", "error", *options],
        cwd=folder,
        env={**environment, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def test_the_tests_of_the_page_pass_in_an_empty_folder(tmp_path: Path) -> None:
    """rules, "The fixture": nothing to configure, five lines."""
    (tmp_path / "test_readers.py").write_text(FIRST_TEST)
    (tmp_path / "test_access.py").write_text(SECOND_TEST)
    assert len([line for line in FIRST_TEST.splitlines() if line]) == 5
    done = pytest_in(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_it_fails_where_the_service_does_not_have_the_record(tmp_path: Path) -> None:
    wrong = FIRST_TEST.replace('["ann@reader.example"]', '["bob@reader.example"]')
    assert wrong != FIRST_TEST
    (tmp_path / "test_readers.py").write_text(wrong)
    done = pytest_in(tmp_path)
    assert done.returncode == 1
    assert "1 failed" in done.stdout


def test_each_test_begins_at_the_beginning_of_one_process(tmp_path: Path) -> None:
    """rules, "The fixture"."""
    (tmp_path / "test_twice.py").write_text(
        "import pytest\n"
        "urls = set()\n"
        "@pytest.mark.parametrize('n', range(3))\n"
        "def test_it(masthead_server, n):\n"
        "    assert masthead_server.requests == []\n"
        "    masthead_server.add('subscribers', {'subscriber_id': 1})\n"
        "    masthead_server.clock.move(days=6)\n"
        "    masthead_server.faults.respond(503, requests=None)\n"
        "    masthead_server.faults.refuse_connections()\n"
        "    urls.add(masthead_server.base_url)\n"
        "def test_one_process():\n"
        "    assert len(urls) == 1\n"
    )
    done = pytest_in(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_run_that_does_not_use_it_imports_nothing_of_masthead_but_the_plugin(
    tmp_path: Path,
) -> None:
    """rules, "The fixture": it costs other runs nothing."""
    (tmp_path / "test_other.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    ours = {name for name in sys.modules if name.partition('.')[0] == 'masthead'}\n"
        "    assert ours == {'masthead', 'masthead.pytest_plugin'}\n"
        "    assert not {'httpx2', 'msgspec', 'uvicorn'} & sys.modules.keys()\n"
    )
    done = pytest_in(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@ONLY_LONG
def test_the_emulator_ends_with_a_run_that_is_killed(tmp_path: Path) -> None:
    """rules, "The fixture": it ends with the process that started it."""
    (tmp_path / "test_killed.py").write_text(
        "import os, signal\n"
        "def test_it(masthead_server):\n"
        "    print('\\nprocess', masthead_server._process.pid, flush=True)\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = pytest_in(tmp_path, "-s")
    assert done.returncode == -signal.SIGKILL
    (number,) = re.findall(r"process (\d+)", done.stdout)
    # It waits until there is no such process.
    waiting = ["tail", f"--pid={number}", "-f", os.devnull]
    assert subprocess.run(waiting, timeout=SECONDS_MAX, check=False).returncode == 0


def test_settings_of_a_server_are_not_those_of_the_emulator(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import os\nos.environ['MASTHEAD_FROM'] = os.environ['MASTHEAD_PORT'] = 'none'\n"
    )
    (tmp_path / "test_readers.py").write_text(FIRST_TEST)
    done = pytest_in(tmp_path)
    assert done.returncode == 0, done.stdout


def test_a_start_that_fails_says_why(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "import masthead.emulator.remote as remote\n"
        "remote.sys = type('Other', (), {'executable': '/bin/false'})\n"
    )
    (tmp_path / "test_readers.py").write_text(FIRST_TEST)
    done = pytest_in(tmp_path)
    assert done.returncode == 1
    assert "the emulator did not start" in done.stdout


def test_pytest_finds_it_by_its_entry_point() -> None:
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert project["entry-points"]["pytest11"] == {"masthead": PLUGIN}


def test_this_suite_has_the_fixture_once(pytestconfig: pytest.Config) -> None:
    """Whether or not the installation of this suite has the entry point."""
    names = [name for name, _ in pytestconfig.pluginmanager.list_name_plugin()]
    assert names.count("masthead") <= 1
