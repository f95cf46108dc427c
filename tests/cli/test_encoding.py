"""Output to streams whose encoding lacks characters: escaped for people, UTF-8 for programs."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.long import ONLY_LONG, SHORT_ON_SQLITE
from tests.servers import (
    COMMAND_SECONDS_MAX,
    MASTHEAD,
    environment,
    import_files,
    masthead,
    write_ndjson,
)

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = SHORT_ON_SQLITE

NAME = "Café Ω"
LOCALES = {
    "ascii": {"PYTHONIOENCODING": "ascii"},
    "latin-1": {"PYTHONIOENCODING": "latin-1"},
    "no locale": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
}
each_locale = pytest.mark.parametrize("locale", LOCALES)


@pytest.fixture
def named(account: str, tmp_path: Path) -> str:
    """A database with names that ASCII and Latin-1 lack."""
    masthead("accounts", "set", 1, "--company-name", NAME, database=account)
    rows = {"subscribers": [{"subscriber_id": 1, "first_name": NAME}]}
    import_files(*write_ndjson(tmp_path / "files", rows), account_id="1", database=account)
    return account


def said(
    locale: str, *arguments: object, database: str, exit_status: int = 0
) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a locale; it must end with a status, and without a traceback."""
    done = subprocess.run(
        [*MASTHEAD, *map(os.fsencode, map(str, arguments))],
        env={**environment(database), **LOCALES[locale]},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )
    assert done.returncode == exit_status, done.stderr
    assert b"Traceback" not in done.stderr
    return done


@ONLY_LONG
@each_locale
def test_exports_are_utf_8_in_every_locale(named: str, locale: str) -> None:
    """rules, "Encoding of output"."""
    accounts = said(locale, "accounts", "export", database=named).stdout.decode()
    assert NAME in accounts.splitlines()[1]
    held = said(locale, "subscriber-data", "--account=1", "--subscriber=1", database=named).stdout
    assert json.loads(held)["subscriber"]["first_name"] == NAME
    described = said(locale, "openapi", database=named).stdout
    assert "…" in described.decode()
    audit = said(locale, "audit", "--format=json", database=named).stdout
    assert all(json.loads(line)["command"] for line in audit.splitlines())


@each_locale
def test_what_a_stream_lacks_is_shown_all_the_same(named: str, locale: str, tmp_path: Path) -> None:
    """rules, "Encoding of output": on both streams, help, tables and sentences."""
    shown = said(locale, "accounts", "list", database=named).stdout
    assert b"Caf" in shown
    if locale == "latin-1":
        assert "Café \\u03a9".encode("latin-1") in shown
    said(locale, "--help", database=named)
    missing = said(
        *(locale, "import", tmp_path / "Ω.csv", "--account=1"), database=named, exit_status=1
    )
    assert b"there is no such file or folder" in missing.stderr


def test_an_argument_that_is_not_text_is_refused_with_a_sentence(
    named: str, tmp_path: Path
) -> None:
    """rules, "Encoding of output": a path that the database's driver cannot take."""
    url = f"sqlite:///{tmp_path}/Ω.db"
    arguments = ("accounts", "add", "1", "--database", url)
    done = said("no locale", *arguments, database=named, exit_status=2)
    assert b"set LC_ALL=C.UTF-8" in done.stderr
