"""Trying the account's own templates before letters are noted (billing, "Documents")."""

from masthead.books.account import Books
from masthead.books.invoice_documents import appearance_of
from masthead.documents.letter_samples import samples
from masthead.documents.rendering import Renderer
from masthead.store.billing.settings import settings_of


def check_template(books: Books, name: str) -> None:
    """Try the account's own template on a made-up letter; others are known to work.

    ``name`` is that of the sample without its language, such as ``reminder``. Raises BadInput for
    an error of the template, with its file and line.
    """
    with books.read() as reading:
        settings = settings_of(reading)
    if settings.templates:
        with Renderer(appearance_of(settings)) as renderer:
            made_up = dict(samples())
            languages = ["en", "de"] if settings.language_by_country else [settings.language]
            for language in languages:
                renderer.pdf(made_up[f"{name}-{language}"])
