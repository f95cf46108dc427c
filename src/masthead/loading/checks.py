"""Validation of single values, a column of a batch at a time.

Each distinct value of a column is parsed once, by the kind of the field. Checks across rows are
left to ``masthead.store``.
"""

from collections.abc import Sequence
from hashlib import md5
from itertools import compress
from typing import NamedTuple

from masthead.contract.kinds import Text
from masthead.contract.records import Table
from masthead.contract.shapes import Field
from masthead.loading.files import Batch
from masthead.store.staging import mask_of

__all__ = ["CheckedBatch", "check_batch"]

Value = int | str | None


class CheckedBatch(NamedTuple):
    """The valid rows of a batch, ready to be stored, and the problems of the others.

    A row is its line number, then the values of ``columns``. ``masks`` holds a bit mask of the
    columns that each row has (``staging.mask_of``), or is None if all rows have all columns. A
    problem is a line number, a column and a sentence. ``refused_keys`` are the valid keys of
    invalid rows.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    masks: Sequence[int] | None
    problems: Sequence[tuple[int, str, str]]
    refused_keys: Sequence[int]


class _Bad(str):
    """The problem of an invalid value."""

    __slots__ = ()


def check_batch(table: Table, batch: Batch) -> CheckedBatch:
    """Return the stored values of a batch, and its problems."""
    fields = {field.name: field for field in table.columns}
    columns = [name if name != "password" else "password_md5" for name in batch.columns]
    values: list[list[Value]] = []
    bad_columns = []
    for name, column, cells in zip(batch.columns, columns, batch.cells, strict=True):
        read, is_bad = _read_column(fields[column], cells, is_password=name == "password")
        values.append(read)
        if is_bad:
            bad_columns.append((name, read))
    masks = _masks(table, columns, batch)
    problems: list[tuple[int, str, str]] = list(batch.unreadable)
    rows = list(zip(batch.lines, *values, strict=True))
    if not bad_columns:
        return CheckedBatch(columns, rows, masks, problems, ())
    bad_lines = set()
    for name, read in bad_columns:
        for line, value in zip(batch.lines, read, strict=True):
            if isinstance(value, _Bad):
                problems.append((line, name, str(value)))
                bad_lines.add(line)
    key = columns.index(table.key[0]) + 1
    refused = [row for row in rows if row[0] in bad_lines]
    keys = [value for row in refused if isinstance(value := row[key], int)]
    is_good = [line not in bad_lines for line in batch.lines]
    good = list(compress(rows, is_good))
    masks = masks and list(compress(masks, is_good))
    return CheckedBatch(columns, good, masks, problems, keys if len(table.key) == 1 else ())


def _masks(table: Table, columns: Sequence[str], batch: Batch) -> list[int] | None:
    """Return a bit mask of each row's columns, None if all rows have all columns."""
    masks = [mask_of(table, columns)] * len(batch.lines)
    has_all = True
    for column, cells in zip(columns, batch.cells, strict=True):
        if None in cells:
            has_all = False
            bit = mask_of(table, [column])
            masks = [m - bit if cell is None else m for m, cell in zip(masks, cells, strict=True)]
    return None if has_all else masks


def _read_column(
    field: Field, cells: Sequence[str | None], *, is_password: bool
) -> tuple[list[Value], bool]:
    """Return the stored values of a column, and whether some are invalid."""
    read = _digest if is_password else field.kind.parse
    when_missing: Value = _Bad("missing") if field.is_required else field.kind.when_missing
    known: dict[str | None, Value] = {"": when_missing, None: None}
    for text in set(cells):
        if not text:
            continue
        try:
            known[text] = read(text)
        except ValueError as error:
            known[text] = _Bad(error)
    if "" not in cells:
        del known[""]
    is_bad = any(isinstance(value, _Bad) for value in known.values())
    return [known[text] for text in cells], is_bad


def _digest(password: str) -> str:
    Text().parse(password)
    return md5(password.encode(), usedforsecurity=False).hexdigest()
