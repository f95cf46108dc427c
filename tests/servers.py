"""Runs the real program: its commands, and its server in its own process.

Nothing of Masthead is imported here. A test that uses this module sees what an operator sees:
a command line, an exit status, and a server that answers on a socket. What would be a new process
is one that tests/forks.py forks, where that is the same but for the seconds that Python imports.
"""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote, urlsplit

import apsw
import httpx2

from tests import commands, forks
from tests.postgres import name_of, unique

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tests.postgres import Databases

START_SECONDS_MAX = 180
STOP_SECONDS_MAX = 90
COMMAND_SECONDS_MAX = 300

# What a PostgreSQL database needs; tests/conftest.py sets it.
SECRET_KEY = "MASTHEAD_SECRET_KEY"

# `make prove-asgi` sets it for all servers.
ASGI_ONLY = "MASTHEAD_ASGI_ONLY"

# What a server may print: its first words, and lines of its log in either form.
LOG_LINE = re.compile(
    r"timestamp='|\{\"timestamp\":|Masthead serves on |metrics for Prometheus on |warning: "
)

KEPT = httpx2.Limits(keepalive_expiry=2)
"""The connections of a client that a test keeps. A server closes one that is idle for 5 seconds, as
long as httpx2 keeps it by default: a request that was sent just then got no response."""

ROOT = Path(__file__).parents[1]
MASTHEAD = [sys.executable, "-m", "masthead"]
AS_INSTALLED = "masthead.__main__"
"""The module of a server that is no fork: a new process, with the limits of production."""

SERVES = re.compile(r"Masthead serves on (http://\S+)")


Process = forks.Program | subprocess.Popen[bytes]
"""A program that was started."""


class CommandFailedError(AssertionError):
    """A command of Masthead ended otherwise than the test expected."""


@dataclass(frozen=True)
class Store:
    """A kind of database that Masthead keeps its data in, and where to make new ones."""

    kind: str
    folder: Path
    # The server on which databases of the kind "postgresql" are made; None for other kinds.
    postgres: Databases | None = None

    def new_database(self, name: str) -> str:
        """Return the URL of a new database without accounts; a file does not even exist yet."""
        if self.postgres is None:
            return self.empty_database(name)
        return self.postgres.url(self.postgres.new_migrated(unique(name)))

    def empty_database(self, name: str) -> str:
        """Return the URL of a new database without tables; a file does not even exist yet."""
        database = unique(name)
        if self.postgres is None:
            return f"sqlite:///{self.folder / database}.db"
        self.postgres.create(database)
        return self.postgres.url(database)

    def copy_database(self, url: str, name: str) -> str:
        """Return the URL of a new database that is the same as the one at ``url``.

        PostgreSQL copies only a database without sessions: there, the sessions of the original end.
        """
        if self.postgres is None:
            copied = self.new_database(name)
            _copy_file(_path(url), _path(copied))
            return copied
        return self.postgres.url(self.postgres.new_copy(name_of(url), unique(name)))

    def drop_database(self, url: str) -> None:
        """Remove a database that is no longer used."""
        if self.postgres is not None:
            self.postgres.drop(name_of(url))
            return
        for ending in ("", "-wal", "-shm", "-logins", "-logins-wal", "-logins-shm"):
            Path(_path(url) + ending).unlink(missing_ok=True)
        path = Path(_path(url))
        for lock in path.parent.glob(f"{path.name}-load-*"):
            lock.unlink()


def _copy_file(original: str, copied: str) -> None:
    with (
        closing(apsw.Connection(original, flags=apsw.SQLITE_OPEN_READONLY)) as source,
        closing(apsw.Connection(copied)) as target,
        target.backup("main", source, "main") as backup,
    ):
        backup.step()


def as_server(url: str) -> str:
    """Return the URL of a PostgreSQL database for the role of its servers; else what was given.

    A password stays in it, but is not needed.
    """
    return _as_role(url, "server")


def as_readers(url: str) -> str:
    """Return the URL of a PostgreSQL database for the role of the readers' pages; see above."""
    return _as_role(url, "readers")


def _as_role(url: str, ending: str) -> str:
    if not url.startswith("postgresql://"):
        return url
    user, _, place = urlsplit(url).netloc.rpartition("@")
    _, colon, password = user.partition(":")
    role = quote(f"{name_of(url)}_{ending}", safe="")
    return urlsplit(url)._replace(netloc=f"{role}{colon}{password}@{place}").geturl()


def _path(url: str) -> str:
    return url.removeprefix("sqlite:///")


def environment(database: str) -> dict[str, str]:
    """Return this process's environment with that database, its key, and no other setting."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MASTHEAD_") or name == ASGI_ONLY
    }
    ours = {
        "MASTHEAD_DATABASE": database,
        "PYTHONUNBUFFERED": "1",
        # Programs of the tests, and the Masthead beside them, from every working directory.
        "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}",
        # What is left to the garbage collector to close is an error.
        "PYTHONWARNINGS": "error::ResourceWarning",
    }
    if SECRET_KEY in os.environ:
        ours[SECRET_KEY] = os.environ[SECRET_KEY]
    return {**kept, **ours}


def run(
    *arguments: object,
    database: str,
    settings: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    command: Sequence[str] = MASTHEAD,
    typed: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run a command in a process of its own to its end.

    It runs in a folder, if one is given, with settings in its environment.
    ``typed`` is what it reads from its standard input.
    """
    whole = [*command, *map(str, arguments)]
    environs = {**environment(database), **(settings or {})}
    if done := _run_fork(whole, environs, cwd, typed):
        return done
    return subprocess.run(
        whole,
        env=environs,
        cwd=cwd,
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )


