"""Writes documents as PDF files into a folder."""

from collections.abc import Iterable
from pathlib import Path

from masthead.books.invoice_documents import Document
from masthead.private_files import make_file, make_folder


def write_documents(documents: Iterable[Document], folder: Path, prefix: str = "") -> int:
    """Write each document to a file that is named after its number; return how many there are.

    A slash in a number becomes a hyphen. Existing files are replaced. Raises OSError.
    """
    count = 0
    for document in documents:
        make_folder(folder)
        path = folder / f"{prefix}{document.number.replace('/', '-')}.pdf"
        make_file(path)
        path.write_bytes(document.pdf)
        count += 1
    return count
