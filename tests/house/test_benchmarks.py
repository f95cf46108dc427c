"""The benchmarks can be run: a table that is added must not be one that they do not know."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import ROOT
from tests.long import ONLY_LONG

if TYPE_CHECKING:
    from pathlib import Path

SECONDS_MAX = 300


@ONLY_LONG
@pytest.mark.parametrize(
    "name",
    [
        *("imports", "complete", "mapped", "growth", "feed", "filters", "console", "sizes"),
        "billing-documents",
        "billing-bank",
        "billing-pages",
    ],
)
def test_a_benchmark_of_a_small_publisher_prints_its_table(name: str, tmp_path: Path) -> None:
    """For any figures. The other benchmarks measure servers, and take longer."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "benchmarks", name, "--stores", "sqlite"),
            *("--subscribers", "2000", "--rounds", "1", "--seconds", "1"),
        ],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"## {name}\n" in done.stdout
    assert "| --- |" in done.stdout
