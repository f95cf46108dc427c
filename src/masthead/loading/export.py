"""Writing an account's data as the files that ``import`` reads.

One CSV file a table, its rows in the order of their keys, all from one snapshot; one of them says
who is erased. The same data always give the same bytes. A file beside them has the time with which
a client of the change feed goes on from these data.

Where the files are for a spreadsheet, no text in them is a formula to it; then they are not what
``import`` should read (decisions, "Exports for spreadsheets").
"""

import csv
import re
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from masthead.contract.moments import format_moment
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput
from masthead.private import make_folder, new_file
from masthead.store import Store, accounts, audit, commits, exporting

__all__ = ["CHANGES_THROUGH", "export"]

CHANGES_THROUGH = "changes_through.txt"
"""The file with the time, as the header ``Masthead-Changes-Through`` has it."""

_FORMULA = re.compile("[\\s\ufeff\u200b]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
"""How a cell begins that spreadsheets calculate; full-width signs count as theirs to some."""

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?", re.ASCII)


def export(
    store: Store,
    folder: Path,
    *,
    account_id: int,
    for_spreadsheets: bool = False,
    advance: Callable[[str, int], None] = lambda _table, _rows: None,
    by: audit.Deed | None = None,
) -> dict[str, int]:
    """Write all tables of an account into ``folder``; return how many rows each has.

    A file appears under its name when it is whole. ``advance`` is told a table and how many of its
    rows are written. ``for_spreadsheets`` puts an apostrophe before each text that a spreadsheet
    would take for a formula. The record of it is ``by``'s. Raises NotFound where there is no such
    account, BadInput where the folder cannot be written to.
    """
    counts = {}
    try:
        make_folder(folder)
        audit.record_reading(
            store, by, "the account's data were written out", account_id=account_id
        )
        with ExitStack() as stack:
            connection = stack.enter_context(store.reader())
            connection.set_tenant(account_id)
            stack.enter_context(connection.snapshot())
            accounts.settings_of(connection, account_id)
            through = commits.position_of(connection, account_id).newest_stamp + 1
            for table in TABLES_BY_NAME.values():
                path = folder / f"{table.name}.csv"
                unfinished = path.with_suffix(".csv.unfinished")
                with new_file(unfinished) as out:
                    writer = csv.writer(out)
                    writer.writerow(column.name for column in table.columns)
                    count = 0
                    for rows in exporting.batches(connection, account_id, table):
                        writer.writerows(map(_harmless, rows) if for_spreadsheets else rows)
                        count += len(rows)
                        advance(table.name, count)
                unfinished.replace(path)
                counts[table.name] = count
            with new_file(folder / CHANGES_THROUGH) as out:
                out.write(f"{format_moment(through)}\n")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written to: {error.strerror}") from error
    return counts


def _harmless(row: Sequence[Any]) -> list[Any]:
    return [f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell for cell in row]


def _is_formula(text: str) -> bool:
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)
