"""The letters of reminders as PDF (billing, "Reminders", "Documents").

A letter is made from what was stored when it was recorded, so that it has the same bytes each time
while templates, logo and colour are the same.
"""

from collections.abc import Iterator

from masthead.billing.printed import from_json
from masthead.billing.printed_reminders import PrintedReminder
from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.books.invoice_documents import Document, appearance_of
from masthead.documents.rendering import Appearance, Renderer, many
from masthead.errors import NotFound
from masthead.store.billing.reminders import letters_on
from masthead.store.billing.settings import settings_of

TOGETHER = 200
"""The most letters in one PDF (decisions, "Many letters in one PDF")."""


def together(books: Books, day: str, part: int = 1) -> bytes:
    """Return letters of a day in one PDF: the first 200, or a later part of as many.

    Raises NotFound if there is no letter in this part, BadInput for a day to come, and for an error
    of a template, with its file and line.
    """
    found, appearance = _read(books, day)
    own = found[(part - 1) * TOGETHER : part * TOGETHER] if part > 0 else []
    if not own:
        raise NotFound("there are no letters of reminders of this day")
    with Renderer(appearance) as renderer:
        return renderer.together([from_json(text, PrintedReminder) for _, _, text in own])


def _read(books: Books, day: str | None) -> tuple[list[tuple[str, int, str]], Appearance]:
    with books.read() as reading:
        day = reading.today if day is None else check_past_day(day, reading.today)
        return letters_on(reading, day), appearance_of(settings_of(reading))


def letters(books: Books, day: str | None = None) -> Iterator[Document]:
    """Yield the letters of a day, by default today; each is named after its first invoice.

    The name has the level too, such as ``2026-000123-2``. Letters of payers who were erased are not
    among them, and neither are those that go by email, unless the mail failed. Raises BadInput for
    a day to come, and for an error of a template, with its file and line.
    """
    found, appearance = _read(books, day)
    with Renderer(appearance, processes=min(many(), max(len(found), 1))) as renderer:
        made = renderer.pdfs(from_json(text, PrintedReminder) for _, _, text in found)
        for (number, level, _), pdf in zip(found, made, strict=True):
            yield Document(f"{number}-{level}", pdf)
