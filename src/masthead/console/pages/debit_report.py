"""Reading what the bank says of a file of direct debits: it is sent, shown, and then read."""

from typing import Any

from masthead.books import Books, debit_returns
from masthead.books.debit_returns import Imported
from masthead.circulation.amounts import in_currency
from masthead.console.pages.sent_files import FileForm, SentFiles
from masthead.contract.printable import counted

_SHOWN = 100


def _read(books: Books, sent: SentFiles) -> Imported:
    return debit_returns.import_report(
        books,
        sent.paths["file"],
        name=sent.names["file"],
        leave_unknown=True,
        dry_run=sent.dry_run,
    )


def _said(done: Imported) -> str:
    """Return how much comes back, and what the report names that is not here."""
    cents = sum(each.claim.cents for each in done.returned)
    said = f"{counted(len(done.returned), 'invoice')} of {in_currency(cents, done.currency)} "
    said += "comes back" if len(done.returned) == 1 else "come back"
    if done.known:
        said += f", {done.known} came back before"
    if done.unknown:
        verb = "was" if len(done.unknown) == 1 else "were"
        said += f", {counted(len(done.unknown), 'claim')} of others {verb} not handed in from here"
    return f"{said}."


def _shown(done: Imported) -> dict[str, Any]:
    return {
        "returned": done.returned[:_SHOWN],
        "more": max(len(done.returned) - _SHOWN, 0),
    }


pages = FileForm(
    "/direct-debit/report",
    "debit_report",
    "read a report of the bank",
    "/direct-debit",
    "report",
    "Choose the report that the bank sent you.",
    _read,
    _said,
    lambda done: bool(done.returned),
    _shown,
).pages()
