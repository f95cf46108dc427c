"""Decisions and rules are complete, and what code and tests cite is there."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

_TEXT = r"(?:[^#]|(?:\(|\.md)#)+?"
"""Any lines but headings; links may lead to other decisions."""

DECISION = re.compile(
    rf"^### (D-\d+) [^\n]+\n\n\*\*Question\.\*\* {_TEXT}\n\n\*\*Decision\.\*\* {_TEXT}\n\n"
    rf"\*\*Reason\.\*\* {_TEXT}\n\n\*\*Date\.\*\* \d{{4}}-\d{{2}}-\d{{2}}$",
    re.MULTILINE,
)
PAGES = ("decisions", "rules")
TEXTS = {name: (ROOT / "docs" / f"{name}.md").read_text() for name in PAGES}
HEADING = re.compile(r"^### (?:D-\d+ )?(.+)$", re.MULTILINE)
SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
QUOTED = r'"((?:[^"\\]|\\.)+)"'
CITATION = re.compile(rf"({'|'.join(PAGES)}), ({QUOTED}(?:(?:,| and|, and) {QUOTED})*)")


def plain(title: str) -> str:
    return re.sub(r"[`\"\\]", "", title).removesuffix("…").strip().lower()


def citations(folder: str) -> Iterator[tuple[Path, str, str]]:
    """Yield each file of Python, each page that it cites, and each title in quotes after it."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        text = re.sub(r"\s*\n\s*(?:#:? )?", " ", file.read_text())
        for found in CITATION.finditer(text):
            for title in re.findall(QUOTED, found.group(2)):
                yield file, found.group(1), plain(title)


def titles(page: str) -> list[str]:
    """Return the titles of what a page decides or rules."""
    return [plain(title) for title in HEADING.findall(TEXTS[page])]


def test_each_decision_has_four_parts() -> None:
    numbers = re.findall(r"^### (D-\d+)", TEXTS["decisions"], re.MULTILINE)
    assert [found.group(1) for found in DECISION.finditer(TEXTS["decisions"])] == numbers
    assert numbers == sorted(set(numbers), key=lambda number: int(number[2:]))


def test_each_number_leads_to_a_decision_or_to_a_rule() -> None:
    found = re.findall(r"^(?:### |- )D-(\d+) ", TEXTS["decisions"], re.MULTILINE)
    assert sorted(map(int, found)) == list(range(1, len(found) + 1))


@pytest.mark.parametrize("page", PAGES)
def test_each_citation_leads_to_a_title(page: str) -> None:
    known = titles(page) + [plain(section) for section in SECTION.findall(TEXTS[page])]
    astray = {
        f"{file.relative_to(ROOT)}: {title}"
        for folder in ("src", "tests")
        for file, cited, title in citations(folder)
        if cited == page and not any(each.startswith(title) for each in known)
    }
    assert not astray


@pytest.mark.parametrize("page", PAGES)
def test_each_decision_and_each_rule_is_cited_by_a_test(page: str) -> None:
    cited = {title for _, _, title in citations("tests")}
    assert not [each for each in titles(page) if not any(map(each.startswith, cited))]
