"""The files of the templates: those that come with Masthead, and a publisher's copy of them."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from masthead.errors import BadInput
from masthead.private_files import make_folder

SHIPPED = Path(__file__).parent / "templates"
"""The folder of the templates that come with Masthead."""

_FILES_MAX = 500
_BYTES_MAX = 64 << 20


def copy_templates(own: Path | None, folder: Path) -> None:
    """Make ``folder`` with the templates that come with Masthead, and a publisher's over them.

    Raises BadInput if the publisher's folder does not exist, cannot be read, or is too large.
    """
    shutil.copytree(SHIPPED, folder, ignore=shutil.ignore_patterns("__pycache__"))
    if own is None:
        return
    try:
        for path in _files(own):
            target = folder / path.relative_to(own)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    except OSError as error:
        raise BadInput(f"the templates in {own} cannot be read: {error.strerror}") from error


def export_templates(folder: Path) -> list[str]:
    """Copy the templates into a folder, and return the names of the files, sorted.

    Raises BadInput if the folder has one of the files already, or cannot be written.
    """
    names = sorted(path.name for path in SHIPPED.iterdir() if path.is_file())
    for name in names:
        if (folder / name).exists():
            raise BadInput(f"{folder} has a file {name} already: nothing was written")
    try:
        make_folder(folder)
        for name in names:
            shutil.copyfile(SHIPPED / name, folder / name)
    except OSError as error:
        raise BadInput(f"{folder} cannot be written: {error.strerror}") from error
    return names


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder and of the folders in it, without hidden ones."""
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder}, from which templates are read")
    count = size = 0
    for path in sorted(folder.rglob("*")):
        if any(part.startswith(".") for part in path.relative_to(folder).parts):
            continue
        if path.is_file():
            count, size = count + 1, size + path.stat().st_size
            if count > _FILES_MAX or size > _BYTES_MAX:
                raise BadInput(
                    f"{folder} has more than {_FILES_MAX} files or {_BYTES_MAX >> 20} MiB: it is "
                    "to have only templates, pictures and fonts"
                )
            yield path
