"""What docs/operator.md has an operator type as root installs a service that works."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import threading
from configparser import ConfigParser
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from tests.house import ROOT
from tests.release import SECONDS_MAX

if TYPE_CHECKING:
    from pathlib import Path

    from tests.release import Release

PAGE = ROOT / "docs" / "operator.md"
SECTION = "Run it as a service"
OF_THE_MACHINE = ("useradd ", "systemctl ", "docker ")
AS_THE_USER = "runuser -u masthead -- "
PLACES = ("/opt/masthead", "/etc/", "/var/lib/masthead")
SERVES = re.compile(r"Masthead serves on (http://\S+)")


def commands() -> list[str]:
    """Return the commands of the section's blocks for root, each as one line."""
    section = PAGE.read_text().partition(f"\n## {SECTION}\n")[2].partition("\n## ")[0]
    blocks = re.findall(r"^```bash\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return "".join(blocks).replace("\\\n", "").splitlines()


def moved(text: str, root: Path) -> str:
    """Return the text with its places under another root."""
    for place in PLACES:
        text = text.replace(place, f"{root}{place}")
    return text


@pytest.fixture(scope="module")
def root(release: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The root of a system in which everything was typed but what needs systemd and a user."""
    folder = tmp_path_factory.mktemp("root")
    for place in ("etc/systemd/system", "var/lib/masthead", "srv"):
        (folder / place).mkdir(parents=True)
    for file in release:
        (folder / "srv" / file.name).symlink_to(file)
    left_out = (*OF_THE_MACHINE, AS_THE_USER)
    left_to_run = [command for command in commands() if not command.startswith(left_out)]
    assert len(left_to_run) == 9
    script = moved("\n".join(["set -eu", "umask 022", *left_to_run]), folder)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder / "srv",
        env=without_ours(),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def without_ours() -> dict[str, str]:
    """Return the variables of this process, but for Masthead's and Python's."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MASTHEAD_", "PYTHON"))
    }


def test_the_settings_are_for_root_and_the_units_for_all(root: Path) -> None:
    """rules, "What a release is"."""
    for settings in ("environment", "readers-environment"):
        assert (root / "etc/masthead" / settings).stat().st_mode & 0o777 == 0o600
    for unit in ("masthead.service", "masthead-console.service", "masthead-readers.service"):
        assert (root / "etc/systemd/system" / unit).stat().st_mode & 0o777 == 0o644


def test_the_unit_starts_a_server_of_the_added_account(root: Path) -> None:
    """As systemd does it: its command, its variables, and those of the settings file."""
    unit = (root / "etc/systemd/system/masthead.service").read_text()
    parser = ConfigParser(strict=False, interpolation=None)
    parser.read_string(unit)
    words = shlex.split(moved(parser["Service"]["ExecStart"], root))
    settings = root / "etc/masthead/environment"
    assert parser["Service"]["EnvironmentFile"] == "-/etc/masthead/environment"
    settings.write_text("MASTHEAD_PORT=0\nMASTHEAD_METRICS_PORT=0\n")
    lines = [
        *re.findall(r"^Environment=(.*)$", unit, re.MULTILINE),
        *settings.read_text().splitlines(),
    ]
    variables = dict(moved(line.strip(), root).split("=", 1) for line in lines)
    (account,) = (line for line in commands() if line.startswith(AS_THE_USER))

    log = (root / "log").open("w")
    with (
        log,
        subprocess.Popen(
            words, env=without_ours() | variables, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        watchdog = threading.Timer(SECONDS_MAX, process.kill)
        watchdog.start()
        try:
            assert process.stdout
            found = next(filter(None, map(SERVES.match, process.stdout)), None)
            assert found, (root / "log").read_text()
            with urlopen(f"{found.group(1)}/health", timeout=60) as response:
                assert response.status == 200
            subprocess.run(
                ["bash", "-c", moved(account.removeprefix(AS_THE_USER), root)],
                env=without_ours(),
                check=True,
                capture_output=True,
                timeout=SECONDS_MAX,
            )
            process.send_signal(signal.SIGTERM)
            assert process.wait() == 0, (root / "log").read_text()
        finally:
            watchdog.cancel()
            process.kill()
    listed = subprocess.run(
        [root / "opt/masthead/bin/masthead", "accounts", "list"],
        env=without_ours() | variables,
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert "Example Press" in listed.stdout
