"""Reading CSV and similar formats, with any separator, quote and encoding."""

import codecs
import csv
import io
import re
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import IO, cast

from masthead.errors import BadInput
from masthead.loading.batches import (
    BATCH_ROWS,
    CELLS_MAX,
    ROW_BYTES_MAX,
    Batch,
    Said,
    UnreadableRow,
    cut_off,
    too_long,
    too_many_cells,
)
from masthead.loading.detection import UTF_8, encoding_name
from masthead.loading.table_place import rows_of_table

KEPT = "masthead.loading"
"""The name of the error handler of :class:`Decoded`; writers of rows use it too."""

_BYTE_0 = 0xDC00
_SURROGATE = re.compile("[\ud800-\udfff]")

csv.field_size_limit(ROW_BYTES_MAX)


class _LimitedReader(io.BufferedIOBase):
    """Counts the bytes of a row while it is read, and stops a row that is too long.

    A row can span any number of lines, all of which csv.reader keeps in memory.
    """

    def __init__(self, unpacked: IO[bytes]) -> None:
        self._unpacked = cast("io.BufferedReader", unpacked)
        self.row_bytes = 0
        self.batch_bytes = 0
        self.tail = b""

    def readable(self) -> bool:
        """Return True."""
        return True

    def read1(self, size: int = -1, /) -> bytes:
        """Return some bytes. Raises TooLongError."""
        data = self._unpacked.read1(size)
        self.tail = data[-4:] or self.tail
        self.row_bytes += len(data)
        self.batch_bytes += len(data)
        if self.row_bytes > ROW_BYTES_MAX:
            raise TooLongError
        return data


class TooLongError(Exception):
    """A row is longer than the limit."""


class Decoded:
    """The lines of a text file in any encoding, with a limit to the length of a row.

    Bytes that are invalid in the encoding become surrogates, from which they can be restored.
    """

    def __init__(self, unpacked: IO[bytes], encoding: str | None, newline: str) -> None:
        self.limited = _LimitedReader(unpacked)
        self.encoding = encoding or UTF_8
        source = cast("IO[bytes]", self.limited)
        codec = "utf-8-sig" if self.encoding == UTF_8 else self.encoding
        self.lines = io.TextIOWrapper(source, codec, errors=KEPT, newline=newline)

    @property
    def ends_with_line(self) -> bool:
        """Whether the last line that was read has a line ending."""
        width = 4 if "32" in self.encoding else 2 if "16" in self.encoding else 1
        return self.limited.tail[-width:].strip(b"\0") in {b"\n", b"\r"}

    def close(self) -> None:
        """Leave the file open: its position is still needed."""
        self.lines.detach()


def _keep(error: UnicodeError) -> tuple[str | bytes, int]:
    """Decode invalid bytes as surrogates, and encode such surrogates as the bytes."""
    if isinstance(error, UnicodeDecodeError):
        bad = error.object[error.start : error.end]
        return "".join(chr(_BYTE_0 + byte) for byte in bad), error.end
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    numbers = [ord(character) - _BYTE_0 for character in characters]
    if min(numbers) < 0 or max(numbers) > 255 or error.encoding.startswith(("utf-16", "utf-32")):
        return characters.encode("ascii", "backslashreplace").decode(), error.end
    return bytes(numbers), error.end


codecs.register_error(KEPT, _keep)


def delimited_rows(
    unpacked: IO[bytes], label: str, said: Said
) -> Generator[tuple[int, list[str]], None, None]:
    """Yield the line and the cells of each row that is not blank; the first one is the header.

    A line ``sep=;`` before the header is not a row. Raises BadInput, with file and line, for broken
    quotes and for a row of more than 16 MiB or 10,000 cells.
    """
    rows = _rows(Decoded(unpacked, said.encoding, newline=""), label, said)
    return rows_of_table(rows, label, said)


def _rows(decoded: Decoded, label: str, said: Said) -> Generator[tuple[int, list[str]], None, None]:
    separator, quote = said.separator or ",", said.quote or '"'
    reader = csv.reader(decoded.lines, strict=True, delimiter=separator, quotechar=quote)
    limited = decoded.limited
    line = 1
    try:
        for row in reader:
            limited.row_bytes = 0
            if len(row) > CELLS_MAX:
                raise too_many_cells(label, line, len(row))
            if any(map(str.strip, row)) and not (line == 1 and _is_separator_line(row)):
                yield line, row
            line = reader.line_num + 1
    except TooLongError:
        raise too_long(label, line) from None
    except csv.Error as error:
        if "field limit" in str(error):
            raise too_long(label, line) from None
        if "unexpected end" in str(error):
            sentence = "the quotes that begin here are not closed, so the file is cut off or broken"
            raise BadInput(f"{label}:{line}: {sentence}") from None
        raise BadInput(f"{label}:{line}: not CSV as RFC 4180 has it: {error}") from error
    except UnicodeError as error:
        raise BadInput(f"{label}:{line}: cannot be read as {said.encoding}: {error}") from error
    finally:
        decoded.close()


def _is_separator_line(row: Sequence[str]) -> bool:
    """Return whether a row is ``sep=;``, which tells a spreadsheet the separator of the file."""
    return len(row) == 2 and row[0].removeprefix("\ufeff") == "sep=" and not row[1]


def delimited_batches(
    unpacked: IO[bytes], raw: IO[bytes], label: str, said: Said, *, allow_truncated: bool
) -> Iterator[Batch]:
    """Yield the rows in batches.

    Raises BadInput as :func:`delimited_rows` does, and for a file that looks cut off: without a
    newline at its end, or with too few cells in its last row.
    """
    decoded = Decoded(unpacked, said.encoding, newline="")
    limited = decoded.limited
    is_utf_8 = decoded.encoding == UTF_8
    lines: list[int] = []
    good: list[list[str]] = []
    unreadable: list[UnreadableRow] = []
    line, row = 0, [""]

    def batch() -> Batch:
        cells = list(zip(*good, strict=True)) if good else [()] * len(header)
        return Batch(header, lines, cells, unreadable, raw.tell())

    with closing(rows_of_table(_rows(decoded, label, said), label, said)) as rows:
        _, header = next(rows, (1, []))
        header[:1] = [name.removeprefix("\ufeff") for name in header[:1]]
        for line, row in rows:
            if len(row) != len(header):
                sentence = f"has {len(row)} cells where the header has {len(header)}"
                unreadable.append(UnreadableRow(line, "row", sentence))
            elif not is_utf_8 and (wrong := _undecodable(header, row)):
                sentence = f"holds bytes that are no {encoding_name(decoded.encoding)}"
                unreadable.append(UnreadableRow(line, wrong, sentence))
            else:
                lines.append(line)
                good.append(row)
            if len(lines) + len(unreadable) == BATCH_ROWS or limited.batch_bytes > ROW_BYTES_MAX:
                yield batch()
                lines, good, unreadable = [], [], []
                limited.batch_bytes = 0
        if line and not allow_truncated:
            if len(row) < len(header):
                sentence = f"row: has {len(row)} cells where the header has {len(header)}"
                raise cut_off(label, line, f"{sentence}, in the last row")
            if not decoded.ends_with_line:
                raise cut_off(label, line, "the last line does not end with a newline")
        yield batch()


def _undecodable(header: Sequence[str], row: Sequence[str]) -> str | None:
    """Return the column of the first cell with invalid bytes, None if all cells are valid."""
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        return next(n for n, cell in zip(header, row, strict=True) if _SURROGATE.search(cell))
    return None
