"""The worked example of docs/qualification-example.md, with the mistakes that it finds.

The page's figures were worked out by hand from the rules (qualification).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook

from masthead.books import audit_report, issues
from tests.circulation.desk import at_desk
from tests.circulation.shop import refused, run
from tests.long import LONG_ON_SQLITE
from tests.qualification.faults import FAULTS
from tests.qualification.pumps import ISSUES, Pumps, check, table

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.circulation.desk import Desk
    from tests.circulation.faults import Plant
    from tests.servers import Store


@pytest.fixture(scope="module")
def pumps(store: Store) -> Iterator[Pumps]:
    """The title after all steps of the page."""
    with at_desk(store) as desk:
        yield Pumps(desk)


def test_the_lists_and_reports_are_what_the_page_says(pumps: Pumps) -> None:
    """qualification, "The audit report": every figure by hand; its sums equal the list."""
    check(pumps)


def test_the_average_of_the_half_year_is_what_the_page_says(pumps: Pumps) -> None:
    """qualification, "The audit report": sums of all issues, and these divided."""
    made = audit_report.of_half_year(pumps.desk.books, 1, "2026-1")
    rows = [[str(row[0]), str(row[1]), *map(str, row[4:])] for row in made.rows]
    said = table("part", "value", "copies of all issues")
    assert [row for row in rows if row[0] in {"issue", "copies", "type"}] == said
    assert made.notes[2].startswith("May: 6 copies, frozen at 2026-05-15")


def test_a_gap_list_after_the_file_is_named_and_not_counted(pumps: Pumps) -> None:
    """decisions, "When an audit report is frozen"."""
    report = pumps.reports()["May"]
    assert report.notes[0].startswith("frozen at 2026-05-15")
    assert report.notes[1] == "gap lists after that: 1 copy, not counted"


def test_a_sample_is_drawn_by_its_seed_with_all_evidence(pumps: Pumps) -> None:
    """qualification, "The audit report": every nth record, by a seed that is printed."""
    books = pumps.desk.books
    made = audit_report.sample(books, ISSUES["March"], 3, 7)
    assert [(row[0], row[3]) for row in made.report.rows] == [(2, "Ben"), (5, "Fay")]
    assert made.report.rows[0][7:15] == (
        *(1, "water", "telephone", "2023-04-20", "2026-04-19"),
        *("Job: Engineer; Industry: Water", "", "call: no. 2"),
    )
    assert "number 2 on, by the seed 7" in made.report.summary[0]
    drawn = audit_report.sample(books, ISSUES["March"], 3)
    assert audit_report.sample(books, ISSUES["March"], 3, drawn.seed) == drawn


def test_a_sample_is_written_to_files_and_not_on_the_terminal(pumps: Pumps, tmp_path: Path) -> None:
    """qualification, "The audit report": a table as CSV, and a workbook that only its owner reads.

    The terminal has what the sample was drawn by, and nothing about readers.
    """
    asked = ("qualification", "sample", ISSUES["March"], "--every=3", "--seed=7")
    table_file, book = tmp_path / "sample.csv", tmp_path / "sample.xlsx"
    printed = run(pumps.desk.url, *asked, f"--csv={table_file}", f"--xlsx={book}")
    made = audit_report.sample(pumps.desk.books, ISSUES["March"], 3, 7).report
    assert printed == list(made.summary)
    head, *rows = load_workbook(book)["Sample"].iter_rows(values_only=True)
    assert list(head) == [column.name for column in made.columns]
    assert [(row[0], row[3], f"{row[10]:%Y-%m-%d}", row[12]) for row in rows] == [
        (row[0], row[3], row[10], row[12]) for row in made.rows
    ]
    assert len(table_file.read_text(encoding="utf-8").splitlines()) == len(made.rows) + 1
    assert [path.stat().st_mode & 0o077 for path in (table_file, book)] == [0, 0]
    said = refused(pumps.desk.url, *asked, "--xlsx=a.csv", exit_status=2)
    assert said == "--xlsx: the name of a.csv must end in .xlsx\n"


def test_a_report_without_a_file_is_counted_now(pumps: Pumps) -> None:
    """qualification, "The audit report": it says that it is not frozen."""
    desk = pumps.desk
    desk.put("issues", issue_id=4, publication_id=1, name="July", date="2026-07-15")
    desk.to("2026-07-14")
    issues.close(desk.books, 4)
    before = audit_report.of_issue(desk.books, 4)
    assert before.notes == ("not frozen yet: counted now; the first file freezes it",)
    issues.mark_written(desk.books, 4)
    pumps.answer("Ada", "2026-07-14", "Student", "Oil", "web")
    assert audit_report.of_issue(desk.books, 4).rows == before.rows


@pytest.fixture(scope="module")
def desk(store: Store) -> Iterator[Desk]:
    with at_desk(store) as found:
        yield found


@LONG_ON_SQLITE
@pytest.mark.parametrize("plant", [pytest.param(v, id=k) for k, v in FAULTS.items()])
def test_the_example_finds_each_planted_mistake(
    desk: Desk, plant: Plant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """qualification, "What must hold": each mistake is made, and changes a figure of the page."""
    times = plant(monkeypatch)
    with pytest.raises(AssertionError):
        check(Pumps(desk))
    assert times() > 0
