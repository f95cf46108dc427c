"""A command does the same in a process of its own, in a fork, and in the process of the tests."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import forks
from tests.commands import run_here
from tests.servers import environment, outcome, run, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Ways = tuple[Callable[..., subprocess.CompletedProcess[str]], ...]

# No fork is given for it, since it is not the command that tests give.
STARTED = [sys.executable, "-u", "-m", "masthead"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["--version"], 0),
        (["accounts", "add", "1", "--company-name", "Sälzer \udce9"], 2),
        (["accounts", "show", "1"], 1),
        (["accounts", "show", "one"], 2),
        (["serve", "--host", "nowhere.invalid"], 2),
    ],
)
def test_each_way_to_run_a_command_prints_and_ends_as_a_process_that_was_started(
    tmp_path: Path, arguments: Sequence[str], status: int
) -> None:
    ends = set()
    ways: Ways = (partial(run, command=STARTED), run, outcome)
    for number, way in enumerate(ways):
        database = f"sqlite:///{tmp_path}/{number}.db"
        done = way(*arguments, database=database)
        printed = done.stderr.replace(database, "")
        ends.add((done.returncode, done.stdout, printed))
    assert {end[0] for end in ends} == {status}
    assert len(ends) == 1


def test_a_command_in_the_process_of_the_tests_leaves_it_as_it_was(tmp_path: Path) -> None:
    before = (dict(os.environ), sys.argv, sys.stdin, sys.stdout, sys.stderr, Path.cwd())
    database = f"sqlite:///{tmp_path}/one.db"
    assert outcome("accounts", "add", "1", database=database).returncode == 0
    assert outcome("accounts", "show", "2", database=database).returncode == 1
    assert (dict(os.environ), sys.argv, sys.stdin, sys.stdout, sys.stderr, Path.cwd()) == before


def test_a_command_is_a_process_of_its_own_where_the_tests_process_would_not_do() -> None:
    assert run_here(["serve", "--help"], environment("")) is None
    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(run_here, ["--version"], environment("")).result() is None

    async def run_in_a_loop() -> object:
        return run_here(["--version"], environment(""))

    assert asyncio.run(run_in_a_loop()) is None
    assert run_here(["--version"], environment("")) is not None


def test_another_locale_is_left_to_a_process_that_is_started() -> None:
    ours = environment("")
    with Path("/dev/null").open("r+b") as nothing:
        files = (nothing.fileno(),) * 3
        assert forks.start(["masthead", "--version"], {**ours, "LC_ALL": "nowhere"}, files) is None
        program = forks.start(["masthead", "--version"], ours, files)
        assert program
        assert program.wait(60) == 0


def test_a_process_that_ends_before_it_is_waited_for_has_its_status() -> None:
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(b"17\n-9\n")
    program = forks.Program(ours)
    assert (program.pid, program.poll(), program.wait()) == (17, -9, -9)


def test_a_fork_is_killed_like_any_process(tmp_path: Path) -> None:
    with serving(f"sqlite:///{tmp_path}/killed.db") as server:
        assert isinstance(server._process, forks.Program)
        assert Path(f"/proc/{server.process_id}/cmdline").exists()
        with pytest.raises(subprocess.TimeoutExpired):
            server._process.wait(0)
        server._process.kill()
        assert server._process.wait(60) == -signal.SIGKILL
        assert server._process.poll() == -signal.SIGKILL
