"""Runs commands in the process of the tests, which is three times as fast as in a fork of its own.

The command reads and prints through streams of its own, and sees the environment of a process of
its own. It exits as the program does. Only what belongs to a whole process is not tried this way:
for that, tests use ``servers.run``, ``cli.running`` or ``subprocess``.
"""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import threading
from typing import TYPE_CHECKING
from unittest.mock import patch

from masthead import cli

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_OF_A_PROCESS = {
    # Servers, which a signal ends, and which log.
    *("serve", "console", "readers", "emulator", "demo"),
    "mirror",  # logs
    *("backup", "restore"),  # lock the file against other processes
}
"""Commands that change the process they run in, or need to be another process than the test."""


def run_here(
    arguments: Sequence[str], environs: Mapping[str, str]
) -> subprocess.CompletedProcess[str] | None:
    """Run ``masthead`` with the arguments in that environment, without input.

    Return None where only a process of its own will do: for some commands, in other threads than
    the main one, and within an event loop.
    """
    if (
        not arguments
        or arguments[0] in _OF_A_PROCESS
        or threading.current_thread() is not threading.main_thread()
        or asyncio._get_running_loop() is not None
    ):
        return None
    command = ["masthead", *arguments]
    printed, errors = io.BytesIO(), io.BytesIO()
    with (
        patch.dict(os.environ, environs, clear=True),
        patch.object(sys, "argv", command),
        patch.object(sys, "stdin", _stream(io.BytesIO())),
        patch.object(sys, "stdout", _stream(printed)),
        patch.object(sys, "stderr", _stream(errors)),
    ):
        status = _exit_status()
        # The command has its own wrappers of the buffers, and closes these with them.
        texts = (printed.getvalue().decode(), errors.getvalue().decode())
    return subprocess.CompletedProcess(command, status, *texts)


def _stream(buffer: io.BytesIO) -> io.TextIOWrapper:
    return io.TextIOWrapper(buffer, encoding="utf-8", newline="\n", write_through=True)


def _exit_status() -> int:
    try:
        cli.main()
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
            return 1
        return int(end.code or 0)
    return 0
