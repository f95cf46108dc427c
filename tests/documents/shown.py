"""What a PDF shows, as a reader sees it."""

from io import BytesIO

from pypdf import PdfReader

from masthead.documents.kinds import Printed
from masthead.documents.rendering import Appearance, Renderer

BREAK = "\u200b"
"""Where a long word may break."""


def pages_of(pdf: bytes) -> list[list[str]]:
    """Return the lines of each page, without the places where long words may break."""
    return [
        [line.strip() for line in plain(page.extract_text()).split("\n") if line.strip()]
        for page in PdfReader(BytesIO(pdf)).pages
    ]


def plain(text: str) -> str:
    """Return text with simple spaces, and without the places where long words may break."""
    return text.replace(BREAK, "").replace("\u00a0", " ").replace("\u202f", " ")


def lines_of(pdf: bytes) -> list[str]:
    """Return the lines of all pages."""
    return [line for page in pages_of(pdf) for line in page]


def made(printed: Printed, appearance: Appearance | None = None) -> bytes:
    """Return the PDF of a document, made by a process of its own."""
    with Renderer(appearance or Appearance()) as renderer:
        return renderer.pdf(printed)
