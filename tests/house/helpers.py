"""Writes ``tests/README.md``, the list of the helper modules: ``python -m tests.house.helpers``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tests.house import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

TESTS = ROOT / "tests"
PAGE = TESTS / "README.md"

_HEAD = """\
# The helper modules of the tests

Made by `python -m tests.house.helpers` from the first line of each module and each folder: change
it there. Fixtures are in the `conftest.py` of the folder, those of all folders in
`tests/conftest.py`.
"""


def page() -> str:
    """Return the page: a table for each folder that has helper modules, the common ones first."""
    folders = sorted({path.parent for path in _helpers()})
    return "\n".join([_HEAD, *map(_section, folders)])


def first_line(path: Path) -> str:
    """Return the first line of a module's docstring, "" if the module has none."""
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docstring.partition("\n")[0]


def _helpers() -> Iterator[Path]:
    for path in TESTS.rglob("*.py"):
        if path.name not in {"__init__.py", "conftest.py"} and not path.name.startswith("test_"):
            yield path


def _section(folder: Path) -> str:
    paths = sorted(path for path in _helpers() if path.parent == folder)
    return "\n".join(
        (
            f"## {folder.relative_to(ROOT)}\n",
            f"{first_line(folder / '__init__.py')}\n",
            "| module | what it is for |",
            "| --- | --- |",
            *(f"| `{path.name}` | {first_line(path)} |" for path in paths),
            "",
        )
    )


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8", newline="\n")
