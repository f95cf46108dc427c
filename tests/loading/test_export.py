"""``masthead export``: the files that ``import`` reads, the same bytes for the same data."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from masthead.contract.moments import format_moment
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput, NotFound
from masthead.loading.export import CHANGES_THROUGH, export, harmless
from masthead.store import commits
from tests.loading.publisher import SMALL, Publisher
from tests.loading.records import publishers
from tests.long import examples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_every_table_is_a_file_with_all_its_columns(small: Publisher) -> None:
    exported = small.exported()
    assert list(exported) == sorted(f"{name}.csv" for name in TABLES_BY_NAME)
    for table in TABLES_BY_NAME.values():
        header = exported[f"{table.name}.csv"].splitlines()[0].decode()
        assert header.split(",") == [column.name for column in table.columns]


def test_an_account_without_data_exports_headers(publisher: Publisher) -> None:
    assert all(content.count(b"\n") == 1 for content in publisher.exported().values())


def test_rows_stand_in_the_order_of_their_keys(small: Publisher) -> None:
    """rules, "Exports"."""
    small.load({"subscribers.csv": "subscriber_id\n10\n9\n100\n"})
    lines = small.exported()["subscribers.csv"].decode().splitlines()[1:]
    assert [line.split(",")[0] for line in lines] == ["1", "2", "9", "10", "100"]


def test_an_export_loaded_again_changes_nothing(small: Publisher) -> None:
    commits = small.commit_count()
    small.load(small.exported())
    assert small.commit_count() == commits


def test_an_export_replaces_an_earlier_one_and_leaves_no_unfinished_file(
    small: Publisher, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    export(small.store, folder, account_id=small.account_id)
    assert export(small.store, folder, account_id=small.account_id)["subscribers"] == 2
    assert {path.name for path in folder.iterdir()} == {
        CHANGES_THROUGH,
        *(f"{name}.csv" for name in TABLES_BY_NAME),
    }


def test_the_time_beside_the_files_is_that_from_which_the_feed_goes_on(
    small: Publisher, tmp_path: Path
) -> None:
    """rules, "Mirror: a pass": a copy that began with the files asks for it next."""
    export(small.store, tmp_path / "out", account_id=small.account_id)
    with small.store.reader() as database:
        database.set_tenant(small.account_id)
        newest = commits.position_of(database, small.account_id).newest_stamp
    written = (tmp_path / "out" / CHANGES_THROUGH).read_text()
    assert written == f"{format_moment(newest + 1)}\n"


def test_an_unknown_account_and_a_folder_that_cannot_be_are_refused(
    small: Publisher, tmp_path: Path
) -> None:
    with pytest.raises(NotFound):
        export(small.store, tmp_path / "out", account_id=999_999)
    (tmp_path / "taken").write_text("")
    with pytest.raises(BadInput, match="cannot be written to"):
        export(small.store, tmp_path / "taken" / "out", account_id=small.account_id)


def test_the_small_publisher_comes_back_byte_for_byte(
    small: Publisher, new_publisher: Callable[[], Publisher]
) -> None:
    copy = new_publisher()
    copy.load(small.exported())
    assert copy.everything() == small.everything()
    assert copy.exported() == small.exported()
    assert small.table("subscribers")[0]["email"] in SMALL["subscribers.csv"]


@examples(2, 60)  # on each kind of database
@given(data=st.data())
def test_import_of_an_export_exported_again_is_the_same_bytes(
    new_publisher: Callable[[], Publisher], data: st.DataObject
) -> None:
    """For any valid load, in either format."""
    files = data.draw(publishers())
    original, copy = new_publisher(), new_publisher()
    original.load(files)
    exported = original.exported()
    copy.load(exported)
    assert copy.everything() == original.everything()
    assert copy.exported() == exported
    again = original.load(files)
    assert not any(count.inserted or count.changed for count in again.counts.values())


@examples(2, 60)  # on each kind of database
@given(data=st.data())
def test_import_of_exported_books_exported_again_is_the_same_bytes(
    new_publisher: Callable[[], Publisher], data: st.DataObject
) -> None:
    """The same for an account that keeps its books and bills its orders."""
    original, copy = new_publisher(), new_publisher()
    original.load(data.draw(publishers(has_books=True)))
    exported = original.exported()
    copy.load(exported)
    assert copy.everything() == original.everything()
    assert copy.exported() == exported


FORMULAS = [
    "=1+1",
    '=HYPERLINK("http://x")',
    "+cmd|' /C calc'!A0",
    "+1-1",
    "-1+1",
    "--1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    " =1",
    "\u00a0=1",
    "\ufeff=1",
    "\uff1d1",
    "\uff0b1",
    "\uff0d1",
    "\uff201",
    "-",
    "=",
    "-1e5",
    "-\u0663",
]
HARMLESS = ["", "a=1", "1=1", "-1", "+48", "-1.50", "0", "'=1", "Ada", "a@example.org", "5-7"]


def cells(small: Publisher, folder: Path, *, for_spreadsheets: bool) -> list[str]:
    export(small.store, folder, account_id=small.account_id, for_spreadsheets=for_spreadsheets)
    with (folder / "subscribers.csv").open(encoding="utf-8", newline="") as lines:
        return [row["source"] for row in csv.DictReader(lines)]


def test_no_cell_is_a_formula_where_the_files_are_for_a_spreadsheet(
    small: Publisher, tmp_path: Path
) -> None:
    """rules, "Exports for spreadsheets": off by default, since a round trip is exact."""
    texts = FORMULAS + HARMLESS
    rows = [{"subscriber_id": 10 + n, "source": text} for n, text in enumerate(texts)]
    small.load({"subscribers.ndjson": "\n".join(map(json.dumps, rows))})
    exact = cells(small, tmp_path / "exact", for_spreadsheets=False)
    assert exact[2:] == texts
    shown = cells(small, tmp_path / "shown", for_spreadsheets=True)
    assert shown[2:] == [f"'{text}" for text in FORMULAS] + HARMLESS


def test_numbers_stay_numbers_for_a_spreadsheet(small: Publisher, tmp_path: Path) -> None:
    """rules, "Exports for spreadsheets": -1 is unlimited issues, not a formula."""
    exact, shown = tmp_path / "exact", tmp_path / "shown"
    cells(small, exact, for_spreadsheets=False)
    cells(small, shown, for_spreadsheets=True)
    assert ",-1," in (shown / "subscriptions.csv").read_text()
    for path in exact.iterdir():
        assert (shown / path.name).read_bytes() == path.read_bytes()


@given(text=st.text(max_size=8))
def test_no_text_becomes_a_formula_or_is_lost(text: str) -> None:
    """rules, "Exports for spreadsheets"."""
    (cell,) = harmless([text])
    assert cell in {text, f"'{text}"}
    if cell == text and text.lstrip()[:1] in set("=+-@"):
        float(text)
