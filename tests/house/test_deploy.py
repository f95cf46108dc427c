"""The unit of systemd and the image: an own user, a read-only root, no secrets, and real flags."""

from __future__ import annotations

import re
import shlex
import socket
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from masthead.cli import cli
from masthead.settings import SETTINGS
from tests.house import ROOT
from tests.servers import serving

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DEPLOY = ROOT / "deploy"
UNIT = (DEPLOY / "masthead.service").read_text()
LOAD_UNIT = (DEPLOY / "masthead-load.service").read_text()
CONSOLE_UNIT = (DEPLOY / "masthead-console.service").read_text()
READERS_UNIT = (DEPLOY / "masthead-readers.service").read_text()
MAIL_UNIT = (DEPLOY / "masthead-mail@.service").read_text()
RENEWALS_UNIT = (DEPLOY / "masthead-renewals@.service").read_text()
TIMER = (DEPLOY / "masthead-load.timer").read_text()
MAIL_TIMER = (DEPLOY / "masthead-mail@.timer").read_text()
RENEWALS_TIMER = (DEPLOY / "masthead-renewals@.timer").read_text()
DOCKERFILE = (DEPLOY / "Dockerfile").read_text()
EMULATOR = (DEPLOY / "emulator.Dockerfile").read_text()
COMPOSE = (DEPLOY / "compose.yaml").read_text()
SECRETS = re.compile(r"(?i)(password|secret|api_login|api_key|token)\w*\s*[=:]|://[^/\s]+:[^/\s]+@")


each_service = pytest.mark.parametrize(
    "text",
    [UNIT, LOAD_UNIT, CONSOLE_UNIT, READERS_UNIT, MAIL_UNIT, RENEWALS_UNIT],
    ids=["server", "load", "console", "readers", "mail", "renewals"],
)


def unit(text: str = UNIT, section: str = "Service") -> Mapping[str, str]:
    """Return what a unit says in a section, the last where it says a thing twice."""
    parser = ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(text)
    return parser[section]


