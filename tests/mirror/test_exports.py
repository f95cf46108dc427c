"""Beginning a copy with the files of `masthead export`, and going on with the feed."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.mirror import TOO_OLD
from masthead.sample_data.generate import generate
from tests.mirror.conftest import EACH_COPY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mirror.kept import Kept, Row
    from tests.mirror.publisher import Publisher


def undated(kept: Kept) -> dict[str, list[Row]]:
    """Return all that a copy has, but when a subscriber changed, which no export tells."""
    everything = kept.everything()
    everything["subscribers"] = [row[:-1] for row in everything["subscribers"]]
    return everything


@EACH_COPY
def test_a_copy_from_an_export_is_one_from_the_snapshot(
    golden: Publisher, sparse: Publisher, new_kept: Callable[[], Kept]
) -> None:
    """rules, "Mirror: a pass"; "Digest": without the times of changes."""
    for publisher in (golden, sparse):
        exported, snapshot = new_kept(), new_kept()
        assert exported.start_from_export(publisher, publisher.export())
        done = exported.update(publisher)
        assert (done.records, done.full_load) == (0, None)
        snapshot.update(publisher)
        assert undated(exported) == undated(snapshot)
        assert exported.differences(publisher) == []


def test_a_copy_of_a_publisher_of_some_size_from_an_export(
    new_publisher: Callable[[], Publisher], kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: a pass"; "Digest"."""
    publisher = new_publisher()
    generate(tmp_path / "files", subscribers=1_200, seed=5)
    publisher.load_folder(tmp_path / "files")
    kept.start_from_export(publisher, publisher.export())
    verified = kept.verify(publisher)
    assert verified.differences == []
    assert verified.counts["subscribers"] == 1_200
    assert min(verified.counts.values()) > 0


def test_options_without_an_order_come_last_as_the_service_shows_them(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Custom field answers": in order of ``order``, then ``option_id``."""
    publisher.load(
        custom_fields=[{"field_id": 3, "type": "checkbox"}],
        custom_field_options=[
            {"option_id": 31, "field_id": 3},
            {"option_id": 32, "field_id": 3, "order": 5},
            {"option_id": 33, "field_id": 3, "order": -1},
        ],
        custom_field_answers=[{"subscriber_id": 1, "field_id": 3, "option_ids": [31, 32, 33]}],
    )
    kept.start_from_export(publisher, publisher.export())
    chosen = "SELECT option_id FROM custom_field_values WHERE field_id = 3 ORDER BY position"
    assert kept.column(chosen) == [33, 32, 31]
    assert kept.differences(publisher) == []


def test_what_changed_since_the_export_arrives(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": it asks for the time that stands beside the files."""
    folder = publisher.export()
    publisher.load(
        subscribers=[{"subscriber_id": 1, "first_name": "Renamed"}],
        mailing_list_entries=[{"mailing_list_id": 2, "subscription_id": 1, "copies": 2}],
    )
    kept.start_from_export(publisher, folder)
    assert kept.column("SELECT first_name FROM subscribers ORDER BY subscriber_id")[0] == "First"
    done = kept.update(publisher)
    assert (done.records, done.lists, done.full_load) == (2, 1, None)
    assert kept.column("SELECT first_name FROM subscribers ORDER BY subscriber_id")[0] == "Renamed"
    assert kept.differences(publisher) == []


def test_a_copy_that_has_begun_is_left_alone(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass": a service that starts again is called as before."""
    folder = publisher.export()
    kept.update(publisher)
    kept.run("DELETE FROM orders")
    before = kept.everything()
    assert not kept.start_from_export(publisher, folder)
    assert kept.everything() == before


@EACH_COPY
def test_rows_of_a_copy_that_has_not_begun_do_not_stay(publisher: Publisher, kept: Kept) -> None:
    """rules, "Mirror: a pass"."""
    kept.update(publisher)
    kept.run("DELETE FROM mirror", "UPDATE addresses SET city = 'damaged'")
    assert kept.start_from_export(publisher, publisher.export())
    assert kept.differences(publisher) == []


def test_an_export_that_is_too_old_is_replaced_by_the_snapshot(
    publisher: Publisher, kept: Kept
) -> None:
    """rules, "Mirror: a pass"."""
    folder = publisher.export()
    (folder / "changes_through.txt").write_text("2026-01-01T00:00:00.000000+00:00\n")
    kept.start_from_export(publisher, folder)
    assert kept.update(publisher).full_load == TOO_OLD
    assert kept.differences(publisher) == []


def replace_in(name: str, old: str, new: str) -> Callable[[Path], None]:
    """Return what writes a file anew with other text."""

    def change(folder: Path) -> None:
        path = folder / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


def cut(path: Path, count: int) -> None:
    """Cut off the last bytes of a file."""
    path.write_bytes(path.read_bytes()[:-count])


BAD_EXPORTS: dict[str, tuple[Callable[[Path], object], str]] = {
    "without a time": (
        lambda folder: (folder / "changes_through.txt").unlink(),
        r"changes_through\.txt: it has no time from which to continue",
    ),
    "with half a time": (
        replace_in("changes_through.txt", "+00:00", ""),
        r"changes_through\.txt: it has no time from which to continue",
    ),
    "without a table": (
        lambda folder: (folder / "orders.csv").unlink(),
        r"orders\.csv: there is no such file",
    ),
    "without a column": (
        replace_in("custom_fields.csv", "field_id,", "id,"),
        "not as an export writes them",
    ),
    "with a column of another form": (
        replace_in("subscriptions.csv", "2026-12-31", "31.12.2026"),
        r"subscriptions\.csv: .* date_expired",
    ),
    "with a response of nobody": (
        replace_in("custom_field_answers.csv", "3,2,", "33,2,"),
        "not as an export writes them",
    ),
    "with a file that is empty": (
        lambda folder: (folder / "orders.csv").write_bytes(b""),
        r"orders\.csv: cannot be read: the file looks cut off",
    ),
    "with half a value at the end": (
        lambda folder: cut(folder / "addresses.csv", 3),
        r"addresses\.csv: cannot be read: the file looks cut off",
    ),
    "with half a row": (
        lambda folder: (folder / "orders.csv").write_bytes(b"order_id,subscriber_id\r\n1\r\n"),
        r"orders\.csv: cannot be read: the file looks cut off",
    ),
    "with bytes that are no text": (
        lambda folder: (folder / "purchases.csv").write_bytes(b"purchase_id\n\xff\n"),
        r"purchases\.csv: cannot be read",
    ),
}


def test_a_folder_without_an_export_is_refused_and_leaves_no_copy(
    publisher: Publisher, kept: Kept, tmp_path: Path
) -> None:
    """rules, "Mirror: a pass"."""
    exported = publisher.export()
    for what, (change, sentence) in BAD_EXPORTS.items():
        folder = tmp_path / what
        shutil.copytree(exported, folder)
        change(folder)
        with pytest.raises(BadInput, match=sentence):
            kept.start_from_export(publisher, folder)
        assert not any(kept.everything().values()), what
