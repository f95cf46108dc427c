"""PDF files in parts, which get their names together (decisions, "Many letters in one PDF")."""

from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Self

from masthead.errors import BadInput
from masthead.private_files import make_file, sync


class PdfFiles(AbstractContextManager["PdfFiles"]):
    """One PDF file, or several that are numbered, such as ``letters-1.pdf`` and ``letters-2.pdf``.

    They are written beside their place and get their names by :meth:`finish`. At the end of the
    block, what has none is removed.
    """

    def __init__(self, path: Path) -> None:
        """Raises BadInput if the name does not end in ``.pdf``, and if the file exists."""
        if path.suffix.lower() != ".pdf":
            raise BadInput(f"{path}: the name of a file of letters or labels ends in .pdf")
        self._path = path
        self._count = 0
        self._check_free([path, *path.parent.glob(f"{_plain(path.stem)}-[0-9]*{path.suffix}")])

    def __enter__(self) -> Self:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Remove what was written and has no name."""
        for part in range(1, self._count + 1):
            self._unfinished(part).unlink(missing_ok=True)

    def write(self, parts: Iterable[bytes]) -> int:
        """Write the PDFs; return how many they are. Raises BadInput if that is not possible."""
        for content in parts:
            self._count += 1
            unfinished = self._unfinished(self._count)
            try:
                unfinished.unlink(missing_ok=True)
                make_file(unfinished)
                unfinished.write_bytes(content)
                sync(unfinished)
            except OSError as error:
                raise self._refusal(error) from error
        return self._count

    def finish(self) -> list[Path]:
        """Give the files their names, and return them; none if nothing was written.

        Raises BadInput if one exists by now.
        """
        if not self._count:
            return []
        width = len(str(self._count))
        names = [self._path]
        if self._count > 1:
            names = [
                self._path.with_name(f"{self._path.stem}-{part:0{width}}{self._path.suffix}")
                for part in range(1, self._count + 1)
            ]
        self._check_free(names)
        try:
            for part, name in enumerate(names, 1):
                self._unfinished(part).replace(name)
            sync(self._path.parent)
        except OSError as error:
            raise self._refusal(error) from error
        return names

    def _unfinished(self, part: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{part}.unfinished")

    def _refusal(self, error: OSError) -> BadInput:
        return BadInput(f"{self._path}: cannot be written: {error.strerror}")

    def _check_free(self, paths: Iterable[Path]) -> None:
        for path in paths:
            if path.exists():
                raise BadInput(f"{path} exists already: it is not replaced, name another file")


def _plain(stem: str) -> str:
    """Return a name for ``glob`` that stands for itself."""
    return "".join(f"[{each}]" if each in "*?[" else each for each in stem)
