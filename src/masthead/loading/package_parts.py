"""The parts of a workbook's package, each parsed as a stream within limits.

The parser refuses at once what no workbook of records needs (rules, "Workbooks").
"""

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import IO, NoReturn
from xml.parsers import expat

from masthead.errors import BadInput
from masthead.loading.batches import QUOTED_MAX
from masthead.loading.unpacking import FREE_BYTES, GROWTH_MAX

_FREE_ELEMENTS = 300_000
_ELEMENTS_A_BYTE = 5
"""A part has at most ``_FREE_ELEMENTS`` elements, and this many more for each packed byte. A cell
with a value has two elements, and takes at least two bytes in files of spreadsheets."""

_DIRECTORY_MAX = 1024 * 1024
_TOKEN_MAX = 1024 * 1024
_DEPTH_MAX = 100
_NAMES_MAX = 1_000
_CHUNK = 65_536
_END_OF_DIRECTORY = 22 + 65_535 + 20 + 56
_START = Callable[[str, dict[str, str]], None]


class TooMuchError(Exception):
    """A part exceeds a limit that every workbook of records keeps."""


class Part:
    """Parses a part of the package; the handlers are called with names without their prefix."""

    def __init__(self, archive: zipfile.ZipFile, name: str, packed_max: int) -> None:
        self._info = archive.getinfo(name)
        self._archive = archive
        packed = min(self._info.compress_size, packed_max)
        size = self._info.file_size
        if self._info.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise ValueError("another compression")
        if size > FREE_BYTES and size > GROWTH_MAX * packed:
            raise TooMuchError(f"has a part {name[:QUOTED_MAX]!r} of {size >> 20} MiB")
        self.elements = 0
        self.elements_max = _FREE_ELEMENTS + _ELEMENTS_A_BYTE * packed
        self._depth = 0
        self._names: dict[str, str] = {}
        self._start: _START = lambda _name, _attributes: None
        self._end: Callable[[str], None] = lambda _name: None
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._begin
        self._parser.EndElementHandler = self._finish
        self._parser.StartDoctypeDeclHandler = _refuse_doctype

    def parse(
        self, start: _START, end: Callable[[str], None], text: Callable[[str], None] | None = None
    ) -> Iterator[None]:
        """Call the handlers, and yield after each piece of the part."""
        self._start, self._end = start, end
        if text:
            self._parser.CharacterDataHandler = text
        fed = 0
        with self._archive.open(self._info) as source:
            while chunk := source.read(_CHUNK):
                fed += len(chunk)
                self._parser.Parse(chunk, False)
                if fed - max(self._parser.CurrentByteIndex, 0) > _TOKEN_MAX:
                    raise TooMuchError(f"has a tag of more than {_TOKEN_MAX >> 20} MiB")
                yield
        self._parser.Parse(b"", True)
        yield

    def read(self) -> Iterator[bytes]:
        """Yield the part in pieces, without parsing it."""
        with self._archive.open(self._info) as source:
            while chunk := source.read(_CHUNK):
                yield chunk

    def run(
        self, start: _START, end: Callable[[str], None], text: Callable[[str], None] | None = None
    ) -> None:
        """Parse the whole part at once."""
        for _ in self.parse(start, end, text):
            pass

    def _begin(self, name: str, attributes: dict[str, str]) -> None:
        self.elements += 1
        self._depth += 1
        if self.elements > self.elements_max or self._depth > _DEPTH_MAX:
            raise TooMuchError(f"has {self.elements} elements and more, {self._depth} deep")
        names = self._names
        if name not in names or not names.keys() >= attributes.keys():
            for new in (name, *attributes):
                names.setdefault(new, new.rpartition(":")[2])
            if len(names) > _NAMES_MAX:
                raise TooMuchError("has too many kinds of elements")
        self._start(names[name], attributes)

    def _finish(self, name: str) -> None:
        self._depth -= 1
        self._end(self._names[name])


def _refuse_doctype(*_: object) -> NoReturn:
    raise TooMuchError("declares a document type")


@contextmanager
def told(label: str) -> Iterator[None]:
    """Raise BadInput if the block raises TooMuchError."""
    try:
        yield
    except TooMuchError as error:
        raise BadInput(f"{label}: {error}, which no workbook of records has") from None


def check_directory(raw: IO[bytes]) -> int:
    """Return the size of a zip file; raise ValueError for a directory of more than 1 MiB.

    The whole directory is read before anything else, and takes many times its size in memory.
    """
    size = raw.seek(0, os.SEEK_END)
    raw.seek(max(0, size - _END_OF_DIRECTORY))
    tail = raw.read()
    raw.seek(0)
    for signature, place, length in ((b"PK\x05\x06", 12, 4), (b"PK\x06\x06", 40, 8)):
        for found in re.finditer(re.escape(signature), tail):
            at = found.start() + place
            stated = int.from_bytes(tail[at : at + length], "little")
            # All bits are set if the longer form of the directory has the size.
            if _DIRECTORY_MAX < stated < 2 ** (8 * length) - 1:
                raise ValueError("a directory of too many parts")
    return size
