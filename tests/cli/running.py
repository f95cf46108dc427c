"""Starts commands without waiting for their end, to signal or watch them."""

from __future__ import annotations

import shutil
import subprocess
import threading
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from tests.servers import MASTHEAD, STOP_SECONDS_MAX, as_server, environment, start

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import TextIO

    from tests.servers import Process, Store


class Running:
    """A command that goes on until it is told to end."""

    def __init__(self, process: Process, stdout: TextIO) -> None:
        """Take its process, and the stream of what it prints."""
        self.pid = process.pid
        self.wait = process.wait
        self.poll = process.poll
        self.terminate = process.terminate
        self.kill = process.kill
        self.stdout = stdout

    def end(self) -> None:
        """End it, and take what it still prints."""
        self.terminate()
        reading = threading.Thread(target=self.stdout.read, daemon=True)
        reading.start()
        try:
            self.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        finally:
            reading.join(STOP_SECONDS_MAX)
            self.stdout.close()


@contextmanager
def running(
    *arguments: object,
    database: str,
    settings: Mapping[str, str] | None = None,
    command: Sequence[str] = MASTHEAD,
    stderr: int | None = None,
) -> Iterator[Running]:
    """Run a command that goes on until it is told to end; ``stderr`` may be a file descriptor.

    A server logs in as the role of servers.
    """
    database = as_server(database) if arguments[0] == "serve" else database
    process = Running(
        *start(
            [*command, *map(str, arguments)],
            {**environment(database), **(settings or {})},
            stderr,
        )
    )
    try:
        yield process
    finally:
        process.end()


def begun(*arguments: object, database: str) -> subprocess.Popen[bytes]:
    """Begin a command, and do not wait for it."""
    command = [*MASTHEAD, *map(str, arguments)]
    return subprocess.Popen(command, env=environment(database), stdout=subprocess.DEVNULL)


def lines_until(process: Running | subprocess.Popen[str], wanted: str, count: int = 1) -> list[str]:
    """Read what a process prints until ``count`` lines hold ``wanted``; return all lines."""
    assert process.stdout is not None
    lines: list[str] = []
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        count -= wanted in line
        if count == 0:
            return lines
    raise AssertionError("\n".join(["ended too early:", *lines]))


def address_of(process: Running) -> tuple[str, int]:
    """Return where a server serves, once it has said so."""
    url = lines_until(process, "Masthead serves on")[-1].rpartition(" ")[2]
    host, _, port = url.rpartition("//")[2].rpartition(":")
    return host, int(port)


def children(process_id: int) -> set[int]:
    """Return the ids of the processes that a process has started and that have not ended."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            state, parent, *_ = (folder / "stat").read_text().rpartition(") ")[2].split()
            if int(parent) == process_id and state != "Z":
                found.add(int(folder.name))
    return found


def workers_of(process_id: int) -> set[int]:
    """Return the ids of a server's workers; its other child tracks resources."""
    found = set()
    for child in children(process_id):
        with suppress(OSError):
            if b"multiprocessing-fork" in Path(f"/proc/{child}/cmdline").read_bytes():
                found.add(child)
    return found


def is_running(process_id: int) -> bool:
    """Return whether a process has not ended."""
    try:
        return " Z " not in Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2][:3]
    except OSError:
        return False


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for loopback that signs itself; return its file and that of its key."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl, which makes a certificate")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 "
        "-keyout key.pem -out cert.pem -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder / "cert.pem", folder / "key.pem"


def holds_nothing(database: str) -> bool:
    """Return whether a new database is as it was: a file that is not there, or no table."""
    if database.startswith("sqlite:///"):
        return not Path(database.removeprefix("sqlite:///")).exists()
    with closing(psycopg.connect(database)) as connection:
        tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'"
        return connection.execute(tables).fetchone() == (0,)


def spoil(store: Store, database: str) -> None:
    """Make a database useless while it is served: its files hold rubbish, or it is dropped."""
    if store.kind == "postgresql":
        store.drop_database(database)
        return
    path = Path(database.removeprefix("sqlite:///"))
    # The shared index last: a reader in between would repair it from the other files.
    for ending in ("", "-wal", "-shm"):
        file = Path(f"{path}{ending}")
        with file.open("r+b") as spoilt:
            spoilt.write(b"\xaa" * file.stat().st_size)
