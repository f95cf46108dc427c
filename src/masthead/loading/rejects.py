"""Bad rows put aside: written as they were read, the reason in a last column.

Once mended, such a file is loaded like any other; its column ``reason`` is ignored.
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
    """Write the rows of ``files`` that have problems into ``folder``; return how many, by file.

    The file of a table is named after it, ``subscribers.csv`` or ``subscribers.ndjson``; a second
    one stands in a folder of its own. A line of NDJSON that is no object stands as the text
    ``raw`` beside its reason. Raises BadInput where ``folder`` cannot be written to.
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
    """Write the rows to which ``problems`` belong, read again from ``file``; return how many."""
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
