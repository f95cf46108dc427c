"""Where the table of a file is: its header, two header rows, and what stands below."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import openpyxl
import pytest

from masthead.errors import BadInput
from masthead.loading.batches import Said
from masthead.loading.table_place import rows_of_table
from tests.loading.mapped import load_mapped, refusal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.loading.publisher import Publisher

MEMBERS = """
[[files]]
name = "*"
header = 4
skip_last = 1
[files.tables.subscribers]
subscriber_id = { key = ["Member no"] }
email = "Email"
"""
REPORT = (
    "Harbor Press,\nMember list,\n,\nMember no,Email\n1,a@e.org\n2,b@e.org\n\n"
    '"Generated 7/1/2026 9:12 AM"\n'
)


def table(rows: list[tuple[int, list[str]]], *header: int, skip_last: int = 0) -> list[object]:
    return list(rows_of_table(rows, "x.csv", Said(header=header, skip_last=skip_last)))


def test_the_header_is_in_the_line_that_the_mapping_says_and_last_rows_are_left_out(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Where the table is": in text and in a sheet."""
    load_mapped(publisher, {"report.csv": REPORT}, MEMBERS)
    assert [row["email"] for row in publisher.table("subscribers")] == ["a@e.org", "b@e.org"]
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet
    rows: list[list[str]] = [["Harbor Press"], ["Members"], [], ["Member no", "Email"]]
    for row in [*rows, ["3", "c@e.org"], [], ["Generated"]]:
        sheet.append(row)
    book.save(tmp_path / "m.xlsx")
    load_mapped(publisher, {"m.xlsx": (tmp_path / "m.xlsx").read_bytes()}, MEMBERS)
    assert [row["email"] for row in publisher.table("subscribers")][2:] == ["c@e.org"]


def test_the_names_of_two_header_rows_are_joined() -> None:
    """rules, "Where the table is": a name above several columns is that of all of them."""
    rows = [(1, ["Report"]), (3, ["", "Billing", "", "Note"]), (4, ["No", "Street", "City"])]
    expected = ["No", "Billing Street", "Billing City", "Note"]
    assert table([*rows, (5, ["1", "Elm", "Bath", ""])], 3, 4) == [
        (3, expected),
        (5, ["1", "Elm", "Bath", ""]),
    ]
    upper = ["No", "", "Billing", "", "Paid"]
    assert table([(1, upper), (2, ["", "Mail", "Street", "City"])], 1, 2) == [
        (1, ["No", "Mail", "Billing Street", "Billing City", "Paid"])
    ]


def test_a_header_in_a_blank_line_or_behind_the_end_is_refused() -> None:
    for header in ((2,), (1, 2), (9,)):
        with pytest.raises(BadInput, match=r"x\.csv: has no names in line "):
            table([(1, ["A"]), (3, ["1"])], *header)


def test_rejected_rows_load_with_the_same_mapping_though_their_header_is_the_first_line(
    publisher: Publisher, tmp_path: Path
) -> None:
    bad = REPORT.replace("b@e.org", "b" * 60)
    loaded = load_mapped(publisher, {"r.csv": bad}, MEMBERS, reject=tmp_path / "r")
    assert loaded.rejected == {"r.csv": 1}
    rejected = (tmp_path / "r" / "r.csv").read_text().replace("b" * 60, "b@e.org")
    shutil.rmtree(tmp_path / "r")
    load_mapped(publisher, {"r.csv": rejected}, MEMBERS)
    assert [row["email"] for row in publisher.table("subscribers")] == ["a@e.org", "b@e.org"]


def test_problems_name_the_line_of_the_file(publisher: Publisher) -> None:
    (problem,) = refusal(publisher, {"r.csv": REPORT.replace("b@e.org", "b" * 60)}, MEMBERS)
    assert problem.startswith("r.csv:6: Email (subscribers.email): ")


def test_the_separator_is_that_of_the_table_and_not_of_the_titles_above(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Where the table is"."""
    report = REPORT.replace(",\n", "\n").replace("no,", "no;").replace("1,", "1;")
    report = report.replace("2,", "2;").replace("Harbor Press", "Harbor Press, Bath, ME")
    bad = report.replace("b@e.org", "b" * 60)
    load_mapped(publisher, {"report.csv": bad}, MEMBERS, reject=tmp_path / "r")
    rejected = (tmp_path / "r" / "report.csv").read_text().replace("b" * 60, "b@e.org")
    shutil.rmtree(tmp_path / "r")
    load_mapped(publisher, {"report.csv": rejected}, MEMBERS)
    assert [row["email"] for row in publisher.table("subscribers")] == ["a@e.org", "b@e.org"]
