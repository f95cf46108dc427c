"""``masthead import`` with a mapping compared with the same rows as plain files.

The mapped files have other column names, semicolons, other date and decimal formats, and the ids of
the plain files. A second set has ids that are made from keys. The ways take turns in each round.
"""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import STORES, Home, home_of, new_database, rows
from benchmarks.processes import Finished, finished
from benchmarks.publisher import ACCOUNT_ID, add_account, make_files, tables_of
from benchmarks.report import Budget, Figures, Scale, add, ratio, shown, table
from masthead.contract.records import TABLES
from tests.loading.rewritten import Style, mapping_of, rewrite, write

NAMES = [each.name for each in TABLES]
WITH_KEYS = ["publications", "issues", "subscribers", "addresses", "subscriptions", "purchases"]
"""Tables whose ids are not part of a longer key, so that all of them can be made from keys."""

PLAIN, MAPPED = "plain files, s", "mapped files, s"
PLAIN_AGAIN, MAPPED_AGAIN = "plain files again, s", "mapped files again, s"
PLAIN_SOME, KEYS = "some of the plain files, s", "mapped with ids from keys, s"
PLAIN_SOME_AGAIN, KEYS_AGAIN = "some of the plain files again, s", "with ids from keys again, s"
PEAK, PEAK_KEYS = "peak memory, mapped, MiB", "peak memory, ids from keys, MiB"
RATIOS = {
    "mapped / plain": (MAPPED, PLAIN, Budget(at_most=1.5)),
    "mapped / plain, again": (MAPPED_AGAIN, PLAIN_AGAIN, Budget(at_most=1.5)),
    "ids from keys / plain": (KEYS, PLAIN_SOME, Budget(at_most=1.5)),
    "ids from keys / plain, again": (KEYS_AGAIN, PLAIN_SOME_AGAIN, Budget(at_most=1.5)),
}


def _rewrite(files: Path, to: Path, names: Sequence[str], style: Style) -> Path:
    """Write the mapped files of some tables, with the mapping beside them; return its path."""
    to.mkdir()
    columns = {}
    for name in names:
        with (files / f"{name}.csv").open(encoding="utf-8", newline="") as plain:
            columns[name] = next(csv.reader(plain))
        with (
            (files / f"{name}.csv").open(encoding="utf-8", newline="") as plain,
            (to / f"Quelle {name}.csv").open("w", encoding="utf-8", newline="") as out,
        ):
            write(rewrite(csv.reader(plain), name, style), out, style)
    mapping = to.with_suffix(".toml")
    mapping.write_text(mapping_of(style, columns), encoding="utf-8")
    return mapping


def _twice(home: Home, files: Path, mapping: Path | None) -> tuple[list[int], list[Finished]]:
    """Load the files twice into a new database; return each table's rows, and both results."""
    with new_database(home, "mapped") as database:
        add_account(database)
        command = ["import", str(files), "--account", str(ACCOUNT_ID), "--database", database]
        command += ["--map", str(mapping)] if mapping else []
        both = [finished(*command), finished(*command)]
        if "nothing changed" not in both[1].printed:
            raise SystemExit(f"the second import changed something:\n{both[1].printed}")
        return [int(rows(database, f"SELECT count(*) FROM {n}")[0][0]) for n in NAMES], both


def _one_round(home: Home, folder: Path) -> dict[str, float]:
    counts, plain = _twice(home, folder / "files", None)
    same, mapped = _twice(home, folder / "mapped", folder / "mapped.toml")
    some_counts, some = _twice(home, folder / "some", None)
    same_some, keys = _twice(home, folder / "keys", folder / "keys.toml")
    if (counts, some_counts) != (same, same_some):
        raise SystemExit("the mapped files gave other rows than the plain ones")
    return {
        PLAIN: plain[0].seconds,
        MAPPED: mapped[0].seconds,
        PLAIN_AGAIN: plain[1].seconds,
        MAPPED_AGAIN: mapped[1].seconds,
        PLAIN_SOME: some[0].seconds,
        KEYS: keys[0].seconds,
        PLAIN_SOME_AGAIN: some[1].seconds,
        KEYS_AGAIN: keys[1].seconds,
        PEAK: max(each.peak_mib for each in mapped),
        PEAK_KEYS: max(each.peak_mib for each in keys),
    }


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        found: Figures = {}
        with TemporaryDirectory() as name, home_of(store) as home:
            folder = Path(name)
            make_files(folder / "files", scale.subscribers)
            _rewrite(folder / "files", folder / "mapped", tables_of(folder / "files"), Style())
            _rewrite(folder / "files", folder / "keys", WITH_KEYS, Style(keys=True))
            (folder / "some").mkdir()
            for each in WITH_KEYS:
                (folder / "some" / f"{each}.csv").hardlink_to(folder / "files" / f"{each}.csv")
            for _ in range(scale.rounds):
                add(found, _one_round(home, folder))
        yield table(
            ["", STORES[store]],
            [
                *([title, shown(figures, 2)] for title, figures in found.items()),
                *(
                    [title, ratio(found[over], found[under], budget)]
                    for title, (over, under, budget) in RATIOS.items()
                ),
            ],
        )
