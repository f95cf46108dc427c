"""Labels and cover sheets of an issue's copies (billing, "Documents")."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.books import billing_settings, issue_sheets, issues
from masthead.circulation.ordering import Item
from masthead.documents.label_sheets import SHEETS
from masthead.documents.template_files import export_templates
from masthead.errors import BadInput
from masthead.loading.sheet_files import Wanted, write_covers, write_labels
from tests.billing.bureau import order, refused
from tests.documents.shown import lines_of, pages_of

if TYPE_CHECKING:
    from pathlib import Path

    from tests.circulation.desk import Desk

MAY = 5
"""The first issue that is not closed."""


def _closed(desk: Desk) -> None:
    for payer in (1, 2, 3):
        order(desk, payer, Item(bundle_id=1, copies=payer))
    issues.close(desk.books, MAY)


def test_each_address_of_the_list_has_a_label_in_its_order(bureau: Desk, tmp_path: Path) -> None:
    _closed(bureau)
    assert write_labels(bureau.books, Wanted(MAY), tmp_path / "may.pdf") == (tmp_path / "may.pdf",)
    shown = lines_of((tmp_path / "may.pdf").read_bytes())
    assert shown == [
        line
        for n, name in enumerate(("Ada", "Ben", "Cora"), 1)
        for line in (
            f"{n} 2027-04-30" + (f"  ·  {n} copies" if n > 1 else ""),
            f"{name} Ames",
            f"{n} Oak",
            "Cork",
            "T12",
        )
    ]


def test_an_issue_with_labels_stays_closed(bureau: Desk, tmp_path: Path) -> None:
    """circulation, "The mail file"."""
    _closed(bureau)
    write_labels(bureau.books, Wanted(MAY), tmp_path / "may.pdf")
    assert "written" in refused(bureau, issues.reopen, MAY)


def test_a_dry_run_writes_and_changes_nothing(bureau: Desk, tmp_path: Path) -> None:
    _closed(bureau)
    before = bureau.everything()
    assert write_labels(bureau.books, Wanted(MAY), tmp_path / "may.pdf", dry_run=True) == ()
    assert list(tmp_path.iterdir()) == []
    assert bureau.everything() == before


def test_an_error_of_a_template_stops_before_anything_is_noted(
    bureau: Desk, tmp_path: Path
) -> None:
    """billing, "Documents"."""
    _closed(bureau)
    export_templates(tmp_path / "templates")
    with (tmp_path / "templates" / "labels.typ").open("a", encoding="utf-8") as file:
        file.write("#nothing\n")
    billing_settings.set_values(bureau.books, {"templates": str(tmp_path / "templates")})
    before = bureau.everything()
    with pytest.raises(BadInput, match=r"templates/labels\.typ, line \d+: unknown variable"):
        write_labels(bureau.books, Wanted(MAY), tmp_path / "may.pdf")
    assert bureau.everything() == before
    assert [path.name for path in tmp_path.iterdir()] == ["templates"]


def test_many_labels_become_several_files(
    bureau: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Many letters in one PDF": the used labels are only those of the first sheet."""
    _closed(bureau)
    monkeypatch.setattr(issue_sheets, "SHEETS_AT_ONCE", 1)
    files = write_labels(bureau.books, Wanted(MAY, sheet="5163", skip=8), tmp_path / "may.pdf")
    assert files == (tmp_path / "may-1.pdf", tmp_path / "may-2.pdf")
    first, second = (pages_of(path.read_bytes()) for path in files)
    assert [len(first), len(second)] == [1, 1]
    assert ["Ada Ames" in first[0], "Ben Ames" in first[0]] == [True, True]
    assert second[0][1] == "Cora Ames"


def test_a_file_that_exists_is_not_replaced(bureau: Desk, tmp_path: Path) -> None:
    _closed(bureau)
    for name in ("may.pdf", "may-2.pdf"):
        (tmp_path / name).write_text("mine")
        with pytest.raises(BadInput, match=f"{name} exists already: it is not replaced"):
            write_labels(bureau.books, Wanted(MAY), tmp_path / "may.pdf")
        (tmp_path / name).unlink()
    with pytest.raises(BadInput, match=r"ends in \.pdf"):
        write_labels(bureau.books, Wanted(MAY), tmp_path / "may.csv")


def test_what_cannot_be_printed_is_refused(bureau: Desk, tmp_path: Path) -> None:
    file = tmp_path / "may.pdf"
    with pytest.raises(BadInput, match="is not closed"):
        write_labels(bureau.books, Wanted(MAY), file)
    issues.close(bureau.books, MAY)
    with pytest.raises(BadInput, match=r"this list of Tide 5 .* has no printed copies"):
        write_labels(bureau.books, Wanted(MAY), file)
    with pytest.raises(BadInput, match="a sheet 3x8 has 24, of which one at least is to be free"):
        write_labels(bureau.books, Wanted(MAY, skip=24), file)
    assert list(tmp_path.iterdir()) == []


def test_bundles_go_to_one_country_and_have_no_more_copies_than_allowed(
    bureau: Desk, tmp_path: Path
) -> None:
    _closed(bureau)
    files = write_covers(bureau.books, MAY, tmp_path / "covers.pdf", most=3)
    pages = pages_of(files[0].read_bytes())
    assert [(page[page.index("Copies") + 1], page[page.index("Bundle") + 1]) for page in pages] == [
        ("3", "1 of 2"),
        ("3", "2 of 2"),
    ]
    assert [page[page.index("Addresses") + 1] for page in pages] == ["2", "1"]
    assert all({"Ireland", "T12"} <= set(page) for page in pages)


def test_all_sheets_together_have_all_copies(bureau: Desk) -> None:
    _closed(bureau)
    for most in (1, 2, 4, 100):
        with issue_sheets.covers(bureau.books, MAY, most=most) as found:
            made = [cover for part in found.parts for cover in part]
        assert sum(cover.copies for cover in made) == 6
    with issue_sheets.labels(bureau.books, MAY, SHEETS["3x8"]) as found:
        ((printed,),) = found.parts
    assert sum(each.copies for each in printed.labels) == 6


def test_a_letterhead_without_the_publishers_name_is_refused(bureau: Desk, tmp_path: Path) -> None:
    _closed(bureau)
    billing_settings.set_values(bureau.books, {"logo": ""})
    with bureau.store.writer() as database, database.transaction():
        database.change("DELETE FROM billing_settings WHERE name = 'seller_name'")
    with pytest.raises(BadInput, match="the letterhead needs seller_name: set it first"):
        write_covers(bureau.books, MAY, tmp_path / "covers.pdf")
