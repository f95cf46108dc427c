"""Rows that are no records: the header again, and lines of totals.

Spreadsheets and reports have such lines between and below their records. Without a check, their
words would become the keys of records (rules, "Rows that are no records").
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import compress

from masthead.loading.batches import Batch, UnreadableRow
from masthead.loading.cleaning import BadCell

_TOTALS = frozenset(
    (
        *("total", "totals", "grand total", "sub total", "subtotal", "subtotals", "report total"),
        *("page total", "sum", "count", "record count"),
        *("summe", "gesamt", "gesamtsumme", "gesamtzahl", "insgesamt", "zwischensumme", "anzahl"),
        *("endsumme", "gesamtbetrag", "total général", "total general", "sous total", "somme"),
        *("totaux", "nombre", "totaal", "subtotaal", "eindtotaal", "aantal", "som", "totale"),
        *("totali", "somma", "suma", "suma total", "subtotal general", "totalt", "summa"),
        *("delsumma", "yhteensä", "razem", "ogółem", "suma końcowa", "celkem", "összesen", "итого"),
    )
)
_STEMS = frozenset(
    word for word in _TOTALS if not any(other != word and other in word for other in _TOTALS)
)
"""A cell without any of these has no word of :data:`_TOTALS`."""

_CURRENCIES = frozenset(
    ("eur", "usd", "gbp", "chf", "cad", "aud", "kr", "sek", "nok", "dkk", "zł", "pln", "kč", "czk")
)
_WORD = re.compile(r"[^\W\d_]+")
_NUMBER_AFTER_SIGN = re.compile(r"[:=(] ?[0-9]")
_WORDS_MAX = 4
_COLUMNS_MIN = 3
_LENGTH_MAX = 60


def without_others(batch: Batch, keys: Collection[str]) -> Batch:
    """Return a batch whose rows that are no records are unreadable.

    ``keys`` are the columns of keys. A line of totals has a word such as "Total" for its key, or
    no key and the word elsewhere, and otherwise numbers alone.
    """
    others = {**_totals(batch, keys), **_headers(batch)}
    if not others:
        return batch
    stay = [row not in others for row in range(len(batch.lines))]
    found = [others[row] for row in sorted(others)]
    return batch._replace(
        lines=list(compress(batch.lines, stay)),
        cells=[list(compress(cells, stay)) for cells in batch.cells],
        unreadable=sorted([*batch.unreadable, *found]),
    )


def lone_cells(batch: Batch, used: Collection[str]) -> dict[int, str]:
    """Return the lines that have a value in only one of the columns ``used``, and the value.

    Such a line may be a record, or a title or note between the records.
    """
    columns = [
        cells
        for name, cells in zip(batch.columns, batch.cells, strict=True)
        if name.strip() in used
    ]
    if len(columns) < _COLUMNS_MIN:
        return {}
    found = {}
    # Of any two columns, such a line has a value in one at most.
    for row in sorted({*_blank(columns[0]), *_blank(columns[1])}):
        values = (text for cells in columns if (text := _text(cells[row])))
        value = next(values, None)
        if value and next(values, None) is None:
            found[batch.lines[row]] = value
    return found


def _headers(batch: Batch) -> dict[int, UnreadableRow]:
    """Return the rows whose cells are all names of columns."""
    found: dict[int, UnreadableRow] = {}
    names = [name.strip() for name in batch.columns]
    known = {*batch.columns, *names} - {""}
    first = batch.cells[0] if batch.cells else ()
    if known.isdisjoint(first):
        return found
    for row, cell in enumerate(first):
        if cell in known:
            cells = _row(batch, row)
            if cells == names:
                sentence = "repeats the names of the columns: remove the line"
            elif known.issuperset(filter(None, cells)) and sum(map(bool, cells)) > 1:
                sentence = (
                    "has the names of columns in other places than the header, so the rows below "
                    "have another form: put them into a file of their own"
                )
            else:
                continue
            found[row] = UnreadableRow(batch.lines[row], "row", sentence, may_be_record=False)
    return found


def _totals(batch: Batch, keys: Collection[str]) -> dict[int, UnreadableRow]:
    of_keys = [batch.cells[n] for n, name in enumerate(batch.columns) if name.strip() in keys]
    if not of_keys:
        return {}
    has_word = {
        row
        for cells in of_keys
        if any(map("\n".join(filter(None, cells)).casefold().count, _STEMS))
        for row, cell in enumerate(cells)
        if cell and is_total(cell)
    }
    has_no_key = {
        row for row in _blank(of_keys[0]) if not any(_text(cells[row]) for cells in of_keys)
    }
    found = {}
    for row in has_word | has_no_key:
        cells = _row(batch, row)
        words = {cell for cell in cells if is_total(cell)}
        if words and all(cell in words or _is_number(cell) for cell in cells):
            found[row] = UnreadableRow(
                batch.lines[row],
                "row",
                f"looks like a line of totals ({min(words)!r}): remove the line",
                may_be_record=row not in has_word,
            )
    return found


def is_total(cell: str) -> bool:
    """Return whether a cell is a word such as "Total", or has one and a number: "Total: 38"."""
    if len(cell) > _LENGTH_MAX:
        return False
    words = _WORD.findall(cell.casefold())
    if " ".join(words) in _TOTALS:
        return True
    is_short = 0 < len(words) <= _WORDS_MAX and not _TOTALS.isdisjoint(words)
    return is_short and bool(_NUMBER_AFTER_SIGN.search(cell))


def _is_number(cell: str) -> bool:
    """Return whether a cell has no words except signs of currencies."""
    return len(cell) <= _LENGTH_MAX and _CURRENCIES.issuperset(_WORD.findall(cell.casefold()))


def _blank(cells: Sequence[str | None]) -> Iterator[int]:
    """Yield the rows whose cell has no text."""
    for row, cell in enumerate(cells):
        if not cell or cell.isspace() or isinstance(cell, BadCell):
            yield row


def _row(batch: Batch, row: int) -> list[str]:
    return [_text(cells[row]) for cells in batch.cells]


def _text(cell: str | None) -> str:
    return "" if cell is None or isinstance(cell, BadCell) else cell.strip()
