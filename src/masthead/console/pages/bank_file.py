"""Reading a file of the bank: it is sent, what it would bring is shown, and then it is read."""

from typing import Any

from masthead.bank_files.csv_mapping import read_mapping
from masthead.books import Books, bank_imports
from masthead.books.bank_imports import Imported, Read
from masthead.console.forms import sentence
from masthead.console.pages.sent_files import FileForm, SentFiles
from masthead.contract.printable import counted, listed

_SHOWN = 100


def _read(books: Books, sent: SentFiles) -> Imported:
    paths, names = sent.paths, sent.names
    mapping = read_mapping(paths["mapping"], names["mapping"]) if "mapping" in paths else None
    return bank_imports.import_file(
        books, paths["file"], mapping, name=names["file"], dry_run=sent.dry_run
    )


def _said(done: Imported) -> str:
    """Return how many entries were booked and how many wait."""
    parts = []
    for status, words in (("settled", "booked"), ("proposed", "proposed"), ("unknown", "unknown")):
        if found := done.of(status):
            parts.append(f"{len(found)} {words}")
    if done.known:
        parts.append(f"{done.known} known already")
    if done.pending:
        parts.append(f"{done.pending} not booked by the bank yet")
    many = len(done.entries) + done.known + done.pending
    return sentence(f"{counted(many, 'entry', 'entries')} of the bank: {listed(parts) or 'none'}")


def _what_happens(each: Read) -> str:
    """Return what becomes of an entry."""
    if each.entry.status == "settled" and each.entry.cents < 0:
        return f"takes back the payment of {each.number}"
    if each.entry.status == "settled":
        return f"pays {each.number}" if each.number else "pays the invoices of a debit run"
    return f"perhaps {each.number}: waits for you" if each.number else "waits for you"


def _shown(done: Imported) -> dict[str, Any]:
    return {
        "entries": [(each, _what_happens(each)) for each in done.entries[:_SHOWN]],
        "more": max(len(done.entries) - _SHOWN, 0),
    }


pages = FileForm(
    "/bank/file",
    "bank_file",
    "read a file of the bank",
    "/bank",
    "file",
    "Choose the file that the bank sent you.",
    _read,
    _said,
    lambda done: bool(done.entries),
    _shown,
).pages()
