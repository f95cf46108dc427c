"""Writes ``tests/slow.txt`` from the durations of runs: ``python -m tests.house.slow FILE…``.

Each file is one that ``pytest --ci --junit-xml=FILE`` wrote. Where a test ran in several of them,
the shortest duration counts: in the others, it may have waited for a busy machine.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from statistics import mean
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tests.house import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LIST = ROOT / "tests" / "slow.txt"

LEFT = 0.45
"""The part of the time of all tests that those take which are not slow."""

NEVER = "tests/docs/test_commands.py::"
"""Not slow, however long it takes: of these pages, some are in the short form, since otherwise none
of its tests would run many commands (decisions, "Which tests `make test` leaves out")."""


def durations(paths: Iterable[str]) -> dict[str, float]:
    """Return the shortest duration of each test, in seconds, by its node id."""
    found: dict[str, float] = {}
    for path in paths:
        for case in ET.parse(path).iter("testcase"):
            node_id = f"{case.attrib['classname'].replace('.', '/')}.py::{case.attrib['name']}"
            seconds = float(case.attrib["time"])
            found[node_id] = min(seconds, found.get(node_id, seconds))
    return found


def slow(seconds: Mapping[str, float]) -> Iterator[str]:
    """Yield the functions whose tests take longest on average, until the others take ``LEFT``."""
    by_function = defaultdict(list)
    for node_id, duration in seconds.items():
        by_function[node_id.partition("[")[0]].append(duration)
    left = sum(seconds.values())
    most = left * LEFT
    for function in sorted(by_function, key=lambda each: mean(by_function[each]), reverse=True):
        if left <= most:
            return
        if function.startswith(NEVER):
            continue
        left -= sum(by_function[function])
        yield function


if __name__ == "__main__":
    LIST.write_text("".join(f"{each}\n" for each in sorted(slow(durations(sys.argv[1:])))), "utf-8")
