"""The documentation is complete, and agrees with the program."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path

import click
import pytest

from masthead import __version__
from masthead.cli import cli
from masthead.contract import shapes
from masthead.contract.operations import EXTENSIONS, OPERATIONS
from masthead.contract.records import ACCOUNTS, TABLES
from masthead.settings import SETTINGS
from tests.docs.pages import PAGES, ROOT

GENERATE = ROOT / "docs" / "generate.py"
HAND_WRITTEN = [page for page in PAGES if page.name != "reference.md"]


def text_of(*names: str) -> str:
    return "".join((ROOT / name).read_text() for name in names)


def test_the_reference_is_what_make_docs_writes() -> None:
    # In a process of its own: a command keeps the options for help of its first context.
    program = (
        f"from runpy import run_path; print(run_path({str(GENERATE)!r})['reference'](), end='')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert text_of("docs/reference.md") == done.stdout.decode(), "run `make docs`"


def test_the_synchronous_client_is_what_make_docs_writes() -> None:
    made = run_path(str(ROOT / "docs" / "generate_client.py"))
    assert made["PAGE"].read_text() == made["client"](), "run `make docs`"


def test_the_drawing_of_the_house_is_what_make_docs_writes() -> None:
    made = run_path(str(ROOT / "docs" / "draw.py"))
    assert made["PAGE"].read_text(encoding="utf-8") == made["drawing"](), "run `make docs`"


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


def test_the_pages_name_the_files_of_this_version() -> None:
    """rules, "What a release is"."""
    text = "".join(page.read_text() for page in HAND_WRITTEN)
    wheels = re.findall(r"masthead-([\w.]+)-py3-none-any\.whl", text)
    sdists = re.findall(r"masthead-([\w.]+?)(?:\.tar\.gz|/)", text)
    assert wheels
    assert sdists
    assert {*wheels, *sdists} == {__version__}


def test_each_setting_is_described_where_a_user_looks() -> None:
    text = "".join(page.read_text() for page in HAND_WRITTEN)
    for setting in SETTINGS.values():
        assert setting.flag in text, setting.name


def test_each_command_is_shown_where_a_user_looks() -> None:
    text = "".join(page.read_text() for page in HAND_WRITTEN)
    for path in commands("masthead", cli):
        assert path in text, path


def commands(path: str, command: click.Command) -> Iterator[str]:
    """Yield the commands that do something, each by the words that call it."""
    if not isinstance(command, click.Group):
        yield path
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner
        yield from commands(f"{path} {name}", inner)


def test_the_integrators_pages_show_each_operation() -> None:
    text = text_of("docs/integrator.md", "docs/data-engineer.md")
    for operation in OPERATIONS.values():
        fixed_part = operation.path.partition("{")[0]
        assert fixed_part in text, operation.path


def test_the_reference_has_each_field_of_each_shape() -> None:
    text = text_of("docs/reference.md")
    for name in set(shapes.__all__) - {"Field", "fields_of"}:
        (section,) = re.findall(rf"^### {name}\n(.+?)(?=^##)", text, re.MULTILINE | re.DOTALL)
        fields = re.findall(r"^\| `(\w+)` ", section, re.MULTILINE)
        assert fields == list(getattr(shapes, name).__annotations__), name


def test_the_reference_has_each_file_column_and_parameter() -> None:
    text = text_of("docs/reference.md")
    for table in (*TABLES, ACCOUNTS):
        (section,) = re.findall(rf"^### {table.name}\n(.+?)(?=^##)", text, re.MULTILINE | re.DOTALL)
        for column in table.columns:
            assert f"| `{column.name}` " in section, f"{table.name}: {column.name}"
    for operation in (*OPERATIONS.values(), *EXTENSIONS):
        for parameter in operation.parameters:
            assert f"| `{parameter.name}`" in text, parameter.name


def test_the_operators_pages_name_each_file() -> None:
    text = text_of("docs/operator.md", "docs/nightly.md")
    for table in (*TABLES, ACCOUNTS):
        assert f"`{table.name}`" in text or f"{table.name}." in text, table.name
