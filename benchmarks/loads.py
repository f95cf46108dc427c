"""What loading costs, beside what the database takes for the same rows without any check.

``python -m benchmarks.loads`` makes a publisher's files and loads them, in rounds in which the ways
take turns, each into a new database: with ``masthead import``; and plainly, in one transaction
into the same tables with the same keys, references and indexes, by COPY of the files' bytes into
PostgreSQL, by INSERT of the rows that Python's CSV reader yields into SQLite. Then
``masthead import`` loads the same files again, which changes nothing.
"""

import argparse
import csv
import json
import signal
import sys
import time
from contextlib import ExitStack, closing
from pathlib import Path
from tempfile import TemporaryDirectory

import apsw
import psycopg

from benchmarks import databases, machine
from benchmarks.databases import STORES, Place, fresh, is_postgresql, place, stores_in
from benchmarks.processes import Finished, finished
from benchmarks.publisher import ACCOUNT_ID, SUBSCRIBERS_MIN, add_account, make_files
from benchmarks.report import Figures, Measured, Ratio, Row, report, text
from masthead.contract.records import TABLES
from masthead.store import find_store

HEAD = "seconds: median (least to most)"
IMPORT = "`masthead import`"
PLAIN = "plain INSERT, COPY"
AGAIN = "`masthead import` again"
PEAK = "peak memory of `masthead import`, MiB"
ROWS: tuple[Row, ...] = (
    Measured(IMPORT, 2),
    Measured(PLAIN, 2),
    Measured(AGAIN, 2),
    Ratio("import / plain", IMPORT, PLAIN),
    Ratio("again / plain", AGAIN, PLAIN),
    Measured(PEAK),
)
BLOCK_BYTES = 1_048_576
SAME = {
    "account_id": [table.name for table in TABLES],
    "commit_id": [
        *("subscribers", "addresses", "subscriptions", "orders", "purchases", "list_downloads"),
    ],
    "custom_fields_commit_id": ["subscribers"],
}
"""The columns that no file has, and the tables that have them: account and commit 1."""


def run_import(database: str, files: Path) -> Finished:
    """Run ``masthead import``; it is one process."""
    given = ("--account", str(ACCOUNT_ID), "--database", database)
    return finished("import", str(files), *given)


def plain(database: str, files: Path) -> float:
    """Load the files with nothing of Masthead; return the seconds."""
    return _copied(database, files) if is_postgresql(database) else _inserted(database, files)


def _copied(database: str, files: Path) -> float:
    with psycopg.connect(database) as connection:
        for column, names in SAME.items():
            for name in names:
                sql = f"ALTER TABLE {name} ALTER {column} SET DEFAULT {ACCOUNT_ID}"
                connection.execute(sql.encode())
        connection.commit()
        start = time.perf_counter()
        for table in TABLES:
            with (files / f"{table.name}.csv").open("rb") as file:
                columns = _quoted(file.readline().decode().split(","))
                sql = f"COPY {table.name} ({columns}) FROM STDIN (FORMAT csv)"
                with connection.cursor().copy(sql.encode()) as copy:
                    while block := file.read(BLOCK_BYTES):
                        copy.write(block)
        connection.commit()
        return time.perf_counter() - start


def _inserted(database: str, files: Path) -> float:
    with closing(apsw.Connection(database.removeprefix("sqlite:///"))) as connection:
        # As Masthead's own writers have it.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        start = time.perf_counter()
        connection.execute("BEGIN IMMEDIATE")
        for table in TABLES:
            with (files / f"{table.name}.csv").open(encoding="utf-8", newline="") as file:
                rows = csv.reader(file)
                header = next(rows)
                same = [column for column, names in SAME.items() if table.name in names]
                places = ", ".join([*(str(ACCOUNT_ID) for _ in same), *("?" for _ in header)])
                sql = f"INSERT INTO {table.name} ({_quoted(same + header)}) VALUES ({places})"
                connection.executemany(sql, ([cell or None for cell in row] for row in rows))
        connection.execute("COMMIT")
        return time.perf_counter() - start


def _quoted(columns: list[str]) -> str:
    return ", ".join(f'"{column.strip()}"' for column in columns)


def counts(database: str) -> list[int]:
    """Return how many rows each table has."""
    with find_store(database).writer() as found:
        rows = (found.row(f"SELECT count(*) FROM {table.name}") or () for table in TABLES)
        return [int(count) for (count,) in rows]


def one_round(home: Place, files: Path) -> tuple[dict[str, float], list[int]]:
    """Return the figures of a round on a store, and how many rows each table has in the end."""
    with fresh(home, "imported") as imported, fresh(home, "plain") as plainly:
        add_account(imported)
        add_account(plainly)
        first = run_import(imported, files)
        again = run_import(imported, files)
        seconds = plain(plainly, files)
        loaded = counts(imported)
        if counts(plainly) != loaded:
            raise SystemExit("the two ways do not load the same rows")
        if "nothing changed" not in again.printed:
            raise SystemExit(f"loading the same files again changed something:\n{again.printed}")
    figures = {
        IMPORT: first.seconds,
        PLAIN: seconds,
        AGAIN: again.seconds,
        PEAK: max(first.peak_mib, again.peak_mib),
    }
    return figures, loaded


def measure(
    stores: list[str], subscribers: int, rounds: int
) -> tuple[dict[str, Figures], dict[str, str]]:
    """Return the figures of each store, one for each round, and what they depend on."""
    found: dict[str, Figures] = {store: {} for store in stores}
    loaded: list[int] = []
    about: dict[str, str] = {}
    with TemporaryDirectory() as name, ExitStack() as stack:
        files = Path(name) / "files"
        make_files(files, subscribers)
        size = sum(file.stat().st_size for file in files.iterdir())
        homes = {store: stack.enter_context(place(store)) for store in stores}
        for _ in range(rounds):
            for store, home in homes.items():
                figures, loaded = one_round(home, files)
                for title, figure in figures.items():
                    found[store].setdefault(title, []).append(figure)
        for home in homes.values():
            about |= databases.described(home)
    told = f"{sum(loaded):,} rows in {len(loaded)} files of {size / 1e6:,.0f} MB together"
    return found, {"loaded": told, **about}


def main() -> None:
    """Measure, print, and write JSON where it is asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.loads", description=__doc__)
    parser.add_argument("--stores", type=stores_in, default=list(STORES), help=",".join(STORES))
    parser.add_argument("--subscribers", type=int, default=60_000, help="1,000,000 rows")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="a file for all figures")
    given = parser.parse_args()
    if given.subscribers < SUBSCRIBERS_MIN or given.rounds < 1:
        parser.error(f"at least {SUBSCRIBERS_MIN} subscribers and one round are needed")
    # So that the servers end with it, however it ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    about = machine.described()
    figures, told = measure(given.stores, given.subscribers, given.rounds)
    command = f"python -m benchmarks.loads {' '.join(sys.argv[1:])}".strip()
    found = report(figures, ROWS, {**told, **about, "command": command})
    print(text(HEAD, ROWS, found))
    if given.json:
        given.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
