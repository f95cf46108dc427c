"""Writes ``tests/left_out_on_citus.txt``: the tests whose statements other tests run on Citus.

``make statements`` records the statements (``tests/statements.py``) and runs this module with the
folder. Tests are chosen one after the other, the one that adds most first, until they run each
statement, and each two writes that follow one another in a session, by the tables that they touch
(decisions, "Which tests run on Citus, too"). The others are left out, but of a function whose name
speaks of what differs on several servers, one test is always kept. A line of the list is a test, or
a function with all of its tests.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests.house import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LIST = ROOT / "tests" / "left_out_on_citus.txt"

ALWAYS = re.compile(r"lock|wait|kill|clock|sorted|in_order|order_of|two_|_both_|at_once|beside")
"""Names of functions that are never left out: what they try depends on time or on order."""

# Without values: how many there are makes no other statement.
_VALUES = (
    (re.compile(r"--[^\n]*"), ""),
    (re.compile(r"'(?:[^']|'')*'"), "'?'"),
    (re.compile(r"\b\d+\b"), "1"),
    (re.compile(r"\$?1(?:, ?\$?1)+"), "1"),
    (re.compile(r"\s+"), " "),
    (re.compile(r"(\([^()]*\))(?:, ?\1)+"), r"\1"),
)
_TABLES = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE|COPY|TABLE|ONLY)\s+\"?([a-z_]+)", re.IGNORECASE)
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE|COPY|LOCK|TRUNCATE|CREATE|ALTER)\b", re.IGNORECASE)


def read(lines: Iterable[str]) -> Iterator[tuple[str, object]]:
    """Yield what each test runs, with the test: statements, and pairs of writes."""
    last: dict[str, str] = {}
    for line in lines:
        test, session, sql = json.loads(line)
        statement = without_values(sql)
        yield test, statement
        before = last.get(session, "")
        if _WRITES.search(before) and _WRITES.search(statement):
            yield test, (kind(before), kind(statement))
        last[session] = statement


@cache
def without_values(sql: str) -> str:
    """Return a statement with the same text for all values."""
    for pattern, text in _VALUES:
        sql = pattern.sub(text, sql)
    return sql.strip()


@cache
def kind(statement: str) -> tuple[str, ...]:
    """Return what a statement does, and the tables that it touches."""
    verbs = {verb.upper() for verb in _WRITES.findall(statement)}
    return (*sorted(verbs), *sorted(set(_TABLES.findall(statement))))


def chosen(runs: Mapping[str, set[object]]) -> set[str]:
    """Return tests that together run all that all tests run."""
    left = {test: set(what) for test, what in runs.items() if what}
    found = []
    while left:
        best = max(left, key=lambda test: (len(left[test]), test))
        added = left.pop(best)
        found.append(best)
        left = {test: what - added for test, what in left.items() if what - added}
    times = Counter(each for test in found for each in runs[test])
    for test in [*found]:
        if all(times[each] > 1 for each in runs[test]):
            times.subtract(runs[test])
            found.remove(test)
    return set(found)


def left_out(tests: Iterable[str], kept: set[str]) -> Iterator[str]:
    """Yield the lines of the list: what is not kept."""
    by_function = defaultdict(list)
    for test in tests:
        by_function[test.partition("[")[0]].append(test)
    for function, its_tests in by_function.items():
        others = sorted(set(its_tests) - kept)
        if len(others) < len(its_tests):
            yield from others
        elif not ALWAYS.search(function):
            yield function
        else:
            yield from others[1:]


if __name__ == "__main__":
    recorded: defaultdict[str, set[object]] = defaultdict(set)
    for path in Path(sys.argv[1]).glob("*.jsonl"):
        with path.open(encoding="utf-8") as file:
            for test, what in read(file):
                recorded[test].add(what)
    lines = sorted(left_out(recorded, chosen(recorded)))
    LIST.write_text("".join(f"{each}\n" for each in lines), "utf-8")
