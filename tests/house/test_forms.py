"""The lists of files in tests/long.py: what they name is there, and `make test-citus` runs it."""

from __future__ import annotations

import subprocess
from fnmatch import fnmatch
from pathlib import Path

from tests import long

ROOT = Path(__file__).parents[2]
LISTS = (long.FILES_SHORT_ON_SQLITE, long.FILES_ON_CITUS, long.FILES_ON_SQLITE)


def test_each_listed_file_is_there_and_in_one_list() -> None:
    listed = [name for names in LISTS for name in names]
    assert [name for name in listed if not (ROOT / "tests" / name).exists()] == []
    assert len(listed) == len(set(listed))


def test_what_leaves_its_second_database_to_citus_runs_there() -> None:
    shown = subprocess.run(
        ["make", "--eval", "shown: ; @echo $(ON_CITUS)", "shown"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    arguments = shown.stdout.split()
    ignored = {each.removeprefix("--ignore=") for each in arguments if each.startswith("--")}
    run = [each for each in arguments if not each.startswith("--")]
    for name in long.FILES_ON_CITUS:
        path = f"tests/{name}"
        assert any(fnmatch(path, each) or fnmatch(path, f"{each}/*") for each in run), path
        assert path not in ignored