def _has_fork(command: Sequence[str]) -> bool:
    return [*command[:2]] == MASTHEAD[:2] and command[2] in forks.MODULES


def _run_fork(
    command: list[str], environs: Mapping[str, str], cwd: Path | None, typed: str
) -> subprocess.CompletedProcess[str] | None:
    """Return what a fork did, or None if none can stand for the command."""
    if not _has_fork(command):
        return None
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8") as given,
        tempfile.TemporaryFile("w+", encoding="utf-8") as printed,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
    ):
        given.write(typed)
        given.seek(0)
        files = [file.fileno() for file in (given, printed, errors)]
        program = forks.start(command[2:], environs, files, cwd)
        if program is None:
            return None
        try:
            status = program.wait(COMMAND_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            program.kill()
            program.wait()
            raise
        printed.seek(0)
        errors.seek(0)
        return subprocess.CompletedProcess(command, status, printed.read(), errors.read())


def outcome(*arguments: object, database: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in this process where that is the same (tests/commands.py)."""
    words = [*map(str, arguments)]
    done = commands.run_here(words, environment(database))
    return done or run(*words, database=database)


def masthead(
    *arguments: object, database: str, exit_status: int = 0, module: str = "masthead"
) -> subprocess.CompletedProcess[str]:
    """Run ``masthead`` with the arguments; raise CommandFailedError on any other exit status.

    Another module than ``masthead`` runs in a process of its own.
    """
    if module == "masthead":
        done = outcome(*arguments, database=database)
    else:
        done = run(*arguments, database=database, command=[sys.executable, "-m", module])
    if done.returncode != exit_status:
        message = (
            f"masthead {' '.join(map(str, arguments))} ended with {done.returncode}, "
            f"not {exit_status}:\n{done.stdout}{done.stderr}"
        )
        raise CommandFailedError(message)
    assert "Exception ignored in" not in done.stderr, done.stderr
    return done


def import_files(*paths: Path, account_id: str | None, database: str) -> str:
    """Load the files into the account (None for a file of accounts); return what was printed."""
    account = () if account_id is None else ("--account", account_id)
    return masthead("import", *paths, *account, database=database).stdout


def write_ndjson(folder: Path, files: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[Path]:
    """Write each named list of records as an import file; return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, records in files.items():
        path = folder / f"{name}.ndjson"
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
        path.write_text("".join(lines), encoding="utf-8", newline="\n")
        paths.append(path)
    return paths


class Server:
    """A running ``masthead serve``: where it answers, and what it has printed so far."""

    def __init__(self, database: str, *options: str, module: str = "masthead") -> None:
        """Start it on a free port of loopback and wait until it says that it serves."""
        self._lines: list[str] = []
        self._printed: queue.Queue[str | None] = queue.Queue()
        self._process, self._stream = start(
            [sys.executable, "-m", module, "serve", "--port", "0", *map(as_server, options)],
            environment(as_server(database)),
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        try:
            self.url = self._wait_for_url()
        except BaseException:
            self.stop()
            raise

    @property
    def address(self) -> tuple[str, int]:
        """Host and port, for a raw socket."""
        host, port = self.url.removeprefix("http://").rsplit(":", 1)
        return host, int(port)

    @property
    def process_id(self) -> int:
        """The id of the process that was started."""
        return self._process.pid

    def output(self) -> str:
        """Return all that the server has printed, on either stream."""
        return "".join(self._lines)

    def stop(self) -> int:
        """End the process by its id with SIGTERM, wait for it, and return its exit status.

        All its output must be lines of a log: no traceback, no warning.
        """
        if self._process.poll() is None:
            self._process.terminate()
        try:
            status = self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self._reader.join(STOP_SECONDS_MAX)
        others = [line for line in self._lines if not LOG_LINE.match(line)]
        assert not others, f"what the server printed is no line of a log: {others}"
        return status

    def _read(self) -> None:
        with self._stream as stream:
            for line in stream:
                self._lines.append(line)
                self._printed.put(line)
        self._printed.put(None)

    def _wait_for_url(self) -> str:
        while True:
            try:
                line = self._printed.get(timeout=START_SECONDS_MAX)
            except queue.Empty:
                line = None
            if line is None:
                message = f"masthead serve never said where it serves:\n{self.output()}"
                raise CommandFailedError(message)
            if found := SERVES.search(line):
                return found[1].rstrip("/")


def start(
    command: Sequence[str], environs: Mapping[str, str], stderr: int | None = None
) -> tuple[Process, TextIO]:
    """Start a command; return it, and the stream of what it prints.

    Its errors are in the stream, too, unless a file descriptor is given for them.
    """
    ours, theirs = os.pipe()
    stream = os.fdopen(ours, encoding="utf-8")
    try:
        with Path(os.devnull).open("rb") as nothing:
            errors = theirs if stderr is None else stderr
            if _has_fork(command):
                files = [nothing.fileno(), theirs, errors]
                if program := forks.start(command[2:], environs, files):
                    return program, stream
            return (
                subprocess.Popen(
                    command, env=environs, stdin=nothing, stdout=theirs, stderr=errors
                ),
                stream,
            )
    except BaseException:
        stream.close()
        raise
    finally:
        os.close(theirs)


@contextmanager
def serving(database: str, *options: str, module: str = "masthead") -> Iterator[Server]:
    """Serve the database on a free port of loopback for as long as the block lasts."""
    server = Server(database, *options, module=module)
    try:
        yield server
    finally:
        server.stop()
