"""Reads files of banks for the tests."""

from pathlib import Path

from masthead.bank_files.csv_mapping import Mapping
from masthead.bank_files.entries import Entry
from masthead.bank_files.reading import open_bank_file


def entries_in(folder: Path, text: str | bytes, mapping: Mapping | None = None) -> list[Entry]:
    """Return the entries of a file with this content, of all its statements."""
    path = folder / "statement"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with open_bank_file(path, mapping) as file:
        return [entry for statement in file.statements for entry in statement.entries]


def entry_in(folder: Path, text: str | bytes, mapping: Mapping | None = None) -> Entry:
    """Return the only entry of a file with this content."""
    (entry,) = entries_in(folder, text, mapping)
    return entry
