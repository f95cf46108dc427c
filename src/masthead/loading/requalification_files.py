"""The files of requalification efforts: letters as PDF, and lists of calls as CSV.

A file is whole before its effort is noted, and gets its name after that. If the process is killed
between the two, the file of that day is written again (``sent_on``).
"""

import csv
from collections.abc import Callable
from pathlib import Path

from masthead.books import Books, requalifications
from masthead.books.requalifications import Sent, Written
from masthead.documents.rendering import Renderer, in_parts, many
from masthead.errors import BadInput
from masthead.loading.export import harmless
from masthead.loading.pdf_files import PdfFiles
from masthead.private_files import new_file, sync


def write(
    books: Books,
    path: Path,
    publication_id: int,
    effort: int,
    *,
    sent_on: str | None = None,
    is_raw: bool = False,
) -> Sent:
    """Write the file of an effort by letter or by telephone, and note those in it as asked.

    With ``sent_on``, the readers of that day are written again, and nothing is noted. ``is_raw``
    writes text exactly as it is stored, for a program; otherwise a spreadsheet reads none as a
    formula. Raises what ``requalifications.selected`` and ``note_sent`` do; BadInput for an effort
    by email, for an error of a template, and if the file exists or cannot be written.
    """
    found = requalifications.selected(books, publication_id, effort, sent_on=sent_on)

    def note() -> Sent:
        if sent_on is not None:
            return Sent(found.effort, len(found.asked))
        return requalifications.note_sent(books, found)

    if found.effort.way == "email":
        raise BadInput(f"effort {effort} is by email: it has no file")
    if found.effort.way == "letter":
        return _letters(found, path, note)
    return _calls(found, path, note, is_raw=is_raw)


def _letters(found: Written, path: Path, note: Callable[[], Sent]) -> Sent:
    with PdfFiles(path) as files:
        if found.asked:
            with Renderer(found.appearance, processes=many()) as renderer:
                files.write(renderer.parts(in_parts(requalifications.letters(found))))
        sent = note()
        files.finish()
        return sent


def _calls(found: Written, path: Path, note: Callable[[], Sent], *, is_raw: bool) -> Sent:
    if path.suffix.lower() != ".csv":
        raise BadInput(f"{path}: the name of a list of calls ends in .csv")
    if path.exists():
        raise BadInput(f"{path} exists already: it is not replaced, name another file")
    unfinished = path.with_name(f"{path.name}.unfinished")
    try:
        with new_file(unfinished) as file:
            writer = csv.writer(file)
            writer.writerow(requalifications.call_columns(found))
            rows = requalifications.calls(found)
            writer.writerows(rows if is_raw else map(harmless, rows))
        sent = note()
        unfinished.replace(path)
        sync(path.parent)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return sent
