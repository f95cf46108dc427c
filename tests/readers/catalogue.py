"""Writes the catalogues of the readers' pages: ``python -m tests.readers.catalogue``.

It brings them up to date with the source and compiles them. A new message stands in the ``.po``
file without a translation until somebody writes one; a test finds it.
"""

from __future__ import annotations

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from masthead import readers
from masthead.circulation.reader_rules import REFUSALS
from masthead.readers.words import DOMAIN, LOCALES

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(readers.__file__).parent
PLACES = (ROOT, ROOT.parent / "web")
"""Where the pages' messages stand: in the room of the readers and in what it shares."""

METHODS = [("**.py", "python"), ("**.html", "jinja2")]
OPTIONS = {"**.html": {"trimmed": "true", "newstyle_gettext": "true", "silent": "false"}}
HEADER = "# The words of the readers' pages: python -m tests.readers.catalogue."
WIDTH = 90
WRITTEN = datetime(2026, 11, 28, tzinfo=UTC)
"""The same time in each file, so that a file changes only if its messages do."""

KEYWORDS = {"gettext": None, "_": None, "ngettext": (1, 2), "marked": None}


def source() -> Catalog:
    """Return the catalogue of the messages in the source."""
    catalog = Catalog(domain=DOMAIN, fuzzy=False)
    for message, context in _messages():
        catalog.add(message, context=context)
    return catalog


def _messages() -> Iterator[tuple[str | tuple[str, ...], str | None]]:
    for place in PLACES:
        found = extract_from_dir(place, METHODS, OPTIONS, KEYWORDS)
        for _, _, message, _, context in found:
            yield message, context
    for sentence in REFUSALS.values():
        yield sentence, None


def languages() -> list[str]:
    """Return the languages that have a catalogue, besides English."""
    return sorted(path.name for path in LOCALES.iterdir() if path.is_dir())


def path_of(language: str) -> Path:
    """Return the path of the catalogue of a language."""
    return LOCALES / language / "LC_MESSAGES" / f"{DOMAIN}.po"


def read(language: str) -> Catalog:
    """Return the catalogue of a language as it is stored."""
    with path_of(language).open("rb") as file:
        return read_po(file, locale=language, domain=DOMAIN)


def compiled(catalog: Catalog) -> bytes:
    """Return a catalogue as the pages read it."""
    made = BytesIO()
    write_mo(made, catalog)
    return made.getvalue()


def update() -> None:
    """Bring each catalogue up to date; the translations of messages that stayed are kept."""
    for language in languages():
        path, stored = path_of(language), read(language)
        catalog = Catalog(
            locale=language,
            domain=DOMAIN,
            header_comment=HEADER,
            project="masthead",
            version="",
            creation_date=WRITTEN,
            revision_date=WRITTEN,
            fuzzy=False,
        )
        for message in source():
            if message.id:
                known = stored.get(message.id)
                catalog.add(message.id, known.string if known else None)
        with path.open("wb") as file:
            write_po(file, catalog, width=WIDTH, no_location=True, sort_output=True)
        path.with_suffix(".mo").write_bytes(compiled(catalog))


if __name__ == "__main__":
    update()
