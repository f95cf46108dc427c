"""Starting a copy with the files of `masthead export`.

This is for a service without a snapshot, or with a slow one. The first pass then gets the changes
since the export.
"""

import csv
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from msgspec.structs import astuple

from masthead.contract import shapes
from masthead.contract.decoding import read_record
from masthead.errors import BadInput
from masthead.mirror.applying import BATCH_RECORDS, apply
from masthead.mirror.database import Copy, Tell
from masthead.mirror.tables import ENTRIES, Table, entity_named, kept

CHANGES_THROUGH = "changes_through.txt"
CELL_CHARACTERS_MAX = 16 * 1024 * 1024
_CUT_OFF = "the file looks cut off"

_PLAIN = {
    "subscribers": shapes.ChangedSubscriber,
    "addresses": shapes.Address,
    "subscriptions": shapes.ChangedSubscription,
    "purchases": shapes.Purchase,
    "list_downloads": shapes.ListDownload,
}
_ITEMS = entity_named("orders").tables[1]

Cells = Mapping[str, Any]


def load_export(copy: Copy, folder: Path, tell: Tell) -> str:
    """Write the records of the files to an empty copy; return the time for the next request.

    Raises BadInput if a file is missing or is not a file of an export.
    """
    try:
        through = (folder / CHANGES_THROUGH).read_text(encoding="ascii").strip()
        if datetime.fromisoformat(through).utcoffset() is None:
            raise ValueError
    except (OSError, ValueError):
        raise BadInput(
            f"{folder / CHANGES_THROUGH}: it has no time from which to continue: an "
            "export writes it beside the other files",
            code="not_an_export",
        ) from None
    try:
        _load_files(copy, folder, tell)
    except (KeyError, TypeError, ValueError):
        raise BadInput(
            f"{folder}: the files are not as an export writes them", code="not_an_export"
        ) from None
    return through


def _load_files(copy: Copy, folder: Path, tell: Tell) -> None:
    for name, shape in _PLAIN.items():
        apply(copy, _records(folder, name, shape), f"{name}.csv", tell=partial(tell, name))
    orders = _records(folder, "orders", shapes.Order, order_items=[])
    apply(copy, orders, "orders.csv", tell=partial(tell, "orders"))
    _put(copy, folder, _ITEMS, "order_items", shapes.OrderItem)
    _put(copy, folder, ENTRIES, "mailing_list_entries", shapes.MailingListEntry)
    answers = "custom_field_answers"
    apply(copy, _answers(folder), f"{answers}.csv", tell=partial(tell, "custom_fields"))


def _put(copy: Copy, folder: Path, table: Table, name: str, shape: type[Any]) -> None:
    """Write the rows of a file whose records are nested in those of another file."""
    keep = kept(table)
    rows = (
        keep((int(cells[table.owner]), *astuple(_record(folder, name, shape, cells))))
        for cells in _cells(folder, name)
    )
    while batch := list(islice(rows, BATCH_RECORDS)):
        copy.put(table, None, batch)


def _answers(folder: Path) -> Iterator[shapes.AnswerRecord]:
    """Yield the record of each subscriber. Both files are sorted by subscriber id."""
    fields = sorted(_cells(folder, "custom_fields"), key=lambda field: int(field["field_id"]))
    options: dict[str, list[Cells]] = defaultdict(list)
    in_order = sorted(
        _cells(folder, "custom_field_options"),
        key=lambda o: (not o["order"], int(o["order"] or 0), int(o["option_id"])),
    )
    for option in in_order:
        options[option["field_id"]].append(option)
    given = _grouped(_cells(folder, "custom_field_answers"))
    subscriber_id, answers = next(given, (None, {}))
    for subscriber in _cells(folder, "subscribers"):
        of_this: dict[str, Cells] = {}
        if subscriber["subscriber_id"] == subscriber_id:
            of_this = answers
            subscriber_id, answers = next(given, (None, {}))
        entries = [_entry(field, options, of_this.get(field["field_id"])) for field in fields]
        cells = {"subscriber_id": subscriber["subscriber_id"], "custom_fields": entries}
        yield _record(folder, "custom_field_answers", shapes.AnswerRecord, cells)
    if subscriber_id is not None:
        raise ValueError("an answer of a subscriber who is not there, or out of order")


def _entry(field: Cells, options: Mapping[str, list[Cells]], answer: Cells | None) -> Cells:
    chosen = set(answer["option_ids"].split("|")) if answer else set()
    values = [o for o in options.get(field["field_id"], ()) if o["option_id"] in chosen]
    text = answer["text_value"] if answer else None
    return {**field, "values": values or None, "text_value": text}


def _grouped(answers: Iterable[Cells]) -> Iterator[tuple[str, dict[str, Cells]]]:
    """Yield each subscriber's id and answers, by field."""
    subscriber_id: str | None = None
    found: dict[str, Cells] = {}
    for answer in answers:
        if answer["subscriber_id"] != subscriber_id:
            if subscriber_id is not None:
                yield subscriber_id, found
            subscriber_id, found = answer["subscriber_id"], {}
        found[answer["field_id"]] = answer
    if subscriber_id is not None:
        yield subscriber_id, found


def _records(folder: Path, name: str, shape: type[Any], **same: object) -> Iterator[Any]:
    for cells in _cells(folder, name):
        yield _record(folder, name, shape, {**cells, **same})


def _record(folder: Path, name: str, shape: type[Any], cells: Cells) -> Any:
    try:
        return read_record(shape, cells)
    except ValueError as error:
        raise BadInput(f"{folder / name}.csv: {error}") from error


def _cells(folder: Path, name: str) -> Iterator[Cells]:
    path = folder / f"{name}.csv"
    csv.field_size_limit(CELL_CHARACTERS_MAX)
    try:
        with path.open(encoding="utf-8", newline="") as file:
            if not _has_end(path):
                raise ValueError(_CUT_OFF)
            for cells in csv.DictReader(file, strict=True):
                # Where a row has too many cells, or too few.
                if None in cells or None in cells.values():
                    raise ValueError(_CUT_OFF)
                yield cells
    except FileNotFoundError:
        raise BadInput(f"{path}: there is no such file: an export has one for each table") from None
    except (OSError, ValueError, csv.Error) as error:
        reason = os.strerror(error.errno) if isinstance(error, OSError) and error.errno else error
        raise BadInput(f"{path}: cannot be read: {reason}") from error


def _has_end(path: Path) -> bool:
    """Return whether a file has a line, and ends with a line feed, as an export writes it."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read() == b"\n"
