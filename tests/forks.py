"""Starts commands and servers by a fork of a process that has imported Masthead.

The tests start it some thousands of times, each time as a process of its own with its own
arguments, environment, output and end. Most of what such a start costs is Python that imports
modules. A process that has done this, and nothing else, forks for each start instead, and the
fork goes on as ``python -m masthead`` does. Only what a program imports at its start is not tried
so, and what it leaves for the end of Python to take apart: that do the tests that start one with
``subprocess``. A fork also waits longer for a database that is late (tests/patience.py).

``python -m tests.forks N`` is that process; N is the number of a socket, from which it takes what
it has to start until the other end is closed.
"""

from __future__ import annotations

import atexit
import gc
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tests import patience, statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MODULES = {"masthead", "tests.faulty"}
"""What a fork can be: what does not mind that Masthead has been imported."""

# What Python or the C library reads as a process starts.
READ_AT_THE_START = ("PYTHON", "LC_", "LANG", "TZ", "LD_", "MALLOC_")
# What commands import as they run, beside their own modules: each fork would do it again.
IMPORTED_LATER = (
    *("masthead.store.postgresql", "masthead.databases.postgresql.loop_pool"),
    *("psycopg", "psycopg_pool", "cryptography.hazmat.primitives.ciphers.aead"),
    *("uvicorn.main", "uvloop", "httptools", "httpcore2", "h11", "h2.connection"),
    *("importlib.resources.readers", "encodings.utf_8_sig", "encodings.idna", "click._textwrap"),
)
END_SECONDS_MAX = 180


class Program:
    """A process that was forked; its methods are those of ``subprocess.Popen``."""

    def __init__(self, channel: socket.socket) -> None:
        """Wait until it has its process id."""
        self._channel = channel
        self._lock = threading.Lock()
        self._said = b""
        self.returncode: int | None = None
        while b"\n" not in self._said:
            self._said += self._received()
        first, _, self._said = self._said.partition(b"\n")
        self.pid = int(first)

    def poll(self) -> int | None:
        """Return its exit status, negative if a signal ended it, or None as long as it runs."""
        with suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends, and return its exit status as ``poll`` does."""
        with self._lock:
            if self.returncode is not None:
                return self.returncode
            self._channel.settimeout(timeout)
            while b"\n" not in self._said:
                try:
                    self._said += self._received()
                except (TimeoutError, BlockingIOError) as error:
                    raise subprocess.TimeoutExpired("masthead", timeout or 0) from error
            self.returncode = int(self._said)
            self._channel.close()
            return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send it SIGTERM, unless it has ended."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send it SIGKILL, unless it has ended."""
        self.send_signal(signal.SIGKILL)

    def _received(self) -> bytes:
        said = self._channel.recv(64)
        assert said, "the process that forks has ended"
        return said


