"""Hints name only packages that Masthead publishes (rules, "What a hint says to install")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from masthead.extras import WHEEL, install
from tests.docs.pages import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BARE = re.compile(
    r"\b(?:pipx?|uv(?: pip| tool)?) (?:install|add|run)(?: -[\w-]+)* ['\"]?masthead(?![\w-])"
)
EXTRA = re.compile(r"(?<![\w.])masthead\[")
ENDINGS = {".py", ".md", ".toml", ".txt", ".html", ".sh", ".service", ".Dockerfile", ".yml"}
PLACES = ("src", "docs", "deploy", "benchmarks", "tests", "README.md", "CHANGELOG.md")


def texts() -> Iterator[tuple[Path, str]]:
    """Yield each file with its text on one line, since a command can be wrapped."""
    for place in PLACES:
        root = ROOT / place
        for path in sorted(root.rglob("*")) if root.is_dir() else [root]:
            is_text = path.suffix in ENDINGS or path.name in {"Makefile", "Dockerfile"}
            if path.is_file() and is_text and path.name != "test_hints.py":
                yield path, " ".join(path.read_text(errors="replace").split())


def test_nothing_says_to_install_the_name_alone() -> None:
    found = {
        (str(path.relative_to(ROOT)), text[max(0, hit.start() - 30) : hit.end() + 20])
        for path, text in texts()
        for pattern in (BARE, EXTRA)
        for hit in pattern.finditer(text)
    }
    assert not found


@pytest.mark.parametrize(
    "hint",
    [
        "pip install masthead",
        "pip install 'masthead[server]' pytest",
        'pip install -U "masthead[mirror]"',
        "uv pip install masthead==1.0",
    ],
)
def test_such_a_hint_would_be_found(hint: str) -> None:
    assert BARE.search(hint)


def test_a_hint_names_the_file_of_the_release() -> None:
    assert install("server") == f"pip install './{WHEEL}[server]'"
    assert not BARE.search(install("server"))
    assert not EXTRA.search(install("server"))
