"""Detection of the encoding, separator and quotes of a text file, where they are not given.

Detection reads the whole file, in little memory: a letter beyond ASCII may come in the last line.
A file that is valid UTF-8 is UTF-8, and a header with commas is comma-separated, so nothing is
guessed about the files that Masthead itself writes (rules, "What is detected").
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from masthead.errors import BadInput
from masthead.loading.batches import QUOTED_MAX, Known, Said
from masthead.loading.plausible import SEGMENTS_MAX, UndecidableError, most_plausible, segments
from masthead.loading.table_place import text_of_table
from masthead.loading.unpacking import opened

if TYPE_CHECKING:
    from chardetng_py import EncodingDetector

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""The separators that are detected, and their names in messages. The first is the default."""

UTF_8 = "utf-8"
_QUOTES = {"'": "single quotes", '"': "double quotes"}
_BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_WITH_MARK = ("utf-16", "utf-32")
"""Encodings whose files begin with a byte order mark."""

_NOT_TEXT = {
    b"PK\x03\x04": "a workbook (.xlsx) or another zip file",
    b"\xd0\xcf\x11\xe0": "an old workbook (.xls), which must be saved as .xlsx",
    b"\x1f\x8b": "one packed with gzip (.gz)",
    b"\x28\xb5\x2f\xfd": "one packed with zstd (.zst)",
}
"""The first bytes of files that are not text, and the kinds of these files."""

_CHUNK_BYTES = 65_536
_FED_BYTES_MAX = 16 * 1_048_576
"""The limit of text beyond ASCII for the detector, which reads some 10 MB a second."""

_NO_CHANCE = 10
"""Text that begins with so many UTF-8 characters beyond ASCII is UTF-8, not by chance."""

_SAMPLE_ROWS = 50
_NOT_UTF_8 = re.compile("[\udc80-\udcff]")
_SEPARATOR_LINE = re.compile("sep=([,;\t|])[\r\n]")
"""The line before the header that tells spreadsheets the separator."""


# Web standards mean more by these names than Python does.
_PYTHON_NAMES = {
    "Big5": "cp950",
    "EUC-KR": "cp949",
    "GBK": "gb18030",
    "ISO-8859-8-I": "iso8859-8",
    "Shift_JIS": "cp932",
}


_NOT_OF_FILES = frozenset(("idna", "punycode", "raw-unicode-escape", "undefined", "unicode-escape"))
"""Encodings of Python for names and programs, not for files."""


class Detected(NamedTuple):
    """A file's ``said`` with everything filled in; ``sentence`` says what was detected.

    ``sentence`` is None if only the default was detected, UTF-8 with commas.
    """

    said: Known
    sentence: str | None


def detect(path: Path, label: str, said: Said) -> Detected:
    """Fill in the encoding, separator and quotes of a text file.

    Raises BadInput for an encoding that does not exist, for broken compression, and for a file
    that contradicts ``said``: it looks like UTF-16, or the header has semicolons.
    """
    found = []
    said_encoding = _codec(said.encoding, label) if said.encoding else None
    with opened(path, label) as (unpacked, _):
        head = unpacked.read(_CHUNK_BYTES)
        for start, kind in _NOT_TEXT.items():
            if head.startswith(start):
                raise BadInput(f"{label}: by its name a text file, and looks like {kind}")
        encoding = _byte_order(head)
        if encoding is None:
            if not said_encoding or said_encoding in {UTF_8, *(_WITH_MARK if head else ())}:
                encoding = _encoding(head, unpacked, label)
            elif said_encoding[:4] != "utf-" and _begins_as_utf_8(head, unpacked):
                encoding = UTF_8
            else:
                encoding = said_encoding
    assert encoding
    if said_encoding is None:
        if encoding != UTF_8:
            found.append(f"as {encoding_name(encoding)}")
    elif encoding[:6] != said_encoding[:6]:
        raise BadInput(
            f"{label}: said to be {encoding_name(said_encoding)}, and looks like "
            f"{encoding_name(encoding)}"
        )
    said = said._replace(encoding=encoding)
    if said.format in {"csv", "tsv"}:
        text = head.decode(encoding, "replace").removeprefix("\ufeff")
        said, dialect = _with_dialect(label, said, text)
        found += dialect
    return Detected(Known(*said), f"read {' '.join(found)}" if found else None)


def encoding_name(encoding: str) -> str:
    """Return the name of an encoding as messages write it."""
    name = codecs.lookup(encoding).name
    if name.startswith("cp125"):
        return f"Windows-{name.removeprefix('cp')}"
    if name == "mac-roman":
        return "MacRoman"
    return name.upper().replace("ISO8859", "ISO-8859")


def _codec(name: str, label: str) -> str:
    try:
        codec = codecs.lookup(name)
        if codec.name in _NOT_OF_FILES:
            raise LookupError
        "a".encode(name)
    except (LookupError, ValueError):
        raise BadInput(f"{label}: there is no encoding {name!r}") from None
    return UTF_8 if codec.name == "utf-8-sig" else codec.name


def _byte_order(head: bytes) -> str | None:
    """Return the encoding that the first bytes show: a byte order mark, or UTF-16 without one."""
    for mark, encoding in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return encoding
    pairs = len(head) // 2
    even, odd = (head[n : 2 * pairs : 2].count(0) for n in (0, 1))
    if max(even, odd) * 4 > pairs and min(even, odd) * 10 < max(even, odd):
        return "utf-16-le" if odd > even else "utf-16-be"
    return None


def _begins_as_utf_8(head: bytes, rest: IO[bytes]) -> bool:
    """Return whether the first characters beyond ASCII are UTF-8, and too many for chance."""
    decoder = codecs.getincrementaldecoder(UTF_8)()
    beyond = 0
    for chunk in _chunks(head, rest):
        try:
            text = decoder.decode(chunk)
        except UnicodeDecodeError:
            return False
        if not text.isascii():
            beyond += sum(character > "\x7f" for character in text)
        if beyond >= _NO_CHANCE:
            return True
    return False


