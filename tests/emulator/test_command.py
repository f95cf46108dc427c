"""``masthead emulator``: its start, what it prints, its end, and what it leaves."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import httpx2
import pytest

from masthead import temporary as temporary_folders
from masthead.emulator import MastheadServer, serving
from tests.servers import STOP_SECONDS_MAX, environment

if TYPE_CHECKING:
    from collections.abc import Iterator

FREE_PORTS = ("--port", "0", "--control-port", "0")


@contextmanager
def started(*options: str, tmp: Path) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """Start the command; yield the process and the lines that it printed until it serves."""
    kept = {**environment("sqlite:///never.db"), "TMPDIR": str(tmp)}
    with (
        (tmp / "errors").open("w") as errors,
        subprocess.Popen(
            [sys.executable, "-m", "masthead", "emulator", *FREE_PORTS, *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=kept,
            cwd=tmp,
        ) as process,
    ):
        assert process.stdout
        lines = []
        try:
            for line in process.stdout:
                lines.append(line.strip())
                if line.startswith("Masthead serves on"):
                    break
            yield process, lines
        finally:
            process.terminate()


def folder_of(process_id: int) -> Path:
    """Return the folder of the database that a process has open."""
    opened = []
    for link in Path(f"/proc/{process_id}/fd").iterdir():
        with suppress(FileNotFoundError):  # a connection that has ended meanwhile
            opened.append(link.readlink())
    (found,) = {path.parent for path in opened if path.name == "publisher.db"}
    return found


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_nothing_stays(tmp_path: Path, number: signal.Signals) -> None:
    """decisions, "The emulator": its data are gone when it ends."""
    with started(tmp=tmp_path) as (process, lines):
        assert lines[0] == "api_key: emulator-key   api_login: emulator-login"
        url = lines[-1].rpartition(" ")[2]
        answer = httpx2.get(f"{url}/2/accounts/", auth=("emulator-key", "emulator-login"))
        assert answer.json()["accounts"][0]["account_id"] == "1"
        folder = folder_of(process.pid)
        process.send_signal(number)
        assert process.wait(STOP_SECONDS_MAX) == 0
    assert not folder.exists()
    assert not (tmp_path / "never.db").exists()
    assert "Traceback" not in (tmp_path / "errors").read_text()


def test_it_ends_with_its_input_only_if_it_is_told_to(tmp_path: Path) -> None:
    with started("--end-with-input", tmp=tmp_path) as (process, _):
        assert process.stdin
        process.stdin.close()
        assert process.wait(STOP_SECONDS_MAX) == 0
    with started(tmp=tmp_path) as (process, lines):
        assert process.stdin
        process.stdin.close()
        url = lines[-1].rpartition(" ")[2]
        assert httpx2.get(f"{url}/health").status_code == 200
        assert process.poll() is None


def test_it_warns_of_a_control_port_that_others_reach(tmp_path: Path) -> None:
    """rules, "The control port"."""
    with started("--control-host", "0.0.0.0", tmp=tmp_path) as (_, lines):
        (url,) = (found[1] for line in lines if (found := re.search("port is (.*)", line)))
        port = url.rpartition(":")[2]
        at = f"http://127.0.0.1:{port}/clock"
        assert httpx2.get(at, headers={"Host": "emulator:8001"}).status_code == 200
        assert httpx2.get(at, headers={"Origin": "https://pages.example"}).status_code == 403
    warned = (tmp_path / "errors").read_text()
    assert "warning: all who can reach the control port can change this" in warned
    with started(tmp=tmp_path):
        pass
    assert "warning" not in (tmp_path / "errors").read_text()


def test_a_port_that_is_taken_is_named_with_its_flag(tmp_path: Path) -> None:
    with started(tmp=tmp_path) as (_, lines):
        port = lines[1].rpartition(":")[2]
        done = subprocess.run(
            [sys.executable, "-m", "masthead", "emulator", "--port=0", f"--control-port={port}"],
            env=environment(""),
            capture_output=True,
            text=True,
            timeout=STOP_SECONDS_MAX,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.strip().endswith("Choose another port; --control-port sets it")


@pytest.mark.parametrize("is_in_memory", [True, False])
def test_what_a_killed_one_leaves_the_next_one_removes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_in_memory: bool
) -> None:
    """decisions, "The emulator"."""
    other = tmp_path / "other"
    other.mkdir()
    memory, temporary = (tmp_path, other) if is_in_memory else (other, tmp_path)
    monkeypatch.setattr(temporary_folders, "MEMORY", memory)
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    program = (
        "import pathlib\n"
        "from masthead import temporary\n"
        "from masthead.emulator import serving\n"
        f"temporary.MEMORY = pathlib.Path({str(tmp_path)!r})\n"
        "with serving._folder(None) as folder:\n"
        "    print(folder, flush=True)\n"
        "    input()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        left = Path(process.stdout.readline().strip())
        with serving._folder(None):
            assert left.exists()
        process.kill()
    assert left.parent == tmp_path
    foreign = tmp_path / "masthead-emulator-of-somebody"
    foreign.mkdir()
    with serving._folder(None) as first:
        assert not left.exists()
        with serving._folder(None):
            assert first.exists()
    assert foreign.exists()  # It has no lock, so it may be about to get one.


def test_a_child_that_holds_its_input_does_not_keep_it() -> None:
    """As one does that a test forks meanwhile."""
    with MastheadServer() as server:
        folder = folder_of(server._process.pid)
        assert server._process.stdin
        held = server._process.stdin.fileno()
        with subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=[held]):
            server.close()
    assert server._process.returncode == 0
    assert not folder.exists()


def test_an_interrupt_at_the_terminal_is_not_for_it() -> None:
    """The tests end first, and need it until then."""
    with MastheadServer() as server:
        assert os.getpgid(server._process.pid) != os.getpgid(0)


def test_a_slow_response_does_not_hold_up_its_end() -> None:
    with MastheadServer() as server:
        server.add("subscribers", *({"subscriber_id": n} for n in range(1, 200)))
        server.faults.slow(bytes_per_second=1)
        auth = server.credentials
        with httpx2.stream("GET", f"{server.base_url}/2/subscribers/", auth=auth) as response:
            assert next(response.iter_raw())
            server.close()
        assert server._process.returncode == 0


@pytest.mark.parametrize("has_room", [True, False])
def test_its_folder_is_in_memory_where_there_is_room(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, has_room: bool
) -> None:
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(temporary_folders, "MEMORY", memory)
    if not has_room:
        monkeypatch.setattr(serving, "_FREE_BYTES_MIN", 2**62)
    with serving._folder(None) as folder:
        assert (folder.parent == memory) is has_room
    assert not folder.exists()
