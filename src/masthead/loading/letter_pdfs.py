"""Letters as PDF files, which are noted only after they were made."""

from pathlib import Path

from masthead.books import Books, renewal_letters
from masthead.books.renewals import Due
from masthead.documents.rendering import Renderer, in_parts, many
from masthead.loading.pdf_files import PdfFiles
from masthead.store import audit


def send_renewals(books: Books, path: Path, publication_id: int | None = None) -> list[Due]:
    """Write the renewal letters that are due today as PDF, and note them as sent.

    They are noted after all PDFs were made, and get their names after that. If the process is
    killed before they have them, ``copy_renewals`` makes them again. Raises NotFound for an unknown
    publication; BadInput for an error of a template, if the file exists or cannot be written, and
    if other letters are due by then.
    """
    with PdfFiles(path) as files:
        with renewal_letters.selected(books, publication_id) as found:
            _make(found, files)
            digest = found.digest()
        due = renewal_letters.note_sent(books, publication_id, digest)
        files.finish()
        return due


def copy_renewals(
    books: Books, path: Path, publication_id: int | None = None, *, sent_on: str | None = None
) -> list[Due]:
    """Write the letters that are due today, or that were sent on a day, as PDF; note nothing.

    The audit log records the reading. Raises what :func:`send_renewals` does.
    """
    what = "were previewed" if sent_on is None else f"of {sent_on} were written once more"
    with PdfFiles(path) as files:
        with renewal_letters.selected(books, publication_id, sent_on=sent_on) as found:
            _make(found, files)
        audit.record_reading(
            books.store, books.actor, f"letters of renewal {what}", account_id=books.account_id
        )
        files.finish()
        return found.due


def _make(found: renewal_letters.Selected, files: PdfFiles) -> None:
    with Renderer(found.appearance, processes=many()) as renderer:
        files.write(renderer.parts(in_parts(found.letters)))
