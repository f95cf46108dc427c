"""PDF files of labels and cover sheets of an issue's list."""

from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from masthead.books import Books, issue_sheets
from masthead.books.issue_sheets import Kind, Sheets
from masthead.books.issues import mark_written
from masthead.documents.label_sheets import sheet_named
from masthead.documents.rendering import Renderer, many
from masthead.loading.pdf_files import PdfFiles


class Wanted(NamedTuple):
    """Of which list the labels are, and on which sheets: the form, and labels used already."""

    issue_id: int
    mailing_list_id: int | None = None
    sheet: str = "3x8"
    skip: int = 0


def write_labels(
    books: Books, wanted: Wanted, path: Path, *, dry_run: bool = False
) -> tuple[Path, ...]:
    """Write the labels of a list as PDF; return the files.

    The issue stays closed from now on, as with a mail file; the labels are made before that is
    noted. A dry run makes them, and writes and changes nothing. Raises what ``issue_sheets.labels``
    does, and BadInput for an error of a template and if the files cannot be written.
    """
    issue_id, mailing_list_id, sheet, skip = wanted
    with PdfFiles(path) as files:
        found = issue_sheets.labels(books, issue_id, sheet_named(sheet), mailing_list_id, skip=skip)
        which = _make(found, files)
        mark_written(books, issue_id, which, dry_run=dry_run)
        return () if dry_run else tuple(files.finish())


def write_covers(
    books: Books,
    issue_id: int,
    path: Path,
    *,
    mailing_list_id: int | None = None,
    most: int = issue_sheets.COPIES_OF_BUNDLE,
) -> tuple[Path, ...]:
    """Write the cover sheets of a list's bundles as PDF; return the files.

    They have no personal data, so nothing is noted. Raises what ``issue_sheets.covers`` does, and
    BadInput for an error of a template and if the files cannot be written.
    """
    with PdfFiles(path) as files:
        _make(issue_sheets.covers(books, issue_id, mailing_list_id, most=most), files)
        return tuple(files.finish())


def _make(found: AbstractContextManager[Sheets[Kind]], files: PdfFiles) -> int:
    """Make the PDFs; return the list of which they are."""
    with found as sheets, Renderer(sheets.appearance, processes=many()) as renderer:
        files.write(renderer.parts(sheets.parts))
        return sheets.mailing_list_id
