"""Letters as PDF files, which are noted only after they were made."""

from pathlib import Path
from typing import NamedTuple

from masthead.books import Books, announcement_letters, letters, renewal_letters
from masthead.books.renewals import Due
from masthead.documents.rendering import Renderer, in_parts, many
from masthead.loading.pdf_files import PdfFiles
from masthead.store import audit


class Renewals(NamedTuple):
    """Renewal letters: how many by publication and effort, and how many of them go by email."""

    due: list[Due]
    mailed: int


def send_renewals(books: Books, path: Path, publication_id: int | None = None) -> Renewals:
    """Write the renewal letters that are due today as PDF, and note them as sent.

    Those of readers who want email are queued instead.

    They are noted after all PDFs were made, and get their names after that. If the process is
    killed before they have them, ``copy_renewals`` makes them again. Raises NotFound for an unknown
    publication; BadInput for an error of a template, if the file exists or cannot be written, and
    if other letters are due by then.
    """
    with PdfFiles(path) as files:
        with renewal_letters.selected(books, publication_id) as found:
            _make(found, files)
            digest = found.digest()
        due = renewal_letters.note_sent(books, publication_id, digest, found.mailed)
        files.finish()
        return Renewals(due, len(found.mailed))


def copy_renewals(
    books: Books, path: Path, publication_id: int | None = None, *, sent_on: str | None = None
) -> Renewals:
    """Write the letters that are due today, or that were sent on a day, as PDF; note nothing.

    Those of readers who want email are not printed. The audit log records the reading. Raises what
    :func:`send_renewals` does.
    """
    what = "were previewed" if sent_on is None else f"of {sent_on} were written once more"
    with PdfFiles(path) as files:
        with renewal_letters.selected(books, publication_id, sent_on=sent_on) as found:
            _make(found, files)
        audit.record_reading(
            books.store, books.actor, f"letters of renewal {what}", account_id=books.account_id
        )
        files.finish()
        return Renewals(found.due, len(found.mailed))


def write_announcements(
    books: Books, path: Path, day: str | None = None
) -> tuple[announcement_letters.Selected, list[Path]]:
    """Write the letters that announce renewals on a day as PDF, by default of today.

    The audit log records the reading. Raises what ``announcement_letters.selected`` does, and
    BadInput as :func:`send_renewals`.
    """
    with PdfFiles(path) as files:
        with announcement_letters.selected(books, day) as found:
            if found.number:
                with Renderer(found.appearance, processes=many()) as renderer:
                    files.write(renderer.parts(in_parts(found.letters)))
        audit.record_reading(
            books.store,
            books.actor,
            f"announcements of renewal of {found.day} were written",
            account_id=books.account_id,
        )
        return found, files.finish() if found.number else []


def _make(found: renewal_letters.Selected, files: PdfFiles) -> None:
    with Renderer(found.appearance, processes=many()) as renderer:
        files.write(renderer.parts(in_parts(found.letters)))


def write_letters(
    books: Books, kind: letters.LetterKind, path: Path, *, since: str | None = None
) -> tuple[letters.Due, list[Path]]:
    """Write the welcome or cancellation letters that are due as PDF, and note them as written.

    Those of readers who want email are queued instead. Letters are noted after all PDFs were made.
    Raises what ``letters.due`` and ``letters.note_written`` do, and BadInput for an error of a
    template, and if a file exists or cannot be written.
    """
    with PdfFiles(path) as files:
        found = letters.due(books, kind, since=since)
        _print(found, files)
        letters.note_written(books, found)
        return found, files.finish()


def copy_letters_of(
    books: Books, kind: letters.LetterKind, path: Path, written_on: str
) -> tuple[letters.Due, list[Path]]:
    """Write the letters that were printed on a day as PDF again; note nothing.

    Raises what ``letters.written_again`` does, and BadInput as :func:`write_letters`.
    """
    with PdfFiles(path) as files:
        found = letters.written_again(books, kind, written_on)
        _print(found, files)
        return found, files.finish()


def _print(found: letters.Due, files: PdfFiles) -> None:
    if found.printed:
        with Renderer(found.appearance, processes=many()) as renderer:
            files.write(renderer.parts(in_parts(found.printed)))
