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
    from masthead.store.staging import Staging

__all__ = ["BEFORE_THE_COMMIT", "BEFORE_THE_STAMP", "LARGE", "NEW_IDS", "Base"]

SUBSCRIBERS = 1_500
LARGE = 1_000
NEW_IDS = 1_000_000
"""Load number n brings a subscriber, an order and an item of the id ``NEW_IDS + n``."""

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


class Base:
    """The files of the first load, made once, and random loads that change what they hold."""

    def __init__(self, folder: Path, database: str) -> None:
        masthead("generate", folder, "--subscribers", SUBSCRIBERS, database=database)
        self.folder = folder
        self._rows: dict[str, list[Row]] = {}
        for table in _CHANGES:
            with (folder / f"{table}.csv").open(encoding="utf-8", newline="") as file:
                self._rows[table] = list(csv.DictReader(file))

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
                    {name: row[name] for name in TABLES_BY_NAME[table].key} | change(rng, row)
                    for row in rng.sample(rows, min(size, len(rows)))
                )
        return write_ndjson(folder, files)


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _merge_and_die(staging: Staging, tell: Callable[[str], None]) -> Merged:
    merged = _merge(staging, tell)
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
