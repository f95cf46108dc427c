"""Files of rejected rows: the unchanged rows with a last column ``reason``.

Once fixed, such a file can be imported; its column ``reason`` is ignored.
"""

import csv
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from masthead.contract.encoding import encode
from masthead.errors import BadInput
from masthead.loading.files import REASON, InputFile, raw_rows, read_object
from masthead.private import make_folder, new_file
from masthead.store.staging import Problem, Staging

__all__ = ["write_rejects"]


def write_rejects(folder: Path, files: list[InputFile], staging: Staging) -> dict[str, int]:
    """Write the rows with problems into ``folder``; return their number by file.

    A file is named after its table, ``subscribers.csv`` or ``subscribers.ndjson``; a second one is
    in a subfolder. A line of NDJSON that is not an object becomes the value of ``raw``. Raises
    BadInput if ``folder`` cannot be written to.
    """
    counts: dict[str, int] = {}
    try:
        make_folder(folder)
        for number, problems in groupby(staging.problems(), key=attrgetter("file")):
            name = f"{files[number].table.name}{files[number].format}"
            if name in counts:
                name = f"{number}/{name}"
                make_folder((folder / name).parent)
            counts[name] = _write(folder / name, files[number], problems)
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written to: {error.strerror}") from error
    return counts


def _write(path: Path, file: InputFile, problems: Iterator[Problem]) -> int:
    """Read ``file`` again, and write the rows with ``problems``; return their number."""
    reasons = _reasons(problems)
    rows = raw_rows(file)
    count = 0
    header: list[str] = []
    kept: list[int] = []
    with new_file(path, errors="surrogateescape") as out:
        writer = csv.writer(out)
        if file.format == ".csv":
            header = [str(name) for name in next(rows)[1]]
            kept = [n for n, name in enumerate(header) if name != REASON]
            writer.writerow([*(header[n] for n in kept), REASON])
        wanted, reason = next(reasons, (0, ""))
        for line, row in rows:
            if line != wanted:
                continue
            count += 1
            if isinstance(row, bytes):
                out.write(encode(read_object(row) | {REASON: reason}).decode() + "\n")
            else:
                padded = row + [""] * (len(header) - len(row))
                extra = "".join(f"; then {cell!r}" for cell in row[len(header) :])
                writer.writerow([*(padded[n] for n in kept), reason + extra])
            wanted, reason = next(reasons, (0, ""))
    return count


def _reasons(problems: Iterator[Problem]) -> Iterator[tuple[int, str]]:
    for line, same_line in groupby(problems, key=attrgetter("line")):
        yield line, "; ".join(f"{problem.column}: {problem.sentence}" for problem in same_line)
