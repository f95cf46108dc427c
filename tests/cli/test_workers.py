"""``masthead serve --workers``: how workers start, end, are replaced, and end with their parent."""

from __future__ import annotations

import os
import re
import signal
import socket
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.cli.running import address_of, children, is_running, lines_until, running, workers_of
from tests.long import ONLY_LONG, SHORT_ON_SQLITE
from tests.servers import STOP_SECONDS_MAX, as_server, run

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = SHORT_ON_SQLITE

UNSTARTABLE = [sys.executable, "-m", "tests.cli.unstartable"]
HEALTH = b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
POLL_S = 0.05
TURNS_MAX = round(60 / POLL_S)
NAMELESS = signal.SIGRTMIN + 6
"""A signal that Python has no name for."""


@pytest.fixture
def trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file that says what is wrong with a worker."""
    file = tmp_path / "trouble"
    monkeypatch.setenv("UNSTARTABLE", str(file))
    return file


def health(address: tuple[str, int]) -> bytes:
    """Return the start of an answer; nothing where the connection breaks."""
    with suppress(ConnectionResetError), socket.create_connection(address, 30) as client:
        client.sendall(HEALTH)
        return client.recv(15)
    return b""


def wait(seconds: float = POLL_S) -> None:
    """Let other processes go on."""
    signal.sigtimedwait([], seconds)


@pytest.mark.parametrize("what", ["key", "killed"])
def test_a_worker_that_cannot_start_ends_the_server_with_1(
    account: str, trouble: Path, what: str, tmp_path: Path
) -> None:
    """decisions, "Workers": a sentence, no second try, and it never says that it serves."""
    trouble.write_text(what)
    done = run(
        *("serve", "--port=0", "--workers=2"),
        database=as_server(account),
        cwd=tmp_path,
        command=UNSTARTABLE,
    )
    assert done.returncode == 1
    assert "a worker process could not start: its log says why\n" in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    if what == "key":
        assert "secret key" in done.stderr
        assert 1 <= done.stderr.count("this process cannot start") <= 2


@pytest.mark.parametrize("what", ["key", pytest.param("killed", marks=ONLY_LONG)])
def test_a_replacement_that_cannot_start_is_tried_again_until_it_can(
    account: str, trouble: Path, what: str
) -> None:
    """decisions, "Workers": after pauses that grow; the server never ends for that reason."""
    with running(
        *("serve", "--port=0", "--workers=2"), database=account, command=UNSTARTABLE
    ) as process:
        address = address_of(process)
        assert health(address) == b"HTTP/1.1 200 OK"
        trouble.write_text(what)
        for worker in workers_of(process.pid):
            os.kill(worker, signal.SIGKILL)
        again = "event='a worker could not start and is tried again'"
        failed = [line for line in lines_until(process, again, 4) if again in line]
        assert {line.rpartition("after_s=")[2] for line in failed} == {"1", "2"}
        trouble.unlink()
        lines_until(process, "event='server process started'", 2)
        assert health(address) == b"HTTP/1.1 200 OK"
        assert len(workers_of(process.pid)) == 2
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0


@ONLY_LONG
def test_a_sighup_while_workers_start_waits_until_they_have(account: str) -> None:
    """rules, "SIGHUP": the first worker may respond already."""
    with running("serve", "--port=0", "--workers=2", database=account) as process:
        for _ in range(TURNS_MAX):
            if workers_of(process.pid):
                break
            wait()
        os.kill(process.pid, signal.SIGHUP)
        lines = lines_until(process, "event='all workers are replaced' workers=2")
        assert any("Masthead serves on" in line for line in lines)
        assert len(workers_of(process.pid)) == 2
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0


@pytest.mark.parametrize(
    ("number", "ended_by"),
    [
        (signal.SIGKILL, "SIGKILL"),
        (signal.SIGTERM, "SIGTERM"),
        (NAMELESS, f"signal {NAMELESS}"),
    ],
)
def test_a_worker_that_dies_is_replaced_and_the_log_says_so(
    account: str, number: int, ended_by: str
) -> None:
    """decisions, "Workers": for any cause of its end."""
    with running("serve", "--port=0", "--workers=2", database=account) as process:
        address = address_of(process)
        before = workers_of(process.pid)
        assert len(before) == 2
        old = max(before)
        os.kill(old, number)
        (died,) = lines_until(process, "event='a worker died and is replaced'")[-1:]
        assert f"process_id={old} ended_by='{ended_by}' replaced_by=" in died
        new = died.rpartition("=")[2]
        lines_until(process, f"event='server process started' process_id={new} version=")
        assert workers_of(process.pid) == {min(before), int(new)}
        assert health(address) == b"HTTP/1.1 200 OK"
        process.terminate()
        assert process.wait(STOP_SECONDS_MAX) == 0
        assert process.stdout is not None
        log = process.stdout.read()
    assert {min(before), int(new)} == {
        int(found) for found in re.findall(r"event='server process ended' process_id=(\d+)", log)
    }


def test_nothing_is_left_of_a_server_whose_parent_is_killed(account: str) -> None:
    """decisions, "Workers": neither a worker, which would keep the port, nor a helper."""
    with running("serve", "--port=0", "--workers=2", database=account) as process:
        address = address_of(process)
        assert health(address) == b"HTTP/1.1 200 OK"
        others = children(process.pid)
        assert len(others) >= 2
        process.kill()
        process.wait()
        for _ in range(TURNS_MAX):
            if not any(map(is_running, others)):
                break
            wait()
        assert not [one for one in others if is_running(one)]
        with socket.create_server(address):
            pass
        assert process.stdout is not None
        assert process.stdout.read().count("the parent process is gone: this worker ends") == 2


def test_a_server_without_workers_that_cannot_start_ends_with_1(
    account: str, trouble: Path, tmp_path: Path
) -> None:
    """decisions, "Workers"."""
    trouble.write_text("key")
    done = run("serve", "--port=0", database=as_server(account), cwd=tmp_path, command=UNSTARTABLE)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "this process cannot start" in done.stderr
    assert "secret key" in done.stderr
    assert "the server could not start: its log says why\n" in done.stderr
    assert "Traceback" not in done.stderr
