"""Random loads, and a program that runs one and dies at a moment which a kill seldom hits.

``python -m tests.feed.loader MOMENT import FILES --account 1`` is ``masthead import`` that ends by
SIGKILL.
"""

from __future__ import annotations

import csv
import os
import signal
import sys
from typing import TYPE_CHECKING

from masthead.cli import main
from masthead.contract.records import TABLES_BY_NAME
from masthead.store import Store, commits, merging
from tests.servers import masthead, write_ndjson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from random import Random

    from masthead.store.merging import Merged
    from masthead.store.removing import Removal
    from masthead.store.staging import Staging

SUBSCRIBERS = 1_500
LARGE = 1_000
NEW_IDS = 1_000_000
"""Load number n brings an order and an item of the id ``NEW_IDS + n``, and a subscriber unless its
files are complete."""

BEFORE_THE_COMMIT = "before-the-commit"
BEFORE_THE_STAMP = "before-the-stamp"
_merge = merging.merge

Row = dict[str, str]


def _word(rng: Random) -> str:
    return "".join(rng.choices('abcdefghij "\\é漢', k=rng.randint(1, 24))).strip()


def _given(rng: Random, row: Row) -> Row:
    if not row["option_ids"]:
        return {"text_value": _word(rng)}
    return {"option_ids": rng.choice(row["option_ids"].split("|"))}


def _key(table: str, row: Row) -> Row:
    return {name: row[name] for name in TABLES_BY_NAME[table].key}


_CHANGES: Mapping[str, Callable[[Random, Row], Row]] = {
    "subscribers": lambda rng, _: {
        "last_name": _word(rng),
        "delete_date": rng.choice(["", "2026-01-02 03:04:05"]),
    },
    "addresses": lambda rng, _: {"city": _word(rng), "verified": rng.choice("01")},
    "subscriptions": lambda rng, _: {"copies": str(rng.randint(1, 9))},
    "custom_fields": lambda rng, _: {"display_as": _word(rng)},
    "custom_field_options": lambda rng, _: {"display_as": _word(rng)},
    "custom_field_answers": _given,
    "orders": lambda rng, _: {"import_name": _word(rng)},
    # An item may move to another order; there is one of each number up to the last.
    "order_items": lambda rng, row: {
        "order_id": str(rng.randint(1, int(row["order_id"]))),
        "grand_total": str(rng.randint(0, 999)),
    },
    "purchases": lambda rng, _: {"notes": _word(rng), "total": f"{rng.randint(0, 99)}.50"},
    "list_downloads": lambda rng, _: {"count": str(rng.randint(0, 999))},
    "mailing_list_entries": lambda rng, _: {"copies": str(rng.randint(1, 9))},
}
"""New values for a row of the base, by table."""


_MISSING = {
    "purchases": 1.0,
    "addresses": 0.5,
    "subscriptions": 0.5,
    "list_downloads": 0.5,
    "mailing_list_entries": 0.5,
    "custom_field_answers": 0.2,
}
"""The tables whose rows complete files may lack, and how often they have a file. Their rows are
written whole, so that one comes back which had gone."""


class Base:
    """The files of the first load, made once, and random loads that change what they hold."""

    def __init__(self, folder: Path, database: str) -> None:
        masthead("generate", folder, "--subscribers", SUBSCRIBERS, database=database)
        self.folder = folder
        self._rows: dict[str, list[Row]] = {}
        for table in _CHANGES:
            with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
                self._rows[table] = list(csv.DictReader(file))

        self._may_go = {table: self._unneeded(table) for table in _MISSING}

    def _unneeded(self, table: str) -> list[Row]:
        """Return the rows to which no row refers that other loads have in a file."""
        needed = {
            row.get(column)
            for name, rows in self._rows.items()
            for column, target in TABLES_BY_NAME[name].references.items()
            for row in rows
            if target == table
        }
        return [row for row in self._rows[table] if row[TABLES_BY_NAME[table].key[0]] not in needed]

    def write_load(self, folder: Path, number: int, rng: Random, size: int) -> list[Path]:
        """Write the files of load ``number``, with up to ``size`` changes a table; return them.

        Each table changes by chance, and all of them where the load is :data:`LARGE`.
        """
        new = str(NEW_IDS + number)
        files: dict[str, list[Row]] = {
            "subscribers": [{"subscriber_id": new, "last_name": _word(rng)}],
            "orders": [
                {"order_id": new, "subscriber_id": new, "order_date": "2026-11-20 08:30:00"}
            ],
            "order_items": [{"order_item_id": new, "order_id": new, "bundle_id": new}],
        }
        for table, change in _CHANGES.items():
            # A renamed field changes the records of all subscribers.
            if rng.random() < (0.2 if table == "custom_fields" else 0.5) or size >= LARGE:
                rows = self._rows[table]
                files.setdefault(table, []).extend(
                    (row if table in _MISSING else _key(table, row)) | change(rng, row)
                    for row in rng.sample(rows, min(size, len(rows)))
                )
        return write_ndjson(folder, files)

    def write_complete_load(
        self, folder: Path, number: int, rng: Random, missing: int
    ) -> list[Path]:
        """Write the files of load ``number``, which are complete; return them.

        Each lacks up to ``missing`` rows of the base, and the orders that other loads brought.
        """
        new = str(NEW_IDS + number)
        subscriber = rng.choice(self._rows["subscribers"])
        files: dict[str, list[Row]] = {
            "orders": [
                {**_key("subscribers", subscriber), "order_id": new, "import_name": _word(rng)}
            ],
            "order_items": [{"order_item_id": new, "order_id": new, "bundle_id": new}],
        }
        for table, rows in files.items():
            rows.extend(_key(table, row) for row in self._rows[table])
        for table, chance in _MISSING.items():
            if rng.random() < chance:
                may_go = self._may_go[table]
                lacking = {id(row) for row in rng.sample(may_go, min(missing, len(may_go)))}
                files[table] = [row for row in self._rows[table] if id(row) not in lacking]
        return write_ndjson(folder, files)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _merge_and_die(
    staging: Staging, tell: Callable[[str], None], removal: Removal | None = None
) -> Merged:
    merged = _merge(staging, tell, removal)
    _die()
    return merged


def _die_instead_of_stamping(store: Store, account_id: int, *, waits: bool = True) -> None:
    _die()


if __name__ == "__main__":
    moment = sys.argv.pop(1)
    if moment == BEFORE_THE_COMMIT:
        merging.merge = _merge_and_die
    else:
        assert moment == BEFORE_THE_STAMP, moment
        commits.stamp_commits = _die_instead_of_stamping
    main()
