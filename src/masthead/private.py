"""Files and folders that their owner alone may read, whatever the umask says.

What Masthead writes holds personal data, and often stands where others can look (decisions, "Who
may read the files"). What exists already and is not replaced keeps its mode.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import IO

__all__ = ["make_file", "make_folder", "new_file"]

_FILE_MODE = 0o600
_FOLDER_MODE = 0o700


def make_file(path: Path) -> None:
    """Make an empty file where there is none; whoever then opens it says why it cannot be made.

    An existing file is not opened: to close it would end the locks that the process has on it.
    """
    with suppress(OSError):
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FILE_MODE))


def make_folder(path: Path) -> None:
    """Make a folder, and those that it is to stand in, where there is none. Raises OSError."""
    if not path.is_dir():
        make_folder(path.parent)
        path.mkdir(_FOLDER_MODE, exist_ok=True)


def new_file(path: Path, *, errors: str | None = None) -> IO[str]:
    """Open a new file for UTF-8 text in the place of any that is there. Raises OSError.

    Line ends are written as they come.
    """
    path.unlink(missing_ok=True)
    return open(path, "x", encoding="utf-8", errors=errors, newline="", opener=_open)


def _open(path: str, flags: int) -> int:
    return os.open(path, flags, _FILE_MODE)
