"""Folders of folders, and marker files that say that a folder is complete."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from masthead.errors import BadUsage
from masthead.loading.deliveries import POLL_S, Delivery, Ready, deliveries, ready_deliveries
from masthead.loading.load import Options, load
from tests.loading.publisher import SMALL, Publisher
from tests.servers import masthead

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MARKER = "_DONE"
SECOND_US = 1_000_000
PUBLICATION = {"publications.csv": "publication_id,name\n1,Tide\n"}


class Time:
    """A clock that goes on when somebody pauses, and what happens meanwhile."""

    def __init__(self) -> None:
        self.now = 0.0
        self.happens: dict[int, Callable[[], None]] = {}
        self.pauses = 0

    def clock(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.pauses += 1
        self.now += seconds
        self.happens.pop(self.pauses, lambda: None)()


def fill(folder: Path, files: dict[str, str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(content)
    return folder


def mark(folder: Path, at_s: int) -> None:
    """Put the marker into a folder, with this time."""
    (folder / MARKER).touch()
    os.utime(folder / MARKER, (at_s, at_s))


def names(publisher: Publisher) -> list[object]:
    return [row["name"] for row in publisher.table("publications")]


def test_a_folder_of_numbers_is_a_delivery_for_each_of_these_accounts(tmp_path: Path) -> None:
    """rules, "Folders of folders": other folders are left alone."""
    for name in ("10", "9", "0", "07", "-1", "x", "9223372036854775808", ".snapshot", "٣"):
        fill(tmp_path / name, PUBLICATION)
    (tmp_path / "11").write_text("no folder")
    assert deliveries([tmp_path], None) == [
        Delivery(number, (tmp_path / str(number),)) for number in (0, 9, 10)
    ]


def test_with_an_account_it_is_a_folder_like_any_other(tmp_path: Path) -> None:
    fill(tmp_path / "9", PUBLICATION)
    assert deliveries([tmp_path], 1) == [Delivery(1, [tmp_path])]


def test_files_without_an_account_are_accounts(tmp_path: Path) -> None:
    assert deliveries([tmp_path, tmp_path / "x.csv"], None) == [
        Delivery(None, [tmp_path, tmp_path / "x.csv"])
    ]


@pytest.mark.parametrize("beside", ["top/subscribers.csv", "other/subscribers.csv"])
def test_files_beside_folders_of_accounts_are_bad_usage(tmp_path: Path, beside: str) -> None:
    """rules, "Folders of folders": whose they are is not known."""
    fill(tmp_path / "top" / "9", PUBLICATION)
    fill((tmp_path / beside).parent, {"subscribers.csv": "subscriber_id\n"})
    paths = [tmp_path / "top", *([tmp_path / "other"] if beside.startswith("other") else [])]
    with pytest.raises(BadUsage, match="folders of accounts beside it"):
        deliveries(paths, None)


def test_each_account_is_a_load_of_its_own_and_a_failure_stops_no_other(
    new_publisher: Callable[[], Publisher], tmp_path: Path
) -> None:
    """rules, "Folders of folders": what is refused is said by account, with status 1."""
    one, two, three = (new_publisher() for _ in range(3))
    night = tmp_path / "night"
    fill(night / str(one.account_id), PUBLICATION)
    fill(night / str(two.account_id), {"publications.csv": "publication_id\nx\n"})
    fill(night / str(three.account_id), {"accounts.csv": "account_id,company_name\n1,Mine\n"})
    fill(night / "999999", PUBLICATION)
    done = masthead("import", night, database=one.url, exit_status=1)
    assert done.stdout.splitlines() == [
        f"account {one.account_id}:",
        "publications  1 inserted, 0 changed, 0 unchanged",
        f"account {two.account_id}: not loaded",
        f"account {three.account_id}: not loaded",
        "account 999999: not loaded",
    ]
    refused = done.stderr.splitlines()
    assert refused[0].startswith(f"account {two.account_id}: publications.csv:2: publication_id: ")
    assert "an account's folder has no accounts" in done.stderr
    assert "account 999999: there is no account 999999" in done.stderr
    assert refused[-1] == (
        f"not loaded: account {two.account_id}, account {three.account_id}, account 999999"
    )
    assert names(one) == ["Tide"]
    assert names(two) == names(three) == []


def test_bad_rows_of_each_account_are_set_aside_in_a_folder_of_its_number(
    new_publisher: Callable[[], Publisher], tmp_path: Path
) -> None:
    one, two = new_publisher(), new_publisher()
    for each in (one, two):
        rows = {"publications.csv": f"publication_id,name\n1,Tide\nx,{each.account_id}\n"}
        fill(tmp_path / "night" / str(each.account_id), rows)
    bad = tmp_path / "bad"
    options = ("--reject", bad, "--max-rejected=1")
    done = masthead("import", tmp_path / "night", *options, database=one.url)
    for each in (one, two):
        path = bad / str(each.account_id) / "publications.csv"
        assert f"1 bad row set aside in {path}" in done.stdout
        assert f"x,{each.account_id}," in path.read_text()


def test_each_account_has_a_mapping_of_its_own(
    new_publisher: Callable[[], Publisher], tmp_path: Path
) -> None:
    """rules, "Folders of folders": the one in its folder, else that of the command."""
    one, two = new_publisher(), new_publisher()
    mapping = '[[files]]\nname = "{}*"\n[files.tables.publications]\n'
    mapping += 'publication_id = "Nr"\nname = "Titel"\n'
    (tmp_path / "all.toml").write_text(mapping.format("titel"))
    fill(tmp_path / "night" / str(one.account_id), {"titel.csv": "Nr;Titel\n1;Tide\n"})
    fill(
        tmp_path / "night" / str(two.account_id),
        {"hefte.csv": "Nr;Titel\n1;Harbour\n", "mapping.toml": mapping.format("")},
    )
    for each in (one, two):
        mark(tmp_path / "night" / str(each.account_id), 100)
    options = ("--map", tmp_path / "all.toml", "--when-complete=_DONE")
    masthead("import", tmp_path / "night", *options, database=one.url)
    assert (names(one), names(two)) == (["Tide"], ["Harbour"])


def wait(publisher: Publisher, folders: list[Path], time: Time, wait_s: float = 60) -> list[Ready]:
    waiting = [Delivery(publisher.account_id, (folder,)) for folder in folders]
    found = []
    for ready in ready_deliveries(
        publisher.store, waiting, MARKER, wait_s=wait_s, pause=time.pause, clock=time.clock
    ):
        found.append(ready)
        if ready.marker_at is not None:
            load(
                publisher.store,
                ready.delivery.paths,
                account_id=publisher.account_id,
                options=Options(marker_at=ready.marker_at),
            )
    return found


def test_a_folder_is_loaded_once_its_marker_is_there(publisher: Publisher, tmp_path: Path) -> None:
    """rules, "Folders of folders": the marker is no file of data, and stays."""
    folder, time = tmp_path / "later", Time()
    time.happens[2] = lambda: mark(fill(folder, PUBLICATION), 100)
    assert [each.marker_at for each in wait(publisher, [folder], time)] == [100 * SECOND_US]
    assert (time.pauses, time.now) == (2, 2 * POLL_S)
    assert names(publisher) == ["Tide"]
    assert (folder / MARKER).exists()


def test_the_marker_of_the_last_load_says_nothing_of_the_next(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Folders of folders": the files may be half written."""
    folder, time = fill(tmp_path / "night", PUBLICATION), Time()
    mark(folder, 100)
    assert wait(publisher, [folder], time)[0].marker_at
    fill(folder, {"publications.csv": "publication_id,name\n1,Half"})
    assert [each.marker_at for each in wait(publisher, [folder], time)] == [None]
    assert names(publisher) == ["Tide"]


