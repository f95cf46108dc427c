"""The tables of a page of the documentation, which the tests of worked examples read."""

from __future__ import annotations

from itertools import groupby

Row = list[str]


def tables(text: str) -> list[list[Row]]:
    """Return the tables of a text, each as its rows of cells, the header first."""
    found: list[list[Row]] = []
    for is_table, lines in groupby(text.splitlines(), lambda line: line.startswith("|")):
        if is_table:
            rows = [[cell.strip() for cell in line[1:-1].split("|")] for line in lines]
            found.append([rows[0], *rows[2:]])
    return found


def table(text: str, *header: str) -> list[Row]:
    """Return the rows of the only table of a text whose header begins so."""
    (found,) = (rows for rows in tables(text) if rows[0][: len(header)] == list(header))
    return found[1:]
