"""Validation of single values, a column of a batch at a time.

Each distinct value of a column is parsed once, by the kind of the field. ``masthead.store`` makes
the checks across rows.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

from masthead.contract.kinds import Bit, Bool, DecimalText, Flag, Integer, Missing, Number
from masthead.contract.passwords import FILE_COLUMNS, Password, is_md5
from masthead.contract.records import Table
from masthead.contract.shapes import Field
from masthead.loading.batches import QUOTED_MAX, Batch
from masthead.loading.cleaning import BadCell, ShownNumber
from masthead.store.staging import mask_of

Value = int | str | None
Read = Callable[[str], Value]
Reads = Mapping[str, Read]


class CheckedBatch(NamedTuple):
    """The valid rows of a batch, ready to be stored, and the problems of the others.

    A row is its line number, then the values of ``columns``. ``masks`` holds a bit mask of the
    columns that each row has (``staging.mask_of``), or is None if all rows have all columns. A
    problem is a line number, a column and a sentence. ``refused_keys`` are the lines of invalid
    rows, each with the row's key, or None if the key cannot be read.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    masks: Sequence[int] | None
    problems: Sequence[tuple[int, str, str]]
    refused_keys: Sequence[tuple[int, tuple[int, ...] | None]]


SECRET = frozenset((*FILE_COLUMNS, "api_key", "api_login"))
"""The columns whose values no message shows (rules, "Values that are refused")."""

_PASSWORD = Field("password", Password(), Missing.EMPTY)
_NUMBERS = (Integer, Number, DecimalText, Bool, Flag, Bit)
"""The kinds that read the number of a workbook's cell, and not the text that the cell shows."""

_PREDICATES = ("does ", "has ", "holds ", "is ")


_MISSING = "missing: each row needs it, so fill it in, or remove the line if it is no record"


def with_value(text: str, sentence: str) -> str:
    """Return a kind's sentence with the value as its subject: "'Paper' is not one of Print, …".

    A long value is shortened; characters that are not printed are escaped.
    """
    value = repr(text[:QUOTED_MAX]) + ("…" if len(text) > QUOTED_MAX else "")
    return f"{value} {sentence}" if sentence.startswith(_PREDICATES) else f"{value} is {sentence}"


def fields_by_name(table: Table) -> dict[str, Field]:
    """Return the columns that a file can fill: those of the table, and ``password``."""
    fields = {field.name: field for field in table.columns}
    return fields | ({"password": _PASSWORD} if table.name == "subscribers" else {})


class _Bad(str):
    """The problem of an invalid value."""

    __slots__ = ()


def check_batch(table: Table, batch: Batch, reads: Reads | None = None) -> CheckedBatch:
    """Return the stored values of a batch, and its problems.

    ``reads`` has a function for each column of a mapped file. It takes a cell, which may be empty,
    returns the stored value or None, and raises ValueError.
    """
    columns, cells, values, bad_columns = _read_batch(table, batch, reads)
    masks = _masks(table, columns, cells, len(batch.lines))
    problems: list[tuple[int, str, str]] = [
        (bad.line, bad.column, bad.sentence) for bad in batch.unreadable
    ]
    rows = list(zip(batch.lines, *values, strict=True))
    refused: list[tuple[int, tuple[int, ...] | None]]
    refused = [(bad.line, None) for bad in batch.unreadable if bad.may_be_record]
    if not bad_columns:
        return CheckedBatch(columns, rows, masks, problems, refused)
    bad_lines = set()
    for name, found in bad_columns:
        for line, value in zip(batch.lines, found, strict=True):
            if isinstance(value, _Bad):
                problems.append((line, name, str(value)))
                bad_lines.add(line)
    keys = [values[columns.index(name)] for name in table.key]
    for line, *key in zip(batch.lines, *keys, strict=True):
        if line in bad_lines:
            read_key = tuple(value for value in key if isinstance(value, int))
            refused.append((line, read_key if len(read_key) == len(key) else None))
    is_good = [line not in bad_lines for line in batch.lines]
    good = list(compress(rows, is_good))
    masks = masks and list(compress(masks, is_good))
    return CheckedBatch(columns, good, masks, problems, refused)