def test_a_delivery_whose_marker_does_not_come_is_late_and_holds_up_no_other(
    new_publisher: Callable[[], Publisher], tmp_path: Path
) -> None:
    publisher, time = new_publisher(), Time()
    late, prompt = tmp_path / "late", fill(tmp_path / "prompt", PUBLICATION)
    mark(prompt, 100)
    found = wait(publisher, [late, prompt], time, wait_s=3 * POLL_S)
    assert [(each.delivery.paths[0].name, bool(each.marker_at)) for each in found] == [
        ("prompt", True),
        ("late", False),
    ]
    assert time.pauses == 3


def test_no_client_waits_longer_than_announced(publisher: Publisher, tmp_path: Path) -> None:
    time = Time()
    (late,) = wait(publisher, [tmp_path / "late"], time, wait_s=POLL_S + 1)
    assert (late.marker_at, time.now) == (None, POLL_S + 1)


def test_a_marker_that_comes_at_the_last_moment_counts(
    publisher: Publisher, tmp_path: Path
) -> None:
    folder, time = fill(tmp_path / "night", PUBLICATION), Time()
    time.happens[3] = lambda: mark(folder, 100)
    assert wait(publisher, [folder], time, wait_s=3 * POLL_S)[0].marker_at


def test_the_command_says_what_did_not_come(small: Publisher, tmp_path: Path) -> None:
    """rules, "Folders of folders": the next load waits for a marker of another time."""
    folder = fill(tmp_path / "night", PUBLICATION)
    words = ("import", folder, "--account", small.account_id, "--when-complete=_DONE")
    none = masthead(*words, "--wait-at-most=0s", database=small.url, exit_status=1)
    assert none.stderr == f"{folder / MARKER} did not come in time, so nothing was loaded\n"
    mark(folder, 100)
    assert "1 unchanged" in masthead(*words, database=small.url).stdout
    masthead(*words, "--wait-at-most=0s", database=small.url, exit_status=1)
    mark(folder, 101)
    assert "1 unchanged" in masthead(*words, database=small.url).stdout


