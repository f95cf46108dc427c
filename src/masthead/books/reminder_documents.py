"""The letters of reminders as PDF (billing, "Reminders", "Documents").

A letter is made from what was stored when it was recorded, so that it has the same bytes each time
while templates, logo and colour are the same.
"""

from collections.abc import Iterator

from masthead.billing.printed_reminders import from_json
from masthead.books.account import Books
from masthead.books.days import check_past_day
from masthead.books.invoice_documents import Document, appearance_of
from masthead.documents.rendering import Renderer, many
from masthead.store.billing.reminders import letters_on
from masthead.store.billing.settings import settings_of


def letters(books: Books, day: str | None = None) -> Iterator[Document]:
    """Yield the letters of a day, by default today; each is named after its first invoice.

    The name has the level too, such as ``2026-000123-2``. Letters of payers who were erased are not
    among them. Raises BadInput for a day to come, and for an error of a template, with its file and
    line.
    """
    with books.read() as reading:
        day = reading.today if day is None else check_past_day(day, reading.today)
        found = letters_on(reading, day)
        appearance = appearance_of(settings_of(reading))
    with Renderer(appearance, processes=min(many(), max(len(found), 1))) as renderer:
        made = renderer.pdfs(from_json(text) for _, _, text in found)
        for (number, level, _), pdf in zip(found, made, strict=True):
            yield Document(f"{number}-{level}", pdf)
