"""Mail files: the addresses of an issue's copies for a mailing house, as CSV or XLSX."""

import csv
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from masthead.books import Books, replacements
from masthead.books.issues import DIGITAL, PRINTED, mail_file_rows, mark_written
from masthead.errors import BadInput
from masthead.loading.export import harmless
from masthead.loading.xlsx_files import Sheet, write_xlsx
from masthead.private_files import new_file
from masthead.store.database import Row


class Wanted(NamedTuple):
    """Which file to write: that of the issue's main list, or of one of its gap lists.

    ``digital`` writes the email addresses of those who get no printed copy. ``is_raw`` writes text
    exactly as it is stored, for a program; otherwise a spreadsheet reads none as a formula.
    """

    issue_id: int
    mailing_list_id: int | None = None
    digital: bool = False
    is_raw: bool = False


def write_mail_file(books: Books, wanted: Wanted, path: Path, *, dry_run: bool = False) -> int:
    """Write the file of an issue's list; return how many rows it has, without its header.

    The path's extension, ``.csv`` or ``.xlsx``, sets the format. The issue stays closed from now
    on. The file gets its name when it is complete. A dry run writes and changes nothing. Raises
    what ``mark_written`` does, and BadInput if the file cannot be written.
    """

    def rows() -> AbstractContextManager[Iterator[Row]]:
        written = mark_written(books, wanted.issue_id, wanted.mailing_list_id, dry_run=dry_run)
        return mail_file_rows(books, written, digital=wanted.digital)

    columns = DIGITAL if wanted.digital else PRINTED
    return _write(path, columns, rows, is_raw=wanted.is_raw, dry_run=dry_run)


def write_replacements(
    books: Books, path: Path, written_at: str | None = None, *, is_raw: bool = False
) -> int:
    """Write the copies that wait for the next file of replacements, or a former file again.

    ``written_at`` is when the former file was written. Otherwise it works as
    :func:`write_mail_file` does, and raises what ``replacements.mark_written`` and
    ``replacements.file_rows`` do.
    """

    def rows() -> AbstractContextManager[Iterator[Row]]:
        which = written_at or replacements.mark_written(books).written_at
        return replacements.file_rows(books, which)

    return _write(path, replacements.COLUMNS, rows, is_raw=is_raw)


def _write(
    path: Path,
    columns: Sequence[str],
    rows: Callable[[], AbstractContextManager[Iterator[Row]]],
    *,
    is_raw: bool,
    dry_run: bool = False,
) -> int:
    if path.suffix.lower() not in {".csv", ".xlsx"}:
        raise BadInput(f"{path}: the name of a mail file ends in .csv or .xlsx")
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with new_file(unfinished):
            pass
        with rows() as found:
            if path.suffix.lower() == ".csv":
                count = _write_csv(unfinished, columns, found if is_raw else map(harmless, found))
            else:
                count = write_xlsx([Sheet("copies", columns, found)], unfinished)
        if not dry_run:
            unfinished.replace(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def _write_csv(path: Path, columns: Sequence[str], rows: Iterator[Sequence[Any]]) -> int:
    count = 0
    with new_file(path) as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        for count, row in enumerate(rows, 1):  # noqa: B007 - the count is used after the loop
            writer.writerow(row)
    return count