def _encoding(head: bytes, rest: IO[bytes], label: str) -> str:
    """Return UTF-8, or the most likely encoding of a file that is not."""
    good, bad, fed = 0, 0, 0
    left = b""
    detector = None
    pieces: set[bytes] = set()
    for chunk in _chunks(head, rest):
        if chunk.isascii() and not left:
            continue
        data = left + chunk
        try:
            text, used = codecs.utf_8_decode(data, "strict", False)
        except UnicodeDecodeError:
            text, used = codecs.utf_8_decode(data, "surrogateescape", False)
            bad += len(_NOT_UTF_8.findall(text))
        good += used - len(text)
        left = data[used:]
        if bad and fed < _FED_BYTES_MAX:
            detector = detector or _new_detector(label)
            detector.feed(data[:used], last=False)
            pieces.update(islice(segments(data[:used]), SEGMENTS_MAX - len(pieces)))
            fed += used
    bad += len(left)
    if bad <= 4 * good:
        return UTF_8  # valid, or invalid in some rows, which are problems
    detector = detector or _new_detector(label)
    detector.feed(left, last=True)
    found = detector.guess(tld=None, allow_utf8=False)
    name = codecs.lookup(_PYTHON_NAMES.get(found, found.replace("windows-", "cp"))).name
    try:
        return most_plausible(name, pieces)
    except UndecidableError as error:
        may_be = ", or ".join(
            f"{encoding_name(reading.encoding)}, which reads {reading.example[:QUOTED_MAX]!r}"
            for reading in error.readings
        )
        raise BadInput(
            f"{label}: its encoding cannot be told from its letters. It may be {may_be}: say its "
            "encoding in a mapping, or save the file as UTF-8"
        ) from None


def _new_detector(label: str) -> "EncodingDetector":
    # Imported here: most files are UTF-8, and not every system has the package.
    try:
        from chardetng_py import EncodingDetector  # noqa: PLC0415
    except ImportError:
        raise BadInput(
            f"{label}: is not UTF-8, and here is nothing that could detect what it is; say its "
            "encoding in a mapping"
        ) from None
    return EncodingDetector()


def _chunks(head: bytes, rest: IO[bytes]) -> Iterator[bytes]:
    chunk = head
    while chunk:
        yield chunk
        chunk = rest.read(_CHUNK_BYTES)


def _with_dialect(label: str, said: Said, text: str) -> tuple[Said, list[str]]:
    """Fill in separator and quotes; return also what was found beyond the defaults."""
    found = []
    for character in filter(None, (said.separator, said.quote)):
        if len(character) != 1 or character in "\r\n" or said.separator == said.quote:
            raise BadInput(
                f"{label}: separator and quote are two different characters, not {character!r}"
            )
    if said.header:
        text = text_of_table(text, said)
    separator = said.separator or ("\t" if said.format == "tsv" else None)
    if first := _SEPARATOR_LINE.match(text):
        text = text[first.end() :]
    quote = said.quote or _quote(text, separator)
    if separator is None:
        separator = first[1] if first else _separator(text, quote)
        if separator != ",":
            found.append(f"with {SEPARATORS[separator]}")
    else:
        _check_separator(label, text, separator, quote)
    if not said.quote and quote != '"':
        found.append(f"in {_QUOTES[quote]}" if not found else f"and {_QUOTES[quote]}")
    return said._replace(separator=separator, quote=quote), found


def _quote(text: str, separator: str | None) -> str:
    """Return the single quote if it encloses a name in the header, else the double quote."""
    header = re.split(r"[\r\n]", text.lstrip("\r\n"), maxsplit=1)[0]
    between = re.escape(separator) if separator else "[,;\t|]"
    is_single = re.search(f"(?:^|{between})'[^'\"]+'(?:{between}|$)", header)
    return "'" if is_single and '"' not in header else '"'


def _separator(text: str, quote: str) -> str:
    """Return the separator that splits the header and most rows into the same number of cells."""
    best, best_score = ",", (0.0, 1)
    for separator in SEPARATORS:
        header, *rows = _sample(text, separator, quote) or [[]]
        if len(header) > 1:
            alike = sum(len(row) == len(header) for row in rows) / len(rows) if rows else 1.0
            if (alike, len(header)) > best_score:
                best, best_score = separator, (alike, len(header))
    return best


def _check_separator(label: str, text: str, separator: str, quote: str) -> None:
    """Raise BadInput if the header is one cell, but several with another separator."""
    header, *_ = _sample(text, separator, quote) or [[]]
    other = _separator(text, quote)
    if len(header) == 1 and other != separator:
        count = len((_sample(text, other, quote) or [[]])[0])
        if count > 1:
            raise BadInput(
                f"{label}:1: the header is one cell with "
                f"{SEPARATORS.get(separator, repr(separator))} between the cells, and looks like "
                f"{count} cells with {SEPARATORS[other]}"
            )


def _sample(text: str, separator: str, quote: str) -> Sequence[list[str]]:
    """Return the header and the first rows that are complete in ``text``."""
    rows: list[list[str]] = []
    # The end of the sample may be in the middle of a row.
    whole, newline, _ = text.rpartition("\n") if len(text) >= _CHUNK_BYTES // 4 else (text, "", "")
    lines = io.StringIO(whole + newline or text, newline="")
    with suppress(csv.Error):
        for row in csv.reader(lines, delimiter=separator, quotechar=quote):
            if any(row):
                rows.append(row)
            if len(rows) > _SAMPLE_ROWS:
                break
    return rows
