"""A publisher's files loaded without Masthead: what the database takes for the same rows unchecked.

Each way loads them in one transaction into the same tables with the same keys, references and
indexes. What no file has, account and commit, is 1.
"""

import csv
import shutil
import subprocess
import time
from contextlib import closing
from pathlib import Path

import apsw
import psycopg

from benchmarks.databases import is_postgresql
from benchmarks.publisher import ACCOUNT_ID
from masthead.contract.records import TABLES

__all__ = ["SAME", "SHELL", "dot_import", "plain"]

SHELL = shutil.which("sqlite3")
"""SQLite's own program, a package of Debian by this name; None where it is not installed."""

BLOCK_BYTES = 1_048_576
SAME = {
    "account_id": [table.name for table in TABLES],
    "commit_id": [
        *("subscribers", "addresses", "subscriptions", "orders", "purchases", "list_downloads"),
    ],
    "custom_fields_commit_id": ["subscribers"],
}
"""The columns that no file has, and the tables that have them."""


def plain(database: str, files: Path) -> float:
    """Load the files with nothing of Masthead; return the seconds."""
    return _copied(database, files) if is_postgresql(database) else _inserted(database, files)


def dot_import(database: str, files: Path) -> float:
    """Load the files with ``.import`` of SQLite's own program; return the seconds.

    They have the start of the program in them. It knows no NULL, and needs tables of the files'
    columns. So it fills temporary ones, in memory, from which the rows are inserted; that was
    faster than a view and its trigger.
    """
    assert SHELL
    lines = [
        *("PRAGMA temp_store = MEMORY;", "PRAGMA synchronous = FULL;", "PRAGMA foreign_keys = ON;"),
        "BEGIN IMMEDIATE;",
    ]
    for table in TABLES:
        file = files / f"{table.name}.csv"
        header, same = _header(file), _same(table.name)
        cells = [*(str(ACCOUNT_ID) for _ in same), *(f"nullif(\"{name}\", '')" for name in header)]
        staged = f"file_of_{table.name}"
        lines += [
            f"CREATE TEMP TABLE {staged} ({_quoted(header)});",
            f".import --csv --skip 1 --schema temp {file} {staged}",
            f"INSERT INTO {table.name} ({_quoted(same + header)})",
            f"SELECT {', '.join(cells)} FROM {staged};",
        ]
    start = time.perf_counter()
    subprocess.run(
        [SHELL, "-bail", database.removeprefix("sqlite:///")],
        input="\n".join([*lines, "COMMIT;\n"]),
        check=True,
        text=True,
    )
    return time.perf_counter() - start


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
                same = _same(table.name)
                places = ", ".join([*(str(ACCOUNT_ID) for _ in same), *("?" for _ in header)])
                sql = f"INSERT INTO {table.name} ({_quoted(same + header)}) VALUES ({places})"
                connection.executemany(sql, ([cell or None for cell in row] for row in rows))
        connection.execute("COMMIT")
        return time.perf_counter() - start


def _header(file: Path) -> list[str]:
    with file.open(encoding="utf-8", newline="") as lines:
        return next(csv.reader(lines))


def _same(table: str) -> list[str]:
    return [column for column, names in SAME.items() if table in names]


def _quoted(columns: list[str]) -> str:
    return ", ".join(f'"{column.strip()}"' for column in columns)
