"""The map in docs/architecture.md: the table of the rooms, and the files that it names."""

import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\| (\d+) \| ([^|]+) \|", re.MULTILINE)
_NAME = re.compile(r"`(\w+)`")
_FILE = re.compile(r"`((?:\w+/)*\w+\.py)`")


def test_the_table_of_the_rooms_has_the_layers_of_import_linter() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = (
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract.get("containers") == ["masthead"]
    )
    shown = defaultdict[int, set[str]](set)
    for layer, rooms in _ROW.findall(PAGE):
        shown[int(layer)] |= set(_NAME.findall(rooms))
    assert list(shown) == sorted(shown), "the rows are in the order of the layers"
    assert shown == {
        number: set(layer.split(" | ")) for number, layer in enumerate(layers, start=1)
    }


def test_each_file_that_the_map_names_is_there() -> None:
    files = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("src/masthead/**/*.py")]
    files += [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("[tds]*/**/*.py")]
    names = set(_FILE.findall(PAGE))
    assert names
    assert [name for name in sorted(names) if not any(f.endswith(f"/{name}") for f in files)] == []
