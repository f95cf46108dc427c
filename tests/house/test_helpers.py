"""The list of the helper modules in ``tests/README.md`` is complete (CONTRIBUTING, "Habits")."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.house import ROOT
from tests.house.helpers import PAGE, TESTS, first_line, page

if TYPE_CHECKING:
    from pathlib import Path


def test_the_page_is_what_its_command_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `python -m tests.house.helpers`"


def test_the_page_names_each_helper_module() -> None:
    others = {"__init__.py", "conftest.py"}
    listed = page()
    for path in TESTS.rglob("*.py"):
        if path.name not in others and not path.name.startswith("test_"):
            assert f"| `{path.name}` | {first_line(path)} |" in listed, path
            assert first_line(path).endswith("."), path


# What `make check` leaves out.

TRIED = """
import os, subprocess, threading
import pytest

@pytest.fixture
def process():
    return subprocess.Popen(["true"])

def test_that_starts_one():
    subprocess.run(["true"])

def test_whose_fixture_starts_one(process):
    pass

def test_that_forks():
    os.fork()

def test_that_catches_it():
    try:
        os.fork()
    except BaseException:
        pass

@pytest.mark.filterwarnings("ignore")
def test_whose_thread_starts_one():
    codes = []
    thread = threading.Thread(target=lambda: codes.append(subprocess.run(["true"]).returncode))
    thread.start()
    thread.join()
    assert codes == [0]

def test_that_starts_none():
    pass
"""


def test_without_processes_a_test_that_starts_one_is_left_out(tmp_path: Path) -> None:
    """CONTRIBUTING: what `make check` runs is not listed anywhere."""
    (tmp_path / "conftest.py").write_text(
        "from tests.no_processes import forbid_processes as pytest_configure\n"
    )
    (tmp_path / "test_tried.py").write_text(TRIED)
    printed = _run_pytest("-q", f"--rootdir={tmp_path}", str(tmp_path))
    assert "1 passed, 5 skipped" in printed, printed


def test_without_processes_no_test_fails_for_a_process_that_its_server_starts() -> None:
    """CONTRIBUTING, "make check": a server of the test makes documents in other processes."""
    files = ("documents/test_templates.py", "readers_pages/test_documents.py")
    printed = _run_pytest("-q", "--no-processes", *(f"tests/{name}" for name in files))
    assert re.search(r"^\d+ passed, \d+ skipped", printed, re.MULTILINE), printed


def _run_pytest(*arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "pytest", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    ).stdout
