"""Writes the schema of both databases from one source, ``start.sql`` beside this file.

Run by ``make schema``; a test holds the files in ``masthead/store/sql`` against what this would
write. The source is SQLite's schema with these additions:

- Lines after ``-- [sqlite]`` or ``-- [postgresql]``, up to ``-- [both]`` or another such line, are
  for that database alone. So is a single line that ends with one of the two.
- In an index, ``+column`` is for PostgreSQL alone: on SQLite the index has the key anyway.
- ``-- [staging]`` stands for the staging tables of PostgreSQL, which are written from the contract:
  one for each table that a load can fill. (On SQLite a load creates temporary ones.)
"""

import re
from collections.abc import Iterator
from pathlib import Path

from masthead.contract.records import TABLES_BY_NAME, Table
from masthead.store.staging import DERIVED

SOURCE = Path(__file__).with_name("start.sql")
DATABASES = ("sqlite", "postgresql")
FOLDER = Path(__file__).parents[1] / "src/masthead/store/sql"
_BLOCK = re.compile(r"-- \[(both|sqlite|postgresql)\]")
_LINE = re.compile(r" -- \[(sqlite|postgresql)\]$")
_TYPES = {"INTEGER": "BIGINT", "TEXT": 'TEXT COLLATE "C"'}
_COLUMN = re.compile(r'^( +|CREATE TABLE \w+ \()("?\w+"?) (INTEGER|TEXT)(?=[ ,)]|$)')


def schema(database: str) -> str:
    """Return the schema of a database, ``sqlite`` or ``postgresql``."""
    lines = [
        f"-- Written by `make schema` from schema/{SOURCE.name}: change that one.",
        *(
            _on_postgresql(line) if database == "postgresql" else _on_sqlite(line)
            for line in _lines(database)
        ),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _lines(database: str) -> Iterator[str]:
    """Yield the lines of the source that are for a database."""
    of = "both"
    for line in SOURCE.read_text().splitlines():
        if block := _BLOCK.fullmatch(line):
            of = block[1]
            continue
        alone = _LINE.search(line)
        if {of, alone[1] if alone else "both"} <= {"both", database}:
            if line == "-- [staging]":
                yield "\n\n".join(map(_staging_table, TABLES_BY_NAME.values()))
            else:
                yield _LINE.sub("", line)


def _on_sqlite(line: str) -> str:
    return re.sub(r", \+\w+", "", line)


def _on_postgresql(line: str) -> str:
    if line.startswith("--"):
        return line
    line = re.sub(r"^\) STRICT(, WITHOUT ROWID)?;", ");", line).replace(") STRICT;", ");")
    line = line.replace(" VIRTUAL", " STORED").replace(", +", ", ")
    return _COLUMN.sub(lambda found: f"{found[1]}{found[2]} {_TYPES[found[3]]}", line)


def _staging_table(table: Table) -> str:
    columns = [f"{name} INTEGER NOT NULL" for name in _OF_A_ROW]
    columns += [f"{_RESERVED.get(c.name, c.name)} {c.kind.column}" for c in table.columns]
    columns += [f"{name} TEXT" for name in DERIVED.get(table.name, {})]
    name = f"staged_{table.name}"
    return "\n".join(
        [
            f"CREATE UNLOGGED TABLE {name} (",
            ",\n".join(_on_postgresql(f"    {column}") for column in columns),
            ");",
            f"CREATE INDEX {name}_by_key",
            f"    ON {name} (account_id, load_id, {', '.join(table.key)});",
        ]
    )


_OF_A_ROW = ("account_id", "load_id", "file", "line", "present")
"""What each staged row has: its load, its place in the files, and a mask of its columns."""

_RESERVED = {"order": '"order"'}
"""The names of columns that are words of SQL."""


if __name__ == "__main__":
    for each in DATABASES:
        (FOLDER / each / f"0001_{SOURCE.name}").write_text(schema(each))
