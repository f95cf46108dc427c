"""The wheel, alone or with an extra, installs what that use needs, and no more."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from packaging.utils import canonicalize_name

import masthead
from masthead.extras import WHEEL
from tests.docs.pages import ROOT, blocks_of, fits

if TYPE_CHECKING:
    from tests.postgres import Databases
    from tests.release import Environment, Release

INTEGRATOR = ROOT / "docs" / "integrator.md"
DATA_ENGINEER = ROOT / "docs" / "data-engineer.md"
DEMO = "http://127.0.0.1:8000"
"""The address of the demo on the pages."""

CREDENTIALS = {"MASTHEAD_API_KEY": "demo-key", "MASTHEAD_API_LOGIN": "demo-login"}
OF_THE_CLIENT = {
    *("anyio", "backports-zstd", "h11", "httpcore2", "httpx2", "idna", "masthead", "msgspec"),
    *("tenacity", "truststore", "typing-extensions"),
}
"""On the oldest Python; newer ones need fewer."""

OF_THE_WEB_SERVER = {"cryptography", "greenlet", "starlette", "uvicorn", "uvloop"}


def got(url: str, credentials: str = "demo-key:demo-login") -> tuple[int, bytes]:
    request = Request(url)
    request.add_header("Authorization", f"Basic {b64encode(credentials.encode()).decode()}")
    try:
        with urlopen(request, timeout=60) as response:
            return response.status, response.read()
    except HTTPError as error:
        with error:
            return error.code, error.read()


def test_the_installed_server_serves_the_demo(server: Environment, demo: str) -> None:
    """And ends when it is told to, with status 0: the fixture sees to that."""
    assert got(f"{demo}/health") == (200, b'{"status":"ok"}')
    status, body = got(f"{demo}/2/orders/10")
    assert (status, json.loads(body)["order_id"]) == (200, "10")
    assert got(f"{demo}/2/orders/10", "demo-key:wrong")[0] == 403
    for path in ("/docs", "/openapi.json"):
        assert got(f"{demo}{path}")[0] == 200, path
    assert server.packages() >= OF_THE_WEB_SERVER


@pytest.mark.parametrize("environment", ["mirror", "server"])
def test_the_command_has_the_version_of_the_wheel(
    environment: str, request: pytest.FixtureRequest
) -> None:
    found: Environment = request.getfixturevalue(environment)
    said = found.run("masthead", "--version").stdout
    assert said == f"masthead, version {masthead.__version__}\n"


def test_the_client_brings_a_handful_of_packages(client: Environment) -> None:
    """decisions, "What an installation holds"."""
    assert client.packages() <= OF_THE_CLIENT


def test_the_examples_of_the_client_run_with_the_client_alone(
    client: Environment, demo: str
) -> None:
    """decisions, "What an installation holds"."""
    blocks = blocks_of(INTEGRATOR, "python")
    assert blocks
    for block in blocks:
        program = block.commands.replace(DEMO, demo).split("\n", 1)[1].removesuffix("END\n")
        done = client.run("python", "-W", "error", "-", text=program)
        assert done.returncode == 0, done.stderr
        assert block.prints is None or fits(block.prints, done.stdout), done.stdout


def test_the_program_that_keeps_a_copy_runs_with_the_client_alone(
    client: Environment, demo: str
) -> None:
    """decisions, "What an installation holds"."""
    (program,) = re.findall(
        r"^cat > keep\.py <<'END'\n(.*?)^END$", DATA_ENGINEER.read_text(), re.MULTILINE | re.DOTALL
    )
    first, second = (client.run("python", "-", text=program.replace(DEMO, demo)) for _ in "12")
    assert re.fullmatch(r"[1-9]\d{3,} records\n", first.stdout), first.stderr
    assert second.stdout == "0 records\n", second.stderr


@pytest.mark.parametrize("words", [(), ("--help",), ("mirror", DEMO), ("serve", "--port", "1")])
def test_the_command_without_its_packages_says_what_to_install(
    client: Environment, words: tuple[str, ...]
) -> None:
    """decisions, "What an installation holds"."""
    for command in (("masthead",), ("python", "-m", "masthead")):
        done = client.run(*command, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == (
            "only the client for Python is installed here; with the file of the release, "
            f"pip install './{WHEEL}[mirror]' brings masthead mirror and check, and "
            f"pip install './{WHEEL}[server]' all commands\n"
        )


def test_the_tap_without_its_extra_says_what_to_install(client: Environment) -> None:
    """decisions, "What an installation holds"."""
    done = client.run("tap-masthead", "--config", "masthead.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "tap-masthead needs the package singer_sdk, which is not installed: with the file of the "
        f"release, pip install './{WHEEL}[singer]' installs it\n"
    )


def test_the_mirror_keeps_a_copy_without_the_packages_of_a_server(
    mirror: Environment, demo: str, postgres: Databases
) -> None:
    """decisions, "What an installation holds"."""
    assert not mirror.packages() & OF_THE_WEB_SERVER
    postgres.create("light_copy")
    for copy in ("sqlite:///copy.db", postgres.url("light_copy")):
        words = ("masthead", "mirror", "keep", demo, "--to", copy, "--once")
        done = mirror.run(*words, **CREDENTIALS)
        assert done.returncode == 0, done.stderr
        verified = mirror.run("masthead", "mirror", "verify", demo, "--to", copy, **CREDENTIALS)
        assert verified.returncode == 0, verified.stdout + verified.stderr
        assert verified.stdout.endswith("the copy is complete\n")


def test_a_service_is_checked_without_the_packages_of_a_server(
    mirror: Environment, demo: str
) -> None:
    """decisions, "What an installation holds"."""
    done = mirror.run("masthead", "check", demo, "--rate", "1000", **CREDENTIALS)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "differences: 0, notes: 0" in done.stdout


@pytest.mark.parametrize("words", [("serve", "--port", "1"), ("accounts", "list"), ("import", "x")])
def test_another_command_says_that_it_needs_the_extra_of_the_server(
    mirror: Environment, words: tuple[str, ...]
) -> None:
    """decisions, "What an installation holds"."""
    done = mirror.run("masthead", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"masthead {words[0]} needs packages that are not installed here")
    assert done.stderr.endswith(f", pip install './{WHEEL}[server]' brings them\n")


def test_the_help_of_the_mirrors_installation_tells_which_commands_need_more(
    mirror: Environment,
) -> None:
    done = mirror.run("masthead", "--help")
    assert done.returncode == 0, done.stderr
    of_mirror = "  mirror           Keep a local copy of a service's data, by its change...\n"
    assert of_mirror in done.stdout
    assert "  serve            Needs the extra server.\n" in done.stdout


def test_the_extra_that_a_message_names_is_added_to_the_installation(
    client: Environment, mirror: Environment, release: Release
) -> None:
    """What the sentences say installs the rest: the file of the release, by its name."""
    assert release.wheel.name == WHEEL
    extra = f"{release.wheel}[mirror]"
    planned = client.pip("install", "--quiet", "--dry-run", "--report", "-", extra)
    added = {canonicalize_name(item["metadata"]["name"]) for item in json.loads(planned)["install"]}
    assert added | client.packages() == mirror.packages()
