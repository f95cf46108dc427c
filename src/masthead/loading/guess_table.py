"""Where the table of a file is: its sheet, the rows of its names, and the notes below it."""

import re
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

from masthead.contract.printable import printable
from masthead.loading.batches import Batch, Said
from masthead.loading.cleaning import cleaned
from masthead.loading.guess_lines import Line, toml
from masthead.loading.guess_words import KNOWN, NOTES, plain
from masthead.loading.not_records import is_total
from masthead.loading.sources import source_batches, source_rows
from masthead.loading.table_place import joined
from masthead.loading.xlsx import sheets_of

ROWS_MAX = 20_000
"""The maximum number of rows whose values are compared."""

_NAMES_AMONG = 30
_NOTES_MAX = 10
_BODY = 200
_QUOTED_MAX = 40
_CELL_MAX = 300
"""The maximum number of characters of a cell that are compared."""


Row = tuple[int, list[str]]


class Found(NamedTuple):
    """The table of a file.

    ``settings`` are the lines of a mapping that say where it is. ``cells[n]`` are the cells of the
    column ``names[n]``, without spaces at their ends; "" is an empty one.
    """

    settings: list[Line]
    names: list[str]
    cells: list[list[str]]


def find_table(path: Path, label: str, said: Said) -> Found:
    """Return the table of a file. Raises BadInput as ``source_rows`` does."""
    if said.format == "ndjson":
        return _of_objects(path, label, said)
    settings = []
    if said.format == "xlsx" and len(sheets := sheets_of(path, label)) > 1:
        sheet = _sheet(path, label, said, sheets)
        said = said._replace(sheet=sheet)
        settings.append(_about_sheets(sheet, sheets))
    rows, last = _read(path, label, said)
    if not rows:
        return Found(settings, [], [])
    rows[0][1][:1] = [name.removeprefix("\ufeff") for name in rows[0][1][:1]]
    header = _header(rows)
    names = joined([rows[n][1] for n in header])
    if header != [0]:
        lines = [rows[n][0] for n in header]
        above = f": above it is {quoted(_first(rows[0][1]))}" if header[0] else ""
        what = "two rows have the names" if len(lines) > 1 else "the line of the names"
        source = str(lines[0]) if len(lines) == 1 else str(lines)
        settings.append(Line("header", source, f"GUESS: {what}{above}"))
    body = rows[header[-1] + 1 :]
    notes = _notes([row for row in last if row[0] > rows[header[-1]][0]], _used(body))
    if notes:
        told = ", ".join(quoted(_first(cells)) for _, cells in notes)
        no_records = "is no record" if len(notes) == 1 else "are no records"
        settings.append(Line("skip_last", str(len(notes)), f"GUESS: {told} {no_records}"))
    first_note = notes[0][0] if notes else None
    kept = [cells for line, cells in body if first_note is None or line < first_note]
    columns = [_cleaned([_at(cells, n) for cells in kept]) for n in range(len(names))]
    return Found(settings, names, columns)


def quoted(text: str) -> str:
    """Return the beginning of a text as a comment quotes it."""
    shown = " ".join(text.split())
    return repr(printable(shown if len(shown) <= _QUOTED_MAX else f"{shown[:_QUOTED_MAX]}…"))


def _of_objects(path: Path, label: str, said: Said) -> Found:
    with closing(_batches(path, label, said)) as batches:
        batch = next(batches, None)
    if batch is None:
        return Found([], [], [])
    cells = [_cleaned(column) for column in batch.cells]
    return Found([], [name.strip() for name in batch.columns], cells)


def _cleaned(cells: Sequence[str | None]) -> list[str]:
    return [(cell or "").strip()[:_CELL_MAX] for cell in cleaned(cells)]


def _batches(path: Path, label: str, said: Said) -> Generator[Batch, None, None]:
    yield from source_batches(path, label, said, allow_truncated=True)


# The sheet.


def _sheet(path: Path, label: str, said: Said, sheets: dict[str, bool]) -> str:
    """Return the visible sheet with the most names that are known."""
    shown = [name for name, is_hidden in sheets.items() if not is_hidden] or list(sheets)

    def known(sheet: str) -> int:
        with closing(source_rows(path, label, said._replace(sheet=sheet))) as rows:
            return max(
                (_known(cells) for _, cells in islice(_texts(rows), _NAMES_AMONG)), default=-1
            )

    return max(shown, key=known)


def _about_sheets(sheet: str, sheets: dict[str, bool]) -> Line:
    others = [
        f"{quoted(name)}{' (hidden)' if is_hidden else ''}"
        for name, is_hidden in sheets.items()
        if name != sheet
    ]
    is_sure = all(is_hidden for name, is_hidden in sheets.items() if name != sheet)
    comment = f"{'' if is_sure else 'GUESS: '}not read: {', '.join(others)}"
    return Line("sheet", toml(sheet), comment)