_Read = tuple[
    list[str], list[Sequence[str | None]], list[list[Value]], list[tuple[str, list[Value]]]
]


def _read_batch(table: Table, batch: Batch, reads: Reads | None) -> _Read:
    """Return the stored columns, each with its cells and values, and the columns with problems."""
    fields = fields_by_name(table)
    columns, cells = list(batch.columns), list(batch.cells)
    values: list[list[Value]] = []
    bad_columns: list[tuple[str, list[Value]]] = []
    for name, texts in zip(columns, cells, strict=True):
        field = fields[name]
        read = reads[name] if reads else field.kind.parse
        found, is_bad = _read_column(field, texts, read, is_mapped=reads is not None)
        values.append(found)
        if is_bad:
            bad_columns.append((name, found))
    given = [n for n, name in enumerate(columns) if name in FILE_COLUMNS]
    if given:
        names = [columns[n] for n in given]
        digests, is_given = values[given[0]], cells[given[0]]
        if len(given) > 1:
            rows = zip(*(values[n] for n in given), strict=True)
            digests = [_only_one(names, row) for row in rows]
            if any(isinstance(digest, _Bad) for digest in digests):
                bad_columns.append((names[-1], digests))
            is_given = [_first_of(row) for row in zip(*(cells[n] for n in given), strict=True)]
        for n in reversed(given):
            del columns[n], cells[n], values[n]
        columns += FILE_COLUMNS[1:]
        cells += [is_given, is_given]
        values += (
            _by_kind(digests) if "password_hash" in names else [digests, [None] * len(digests)]
        )
    return columns, cells, values, bad_columns


def _only_one(names: Sequence[str], digests: Sequence[Value]) -> Value:
    """Return the only digest of a row's passwords, None if it has none, a problem if it has two."""
    found = [digest for digest in digests if digest is not None]
    if len(found) > 1:
        return _Bad(f"there is a {names[0]} too: a subscriber has one of them")
    return None if not found or isinstance(found[0], _Bad) else found[0]


def _first_of(cells: Sequence[str | None]) -> str | None:
    return next((cell for cell in cells if cell is not None), None)


def _by_kind(digests: Sequence[Value]) -> list[list[Value]]:
    """Return the values of ``password_md5`` and ``password_hash``: each row has one or none."""
    of_md5: list[Value]
    of_md5 = [digest if isinstance(digest, str) and is_md5(digest) else None for digest in digests]
    others = [None if md5 else digest for md5, digest in zip(of_md5, digests, strict=True)]
    return [of_md5, others]


def _masks(
    table: Table, columns: Sequence[str], values: Sequence[Sequence[str | None]], count: int
) -> list[int] | None:
    """Return a bit mask of each row's columns, None if all rows have all columns."""
    masks = [mask_of(table, columns)] * count
    has_all = True
    for column, cells in zip(columns, values, strict=True):
        if None in cells:
            has_all = False
            bit = mask_of(table, [column])
            masks = [m - bit if cell is None else m for m, cell in zip(masks, cells, strict=True)]
    return None if has_all else masks


def _read_column(
    field: Field, cells: Sequence[str | None], read: Read, *, is_mapped: bool = False
) -> tuple[list[Value], bool]:
    """Return the stored values of a column, and whether some are invalid."""
    is_secret = field.name in SECRET
    when_missing: Value = _Bad(_MISSING) if field.is_required else field.kind.when_missing
    known: dict[str | None, Value] = {"": when_missing, None: None}
    for text in set(cells):
        if text is None or not (text or is_mapped):
            continue
        written = text
        if text.__class__ is not str:
            if isinstance(text, BadCell):
                known[text] = _Bad(text.sentence)
                continue
            if isinstance(text, ShownNumber) and isinstance(field.kind, _NUMBERS):
                written = text.number
        try:
            value = read(written)
        except ValueError as error:
            known[text] = _Bad(error if is_secret else with_value(text, str(error)))
        else:
            known[text] = when_missing if value is None else value
    if "" not in cells:
        del known[""]
    is_bad = any(isinstance(value, _Bad) for value in known.values())
    return [known[text] for text in cells], is_bad