class _Origin:
    """The process that forks, as those see it who want a fork."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._lock = threading.Lock()
        self._ours, theirs = socket.socketpair()
        self._environment = _of_the_start(environment)
        try:
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.forks", str(theirs.fileno())],
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                )
        except BaseException:
            self._ours.close()
            raise

    def can_start(self, environment: Mapping[str, str]) -> bool:
        """Whether a fork is what a new process in that environment would be."""
        return _of_the_start(environment) == self._environment

    def start(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        files: Sequence[int],
        folder: Path | None,
    ) -> Program:
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            socket.send_fds(self._ours, [b"."], [*files, theirs.fileno()])
        try:
            wanted = {"arguments": arguments, "environment": dict(environment)}
            whole = json.dumps({**wanted, "folder": str(folder or Path.cwd())})
            ours.sendall(f"{whole}\n".encode())
            return Program(ours)
        except BaseException:
            ours.close()
            raise

    def close(self) -> None:
        self._ours.close()
        try:
            self._process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise


_origins: list[_Origin] = []
_starting = threading.Lock()
_usual: dict[str, str] = {}


def start(
    arguments: Sequence[str],
    environment: Mapping[str, str],
    files: Sequence[int],
    folder: Path | None = None,
) -> Program | None:
    """Start one of the modules with arguments, and three files for its input, output and errors.

    Return None where only a new process will do: one that reads another locale, say. Elsewhere than
    on Linux all of them are new.
    """
    if not hasattr(os, "pidfd_open"):
        return None
    with _starting:
        if not _origins:
            _origins.append(_Origin(_usual or environment))
            atexit.register(close)
    if not _origins[0].can_start(environment):
        return None
    return _origins[0].start(arguments, environment, files, folder)


def expect(environment: Mapping[str, str]) -> None:
    """Fork from a process that the first caller starts in this environment."""
    _usual.update(environment)


def close() -> None:
    """End the process that forks, once all that it has started has ended."""
    while _origins:
        _origins.pop().close()


def _of_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value for name, value in environment.items() if name.startswith(READ_AT_THE_START)
    }


def _fork_until_the_end(control: socket.socket) -> None:
    """Fork for each who asks, and tell them how their process ends; return only in a fork."""
    folder = import_module("masthead.cli").__path__
    commands = [f"masthead.cli.{module.name}" for module in pkgutil.iter_modules(folder)]
    for name in (*commands, *IMPORTED_LATER):
        with suppress(ImportError):  # the fork that misses it says so
            import_module(name)
    statements.record()
    gc.collect()
    gc.freeze()  # what a fork never collects, it never copies
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for pytest and for what it started
    waiting = selectors.DefaultSelector()
    waiting.register(control, selectors.EVENT_READ)
    while waiting.get_map():
        for key, _ in waiting.select():
            if key.data:
                waiting.unregister(key.fileobj)
                _tell_the_end(key.fd, *key.data)
                continue
            _, found, _, _ = socket.recv_fds(control, 1, 4)
            if not found:
                waiting.unregister(control)
                continue
            process = os.fork()
            if process == 0:
                for other in waiting.get_map().values():
                    if other.data:
                        other.data[1].detach()  # closed with all files of this process
                waiting.close()
                _become(found)
                return
            waiting.register(os.pidfd_open(process), selectors.EVENT_READ, _forked(process, found))
    sys.exit()


def _forked(process: int, found: Sequence[int]) -> tuple[int, socket.socket]:
    """Tell who asked for it the id of a process; return it, and the way to tell them its end."""
    *files, number = found
    for file in files:
        os.close(file)
    channel = socket.socket(fileno=number)
    with suppress(OSError):
        channel.sendall(f"{process}\n".encode())
    return process, channel


def _tell_the_end(file: int, process: int, channel: socket.socket) -> None:
    os.close(file)
    _, status = os.waitpid(process, 0)
    with channel, suppress(OSError):
        channel.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(found: Sequence[int]) -> None:
    """Let this process be as a new one with those files, and with what the last of them says."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    *files, number = found
    with socket.socket(fileno=number) as channel, channel.makefile("r", encoding="utf-8") as lines:
        wanted = json.loads(lines.readline())
    for place, file in enumerate(files):
        os.dup2(file, place)
    # As Python makes them where PYTHONUNBUFFERED is set.
    sys.stdin = os.fdopen(0, encoding=sys.stdin.encoding, closefd=False)
    for place, name in ((1, "stdout"), (2, "stderr")):
        made, raw = getattr(sys, name), os.fdopen(place, "wb", buffering=0, closefd=False)
        new = io.TextIOWrapper(
            cast("io.BufferedWriter", raw), made.encoding, made.errors, "\n", write_through=True
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    os.closerange(3, max(int(file.name) for file in Path("/proc/self/fd").iterdir()) + 1)
    os.environ.clear()
    os.environ.update(wanted["environment"])
    os.chdir(wanted["folder"])
    tempfile.tempdir = None
    sys.argv = wanted["arguments"]


def _go_on() -> None:
    """Be ``python -m masthead``, or another of the modules, to its end.

    But for one thing that Python does then: it takes all modules apart, which costs a fork two
    thirds of its time, since it has to copy each page that it touches.
    """
    status: object = 0
    patience.be_patient()
    try:
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        status = end.code or 0
    if not isinstance(status, int) or threading.active_count() > 1:
        sys.exit(status)  # type: ignore[arg-type]  # any exit status
    atexit._run_exitfuncs()
    gc.collect()  # who has left something open says so
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status)


if __name__ == "__main__":
    _control = socket.socket(fileno=int(sys.argv[1]))
    _fork_until_the_end(_control)
    _control.detach()  # closed with all others
    _go_on()
