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


def test_each_file_whose_long_tests_ci_runs_has_some() -> None:
    """decisions, "Which tests CI runs"."""
    for name in long.LONG_IN_CI:
        text = (ROOT / "tests" / name).read_text("utf-8")
        assert "ONLY_LONG" in text or "SHORT_ON_SQLITE" in text, name


def test_what_leaves_its_second_database_to_citus_runs_there() -> None:
    arguments = of_citus()
    ignored = {each.removeprefix("--ignore=") for each in arguments if each.startswith("--")}
    for name in long.FILES_ON_CITUS:
        path = f"tests/{name}"
        assert runs(path, arguments), path
        assert path not in ignored


def test_only_what_would_run_on_citus_is_left_out_there() -> None:
    """decisions, "Which tests run on Citus, too"."""
    arguments = of_citus()
    marked = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("tests/*/test_*.py")
        if "\n@NOT_ON_CITUS\n" in path.read_text("utf-8")
    ]
    assert len(marked) > 10
    assert [path for path in marked if not runs(path, arguments)] == []


def of_citus() -> list[str]:
    """Return the arguments with which `make test-citus` chooses tests."""
    shown = subprocess.run(
        ["make", "--eval", "shown: ; @echo $(ON_CITUS)", "shown"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout.split()


def runs(path: str, arguments: list[str]) -> bool:
    """Return whether arguments of pytest name a file, or a folder of it."""
    chosen = [each for each in arguments if not each.startswith("--")]
    return any(fnmatch(path, each) or fnmatch(path, f"{each}/*") for each in chosen)
