"""A copy in Parquet: versions that never change, and one rename that is the commit."""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from threading import Barrier
from typing import TYPE_CHECKING

import polars as pl
import pytest

from masthead import Client
from masthead.databases.connection import DatabaseUnavailable
from masthead.errors import BadUsage, StoreUnavailable
from masthead.mirror import Mirror, open_copy
from masthead.mirror.parquet import OLD_VERSIONS_STAY_S, ParquetFiles
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.mirror.kept import Kept
    from tests.mirror.publisher import Publisher

pytestmark = pytest.mark.parametrize("new_kept", ["parquet"], indirect=True)

DIES = """
import os, sys
from masthead import Client
from masthead.mirror import Mirror, open_copy

url, key, login, copy, last = sys.argv[1:]
left = int(last)

def count(event, arguments):
    global left
    if event in {"os.rename", "os.link", "os.symlink", "os.mkdir", "shutil.rmtree"}:
        left -= 1
        if left < 0:
            os._exit(9)

with Client(url, key, login) as client:
    opened = open_copy(copy)
    sys.addaudithook(count)
    Mirror(client, url, key, opened).run()
"""


def dies_at(step: int, publisher: Publisher, kept: Kept) -> bool:
    """Make a pass that is killed at a step on the file system; return whether it came so far."""
    source = (publisher.url, publisher.key, publisher.login)
    command = [sys.executable, "-c", DIES, *source, kept.url, str(step)]
    status = subprocess.run(command, check=False).returncode
    assert status in {0, 9}
    return status == 9


def left_in(kept: Kept) -> set[str]:
    return {path.name for path in kept.path.iterdir()}


def versions_of(kept: Kept) -> list[int]:
    return sorted(int(path.name) for path in (kept.path / ".versions").iterdir())


@ONLY_LONG
def test_whatever_step_it_is_killed_at_the_copy_is_the_old_one_or_the_new_one(
    publisher: Publisher, kept: Kept
) -> None:
    """decisions, "Mirror: Parquet": there is nothing between the two, and the next pass goes on."""
    kept.update(publisher)
    before, numbers = kept.everything(), versions_of(kept)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    publisher.remove(orders=[1])
    step = 0
    while dies_at(step, publisher, kept):
        if kept.everything() != before:
            # Killed behind the commit: it is the new one, whole.
            assert kept.differences(publisher) == []
            before = kept.everything()
        step += 1
    assert step >= 3
    # The pass that came to its end has removed what the others left.
    assert kept.column("SELECT city FROM addresses WHERE address_id = 1") == ["Elsewhere"]
    assert left_in(kept) == {".versions", ".work", "current"}
    assert versions_of(kept) == [*numbers, numbers[-1] + 1]
    assert kept.differences(publisher) == []


