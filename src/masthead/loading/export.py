"""Export of an account's data, as the files that ``import`` reads.

There is one CSV file for each table, and one for the erased subscribers. Rows are in the order of
their keys, and all are read in one snapshot. The same data gives the same bytes. A further file
holds the ``changed_since`` with which a client of the change feed continues.

Files for spreadsheets have no cells that a spreadsheet would take for a formula. They are not meant
for ``import`` (rules, "Exports for spreadsheets").
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
from masthead.private_files import make_folder, new_file
from masthead.store import Store, accounts, audit, commits, exporting

CHANGES_THROUGH = "changes_through.txt"
"""The file with the next ``changed_since``, as in the header ``Masthead-Changes-Through``."""

_FORMULA = re.compile("[\\s\ufeff\u200b]*[=+\\-@\uff1d\uff0b\uff0d\uff20]|[\t\r\n]")
"""The start of a cell that spreadsheets evaluate; some accept full-width signs too."""

_NUMBER = re.compile(r"[+-]?[0-9]+(?:\.[0-9]+)?", re.ASCII)


def export(
    store: Store,
    folder: Path,
    *,
    account_id: int,
    for_spreadsheets: bool = False,
    advance: Callable[[str, int], None] = lambda _table, _rows: None,
    by: audit.Actor | None = None,
) -> dict[str, int]:
    """Write all tables of an account into ``folder``; return the number of rows by table.

    A file gets its name when it is complete. ``advance`` is called with a table and the number of
    rows written so far. ``for_spreadsheets`` puts an apostrophe before text that a spreadsheet
    would take for a formula. ``by`` is written to the audit log. Raises NotFound for an unknown
    account, BadInput if the folder cannot be written to.
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
                        writer.writerows(map(harmless, rows) if for_spreadsheets else rows)
                        count += len(rows)
                        advance(table.name, count)
                unfinished.replace(path)
                counts[table.name] = count
            with new_file(folder / CHANGES_THROUGH) as out:
                out.write(f"{format_moment(through)}\n")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be written to: {error.strerror}") from error
    return counts


def harmless(row: Sequence[Any]) -> list[Any]:
    """Return a row for spreadsheets: text that they would take for a formula gets an apostrophe."""
    return [f"'{cell}" if isinstance(cell, str) and is_formula(cell) else cell for cell in row]


def is_formula(text: str) -> bool:
    """Return whether a spreadsheet would take a text for a formula; numbers are none."""
    return bool(_FORMULA.match(text)) and not _NUMBER.fullmatch(text)
