"""Each decision is complete, and what code and tests say of decisions leads to one."""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.pages import ROOT

_TEXT = r"(?:[^#]|\(#)+?"
"""Any lines but headings; links may lead to other decisions."""

DECISION = re.compile(
    rf"^### (D-\d+) [^\n]+\n\n\*\*Question\.\*\* {_TEXT}\n\n\*\*Decision\.\*\* {_TEXT}\n\n"
    rf"\*\*Reason\.\*\* {_TEXT}\n\n\*\*Date\.\*\* \d{{4}}-\d{{2}}-\d{{2}}$",
    re.MULTILINE,
)
TEXT = (ROOT / "docs" / "decisions.md").read_text()
TITLES = dict(re.findall(r"^### (D-\d+) (.+)$", TEXT, re.MULTILINE))
SECTIONS = re.findall(r"^## (.+)$", TEXT, re.MULTILINE)
QUOTED = r'"((?:[^"\\]|\\.)+)"'
CITATION = re.compile(rf"decisions, ({QUOTED}(?:(?:,| and|, and) {QUOTED})*)")


def plain(title: str) -> str:
    return re.sub(r"[`\"\\]", "", title).removesuffix("…").strip().lower()


def citations(folder: str) -> Iterator[tuple[Path, str]]:
    """Yield each file of Python, and each title that it cites in quotes after “decisions, ”."""
    for file in sorted((ROOT / folder).rglob("*.py")):
        text = re.sub(r"\s*\n\s*(?:#:? )?", " ", file.read_text())
        for found in CITATION.finditer(text):
            for title in re.findall(QUOTED, found.group(1)):
                yield file, plain(title)


def named(title: str) -> list[str]:
    """Return the numbers of the decisions whose title begins so."""
    return [number for number, whole in TITLES.items() if plain(whole).startswith(title)]


def test_each_decision_has_a_number_of_its_own_and_four_parts() -> None:
    numbers = re.findall(r"^### (D-\d+)", TEXT, re.MULTILINE)
    assert numbers == [f"D-{number:02}" for number in range(1, len(numbers) + 1)]
    assert [found.group(1) for found in DECISION.finditer(TEXT)] == numbers


def test_each_citation_of_a_decision_leads_to_one() -> None:
    sections = {plain(section) for section in SECTIONS}
    astray = {
        f"{file.relative_to(ROOT)}: {title}"
        for folder in ("src", "tests")
        for file, title in citations(folder)
        if title not in sections and not named(title)
    }
    assert not astray


def test_each_decision_is_cited_by_a_test() -> None:
    cited = {number for _, title in citations("tests") for number in named(title)}
    assert not {number: title for number, title in TITLES.items() if number not in cited}
