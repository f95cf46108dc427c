"""Reading NDJSON: one JSON object per line."""

import json
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from itertools import chain
from typing import IO, TypeGuard

import msgspec

from masthead.errors import BadInput
from masthead.loading.batches import (
    BATCH_ROWS,
    CELLS_MAX,
    QUOTED_MAX,
    ROW_BYTES_MAX,
    Batch,
    Said,
    UnreadableRow,
    cut_off,
    first_repeated,
    too_long,
)
from masthead.loading.delimited import Decoded, TooLongError
from masthead.loading.detection import UTF_8

_NO_JSON = "not valid JSON"
_KEY_BEFORE_SPACE = (b'" ', b'"\t', b'"\r')


class JsonNumber(str):
    """A JSON number with a fraction, as text."""

    __slots__ = ()


_decode = msgspec.json.Decoder(float_hook=JsonNumber).decode

_PATH_MAX = 1_000
"""The maximum number of characters in the path of an inner object."""

ToCells = Callable[[dict[str, object]], dict[str, str]]


class UnreadableValue(ValueError):
    """A value that cannot be a cell; its message is shown after "<column>: "."""

    def __init__(self, column: str, sentence: object) -> None:
        super().__init__(str(sentence))
        self.column = column


def ndjson_lines(unpacked: IO[bytes], label: str, said: Said) -> Iterator[tuple[int, bytes]]:
    """Yield each line, as UTF-8, with its number. Raises BadInput for more than 16 MiB."""
    line = 0
    if said.encoding in {None, UTF_8}:
        while text := unpacked.readline(ROW_BYTES_MAX):
            line += 1
            if len(text) == ROW_BYTES_MAX:
                raise too_long(label, line)
            yield line, text
        return
    decoded = Decoded(unpacked, said.encoding, newline="\n")
    try:
        for line, decoded_line in enumerate(decoded.lines, 1):
            decoded.limited.row_bytes = 0
            yield line, decoded_line.removeprefix("\ufeff").encode("utf-8", "surrogatepass")
    except TooLongError:
        raise too_long(label, line + 1) from None
    except UnicodeError as error:
        raise BadInput(f"{label}: cannot be read as {said.encoding}: {error}") from error
    finally:
        decoded.close()


def ndjson_batches(
    unpacked: IO[bytes],
    raw: IO[bytes],
    label: str,
    said: Said,
    *,
    to_cells: ToCells,
    allow_truncated: bool,
) -> Iterator[Batch]:
    """Yield the rows in batches; ``to_cells`` makes cells of an object or raises ValueError.

    Raises BadInput as :func:`ndjson_lines` does, and for a last line that looks cut off.
    """
    good: dict[int, dict[str, str]] = {}
    unreadable: list[UnreadableRow] = []
    waiting_bytes = 0

    def batch() -> Batch:
        columns = list(dict.fromkeys(chain.from_iterable(good.values())))
        cells = [[record.get(name) for record in good.values()] for name in columns]
        return Batch(columns, list(good), cells, unreadable, raw.tell())

    for line, text in ndjson_lines(unpacked, label, said):
        if not text.strip():
            continue
        record = _read_record(line, text, to_cells)
        if isinstance(record, UnreadableRow):
            is_cut = line > 1 and record.sentence.startswith(_NO_JSON) and text[-1:] != b"\n"
            if is_cut and not allow_truncated:
                raise cut_off(label, line, f"row: {record.sentence}, in the last line")
            unreadable.append(record)
        elif record is not None:
            good[line] = record
        waiting_bytes += len(text)
        if len(good) + len(unreadable) == BATCH_ROWS or waiting_bytes > ROW_BYTES_MAX:
            yield batch()
            good, unreadable = {}, []
            waiting_bytes = 0
    yield batch()


def _read_record(
    line: int, text: bytes, to_cells: ToCells
) -> dict[str, str] | UnreadableRow | None:
    """Return the cells of a line by column, as CSV would have them; None for a blank record."""
    try:
        text = text.removeprefix(BOM_UTF8)
        record = _decode(text)
        if not isinstance(record, dict):
            raise UnreadableValue("row", "not a JSON object")
        _check_keys(text, record)
        is_blank = all(
            value is None or (type(value) is str and not value.strip()) for value in record.values()
        )
        return None if is_blank else to_cells(record)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        return UnreadableRow(line, "row", f"{_NO_JSON}: {error}")
    except RecursionError:
        return UnreadableRow(line, "row", "nested too deeply")
    except ValueError as error:
        return UnreadableRow(line, getattr(error, "column", "row"), str(error))


def _check_keys(text: bytes, record: dict[str, object]) -> None:
    """Raise ValueError for a repeated key; the decoder keeps only the last one."""
    # The usual case needs no second parsing: there are as many ends of keys as keys.
    if text.count(b'":') == len(record) and not any(end in text for end in _KEY_BEFORE_SPACE):
        return
    pairs = json.loads(text, object_pairs_hook=list, parse_int=str, parse_float=str)
    if twice := first_repeated(name for name, _ in pairs):
        raise ValueError(f"the key {twice[:QUOTED_MAX]} occurs twice")


def any_text(record: dict[str, object]) -> dict[str, str]:
    """Return the cells of an object with values of any type.

    A value of an inner object has the path as its column, such as ``payer.city`` or, in a list
    of objects, ``items.0.name``. Raises UnreadableValue for more than 10,000 cells or levels that
    make a path of more than 1,000 characters.
    """
    cells: dict[str, str] = {}
    _add_cells(cells, record, "")
    return cells


def _add_cells(cells: dict[str, str], values: dict[str, object], path: str) -> None:
    for name, value in values.items():
        column = f"{path}{name}"
        if _has_inside(value):
            if len(column) > _PATH_MAX:
                raise UnreadableValue(column[:QUOTED_MAX], "nested too deeply")
            inner = value if isinstance(value, dict) else {str(n): i for n, i in enumerate(value)}
            _add_cells(cells, inner, f"{column}.")
            continue
        if column in cells:
            raise UnreadableValue(column[:QUOTED_MAX], "is the name of a key and a path too")
        cells[column] = _cell(value)
        if len(cells) > CELLS_MAX:
            raise UnreadableValue("row", f"has more than {CELLS_MAX} cells")


def _has_inside(value: object) -> TypeGuard[dict[str, object] | list[object]]:
    """Return whether a value is an object with keys, or a list of objects or lists."""
    if isinstance(value, list):
        return any(isinstance(item, dict | list) for item in value)
    return isinstance(value, dict) and bool(value)


def _cell(value: object) -> str:
    if isinstance(value, list):
        return "|".join(map(_one_text, value))
    return _one_text(value)


def _one_text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | str):
        return str(value)
    return ""  # an empty object


def _unchanged_number(number: str) -> msgspec.Raw:
    return msgspec.Raw(number.encode())


_decode_unchanged = msgspec.json.Decoder(float_hook=_unchanged_number).decode


def read_object(text: bytes) -> dict[str, object]:
    """Return a line of NDJSON as an object, or ``{"raw": …}`` if it is not an object.

    If it is encoded again, its numbers have their original form.
    """
    try:
        found = _decode_unchanged(text.removeprefix(BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        found = None
    if isinstance(found, dict):
        return found
    return {"raw": text.decode("utf-8", "backslashreplace").rstrip("\r\n")}