def instructions(text: str = DOCKERFILE) -> list[tuple[str, str]]:
    """Return the instructions of a Dockerfile with what follows them."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in whole.splitlines())]


def check_command(words: Sequence[str]) -> None:
    """Assert that `masthead` has the command with these options."""
    name, *options = words
    command = cli.get_command(click.Context(cli), name)
    assert command
    context = click.Context(command, info_name=name)
    command.make_parser(context).parse_args(list(options))


@each_service
def test_the_unit_runs_a_user_of_its_own_over_a_read_only_system(text: str) -> None:
    """rules, "As a service"."""
    service = unit(text)
    assert service["User"] == service["Group"] == service["StateDirectory"] == "masthead"
    assert service["ProtectSystem"] == "strict"
    assert service["NoNewPrivileges"] == "yes"
    assert service["CapabilityBoundingSet"] == ""
    database = f"MASTHEAD_DATABASE=sqlite:////var/lib/{service['StateDirectory']}/masthead.db"
    assert f"Environment={database}\n" in text


@pytest.mark.parametrize(
    "text",
    [LOAD_UNIT, CONSOLE_UNIT, READERS_UNIT, MAIL_UNIT, RENEWALS_UNIT],
    ids=["load", "console", "readers", "mail", "renewals"],
)
def test_the_others_are_as_confined_as_the_server(text: str) -> None:
    """rules, "As a service"."""
    confined = [
        line for line in UNIT.splitlines() if re.match("Protect|Private|Restrict|Sys", line)
    ]
    assert len(confined) > 15
    assert set(confined) <= {*text.splitlines()}


def test_the_timer_starts_the_load_once_a_night_and_makes_up_for_a_night_that_was_missed() -> None:
    """rules, "Folders of folders": it is the load that waits."""
    assert unit(LOAD_UNIT)["Type"] == "oneshot"
    assert "Restart" not in unit(LOAD_UNIT)
    assert "--when-complete _DONE" in unit(LOAD_UNIT)["ExecStart"]
    assert unit(TIMER, "Timer") == {"OnCalendar": "*-*-* 03:15:00", "Persistent": "true"}
    assert unit(TIMER, "Install") == {"WantedBy": "timers.target"}


def test_the_mails_of_an_account_are_sent_each_minute_and_no_secret_stands_in_the_unit() -> None:
    """billing, "E-mail": a process of its own."""
    assert unit(MAIL_UNIT)["Type"] == "oneshot"
    assert unit(MAIL_UNIT)["ExecStart"].endswith(" mail send --account %i")
    assert unit(MAIL_TIMER, "Timer") == {"OnCalendar": "minutely"}
    assert unit(MAIL_TIMER, "Install") == {"WantedBy": "timers.target"}
    assert not SECRETS.search(MAIL_UNIT)


def test_what_renews_automatically_is_ordered_each_night_and_a_missed_night_is_made_up_for() -> (
    None
):
    """billing, "Automatic renewal"."""
    assert unit(RENEWALS_UNIT)["Type"] == "oneshot"
    assert unit(RENEWALS_UNIT)["ExecStart"].endswith(" renewals automatic --account %i")
    assert unit(RENEWALS_TIMER, "Timer") == {
        "OnCalendar": "*-*-* 04:15:00",
        "Persistent": "true",
    }
    assert unit(RENEWALS_TIMER, "Install") == {"WantedBy": "timers.target"}


@each_service
def test_the_unit_calls_a_command_that_there_is_with_settings_that_there_are(text: str) -> None:
    program, *words = shlex.split(unit(text)["ExecStart"])
    assert program == "/opt/masthead/bin/masthead"
    check_command(words)
    named = set(re.findall(r"^Environment=(\w+)=", text, re.MULTILINE))
    assert named <= {setting.variable for setting in SETTINGS.values()}


@pytest.mark.parametrize(
    "text", [UNIT, CONSOLE_UNIT, READERS_UNIT], ids=["server", "console", "readers"]
)
def test_a_service_is_started_again_until_its_database_is_there(text: str) -> None:
    """rules, "As a service"."""
    assert unit(text, "Unit")["StartLimitIntervalSec"] == "0"
    assert unit(text)["Restart"] == "on-failure"
    assert unit(text)["RestartSec"] == "5"
    assert unit(text)["LogRateLimitIntervalSec"] == "0"
    assert "    restart: unless-stopped" in COMPOSE.splitlines()


def test_the_health_check_of_the_image_finds_out_whether_the_server_answers(
    tmp_path: Path,
) -> None:
    """rules, "As a service"."""
    check = dict(instructions())["HEALTHCHECK"]
    program, *words = re.findall(r'"([^"]*)"', check[check.index("CMD") :])
    assert program == "python"
    url = f"sqlite:///{tmp_path / 'masthead.db'}"
    with serving(url) as server, socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        addresses = {server.address[1]: 0, closed.getsockname()[1]: 1}
        for port, status in addresses.items():
            command = [word.replace(":8000/", f":{port}/") for word in words]
            done = subprocess.run(
                [sys.executable, *command], capture_output=True, timeout=60, check=False
            )
            assert done.returncode == status, done.stderr


def test_the_unit_waits_longer_than_the_server_drains() -> None:
    """rules, "End on SIGTERM": 30 seconds."""
    assert int(unit()["TimeoutStopSec"]) > 30
    assert int(re.findall(r"stop_grace_period: (\d+)s", COMPOSE)[0]) > 30


def test_the_image_is_made_from_a_pinned_one_and_from_locked_packages() -> None:
    """rules, "As a service"."""
    found = instructions()
    (digest,) = (rest for name, rest in found if name == "ARG")
    assert re.fullmatch(r"DIGEST=sha256:[0-9a-f]{64}", digest)
    bases = [rest.split()[0] for name, rest in found if name == "FROM"]
    assert bases == ["python:3.14-slim-trixie@${DIGEST}"] * 2
    installs = [rest for name, rest in found if name == "RUN" and "pip install" in rest]
    assert all("--require-hashes" in rest or "--no-index" in rest for rest in installs)
    assert not [name for name, _ in found if name == "ADD"]


@pytest.mark.parametrize("name", ["Dockerfile", "emulator.Dockerfile"])
def test_a_linter_of_images_finds_nothing(name: str) -> None:
    """rules, "As a service"."""
    program = Path(sys.executable).with_name("hadolint")
    done = subprocess.run(
        [program, DEPLOY / name], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_runs_a_user_of_its_own_and_a_command_that_there_is() -> None:
    """rules, "As a service"."""
    last = dict(instructions())
    uid = int(last["USER"])
    assert uid > 0
    assert f"--uid {uid}" in DOCKERFILE
    assert f'user: "{uid}"' in COMPOSE
    command = re.findall(r'"([^"]*)"', last["CMD"])
    assert command[0] == "masthead"
    check_command(command[1:])


def test_the_image_of_the_emulator_is_that_of_the_server_with_another_command() -> None:
    """rules, "The control port": only who asks for it opens that one to others."""
    found = instructions(EMULATOR)
    assert [name for name, _ in found] == ["ARG", "FROM", "EXPOSE", "CMD"]
    command = re.findall(r'"([^"]*)"', dict(found)["CMD"])
    assert command[0] == "masthead"
    check_command(command[1:])
    assert "--control-host" not in command
    page = (ROOT / "docs" / "testing.md").read_text()
    assert "docker build -f deploy/emulator.Dockerfile" in page
    assert f"-e {SETTINGS['control_host'].variable}=0.0.0.0" in page


def test_the_image_runs_with_a_read_only_root() -> None:
    """rules, "As a service": it writes to its volume, and to /tmp in memory."""
    for line in (
        "    read_only: true",
        "    cap_drop: [ALL]",
        '    security_opt: ["no-new-privileges:true"]',
        '    tmpfs: ["/tmp:size=2g,mode=1777"]',
        '    volumes: ["data:/var/lib/masthead"]',
    ):
        assert line in COMPOSE.splitlines()


@pytest.mark.parametrize(
    "text",
    [UNIT, LOAD_UNIT, TIMER, DOCKERFILE, EMULATOR, COMPOSE],
    ids=["server", "load", "timer", "image", "emulator", "compose"],
)
def test_there_is_no_secret_in_it(text: str) -> None:
    assert not SECRETS.search(text)


def test_what_is_copied_into_the_image_exists_and_is_let_in() -> None:
    let_in = (ROOT / ".dockerignore").read_text().splitlines()
    for name, rest in instructions():
        if name == "COPY" and not rest.startswith("--from"):
            *sources, _ = rest.split()
            for source in sources:
                assert (ROOT / source).exists(), source
                assert f"!{source}" in let_in, source
