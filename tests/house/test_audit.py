"""``make audit`` asks about every locked package, and fails where pip-audit does."""

from __future__ import annotations

import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.house import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PIN = re.compile(r"^([\w.-]+==\S+)", re.MULTILINE)
STAND_IN = """#!/bin/sh
# Notes what pip-audit would be asked, for want of a network.
echo "$@" >>"$NOTED.arguments"
for last; do :; done
cat "$last" >>"$NOTED"
exit "$STATUS"
"""


def audit(folder: Path, status: int) -> tuple[int, str, list[str]]:
    """Return how `.ci/audit` ends, which packages it asks about, and how it calls pip-audit."""
    program = folder / "pip-audit"
    program.write_text(STAND_IN)
    program.chmod(0o700)
    noted = folder / "noted"
    done = subprocess.run(
        [ROOT / ".ci" / "audit"],
        env={**os.environ, "PIP_AUDIT": str(program), "NOTED": str(noted), "STATUS": str(status)},
        stdout=subprocess.DEVNULL,
        check=False,
    )
    arguments = (folder / "noted.arguments").read_text().splitlines()
    return done.returncode, noted.read_text(), arguments


def test_every_locked_package_is_audited_for_any_system(tmp_path: Path) -> None:
    """rules, "Known faults of packages": pip-audit is silent about what a marker leaves out."""
    status, asked, arguments = audit(tmp_path, 0)
    assert status == 0
    locks = sorted((ROOT / "requirements").glob("*.txt"))
    assert PIN.findall(asked) == [pin for lock in locks for pin in PIN.findall(lock.read_text())]
    assert not re.search(r"^[^#\n]*;", asked, re.MULTILINE)
    assert asked.count("--hash=") == sum(lock.read_text().count("--hash=") for lock in locks)
    assert len(arguments) == len(locks)
    for flag in ("--strict", "--require-hashes", "--disable-pip"):
        assert all(flag in line.split() for line in arguments)


@pytest.mark.parametrize("status", [1, 2])
def test_it_fails_where_pip_audit_does(tmp_path: Path, status: int) -> None:
    """rules, "Known faults of packages"."""
    assert audit(tmp_path, status)[0] == status
