"""Who writes to a database, and what waiting commands report about it.

A writer waits for others without a limit, since loads can be large. After two seconds, a command
reports that it waits, and for whom (rules, "A command that waits says for whom").
"""

import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from masthead.contract.moments import format_second
from masthead.private_files import new_file

SILENT_S = 2.0


class Writer(NamedTuple):
    """A writing command: its user, its name, and its start (microseconds since 1970)."""

    user_name: str
    command: str
    since_us: int

    def __str__(self) -> str:
        """Return the writer as part of a sentence."""
        return f"`{self.command}` of {self.user_name} since {format_second(self.since_us)} UTC"


class Waiting:
    """A command that may have to wait: its name for others, and how it reports that it waits.

    It reports once, ``silent_s`` seconds after it began to wait. ``clock`` returns seconds.
    """

    def __init__(
        self,
        user_name: str,
        command: str,
        say: Callable[[str], object],
        *,
        silent_s: float = SILENT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.user_name = user_name
        self.command = command
        self.silent_s = silent_s
        self.clock = clock
        self.has_said = False
        self._say = say

    def say(self, whom: object | None) -> None:
        """Report for whom the command waits; None means unknown. Later calls do nothing."""
        if not self.has_said:
            self.has_said = True
            self._say(f"waiting for {whom or 'another program that writes to the database'}")


class _Note(NamedTuple):
    """What the file beside an embedded database says about its writer."""

    writer: Writer
    process_id: int


def write_note(path: Path, writer: Writer) -> str:
    """Write to a file who has the database's lock; return the file's text.

    If the file cannot be written, waiting commands cannot tell for whom they wait.
    """
    note = msgspec.json.encode(_Note(writer, os.getpid())).decode()
    with suppress(OSError), new_file(path) as file:
        file.write(note)
    return note


def read_note(path: Path) -> Writer | None:
    """Return the file's writer, or None if unknown, such as for the file of a killed writer."""
    try:
        note = msgspec.json.decode(path.read_bytes(), type=_Note)
    except (OSError, msgspec.DecodeError):
        return None
    try:
        os.kill(note.process_id, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # the process belongs to another user
    return note.writer


def remove_note(path: Path, note: str) -> None:
    """Remove the file unless the next writer has already replaced it."""
    with suppress(OSError):
        if path.read_text() == note:
            path.unlink()
