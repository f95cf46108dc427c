"""The recipes of the Makefile and the scripts of CI can be read by their shells.

A mistake in the last line of a recipe shows only when all that stands before it has run.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8").replace("\\\n", " ")
TARGETS = re.findall(r"^([\w./-]+)(?: [\w./-]+)*:(?!=)", MAKEFILE, re.MULTILINE)
SCRIPTS = sorted(path.name for path in (ROOT / ".ci").iterdir() if path.is_file())


@pytest.mark.parametrize("variables", [(), ("PROCESSES=2", "PORT=8080"), ("ARGS=tests/house",)])
def test_the_shell_can_read_each_recipe(variables: tuple[str, ...]) -> None:
    assert {"test", "test-ci", "test-citus", "release", ".venv/oldest/installed"} <= set(TARGETS)
    wrong = {}
    for target in TARGETS:
        recipe = subprocess.run(
            ["make", "--dry-run", "--always-make", target, *variables],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        read = subprocess.run(
            ["sh", "-n"], input=recipe, capture_output=True, text=True, check=False
        )
        if read.returncode != 0:
            wrong[target] = read.stderr
    assert wrong == {}


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_shell_can_read_each_script_of_ci(name: str) -> None:
    script = ROOT / ".ci" / name
    shell = re.fullmatch(r"#!.*\b(sh|bash)", script.read_text("utf-8").splitlines()[0])
    assert shell is not None, "the first line names no shell"
    read = subprocess.run([shell[1], "-n", script], capture_output=True, text=True, check=False)
    assert (read.returncode, read.stderr) == (0, "")
