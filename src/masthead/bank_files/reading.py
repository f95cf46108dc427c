"""Opening a file of a bank: its kind by what it holds, its encoding, and its statements."""

import codecs
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

from masthead.bank_files import camt, csv_files, mt940
from masthead.bank_files.csv_mapping import Mapping
from masthead.bank_files.entries import BadValueError, Entry, Heading, Statement, statements_of
from masthead.bank_files.tally import Tally
from masthead.contract.printable import printable
from masthead.errors import BadInput

BYTES_MAX = 1 << 30
"""The size of a file; one of 50,000 entries has some 80 MiB."""

_HEAD, _CHUNK = 1 << 14, 1 << 20
_ZIP = "PK\x03\x04"
_NEITHER = "camt.053, camt.054, MT940 or a CSV file"


class BankFile(NamedTuple):
    """An open file: its name, the SHA-256 of its bytes, its statements, and what is left out."""

    name: str
    digest: str
    statements: Iterator[Statement]
    tally: Tally


@contextmanager
def open_bank_file(
    path: Path, mapping: Mapping | None = None, name: str | None = None
) -> Iterator[BankFile]:
    """Open a file of a bank, shop or card provider; a CSV file needs a ``mapping``.

    ``name`` is what errors call it, by default its path. Raises BadInput, with the line, for a file
    that is none of those or cannot be read: at once, or while its statements are read.
    """
    shown = name or str(path)
    if not path.is_file():
        raise BadInput(f"{shown}: there is no such file")
    size = path.stat().st_size
    if size > BYTES_MAX:
        raise BadInput(f"{shown}: has {size:,} bytes, and a file has {BYTES_MAX:,} at most")
    with path.open("rb") as file:
        head = file.read(_HEAD)
        digest, encoding = _scanned(file)
        with path.open(encoding=encoding, errors="replace", newline="") as text:
            tally = Tally()
            parts = _parts(
                _Opened(shown, file, text, head.decode(encoding, "replace")), mapping, tally
            )
            yield BankFile(
                name or path.name, digest, statements_of(_with_name(shown, parts)), tally
            )


class _Opened(NamedTuple):
    name: str
    file: IO[bytes]
    text: IO[str]
    head: str


def _with_name(name: str, parts: Iterator[Heading | Entry]) -> Iterator[Heading | Entry]:
    try:
        yield from parts
    except BadValueError as error:
        raise BadInput(f"{name}: {printable(error)}") from None


def _scanned(file: IO[bytes]) -> tuple[str, str]:
    """Return the digest of a file, and its encoding; the file is at its beginning afterwards."""
    file.seek(0)
    encoding = "utf-8-sig"
    if file.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        encoding = "utf-16"
    decoder = codecs.getincrementaldecoder(encoding)()
    digest = hashlib.sha256()
    file.seek(0)
    while chunk := file.read(_CHUNK):
        digest.update(chunk)
        if encoding == "utf-8-sig":
            try:
                decoder.decode(chunk)
            except UnicodeDecodeError:
                encoding = "cp1252"
    file.seek(0)
    return digest.hexdigest(), encoding


def _parts(opened: _Opened, mapping: Mapping | None, tally: Tally) -> Iterator[Heading | Entry]:
    """Return the parts of a file, by the reader of its kind."""
    name, head = opened.name, opened.head.lstrip("\ufeff \t\r\n")
    if not head:
        raise BadInput(f"{name}: is empty, and not {_NEITHER}")
    is_xml = head.startswith("<")
    is_mt940 = not is_xml and bool(mt940.IS_HERE.search(head))
    if (is_xml or is_mt940) and mapping is not None:
        kind = "XML" if is_xml else "MT940"
        raise BadInput(f"{name}: is {kind}, and a mapping is for CSV files: leave it out")
    if is_xml:
        return camt.read(opened.file, tally)
    if head.startswith(_ZIP):
        raise BadInput(f"{name}: is a ZIP file: unpack it and load the files in it")
    if "\0" in head:
        raise BadInput(f"{name}: is not {_NEITHER}")
    lines = _lines(opened.text)
    if is_mt940:
        return mt940.read(lines, tally)
    if mapping is None:
        raise BadInput(
            f"{name}: is not camt.053, camt.054 or MT940; a CSV file needs a mapping, which says "
            "what its columns are"
        )
    return csv_files.read(lines, mapping, tally)


def _lines(text: IO[str]) -> Iterator[str]:
    """Yield the lines of a file, with line ends as they are; refuse one that never ends."""
    number = 0
    while line := text.readline(_CHUNK):
        number += 1
        if len(line) >= _CHUNK:
            raise BadValueError(f"line {number}: is longer than {_CHUNK:,} characters")
        yield line
