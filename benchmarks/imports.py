"""``masthead import`` compared with loading the same rows without any check.

The methods take turns within each round, each with a new database. The plain methods load the files
in one transaction into the same tables, with the same keys, references and indexes. They are INSERT
(SQLite) or COPY (PostgreSQL), and ``.import`` of SQLite's own program. All methods must produce the
same number of rows.
"""

import csv
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.databases import (
    STORES,
    Home,
    columns,
    connected,
    home_of,
    is_postgresql,
    new_database,
    rows,
)
from benchmarks.processes import finished
from benchmarks.publisher import ACCOUNT_ID, add_account, make_files, tables_of
from benchmarks.report import Budget, Figures, Scale, add, ratio, shown, table
from masthead.contract.records import TABLES
from tests.citus.databases import CitusDatabases

IMPORT, AGAIN = "`masthead import`, s", "`masthead import` again, nothing changed, s"
PLAIN, SHELL = "plain INSERT or COPY, s", "`.import` of sqlite3, s"
PEAK = "peak memory of `masthead import`, MiB"
RATIOS = {
    "import / plain": (IMPORT, PLAIN, Budget(at_most=3)),
    "import / `.import`": (IMPORT, SHELL, Budget(at_most=3)),
    "again / plain": (AGAIN, PLAIN, None),
}
BLOCK_BYTES = 1_048_576
_NOT_IN_FILES = ("account_id", "commit_id", "custom_fields_commit_id")
"""Columns that no file has; the plain methods write 1."""


def _targets(database: str, file: Path) -> tuple[str, list[str], list[str]]:
    """Return a file's table, the columns that the file lacks, and its own columns."""
    with file.open(encoding="utf-8", newline="") as lines:
        header = [f'"{name}"' for name in next(csv.reader(lines))]
    return file.stem, [n for n in columns(database, file.stem) if n in _NOT_IN_FILES], header


def insert(database: str, files: Path) -> float:
    """INSERT the rows that Python's CSV reader yields into SQLite; return the seconds."""
    with connected(database) as connection:
        # As in Masthead's own connections.
        connection.execute("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON")
        start = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        for name in tables_of(files):
            file = files / f"{name}.csv"
            to, constant, header = _targets(database, file)
            values = ", ".join(["1"] * len(constant) + ["?"] * len(header))
            sql = f"INSERT INTO {to} ({', '.join(constant + header)}) VALUES ({values})"
            with file.open(encoding="utf-8", newline="") as lines:
                reader = csv.reader(lines)
                next(reader)
                connection.executemany(sql, ([cell or None for cell in row] for row in reader))
        connection.execute("COMMIT")
        return time.perf_counter() - start


def copy(database: str, files: Path) -> float:
    """COPY the bytes of the files into PostgreSQL; return the seconds."""
    targets = [_targets(database, files / f"{name}.csv") for name in tables_of(files)]
    with connected(database) as connection:
        for to, constant, _ in targets:
            for column in constant:
                connection.execute(f"ALTER TABLE {to} ALTER {column} SET DEFAULT 1")
        start = time.perf_counter()
        with connection.transaction():
            for to, _, header in targets:
                sql = f"COPY {to} ({', '.join(header)}) FROM STDIN (FORMAT csv, HEADER)"
                with (
                    (files / f"{to}.csv").open("rb") as file,
                    connection.cursor().copy(sql) as into,
                ):
                    while block := file.read(BLOCK_BYTES):
                        into.write(block)
        return time.perf_counter() - start


def dot_import(database: str, files: Path) -> float:
    """Run ``.import`` of the program ``sqlite3``; return the seconds, including its start.

    ``.import`` does not support NULL, and needs tables with the columns of the files. So it fills
    temporary tables in memory, from which the rows are inserted.
    """
    lines = [
        "PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;",
        "BEGIN IMMEDIATE;",
    ]
    for name in tables_of(files):
        file = files / f"{name}.csv"
        to, constant, header = _targets(database, file)
        values = ", ".join(["1"] * len(constant) + [f"nullif({cell}, '')" for cell in header])
        lines += [
            f"CREATE TEMP TABLE file_of_{to} ({', '.join(header)});",
            f".import --csv --skip 1 --schema temp {file} file_of_{to}",
            f"INSERT INTO {to} ({', '.join(constant + header)})",
            f"SELECT {values} FROM file_of_{to};",
        ]
    start = time.perf_counter()
    subprocess.run(
        ["sqlite3", "-bail", database.removeprefix("sqlite:///")],
        input="\n".join([*lines, "COMMIT;\n"]),
        check=True,
        text=True,
    )
    return time.perf_counter() - start


def _counts(database: str) -> list[int]:
    return [int(rows(database, f"SELECT count(*) FROM {each.name}")[0][0]) for each in TABLES]


def _one_round(home: Home, files: Path) -> dict[str, float]:
    with new_database(home, "imported") as database:
        add_account(database)
        command = ("import", str(files), "--account", str(ACCOUNT_ID), "--database", database)
        first, again = finished(*command), finished(*command)
        if "nothing changed" not in again.printed:
            raise SystemExit(f"the second import changed something:\n{again.printed}")
        figures = {
            IMPORT: first.seconds,
            AGAIN: again.seconds,
            PEAK: max(first.peak_mib, again.peak_mib),
        }
        counts = _counts(database)
        ways: dict[str, Callable[[str, Path], float]] = {
            PLAIN: copy if is_postgresql(database) else insert
        }
        if isinstance(home, CitusDatabases):
            ways = {}  # a table cannot get a default for the column by which it is distributed
        if shutil.which("sqlite3") and not is_postgresql(database):
            ways[SHELL] = dot_import
    for title, way in ways.items():
        with new_database(home, "plain") as database:
            add_account(database)
            figures[title] = way(database, files)
            if _counts(database) != counts:
                raise SystemExit(f"{title}: other rows than `masthead import`")
    return figures


def measure(scale: Scale) -> Iterator[str]:
    """Yield a table for each store."""
    for store in scale.stores:
        found: Figures = {}
        with TemporaryDirectory() as folder, home_of(store) as home:
            files = Path(folder) / "files"
            make_files(files, scale.subscribers)
            for _ in range(scale.rounds):
                add(found, _one_round(home, files))
        yield table(
            ["", STORES[store]],
            [
                *([title, shown(figures, 2)] for title, figures in found.items()),
                *(
                    [title, ratio(found[over], found[under], budget)]
                    for title, (over, under, budget) in RATIOS.items()
                    if under in found
                ),
            ],
        )
