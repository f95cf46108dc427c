"""Opening files that somebody else has delivered: only regular files, never through a link.

The sender can put links into a folder: to another publisher's files, to Masthead's secrets. Each
open uses the descriptor of the folder and follows no link (rules, "Links in deliveries").
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from masthead.contract.printable import printable
from masthead.errors import BadInput

_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER_FLAGS = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0)
_KINDS = (
    (stat.S_ISLNK, "a symbolic link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def is_regular(path: Path) -> bool:
    """Return whether a path is that of a regular file and not of a link to one."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def check_regular(path: Path) -> None:
    """Raise BadInput for an existing file that cannot be loaded: a link, a device, a pipe."""
    _refuse(path, path.lstat(), path.parent.stat())


def check_name(path: Path) -> None:
    """Raise BadInput for a file whose name has control characters.

    The name appears in messages, in the record of loads and in the names of other files.
    """
    if (shown := printable(path.name)) != path.name:
        raise BadInput(f"{path.parent / shown}: its name has control characters: rename the file")


@contextmanager
def open_regular(path: Path) -> Iterator[IO[bytes]]:
    """Open a file for reading, and close it after the block.

    Raises BadInput for a symbolic link, a device, a pipe, and a hard link to a file that the
    owner of the folder does not own; OSError as :func:`open` does.
    """
    folder = os.open(path.parent, _FOLDER_FLAGS)
    try:
        _refuse(path, os.stat(path.name, dir_fd=folder, follow_symlinks=False), os.fstat(folder))
        descriptor = os.open(path.name, _FLAGS, dir_fd=folder)
        with os.fdopen(descriptor, "rb") as file:
            # The file may have been replaced since the check above.
            _refuse(path, os.fstat(descriptor), os.fstat(folder))
            yield file
    finally:
        os.close(folder)


def _refuse(path: Path, found: os.stat_result, folder: os.stat_result) -> None:
    """Raise BadInput unless ``found`` is a regular file of the folder."""
    if not stat.S_ISREG(found.st_mode):
        what = next((what for is_kind, what in _KINDS if is_kind(found.st_mode)), "a device")
        raise BadInput(
            f"{path}: is {what}, and only regular files are read: put the file itself there"
        )
    if found.st_nlink > 1 and found.st_uid != folder.st_uid:
        raise BadInput(
            f"{path}: is a hard link to a file whose owner is not that of the folder: put a copy "
            "of the file there"
        )
