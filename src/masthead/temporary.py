"""Temporary folders that do not outlive their process, however it ends."""

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir

MEMORY = Path("/dev/shm")  # noqa: S108 - the folder inside is private
"""A file system in memory, where files are written fastest."""

_LOCK = "lock"


@contextmanager
def own_folder(prefix: str, *, needed: int) -> Iterator[Path]:
    """Yield a new folder for as long as the block lasts, in memory if ``needed`` bytes are free.

    Also removes folders with this prefix that killed processes have left: those that no process
    holds the lock of. Raises OSError if no folder can be created.
    """
    temporary = Path(gettempdir())
    for each in {MEMORY, temporary}:
        _remove_left(each, prefix)
    has_room = (
        MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= needed
    )
    with (
        TemporaryDirectory(prefix=prefix, dir=MEMORY if has_room else temporary) as folder,
        Path(folder, f"{_LOCK}.new").open("w") as lock,
    ):
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Named only when it is locked: other processes remove a folder whose lock is free.
        Path(lock.name).rename(Path(folder, _LOCK))
        yield Path(folder)


def _remove_left(parent: Path, prefix: str) -> None:
    """Remove this user's folders that ended processes have left."""
    with suppress(OSError):
        for folder in parent.glob(f"{prefix}*"):
            with suppress(OSError):
                if folder.lstat().st_uid == os.getuid() and _is_free(folder / _LOCK):
                    shutil.rmtree(folder)


def _is_free(lock: Path) -> bool:
    """Return whether no process holds the lock; raise OSError if there is no such file."""
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
