"""``masthead accounts rekey``: killed at any moment, and then said again.

rules, "The secret key is changed a second time".
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.test_accounts import show
from tests.long import ONLY_LONG
from tests.servers import SECRET_KEY, environment, masthead, run

DIES_WHEN = """
import os, signal, sys
import click
from masthead import cli
from masthead.store import accounts, audit, secret

moment = sys.argv.pop(1)

def dying(function):
    def before(*arguments, **named):
        os.kill(os.getpid(), signal.SIGKILL)
    def behind(*arguments, **named):
        function(*arguments, **named)
        os.kill(os.getpid(), signal.SIGKILL)
    return behind if moment.startswith("behind") else before

if moment.endswith("the making of the key"):
    secret.Secret.make = dying(secret.Secret.make)
elif moment.endswith("the first pair"):
    accounts._save = dying(accounts._save)
elif moment.endswith("the last write"):
    audit.record = dying(audit.record)
else:
    click.echo = dying(click.echo)
cli.main()
"""
BEFORE_COMMIT = [
    "before the making of the key",
    "behind the making of the key",
    "behind the first pair",
    "behind the last write",
]
BEHIND_COMMIT = ["before the report"]


@pytest.fixture
def replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """A database whose key is beside it, with two accounts; that key is where its file was put."""
    monkeypatch.delenv(SECRET_KEY)
    url = f"sqlite:///{tmp_path}/x.db"
    for number in (1, 2):
        pair = (f"--api-key=key-{number}", f"--api-login=login-{number}")
        masthead("accounts", "add", number, *pair, database=url)
    return url, (tmp_path / "x.db-key").rename(tmp_path / "old-key")


def killed(moment: str, url: str, *options: object) -> None:
    command = [sys.executable, "-c", DIES_WHEN, moment]
    done = run("accounts", "rekey", *options, database=url, command=command)
    assert done.returncode == -signal.SIGKILL, f"never came to {moment!r}: {done.stderr}"
    assert done.stdout == ""


def pairs(url: str) -> list[tuple[str, str]]:
    return [(found["api_key"], found["api_login"]) for found in (show(url, 1), show(url, 2))]


@pytest.mark.parametrize("moment", [*BEFORE_COMMIT, *BEHIND_COMMIT])
def test_a_killed_rekey_can_be_said_again(replaced: tuple[str, Path], moment: str) -> None:
    url, old = replaced
    killed(moment, url, "--old-key", old)
    said = masthead("accounts", "rekey", "--old-key", old, database=url).stdout
    if moment in BEFORE_COMMIT:
        assert said == "2 accounts have their credentials sealed again\n"
        said = masthead("accounts", "rekey", "--old-key", old, database=url).stdout
    assert said.startswith("nothing to do: all credentials are sealed with the key in ")
    assert pairs(url) == [("key-1", "login-1"), ("key-2", "login-2")]


@ONLY_LONG
@pytest.mark.parametrize("moment", [*BEFORE_COMMIT, *BEHIND_COMMIT])
def test_a_killed_rekey_of_a_lost_key_gives_new_credentials_once(
    replaced: tuple[str, Path], moment: str
) -> None:
    url, old = replaced
    old.unlink()
    killed(moment, url, "--lost")
    if moment in BEFORE_COMMIT:
        assert masthead("accounts", "rekey", "--lost", database=url).stdout == (
            "2 accounts have new credentials\n"
        )
    new = pairs(url)
    assert "key-1" not in repr(new)
    said = masthead("accounts", "rekey", "--lost", database=url).stdout
    assert said.startswith("nothing to do: all credentials are sealed with the key in ")
    assert pairs(url) == new


def test_a_report_that_cannot_be_printed_leaves_the_work_done(
    replaced: tuple[str, Path],
) -> None:
    url, old = replaced
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "masthead", "accounts", "rekey", "--old-key", str(old)],
            env=environment(url),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
        )
    assert done.returncode == 1
    assert "nothing to do" in masthead("accounts", "rekey", "--lost", database=url).stdout
    assert pairs(url) == [("key-1", "login-1"), ("key-2", "login-2")]
