"""A forked process behaves like a started one: what it prints, and how it ends."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import forks
from tests.servers import MASTHEAD, environment, run, serving

if TYPE_CHECKING:
    from collections.abc import Sequence

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
def test_a_fork_prints_and_ends_as_a_process_that_was_started(
    tmp_path: Path, arguments: Sequence[str], status: int
) -> None:
    ends = []
    for command in (MASTHEAD, STARTED):
        database = f"sqlite:///{tmp_path}/{len(command)}.db"
        done = run(*arguments, database=database, cwd=tmp_path, command=command)
        printed = done.stderr.replace(f"/{len(command)}.db", "")
        ends.append((done.returncode, done.stdout, printed))
    assert ends[0] == ends[1]
    assert ends[0][0] == status


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