# The rows.


def _read(path: Path, label: str, said: Said) -> tuple[list[Row], list[Row]]:
    """Return the first rows of a file, and its last ones."""
    with closing(source_rows(path, label, said)) as found:
        rows = _texts(found)
        first = list(islice(rows, ROWS_MAX))
        last = deque(first[-_NOTES_MAX - 1 :], _NOTES_MAX + 1)
        last.extend(rows)
    return first, list(last)


def _texts(rows: Iterator[tuple[int, list[str] | bytes]]) -> Iterator[Row]:
    for line, cells in rows:
        assert isinstance(cells, list)
        yield line, [cell.strip() for cell in cells]


def _at(cells: Sequence[str], number: int) -> str:
    return cells[number] if number < len(cells) else ""


def _filled(cells: Sequence[str]) -> set[int]:
    return {n for n, cell in enumerate(cells) if cell}


def _first(cells: Sequence[str]) -> str:
    return next(filter(None, cells), "")


def _used(body: Sequence[Row]) -> set[int]:
    """Return the columns that at least a fifth of the rows use."""
    some = body[:_BODY]
    counts = Counter(n for _, cells in some for n in _filled(cells))
    return {n for n, count in counts.items() if count * 5 >= len(some)}


# The names.


def _header(rows: Sequence[Row]) -> list[int]:
    """Return the indexes of the rows that have the names: one, or two that follow each other."""
    likely = [n for n in range(min(len(rows), _NAMES_AMONG)) if _has_names(rows, n)]
    # Of rows with as many known names, the first: a report repeats its names on each page.
    best = max(
        likely, key=lambda n: (known if (known := _known(rows[n][1])) > 1 else 0, -n), default=0
    )
    return _with_second(rows, best)


def _with_second(rows: Sequence[Row], best: int) -> list[int]:
    """Return the row of the names, with the one above or below if its own names repeat."""
    names = list(filter(None, rows[best][1]))
    if len(set(names)) == len(names):
        return [best]
    for pair in ([best - 1, best], [best, best + 1]):
        if pair[0] < 0 or pair[1] >= len(rows) or rows[pair[1]][0] != rows[pair[0]][0] + 1:
            continue
        (other,) = {*pair} - {best}
        others = list(filter(None, rows[other][1]))
        both = set(filter(None, joined([rows[n][1] for n in pair])))
        if len(others) > 1 and all(map(_is_name, others)) and len(both) > len(set(names)):
            return pair
    return [best]


def _has_names(rows: Sequence[Row], number: int) -> bool:
    """Return whether a row can have the names of the rows below it."""
    cells = rows[number][1]
    body = rows[number + 1 : number + 1 + _BODY]
    filled, used = _filled(cells), _used(body)
    if not used or len(filled & used) * 5 < len(used) * 3:
        return False
    if sum(_is_name(cells[n]) for n in filled) * 5 < len(filled) * 4:
        return False
    # A row below the first one needs a sign that it is not a record.
    return number == 0 or _known(cells) > 1 or any(_is_other(body, n) for n in filled)


def _is_other(body: Sequence[Row], number: int) -> bool:
    """Return whether a column has values, and none of them looks like a name."""
    values = list(filter(None, (_at(cells, number) for _, cells in body)))
    return bool(values) and not any(map(_is_name, values))


def _is_name(cell: str) -> bool:
    return bool(re.search(r"[^\W\d_]|[#№]", cell)) and "@" not in cell and len(cell) <= 80


def _known(cells: Sequence[str]) -> int:
    return sum(plain(cell) in KNOWN for cell in cells if cell)


# Notes below.


def _notes(last: Sequence[Row], used: set[int]) -> list[Row]:
    """Return the rows at the end that are no records: totals, remarks, the time of the export."""
    before = [line for line, _ in last]

    def is_note(number: int) -> bool:
        line, cells = last[number]
        filled = _filled(cells)
        text = _first(cells)[:_CELL_MAX]
        has_word = NOTES.match(plain(text)) or any(is_total(cells[n]) for n in filled)
        if has_word and len(filled) * 2 <= max(len(used), 2):
            return True
        if len(filled) != 1 or len(used) < 3:
            return False
        is_sentence = len(text.split()) > 2 or bool(re.search(r"\d.*\s.*\w|\w.*\s.*\d", text))
        return is_sentence or (number > 0 and line > before[number - 1] + 1)

    at_end = list(takewhile(is_note, range(len(last) - 1, 0, -1)))
    return [last[n] for n in reversed(at_end)][-_NOTES_MAX:]
