"""The lists of tests/long.py: what they name is there, and `make test-citus` or CI runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests import long
from tests.house import slow

if TYPE_CHECKING:
    from collections.abc import Mapping

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


def test_each_slow_test_is_there() -> None:
    """decisions, "Which tests `make test` leaves out"."""
    for node_id in long.SLOW:
        file, _, name = node_id.partition("::")
        text = (ROOT / file).read_text("utf-8")
        assert re.search(rf"^(async )?def {name}\(", text, re.MULTILINE), node_id


def test_a_slow_test_runs_in_ci_and_where_its_file_is_named() -> None:
    """decisions, "Which tests `make test` leaves out"."""
    one = "tests/bank_files/test_camt.py::test_a_statement_of_many_entries_takes_little_memory"
    assert one in long.SLOW
    assert one not in collected("tests/bank_files")
    assert one in collected("tests/bank_files", "--ci")
    assert one in collected("tests/bank_files/test_camt.py")


def test_ci_runs_the_slow_tests_last() -> None:
    """decisions, "Which tests CI runs": they are what a slow machine skips."""
    are_slow = [
        name.partition("[")[0] in long.SLOW for name in collected("tests/bank_files", "--ci")
    ]
    assert True in are_slow
    assert are_slow == sorted(are_slow)


def collected(*arguments: str) -> list[str]:
    """Return the tests that pytest would run."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return [line for line in done.stdout.splitlines() if "::" in line]


@given(
    st.dictionaries(
        st.builds("tests/x/test_x.py::test_{}[{}]".format, st.sampled_from("abcd"), st.integers()),
        st.floats(0, 600),
    )
)
def test_the_tests_that_are_not_slow_take_less_than_half_of_the_time(
    seconds: Mapping[str, float],
) -> None:
    listed = set(slow.slow(seconds))
    rest = [value for name, value in seconds.items() if name.partition("[")[0] not in listed]
    assert sum(rest) <= slow.LEFT * sum(seconds.values()) + 1e-6


def test_a_test_is_as_slow_as_in_its_fastest_run(tmp_path: Path) -> None:
    for number, seconds in enumerate(("7.5", "0.5")):
        case = f'<testcase classname="tests.x.test_x" name="test_a[1]" time="{seconds}" />'
        (tmp_path / f"{number}.xml").write_text(f"<testsuites>{case}</testsuites>")
    found = slow.durations(map(str, tmp_path.iterdir()))
    assert found == {"tests/x/test_x.py::test_a[1]": 0.5}


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
