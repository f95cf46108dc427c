"""The unit of systemd that the data engineer's page shows starts a mirror that works."""

from __future__ import annotations

import configparser
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import ROOT
from tests.servers import Store, masthead, serving

PAGE = ROOT / "docs" / "data-engineer.md"
KEY, LOGIN = "key-unit", "login-unit"
SECONDS_MAX = 60


def test_the_mirrors_unit_starts_a_mirror(store: Store, tmp_path: Path) -> None:
    """Its command runs as it stands, but for the address, the copy's place and the end."""
    (shown,) = re.findall(r"^```ini\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]
    unit.read_string(shown)
    service = unit["Service"]
    program, *arguments = shlex.split(service["ExecStart"])
    assert Path(program).name == "masthead"
    assert service["DynamicUser"] == "yes"
    assert f"/var/lib/{service['StateDirectory']}/" in service["ExecStart"]
    database = store.new_database("unit")
    masthead("accounts", "add", 1, "--api-key", KEY, "--api-login", LOGIN, database=database)
    with serving(database) as server:
        places = {
            "https://masthead.example": server.url,
            "sqlite:////var/lib/copy/copy.db": f"sqlite:///{tmp_path / 'copy.db'}",
        }
        assert places.keys() <= set(arguments)
        done = subprocess.run(
            [sys.executable, "-m", "masthead", *(places.get(a, a) for a in arguments), "--once"],
            env=os.environ | {"MASTHEAD_API_KEY": KEY, "MASTHEAD_API_LOGIN": LOGIN},
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "event='mirror pass'" in done.stderr
