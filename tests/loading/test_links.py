"""Links, pipes and devices in a delivery give its sender no file of the operator to read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadInput
from masthead.loading.deliveries import Delivery, ready_deliveries
from masthead.loading.load import Options, load
from masthead.loading.order_files import read_orders
from tests.loading.test_deliveries import fill
from tests.loading.workbooks import workbook
from tests.servers import masthead

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.loading.publisher import Publisher

ROWS = "subscriber_id,email\n1,reader@two.example\n"
ENDINGS = ("csv", "tsv", "csv.gz", "csv.zst", "ndjson", "xlsx")


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    """A folder of somebody else, with a file for each ending."""
    folder = fill(tmp_path / "foreign", {f"subscribers.{ending}": ROWS for ending in ENDINGS})
    (folder / "subscribers.xlsx").write_bytes(workbook([["subscriber_id"], [1]]))
    return folder


def loaded(publisher: Publisher, *paths: Path, options: Options | None = None) -> None:
    load(publisher.store, paths, account_id=publisher.account_id, options=options or Options())


def test_every_link_in_a_delivery_is_refused(
    unchanged: Publisher, foreign: Path, tmp_path: Path
) -> None:
    """rules, "Links in deliveries": in the folder, and where the file itself is named."""
    for ending in ENDINGS:
        folder = fill(tmp_path / ending, {})
        link = folder / f"subscribers.{ending}"
        link.symlink_to(foreign / link.name)
        for path in (folder, link):
            with pytest.raises(BadInput, match=f"{ending}: is a symbolic link, and only regular"):
                loaded(unchanged, path)
    (tmp_path / "csv" / "orders.csv").symlink_to("/dev/null")
    with pytest.raises(BadInput, match=r"orders\.csv: is a symbolic link"):
        read_orders([tmp_path / "csv" / "orders.csv"])


def test_a_link_that_comes_after_the_look_is_refused_too(
    unchanged: Publisher, foreign: Path, tmp_path: Path
) -> None:
    folder = fill(tmp_path / "night", {"subscribers.csv": ROWS, "addresses.csv": "address_id\n"})
    path = folder / "subscribers.csv"

    def swap(_sentence: str) -> None:
        path.unlink()
        path.symlink_to(foreign / path.name)

    path.write_bytes("subscriber_id,first_name\n1,Zoé\n".encode("cp1252"))
    with pytest.raises(BadInput, match="is a symbolic link"):
        load(unchanged.store, [folder], account_id=unchanged.account_id, note=swap)


def test_pipes_and_devices_are_refused_and_nobody_waits_for_them(
    unchanged: Publisher, tmp_path: Path
) -> None:
    folder = fill(tmp_path / "night", {})
    os.mkfifo(folder / "subscribers.csv")
    with pytest.raises(BadInput, match=r"subscribers\.csv: is a pipe, and only regular files"):
        loaded(unchanged, folder)
    with pytest.raises(BadInput, match="is a pipe"):
        read_orders([folder / "subscribers.csv"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files to others")
def test_a_hard_link_to_a_file_of_somebody_else_is_refused(
    unchanged: Publisher, foreign: Path, tmp_path: Path
) -> None:
    """The publisher's own hard links, as of an incremental copy, are files like any other."""
    folder = fill(tmp_path / "night", {})
    os.link(foreign / "subscribers.csv", folder / "subscribers.csv")
    os.chown(folder, 12345, 12345)
    with pytest.raises(BadInput, match="is a hard link to a file whose owner is not that of"):
        loaded(unchanged, folder)
    os.chown(folder / "subscribers.csv", 12345, 12345)
    with pytest.raises(BadInput, match=r"subscribers\.csv:2: email"):
        loaded(unchanged, fill(folder, {"subscribers.csv": ROWS.replace("reader@", "x" * 300)}))


def test_an_account_folder_a_mapping_and_a_marker_are_no_links_either(
    new_publisher: Callable[[], Publisher], foreign: Path, tmp_path: Path
) -> None:
    one, two = new_publisher(), new_publisher()
    night, secret = tmp_path / "night", tmp_path / "key"
    secret.write_text("0123456789abcdef" * 4)
    fill(night / str(one.account_id), {"subscribers.csv": ROWS})
    (night / str(one.account_id) / "mapping.toml").symlink_to(secret)
    (night / str(two.account_id)).symlink_to(foreign)
    done = masthead("import", night, database=one.url, exit_status=1)
    assert "mapping.toml: is a symbolic link" in done.stderr
    assert f"night/{two.account_id}: is a symbolic link, and an account's folder is" in done.stderr
    assert "0123456789" not in done.stdout + done.stderr
    folder = fill(tmp_path / "marked", {"subscribers.csv": ROWS})
    (folder / "_DONE").symlink_to(secret)
    waiting = [Delivery(one.account_id, (folder,))]
    (found,) = ready_deliveries(one.store, waiting, "_DONE", wait_s=0)
    assert found.marker_at is None


def test_bad_rows_are_not_written_through_a_link(small: Publisher, tmp_path: Path) -> None:
    elsewhere = fill(tmp_path / "elsewhere", {})
    (tmp_path / "bad").symlink_to(elsewhere)
    folder = fill(tmp_path / "night", {"subscribers.csv": "subscriber_id\nx\n"})
    with pytest.raises(BadInput, match="is a symbolic link: name the folder for bad rows itself"):
        loaded(small, folder, options=Options(reject=tmp_path / "bad"))
    assert not [*elsewhere.iterdir()]


def test_a_first_line_without_a_header_is_not_shown(unchanged: Publisher, tmp_path: Path) -> None:
    """The value can be a secret that was put into the wrong place."""
    secret = "0123456789abcdef" * 4
    folder = fill(tmp_path / "night", {"subscribers.csv": f"{secret}\n"})
    with pytest.raises(BadInput) as plain:
        loaded(unchanged, folder)
    assert str(plain.value) == (
        "subscribers.csv:1: the first line has no column of subscribers, such as subscriber_id"
    )
    mapping = (
        fill(
            tmp_path,
            {"m.toml": '[[files]]\nname = "*"\n[files.tables.subscribers]\nsubscriber_id = "Nr"\n'},
        )
        / "m.toml"
    )
    with pytest.raises(BadInput) as mapped:
        loaded(unchanged, folder, options=Options(mapping=mapping))
    assert str(mapped.value) == (
        "subscribers.csv: the first line has none of the columns that m.toml names, such as 'Nr'; "
        "if the names are in another line, say it in files[0].header"
    )
