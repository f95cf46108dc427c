"""``masthead import --complete`` compared with the same import without it.

The lesser files lack 100 subscribers, subscriptions and orders of a publisher, with the rows that
are part of them. After the full files, they are imported once to fill the caches, then without
``--complete``, which changes nothing, and with it, which removes the rows.
"""

import csv
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import STORES, Home, home_of, new_database, settle
from benchmarks.processes import finished
from benchmarks.publisher import ACCOUNT_ID, add_account, load, make_files
from benchmarks.report import Budget, Figures, Scale, add, ratio, shown, table

PLAIN, COMPLETE = "`masthead import`, s", "`masthead import --complete`, 100 records missing, s"
MISSING = {"subscriber_id": 40, "subscription_id": 30, "order_id": 30}
BUDGET = Budget(at_most=1.3)
_TABLES_OF = {
    "subscriber_id": ("subscribers",),
    "subscription_id": ("subscriptions", "subscription_issues", "mailing_list_entries"),
    "order_id": ("orders", "order_items"),
}
"""The records to leave out, by their keys, and the files that contain them."""


def leave_out(files: Path, lesser: Path) -> int:
    """Write the files without the missing records; return the number of rows written."""
    lesser.mkdir()
    columns = {name: key for key, names in _TABLES_OF.items() for name in names}
    missing = {
        key: set(islice(_ids(files / f"{names[0]}.csv", key), MISSING[key]))
        for key, names in _TABLES_OF.items()
    }
    count = 0
    for path in sorted(files.glob("*.csv")):
        key = columns.get(path.stem)
        with (
            path.open(encoding="utf-8", newline="") as rows,
            (lesser / path.name).open("w", encoding="utf-8", newline="") as out,
        ):
            reader = csv.reader(rows)
            header = next(reader)
            writer = csv.writer(out)
            writer.writerow(header)
            place = header.index(key) if key else 0
            for row in reader:
                if key is None or row[place] not in missing[key]:
                    writer.writerow(row)
                    count += 1
    return count


def _ids(path: Path, key: str) -> Iterator[str]:
    with path.open(encoding="utf-8", newline="") as rows:
        for row in csv.DictReader(rows):
            if key != "subscriber_id" or not row["delete_date"]:
                yield row[key]


def _one_round(home: Home, files: Path, lesser: Path) -> dict[str, float]:
    with new_database(home, "complete") as database:
        add_account(database)
        load(database, files)
        settle(database)
        command = ("import", str(lesser), "--account", str(ACCOUNT_ID), "--database", database)
        finished(*command)
        plain = finished(*command)
        if "nothing changed" not in plain.printed:
            raise SystemExit(f"the import changed something:\n{plain.printed}")
        complete = finished(*command, "--complete")
        for name, count in (("subscribers", 40), ("subscriptions", 30), ("orders", 30)):
            found = [line for line in complete.printed.splitlines() if line.startswith(f"{name} ")]
            if not found[0].endswith(f" {count} removed"):
                raise SystemExit(f"other rows were removed:\n{complete.printed}")
        return {PLAIN: plain.seconds, COMPLETE: complete.seconds}


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        found: Figures = {}
        with TemporaryDirectory() as folder, home_of(store) as home:
            files, lesser = Path(folder) / "files", Path(folder) / "lesser"
            make_files(files, scale.subscribers)
            rows = leave_out(files, lesser)
            for _ in range(scale.rounds):
                add(found, _one_round(home, files, lesser))
        yield table(
            [f"{rows:,} rows", STORES[store]],
            [
                *([title, shown(figures, 2)] for title, figures in found.items()),
                ["with / without", ratio(found[COMPLETE], found[PLAIN], BUDGET)],
            ],
        )
