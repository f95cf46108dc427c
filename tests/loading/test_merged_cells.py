"""Merged cells of a workbook: the cells without a value are named, where they are used."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.loading.cleaning import BadCell
from masthead.loading.merged_cells import MergedCells
from masthead.loading.package_parts import TooMuchError
from tests.loading.mapped import refusal
from tests.loading.workbooks import packed
from tests.long import examples

if TYPE_CHECKING:
    from tests.loading.publisher import Publisher


MERGED = """
    [[files]]
    name = "s*"
    ignore = ["Region"]
    [files.tables.subscribers]
    subscriber_id = { key = ["Nr"] }
    last_name = "Name"
    first_name = "Vorname"
    """


def test_the_cells_of_merged_cells_are_problems_where_they_are_used(publisher: Publisher) -> None:
    """rules, "Workbooks": a spreadsheet shows the value in each row, but only one has it."""
    book = openpyxl.Workbook()
    assert book.active
    for row in (
        ("Region", "Nr", "Name", "Vorname", None),
        ("Nord", "K-1", "Orr", "Ada", None),
        (None, None, None, "Ben", None),
        (None, "K-3", "Cole", None, None),
        ("Süd", None, None, None, None),
        ("Total", None, None, 2, None),
    ):
        book.active.append(row)
    for cells in ("A2:A4", "B2:B3", "C2:C3", "D2:E2", "C4:D4", "A6:C6", "A5:A5"):
        book.active.merge_cells(cells)
    why = "are merged, so only the first one has the value"
    problems = refusal(publisher, {"s.xlsx": packed(book)}, MERGED)
    assert [problem.split(": unmerge")[0] for problem in problems] == [
        f"s.xlsx:3: Nr (subscribers.subscriber_id): the cells B2:B3 {why}",
        f"s.xlsx:3: Name (subscribers.last_name): the cells C2:C3 {why}",
        f"s.xlsx:4: Vorname (subscribers.first_name): the cells C4:D4 {why}",
        "s.xlsx:6: row: looks like a line of totals ('Total'): remove the line",
    ]


@examples(50, 1_000)
@given(
    ranges=st.lists(st.tuples(*[st.integers(1, 6)] * 4), max_size=5),
    pieces=st.lists(st.integers(1, 40), min_size=1, max_size=30),
    rows=st.lists(st.lists(st.sampled_from(["", "x"]), min_size=1, max_size=6), max_size=6),
)
def test_a_cell_of_a_merged_cell_is_marked_and_no_other(
    ranges: list[tuple[int, int, int, int]], pieces: list[int], rows: list[list[str]]
) -> None:
    names = [
        f"{'ABCDEF'[min(a, b) - 1]}{min(c, d)}:{'ABCDEF'[max(a, b) - 1]}{max(c, d)}"
        for a, b, c, d in ranges
    ]
    tags = [f'<mergeCell ref="{name}"/>' for name in names]
    xml = "".join(["<mergeCells>", *tags, "</mergeCells>"]).encode()
    ends = [*itertools.accumulate(pieces), len(xml)]
    chunks = [xml[start:end] for start, end in itertools.pairwise([0, *ends])]
    merged = MergedCells(chunks)
    for line, row in enumerate(rows, 1):
        found = merged.filled(line, row, 6)
        for column in range(1, 7):
            has_value = row[column - 1 : column] == ["x"]
            is_covered = any(
                min(a, b) <= column <= max(a, b)
                and min(c, d) <= line <= max(c, d)
                and rows[min(c, d) - 1][min(a, b) - 1 : min(a, b)] == ["x"]
                for a, b, c, d in ranges
            )
            cell = (found + [""] * 6)[column - 1]
            assert isinstance(cell, BadCell) == (is_covered and not has_value)
            assert isinstance(cell, BadCell) or cell == ("x" if has_value else "")


def test_more_merged_cells_than_records_have_are_refused() -> None:
    """rules, "Workbooks"."""
    merged = MergedCells([b'<x:mergeCell ref="A2:XFD1048576"/>' * 3_000])
    with pytest.raises(TooMuchError, match="more merged cells than records have"):
        _ = [merged.filled(line, ["1"], 1) for line in range(2, 1_000)]
    with pytest.raises(TooMuchError, match="more than 100000 merged cells"):
        MergedCells([b'<mergeCell ref="A2:B2"/>'] * 200_001)
