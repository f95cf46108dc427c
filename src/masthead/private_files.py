"""Files and folders that only their owner can read, whatever the umask, and fsync for both.

Masthead's files hold personal data (rules, "Who may read the files"). Existing files and
folders that are not replaced keep their mode.
"""

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700


def make_file(path: Path) -> None:
    """Create an empty file if there is none. Errors are left to the code that opens the file.

    An existing file is not opened: closing it would release the locks of this process on it.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE))


def make_folder(path: Path) -> None:
    """Create a folder and its parents if they do not exist. Raises OSError."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(_FOLDER_MODE, exist_ok=True)


def new_file(path: Path, *, encoding: str = "utf-8", errors: str | None = None) -> IO[str]:
    """Create a file for text, and replace an existing one. Raises OSError.

    Line ends are not translated.
    """
    path.unlink(missing_ok=True)
    return open(path, "x", encoding=encoding, errors=errors, newline="", opener=_open)


def share(path: Path, folder: Path) -> None:
    """Let all users who may read ``folder`` read the path; only its owner may write to it.

    Raises OSError.
    """
    mode = folder.stat().st_mode
    path.chmod(mode & (stat.S_ISGID | 0o755 if path.is_dir() else 0o644))


def sync(path: Path) -> None:
    """Flush a file or folder from the system's cache to the disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _open(path: str, flags: int) -> int:
    return os.open(path, flags, _FILE_MODE)
