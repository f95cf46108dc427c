"""What every file of the project keeps to (CONTRIBUTING.md, Habits).

Left to other steps of `make test`: docstrings (ruff) and the direction of imports (import-linter).
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.house import ROOT

LINE_CHARACTERS_MAX = 100
FILE_LINES_MAX = 450
LENGTH_NOTE = "# Long because "

# Prose and data have lines as long as they need.
LINES_OF_ANY_LENGTH = {".md", ".csv", ".ndjson", ".json", ".txt", ".ipynb"}

# Files of others, as they are.
VENDORED = (
    "src/masthead/api/operations/swagger_ui/",
    "src/masthead/console/static/htmx",
)

OF_ONE_MACHINE = re.compile(
    r"/(?:root|Users|work)/|/home/[a-z]|pypi\.org|pythonhosted\.org|npmjs\.(?:com|org)"
)


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    """Each text file of the project by its path: tracked, or new and not ignored."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        pytest.skip("needs git and a clone: git knows which files are the project's")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout.decode()
    contents = {
        path: (ROOT / path).read_bytes()
        for path in listed.split("\0")
        if path and not path.startswith(VENDORED) and (ROOT / path).is_file()
    }
    return {path: raw.decode() for path, raw in contents.items() if b"\0" not in raw}


def test_no_line_is_too_long(texts: dict[str, str]) -> None:
    long = [
        f"{path}:{number}"
        for path, text in texts.items()
        if not path.endswith(tuple(LINES_OF_ANY_LENGTH))
        for number, line in enumerate(text.splitlines(), 1)
        if len(line) > LINE_CHARACTERS_MAX
    ]
    assert not long


def test_a_long_file_says_why(texts: dict[str, str]) -> None:
    long = [
        path
        for path, text in texts.items()
        if path.endswith(".py")
        and text.count("\n") > FILE_LINES_MAX
        and not any(line.startswith(LENGTH_NOTE) for line in text.splitlines())
    ]
    assert not long


def test_no_file_names_a_machine_or_a_registry(texts: dict[str, str]) -> None:
    named = [
        f"{path}: {found[0]}"
        for path, text in texts.items()
        if (found := OF_ONE_MACHINE.search(text))
    ]
    assert not named


def test_the_changelog_opens_with_unreleased(texts: dict[str, str]) -> None:
    headings = re.findall(r"^## (.+)$", texts["CHANGELOG.md"], re.MULTILINE)
    assert headings[0] == "Unreleased"


def test_the_changelog_keeps_the_order_of_its_sections(texts: dict[str, str]) -> None:
    order = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
    for release in texts["CHANGELOG.md"].split("\n## ")[1:]:
        sections = re.findall(r"^### (.+)$", release, re.MULTILINE)
        assert sections == [section for section in order if section in sections]
