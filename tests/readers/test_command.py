"""``masthead readers`` serves the pages until SIGTERM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.cli.running import lines_until, running
from tests.servers import masthead, run

if TYPE_CHECKING:
    from pathlib import Path

READY = "The readers' pages are on "


@pytest.fixture
def database(tmp_path: Path) -> str:
    """A database with an account whose pages have a site."""
    found = f"sqlite:///{tmp_path}/readers.db"
    masthead("accounts", "add", 1, database=found)
    masthead("accounts", "set", 1, "--page=site=tide", database=found)
    return found


def test_the_pages_are_served_until_sigterm(database: str) -> None:
    with running("readers", "--port=0", database=database) as process:
        url = lines_until(process, READY)[-1].rpartition(" ")[2]
        answer = httpx2.post(
            f"{url}/tide/sign-in",
            data={"login": "a-login", "password": "a-password"},
            headers={"Sec-Fetch-Site": "same-origin"},
        )
        assert answer.status_code == 403
        process.terminate()
        printed = process.stdout.read()
        assert process.wait() in {0, -15}
    assert "path='/{site}/sign-in' status=403" in printed
    assert "a-password" not in printed
    assert "a-login" not in printed
    assert "Traceback" not in printed


def test_the_pages_warn_of_other_machines_without_a_proxy(database: str) -> None:
    with running("readers", "--port=0", "--host=0.0.0.0", database=database) as process:
        printed = "\n".join(lines_until(process, READY))
    assert "warning: the readers' pages send passwords" in printed


def test_behind_a_proxy_the_address_of_the_readers_has_to_be_given(database: str) -> None:
    """decisions, "The address in mails to readers"."""
    done = run("readers", "--port=0", "--behind-proxy", database=database)
    assert done.returncode == 2
    assert "--readers-url" in done.stderr


@pytest.mark.parametrize("url", ["example.org", "ftp://example.org", "https://example.org/tide"])
def test_an_address_of_the_readers_has_no_path(database: str, url: str) -> None:
    done = run("readers", "--port=0", f"--readers-url={url}", database=database)
    assert done.returncode == 2
    assert "is not an address such as https://readers.example.org" in done.stderr