def test_a_marker_of_a_clock_that_was_ahead_holds_up_no_later_night(
    publisher: Publisher, tmp_path: Path
) -> None:
    """rules, "Folders of folders": a marker is new if its time is another one."""
    folder, time = fill(tmp_path / "night", PUBLICATION), Time()
    for at_s in (10**10, 200, 0, 300):
        mark(folder, at_s)
        found = wait(publisher, [folder], time, wait_s=0)
        assert [each.marker_at for each in found] == [at_s * SECOND_US]
        assert [each.marker_at for each in wait(publisher, [folder], time, wait_s=0)] == [None]


def test_a_refused_load_has_used_its_marker_up(small: Publisher, tmp_path: Path) -> None:
    """rules, "Folders of folders": its files may be half replaced by the next night's."""
    folder = fill(tmp_path / "night", {"publications.csv": "publication_id\nx\n"})
    mark(folder, 100)
    words = ("import", folder, "--account", small.account_id, "--when-complete=_DONE")
    masthead(*words, database=small.url, exit_status=1)
    fill(folder, PUBLICATION)
    late = masthead(*words, "--wait-at-most=0s", database=small.url, exit_status=1)
    assert "did not come in time" in late.stderr
    assert late.stderr.startswith("a new ")
    assert "touch it to load the same files again" in late.stderr


def test_folders_of_accounts_have_a_marker_each(
    new_publisher: Callable[[], Publisher], tmp_path: Path
) -> None:
    one, two = new_publisher(), new_publisher()
    for each in (one, two):
        fill(tmp_path / "night" / str(each.account_id), PUBLICATION)
    mark(tmp_path / "night" / str(two.account_id), 100)
    done = masthead(
        *("import", tmp_path / "night", "--when-complete=_DONE", "--wait-at-most=0s"),
        database=one.url,
        exit_status=1,
    )
    assert done.stdout.startswith(f"account {two.account_id}:\n")
    assert f"not loaded: account {one.account_id}\n" in done.stderr
    assert (names(one), names(two)) == ([], ["Tide"])


@pytest.mark.parametrize("marker", ["a/b", "..", "done.csv", "orders.ndjson.gz", ""])
def test_a_marker_is_the_name_of_a_file_without_data(
    unchanged: Publisher, tmp_path: Path, marker: str
) -> None:
    """rules, "Folders of folders"."""
    waiting = [Delivery(unchanged.account_id, (tmp_path,))]
    with pytest.raises(BadUsage, match="the name of a file without data"):
        next(ready_deliveries(unchanged.store, waiting, marker, wait_s=0))


def test_only_a_folder_can_be_complete(unchanged: Publisher, tmp_path: Path) -> None:
    file = fill(tmp_path, SMALL) / "orders.csv"
    for paths in ((file,), (tmp_path, tmp_path)):
        waiting = [Delivery(unchanged.account_id, paths)]
        with pytest.raises(BadUsage, match="waited for in one folder"):
            next(ready_deliveries(unchanged.store, waiting, MARKER, wait_s=0))
