"""The units in ``deploy/``, as systemd itself reads it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tests.house import ROOT

pytestmark = pytest.mark.system

EXPOSURE_TENTHS_MAX = 20
"""Of 100: from a service that may do nothing to one that may do all."""


@pytest.mark.parametrize(
    "unit",
    [
        *("masthead.service", "masthead-load.service", "masthead-console.service"),
        *("masthead-readers.service", "masthead-mail@.service", "masthead-renewals@.service"),
    ],
)
def test_systemd_understands_the_unit_and_finds_it_well_confined(unit: str) -> None:
    """rules, "As a service"."""
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("needs systemd-analyze")
    done = subprocess.run(
        [
            *(program, "security", "--offline=true", "--no-pager"),
            *(f"--threshold={EXPOSURE_TENTHS_MAX}", ROOT / "deploy" / unit),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-300:] + done.stderr
    assert done.stderr == ""
