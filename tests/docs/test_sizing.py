"""The page about sizing agrees with the benchmarks from which its figures follow."""

from __future__ import annotations

import re

import pytest

from tests.docs.page_tables import Row, table
from tests.docs.pages import ROOT

SIZING = (ROOT / "docs" / "sizing.md").read_text(encoding="utf-8")
PERFORMANCE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")

MEASURED = {
    "load everything for the first time, SQLite": ("`masthead import`", 1, 60_000),
    "load everything for the first time, PostgreSQL": ("`masthead import`", 2, 60_000),
    "load everything again, nothing changed, SQLite": (
        "`masthead import` again, nothing changed",
        1,
        60_000,
    ),
    "load everything again, nothing changed, PostgreSQL": (
        "`masthead import` again, nothing changed",
        2,
        60_000,
    ),
    "close an issue for every subscription, SQLite": ("closing, s", 1, 990_000),
    "close an issue for every subscription, PostgreSQL": ("closing, s", 2, 198_000),
    "send a snapshot of everything (zstd), SQLite": ("zstd (30.7 MB), s", 1, 175_000),
    "send a snapshot of everything (zstd), PostgreSQL": ("zstd (30.7 MB), s", 2, 175_000),
}
"""The row and the column of the page about performance, and with how many it was measured."""


def number(cell: str) -> float:
    """Return the number with which a cell begins."""
    found = re.match(r"[\d,.]+", cell)
    assert found, cell
    return float(found[0].replace(",", ""))


def seconds(cell: str) -> float:
    """Return what a cell like ``1.6 min`` says, in seconds."""
    return number(cell) * (60 if cell.endswith(" min") else 1)


def row_of(page: str, title: str) -> Row:
    """Return the first row of a page with that title."""
    line = next(line for line in page.splitlines() if line.startswith(f"| {title} |"))
    return [cell.strip() for cell in line[1:-1].split("|")]


@pytest.mark.parametrize("title", MEASURED)
def test_the_times_of_a_night_follow_from_those_that_were_measured(title: str) -> None:
    row, column, count = MEASURED[title]
    each_s = number(row_of(PERFORMANCE, row)[column]) / count
    (header,) = [line for line in SIZING.splitlines() if line.startswith("| | 10,000 |")]
    sizes = [number(cell.strip()) for cell in header[1:-1].split("|")[1:]]
    said = [seconds(cell) for cell in row_of(SIZING, title)[1:]]
    # As they are rounded: to a whole second, or to two digits.
    assert said == [
        pytest.approx(size * each_s, rel=0.06, abs=0.5 if size < 1_000_000 else 0) for size in sizes
    ]


def test_requests_are_as_many_as_were_measured() -> None:
    for title, row in (("one order", "one order"), ("a list of 100 subscriptions",) * 2):
        of_sqlite = row_of(PERFORMANCE, f"SQLite, {row.removeprefix('a ')}")
        of_postgresql = row_of(PERFORMANCE, f"PostgreSQL, {row.removeprefix('a ')}")
        said = [number(cell) for cell in row_of(SIZING, title)[1:]]
        assert said == [
            pytest.approx(number(measured[1]), rel=0.03) for measured in (of_sqlite, of_postgresql)
        ]


def test_the_disk_has_room_for_what_the_page_lists() -> None:
    """The database, 24 closed issues, a first load, the temporary files and seven backups."""
    rows = table(SIZING, "bytes for each subscriber")
    sizes = {title: cells for title, *cells in rows}
    for size, database, _, _, disk, *_ in table(SIZING, "subscribers", "database"):
        column = ["SQLite", "PostgreSQL"].index(database)
        kept, entry = (
            number(sizes[title][column])
            for title in ("database", "each copy in the list of a closed issue")
        )
        backups = 7 if database == "SQLite" else 0
        each = (kept + 24 * entry) * (1 + backups) + kept
        needed_gb = number(size) * each / 1e9 + 4.3
        assert needed_gb <= number(disk) <= 3 * needed_gb, (size, database)
