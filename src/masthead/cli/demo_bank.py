"""The bank of the demo: a file that was read, and one to try, with what its columns are.

Both are CSV, as a bank in the United States writes it. In each, one entry names an invoice and
settles it, one fits only by amount and name, and one is unknown.
"""

import csv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from masthead.bank_files.csv_mapping import Columns, Mapping
from masthead.books import Books, bank_imports, invoices
from masthead.books.invoices import Listed
from masthead.circulation.amounts import decimal

TO_TRY, MAPPING = "masthead-demo-bank.csv", "masthead-demo-bank.toml"
"""The file to try, and the file that says what its columns are; both beside the database."""

_READ = "bank-of-yesterday.csv"
_COLUMNS = ("Date", "Amount", "Name", "Text")
_MAPPING = """\
# Says what the columns of masthead-demo-bank.csv are.
[columns]
date = "Date"
amount = "Amount"
name = "Name"
reference = "Text"
"""
_AS_MAPPED = Mapping(Columns("Date", amount="Amount", name="Name", reference="Text"))
_FILES = 2
_INVOICES_OF_FILE = 2
INVOICES = _FILES * _INVOICES_OF_FILE
"""How many open invoices of different payers the two files need."""


def read_first(books: Books, day: str) -> None:
    """Read a file that pays one of the newest open invoices, and perhaps another."""
    named, alike = _newest(books)[:_INVOICES_OF_FILE]
    with TemporaryDirectory() as folder:
        path = Path(folder, _READ)
        other = ("-18.00", "Pier Street Parking", "Card 0417")
        _write(path, day, named, alike, other)
        bank_imports.import_file(books, path, _AS_MAPPED)


def write_to_try(books: Books, day: str, folder: Path) -> None:
    """Write the file to try into a folder, with the file that says what its columns are."""
    named, alike = _newest(books)[-_INVOICES_OF_FILE:]
    other = ("25.00", "J. Seagrave", "With thanks from the lighthouse")
    _write(folder / TO_TRY, day, named, alike, other)
    (folder / MAPPING).write_text(_MAPPING, encoding="utf-8")


def _newest(books: Books) -> list[Listed]:
    """Return the newest open invoices, the oldest of them first."""
    return list(invoices.listed(books, is_open=True, limit=1_000))[-INVOICES:]


def _write(path: Path, day: str, named: Listed, alike: Listed, other: Sequence[str]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(_COLUMNS)
        for each, text in (
            (named, f"Invoice {named.invoice.number_text}"),
            (alike, "Subscription, thank you"),
        ):
            name = f"{each.last_name} {each.first_name}".upper()
            rows.writerow((day, decimal(each.invoice.open_cents), name, text))
        amount, name, text = other
        rows.writerow((day, amount, name, text))
