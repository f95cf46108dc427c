"""Files of rejected rows: the unchanged rows with a last column ``reason``.

Once fixed, such a file can be imported; its column ``reason`` is ignored. If the table itself has
such a column, it is ``reject_reason``.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Protocol

from masthead.contract.encoding import encode
from masthead.errors import BadInput
from masthead.loading.batches import Said
from masthead.loading.delimited import KEPT
from masthead.loading.detection import UTF_8
from masthead.loading.ndjson import read_object
from masthead.loading.sources import complete, ending_of, source_rows
from masthead.private_files import make_folder, new_file
from masthead.store.staging import NUMBERS_PER_FILE, Problem, Staging

_MARKED = ("utf-16-le", "utf-16-be")
"""Encodings whose files get a byte order mark, by which they are detected."""


class Source(Protocol):
    """A file with rejected rows: how it was read, and the name of the file that they go to."""

    @property
    def path(self) -> Path:
        """Where the file is."""

    @property
    def label(self) -> str:
        """Its name in messages."""

    @property
    def said(self) -> Said:
        """The settings with which it was read, all of them filled in."""

    @property
    def reject_name(self) -> str:
        """The name of the file for its rejected rows, without the extension, which is the same."""

    @property
    def reject_reason(self) -> str:
        """The name of their last column, which is ignored when they are imported."""

    def column_of(self, problem: Problem) -> str:
        """Return the name of a problem's column in messages."""

    @property
    def encoding_is_said(self) -> bool:
        """Whether the encoding is given, so that rejected rows are read in it again."""


def write_rejects(folder: Path, files: Sequence[Source], staging: Staging) -> dict[str, int]:
    """Write the rows with problems into ``folder``; return their number by file.

    A file has the format, encoding, separator and quotes of its source, so that it is read as the
    source was; rows of XLSX become CSV. A second file of the same name is in a subfolder. A line of
    NDJSON that is not an object becomes the value of ``raw``. Raises BadInput if ``folder`` cannot
    be written to, or is a link.
    """
    counts: dict[str, int] = {}
    try:
        if folder.is_symlink():
            raise BadInput(f"{folder}: is a symbolic link: name the folder for bad rows itself")
        make_folder(folder)
        by_file = groupby(staging.problems(), key=lambda problem: problem.file // NUMBERS_PER_FILE)
        for number, same_file in by_file:
            file = files[number]
            problems = [p._replace(column=file.column_of(p)) for p in same_file]
            ending = ".csv" if file.said.format == "xlsx" else ending_of(file.path)
            name = f"{file.reject_name}{ending}"
            if name in counts:
                name = f"{number}/{name}"
                make_folder((folder / name).parent)
            counts[name] = _write(folder / name, file, problems)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written to: {error.strerror}") from error
    return counts


def _write(path: Path, file: Source, problems: Sequence[Problem]) -> int:
    """Read ``file`` again, and write the rows with ``problems``; return their number.

    If these rows alone look like another encoding than the whole file, they are written as UTF-8.
    """
    encoding = file.said.encoding or UTF_8
    count = _write_rows(path, file, problems, encoding)
    if encoding != UTF_8 and not file.encoding_is_said:
        try:
            written = complete(path, str(path)).said.encoding
        except BadInput:
            written = None
        if written not in {encoding, UTF_8, *_MARKED}:
            _write_rows(path, file, problems, UTF_8)
    return count


def _write_rows(path: Path, file: Source, problems: Iterable[Problem], encoding: str) -> int:
    reasons = _reasons(problems)
    rows = source_rows(file.path, file.label, file.said)
    count = 0
    header: list[str] = []
    kept: list[int] = []
    quote = file.said.quote or '"'
    with new_file(path, encoding=encoding, errors=KEPT) as out:
        if encoding in _MARKED:
            out.write("\ufeff")
        writer = csv.writer(
            out,
            delimiter=file.said.separator or ",",
            quotechar=quote,
            # A file with other quotes is detected by the quotes of its header.
            quoting=csv.QUOTE_MINIMAL if quote == '"' else csv.QUOTE_ALL,
        )
        if file.said.format != "ndjson":
            header = [str(name).removeprefix("\ufeff") for name in next(rows)[1]]
            kept = [n for n, name in enumerate(header) if name != file.reject_reason]
            writer.writerow([*(header[n] for n in kept), file.reject_reason])
        wanted, reason = next(reasons, (0, ""))
        for line, row in rows:
            if line != wanted:
                continue
            count += 1
            if isinstance(row, bytes):
                record = read_object(row) | {file.reject_reason: reason}
                out.write(encode(record).decode() + "\n")
            else:
                padded = row + [""] * (len(header) - len(row))
                extra = "".join(f"; then {cell!r}" for cell in row[len(header) :])
                writer.writerow([*(padded[n] for n in kept), reason + extra])
            wanted, reason = next(reasons, (0, ""))
    return count


def _reasons(problems: Iterable[Problem]) -> Iterator[tuple[int, str]]:
    for line, same_line in groupby(problems, key=attrgetter("line")):
        yield line, "; ".join(f"{problem.column}: {problem.sentence}" for problem in same_line)
