"""The documentation is complete, and agrees with the program."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from masthead.contract.operations import OPERATIONS
from masthead.settings import SETTINGS
from tests.docs.pages import PAGES, ROOT

DECISION = re.compile(
    r"^## (D-\d+) [^\n]+\n\n\*\*Question\.\*\* .+?\n\n\*\*Answer\.\*\* .+?\n\n"
    r"\*\*Reason\.\*\* .+?\n\n\*\*Date\.\*\* \d{4}-\d{2}-\d{2}$",
    re.MULTILINE | re.DOTALL,
)


def test_the_reference_is_what_make_docs_writes() -> None:
    spec = spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    generate = module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert generate.PAGE.read_text() == generate.reference(), "run `make docs`"


def test_each_decision_has_a_number_of_its_own_and_four_parts() -> None:
    text = (ROOT / "docs" / "decisions.md").read_text()
    numbers = re.findall(r"^## (D-\d+)", text, re.MULTILINE)
    assert numbers == [f"D-{number:02}" for number in range(1, len(numbers) + 1)]
    assert [found.group(1) for found in DECISION.finditer(text)] == numbers


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]*)(?:#[^)]*)?\)", page.read_text()):
        assert not target or "://" in target or (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_anchors_of_links_exist(page: Path) -> None:
    for target, anchor in re.findall(r"\]\(([^)#:]*)#([^)]*)\)", page.read_text()):
        text = (page.parent / target).read_text() if target else page.read_text()
        headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
        slugs = {
            re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-")
            for heading in headings
        }
        assert anchor in slugs, f"{target}#{anchor}"


def test_each_setting_is_described_where_a_user_looks() -> None:
    text = "".join(page.read_text() for page in PAGES if page.name != "reference.md")
    made_of_data = {"account", "subscribers", "seed", "database"}
    for name in SETTINGS.keys() - made_of_data:
        assert SETTINGS[name].flag in text, name


def test_the_integrators_pages_show_each_operation() -> None:
    text = (ROOT / "docs" / "integrator.md").read_text()
    text += (ROOT / "docs" / "data-engineer.md").read_text()
    for operation in OPERATIONS.values():
        fixed_part = operation.path.partition("{")[0]
        assert fixed_part in text, operation.path
