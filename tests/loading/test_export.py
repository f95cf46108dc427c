"""``masthead export``: the files that ``import`` reads, the same bytes for the same data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from masthead.contract.moments import format_moment
from masthead.contract.records import TABLES_BY_NAME
from masthead.errors import BadInput, NotFound
from masthead.loading.export import CHANGES_THROUGH, export
from masthead.store import commits
from tests.loading.publisher import SMALL, Publisher
from tests.loading.records import publishers

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
    """decisions, "Exports"."""
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
    """decisions, "Mirror: a pass": a copy that began with the files asks for it next."""
    export(small.store, tmp_path / "out", account_id=small.account_id)
    with small.store.reader() as database:
        database.speak_for(small.account_id)
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


@settings(max_examples=50)  # on each kind of database
@given(data=st.data())
def test_import_of_an_export_exported_again_is_the_same_bytes(
    new_publisher: Callable[[], Publisher], data: st.DataObject
) -> None:
    """Whatever a valid load holds, in either format."""
    files = data.draw(publishers())
    original, copy = new_publisher(), new_publisher()
    original.load(files)
    exported = original.exported()
    copy.load(exported)
    assert copy.everything() == original.everything()
    assert copy.exported() == exported
    again = original.load(files)
    assert not any(count.inserted or count.changed for count in again.counts.values())