def test_files_that_the_working_database_does_not_know_are_the_copy(
    publisher: Publisher, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """decisions, "Mirror: Parquet": killed between the rename and the commit, it goes on there."""
    kept.update(publisher)
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    with closing(open_copy(kept.url)) as copy:
        script = copy._connection.script

        def failing(sql: str) -> None:
            if sql == "COMMIT":
                raise DatabaseUnavailable("the database does not answer", "it was killed")
            script(sql)

        monkeypatch.setattr(copy._connection, "script", failing)
        with Client(publisher.url, publisher.key, publisher.login) as client:
            mirror = Mirror(client, publisher.url, publisher.key, copy)
            with pytest.raises(StoreUnavailable, match="it was killed"):
                mirror.run()
    written = kept.everything()
    assert kept.column("SELECT city FROM addresses WHERE address_id = 1") == ["Elsewhere"]
    assert kept.update(publisher).records == 0
    assert kept.everything() == written
    (kept.path / ".work" / "copy.duckdb").unlink()
    assert kept.update(publisher).records == 0
    shutil.rmtree(kept.path / ".work")
    assert kept.update(publisher).records == 0
    assert kept.differences(publisher) == []


def test_a_damaged_file_is_named_with_what_helps(publisher: Publisher, kept: Kept) -> None:
    kept.update(publisher)
    damaged = (kept.path / "current").resolve() / "addresses.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    said = f"{damaged}': remove the folder {kept.path}, and the next update copies all again"
    with pytest.raises(StoreUnavailable, match=re.escape(said)):
        kept.update(publisher)
    shutil.rmtree(kept.path)
    kept.update(publisher)
    assert kept.differences(publisher) == []


def test_a_damaged_file_says_that_a_history_is_lost(publisher: Publisher, kept: Kept) -> None:
    kept.update(publisher, history=True)
    damaged = (kept.path / "current").resolve() / "addresses.parquet"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    with pytest.raises(StoreUnavailable, match="its history is lost, unless you restore"):
        kept.update(publisher)


def test_what_changed_is_written_and_the_rest_is_linked(publisher: Publisher, kept: Kept) -> None:
    """decisions, "Mirror: Parquet": a pass costs the tables that it changes."""
    kept.update(publisher)
    old = (kept.path / "current").resolve()
    publisher.load(addresses=[{"address_id": 1, "city": "Elsewhere"}])
    kept.update(publisher)
    new = (kept.path / "current").resolve()
    assert int(new.name) == int(old.name) + 1
    is_same = {path.name: path.samefile(new / path.name) for path in old.iterdir()}
    assert {name for name, same in is_same.items() if not same} == {
        "addresses.parquet",
        "mirror.parquet",
    }
    assert pl.read_parquet(old / "addresses.parquet")["city"][0] == "Town"
    assert pl.read_parquet(new / "addresses.parquet")["city"][0] == "Elsewhere"


def test_an_old_version_stays_while_it_may_be_read(publisher: Publisher, kept: Kept) -> None:
    """decisions, "Mirror: Parquet"."""
    kept.update(publisher)
    first, second = versions_of(kept)
    kept.update(publisher)
    # The second one has all records, and replaced the first one, of empty tables, just now.
    assert versions_of(kept) == [first, second]
    version = kept.path / ".versions" / str(second)
    long_ago = version.stat().st_mtime - OLD_VERSIONS_STAY_S - 1
    os.utime(version, (long_ago, long_ago))
    kept.update(publisher)
    assert versions_of(kept) == [second]
    assert kept.differences(publisher) == []


def test_only_its_owner_can_read_it(publisher: Publisher, kept: Kept) -> None:
    """rules, "Who may read the files"."""
    umask = os.umask(0)
    try:
        kept.update(publisher)
    finally:
        os.umask(umask)
    assert stat.S_IMODE(kept.path.stat().st_mode) == 0o700


def test_mirrors_that_create_a_folder_at_once_take_it_for_a_copy(
    new_kept: Callable[[], Kept],
) -> None:
    """rules, "Mirror: a pass": those that cron starts at once."""

    def create(folder: Path, at_once: Barrier) -> None:
        at_once.wait()
        ParquetFiles(folder)

    with ThreadPoolExecutor(4) as pool:
        for _ in range(30):
            folder, at_once = new_kept().path, Barrier(4)
            list(pool.map(create, [folder] * 4, [at_once] * 4))
            assert [path.name for path in folder.iterdir()] == [".work"]


def test_a_folder_with_other_files_is_left_alone(
    new_kept: Callable[[], Kept], tmp_path: Path
) -> None:
    """decisions, "Mirror: Parquet"."""
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "cat.jpg").touch()
    with pytest.raises(BadUsage, match="holds other files: name a new one for a copy"):
        open_copy(f"parquet://{folder}")
    assert [path.name for path in folder.iterdir()] == ["cat.jpg"]
    with pytest.raises(StoreUnavailable, match="cannot be opened"):
        open_copy(f"parquet://{folder}/cat.jpg")
