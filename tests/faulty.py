"""Runs ``masthead`` over a disk that fails: ``python -m tests.faulty …``.

A layer between SQLite and the real files does what the environment asks for:

DISK_FAULTS  names a file that holds the names of operations and how they fail, such as
             ``write full`` or ``read ioerr``: at this moment, and for as long as it says so.
DISK_POWER   a number: nothing is on the disk before it was synced, and at the so-manieth
             sync (0: when the process ends) the power fails. Of what was written since the
             last sync of a file, some is on the disk then and some is not.
DISK_SEED    decides which.
"""

from __future__ import annotations

import atexit
import os
import random
from pathlib import Path
from typing import Any

import apsw

BELOW = "unix"
POWER_FAILED = 75
FAILURES = {
    "full": apsw.FullError("the disk is full"),
    "ioerr": apsw.IOError("the disk does not answer"),
    "readonly": apsw.CantOpenError("the disk is read-only"),
}


class FailingDisk(apsw.VFS):
    """Fails as the file of faults says at each moment."""

    def __init__(self, faults: Path) -> None:
        self.faults = faults
        super().__init__("failing", BELOW, makedefault=True)

    def check(self, operation: str) -> None:
        """Raise what the operation is to fail with now."""
        for line in self.faults.read_text().splitlines():
            failing, how = line.split()
            if failing == operation:
                raise FAILURES[how]

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        """Open a file."""
        if flags[0] & apsw.SQLITE_OPEN_READWRITE:
            self.check("open")
        return _FailingFile(self, name, flags)


class _FailingFile(apsw.VFSFile):
    def __init__(self, disk: FailingDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        super().__init__(BELOW, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:
        self._disk.check("read")
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:
        self._disk.check("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        self._disk.check("sync")
        super().xSync(flags)


class ForgetfulDisk(apsw.VFS):
    """Keeps what was written in memory until it is synced; forgets some of the rest."""

    def __init__(self, fails_at: int, seed: int) -> None:
        self._fails_at = fails_at
        self._random = random.Random(seed)
        self._syncs = 0
        self.files: dict[str, _Content] = {}
        super().__init__("forgetful", BELOW, makedefault=True)
        atexit.register(self.lose)

    def xOpen(self, name: Any, flags: list[int]) -> apsw.VFSFile:
        """Open a file; those without a name are temporary, and never synced."""
        path = name.filename() if isinstance(name, apsw.URIFilename) else name
        return _ForgetfulFile(self, path, name, flags) if path else apsw.VFSFile(BELOW, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        """Delete a file."""
        self.files.pop(filename, None)
        super().xDelete(filename, syncdir)

    def count_sync(self) -> None:
        """Let the power fail at the sync at which it is to."""
        self._syncs += 1
        if self._syncs == self._fails_at:
            self.lose()
            os._exit(POWER_FAILED)

    def lose(self) -> None:
        """Write some of what was not synced to the disk, as a disk may do in any order."""
        for path, content in self.files.items():
            if not Path(path).exists():
                continue
            some = [write for write in content.pending if self._random.random() < 0.5]
            self._random.shuffle(some)
            _put(path, some)


def _put(path: str, writes: list[tuple[int, bytes | None]]) -> None:
    """Write to the real file; without data it is truncated."""
    with Path(path).open("r+b") as file:
        for offset, data in writes:
            if data is None:
                file.truncate(offset)
            else:
                file.seek(offset)
                file.write(data)


class _Content:
    """The content of a file as programs see it, and the part that is not on the disk yet."""

    def __init__(self, path: str) -> None:
        self.bytes = bytearray(Path(path).read_bytes())
        self.pending: list[tuple[int, bytes | None]] = []


class _ForgetfulFile(apsw.VFSFile):
    def __init__(self, disk: ForgetfulDisk, path: str, name: Any, flags: list[int]) -> None:
        super().__init__(BELOW, name, flags)
        self._disk = disk
        self._path = path
        self._content = disk.files.setdefault(path, _Content(path))

    def xRead(self, amount: int, offset: int) -> bytes:
        return bytes(self._content.bytes[offset : offset + amount])

    def xWrite(self, data: Any, offset: int) -> None:
        written, there = bytes(data), self._content.bytes
        there.extend(bytes(max(0, offset - len(there))))
        there[offset : offset + len(written)] = written
        self._content.pending.append((offset, written))

    def xTruncate(self, newsize: int) -> None:
        del self._content.bytes[newsize:]
        self._content.pending.append((newsize, None))

    def xFileSize(self) -> int:
        return len(self._content.bytes)

    def xSync(self, flags: int) -> None:
        self._disk.count_sync()
        _put(self._path, self._content.pending)
        self._content.pending.clear()


def main() -> None:
    """Put the disk under SQLite, then run the command line."""
    disk: apsw.VFS
    if power := os.environ.get("DISK_POWER"):
        disk = ForgetfulDisk(int(power), int(os.environ.get("DISK_SEED", "0")))
    else:
        disk = FailingDisk(Path(os.environ["DISK_FAULTS"]))
    from masthead.cli import main as masthead_main  # noqa: PLC0415 - its databases are on the disk

    assert disk is not None
    masthead_main()


if __name__ == "__main__":
    main()
