"""The lists of tests/long.py: what they name is there, and `make test-citus` or CI runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from tests import long
from tests.house import citus, slow

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
    assert [each for each in long.SLOW if not is_there(each)] == []


def is_there(node_id: str) -> bool:
    """Return whether the file of a test has its function."""
    file, _, name = node_id.partition("[")[0].partition("::")
    path = ROOT / file
    return path.exists() and bool(
        re.search(rf"^(async )?def {name}\(", path.read_text("utf-8"), re.MULTILINE)
    )


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
    files = {each.partition("::")[0] for each in long.LEFT_OUT_ON_CITUS}
    assert [path for path in sorted(files) if not runs(path, arguments)] == []


def test_each_test_that_is_left_out_on_citus_is_there() -> None:
    """decisions, "Which tests run on Citus, too"."""
    assert len(long.LEFT_OUT_ON_CITUS) > 100
    assert [each for each in long.LEFT_OUT_ON_CITUS if not is_there(each)] == []


@given(st.dictionaries(st.text("ab", max_size=3), st.sets(st.integers(0, 20), max_size=6)))
def test_those_that_are_chosen_run_all_that_others_run(runs: Mapping[str, set[object]]) -> None:
    """decisions, "Which tests run on Citus, too"."""
    found = citus.chosen(runs)
    everything = set().union(*runs.values())
    assert set().union(*(runs[name] for name in found)) == everything
    for name in found:
        assert set().union(*(runs[other] for other in found - {name})) != everything


def test_a_function_is_left_out_or_some_of_its_tests() -> None:
    """decisions, "Which tests run on Citus, too"."""
    tests = ["t::a[1]", "t::a[2]", "t::b[1]", "t::b[2]", "t::c", "t::two_wait[1]", "t::two_wait[2]"]
    lines = citus.left_out(tests, {"t::a[2]", "t::c"})
    assert [*lines] == ["t::a[1]", "t::b", "t::two_wait[2]"]


def test_two_statements_that_differ_by_their_values_are_one() -> None:
    """decisions, "Which tests run on Citus, too"."""
    sent = [
        ("t::a", "s1", "INSERT INTO terms (a, b) VALUES (1, 'x'), (2, 'y')"),
        ("t::a", "s1", "INSERT INTO terms (a, b) VALUES (3, 'it''s')"),
        ("t::b", "s2", "SELECT a FROM terms WHERE b IN ($1, $2)"),
        ("t::b", "s1", "UPDATE orders SET a = 4"),
    ]
    first, second, pair, *rest = citus.read(map(json.dumps, sent))
    assert first == second == ("t::a", "INSERT INTO terms (a, b) VALUES (1, '?')")
    assert pair == ("t::a", (("INSERT", "terms"), ("INSERT", "terms")))
    assert rest == [
        ("t::b", "SELECT a FROM terms WHERE b IN (1)"),
        ("t::b", "UPDATE orders SET a = 1"),
        ("t::b", (("INSERT", "terms"), ("UPDATE", "orders"))),
    ]


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
