"""The map in docs/architecture.md: the table of the rooms, and the files that it names."""

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
_ROW = re.compile(r"^\| (\d+) \| ([^|]+) \|", re.MULTILINE)
_NAME = re.compile(r"`(\w+)`")
_WITHOUT_SQL = re.compile(r"^\| \d+ \| ([^|]+) \|[^|]*\|[^|]*\bSQL\b[^|]*\|$", re.MULTILINE)
_STATEMENT = re.compile(
    r"\bSELECT\s.*\bFROM\b|\bINSERT\s+INTO\b|\bUPDATE\s+\w+\s+SET\b|\bDELETE\s+FROM\b", re.DOTALL
)
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


def test_a_contract_of_the_only_users_leaves_out_no_other_room() -> None:
    """Such a contract names in its title the rooms that it allows, and lists all others."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    rooms = {room for layer in contracts[0]["layers"] for room in layer.split(" | ")}
    only = [each for each in contracts if each["name"].startswith("Only ")]
    assert len(only) == 3
    for each in only:
        named = set(re.findall(r"\w+", re.split(r" uses? | imports? ", each["name"])[0]))
        forbidden = {module.split(".")[1] for module in each["forbidden_modules"] if "." in module}
        listed = {module.removeprefix("masthead.") for module in each["source_modules"]}
        assert rooms - listed <= named | forbidden, each["name"]


def test_rooms_that_must_not_know_sql_have_no_statement() -> None:
    rooms = [name for names in _WITHOUT_SQL.findall(PAGE) for name in _NAME.findall(names)]
    assert {"books", "console", "api"} <= set(rooms)
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "src" / "masthead").rglob("*.py"))
        if path.relative_to(ROOT / "src" / "masthead").parts[0].removesuffix(".py") in rooms
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _STATEMENT.search(node.value)
    ]
    assert found == []


def test_each_file_that_the_map_names_is_there() -> None:
    files = [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("src/masthead/**/*.py")]
    files += [f"/{path.relative_to(ROOT)}" for path in ROOT.glob("[tds]*/**/*.py")]
    names = set(_FILE.findall(PAGE))
    assert names
    assert [name for name in sorted(names) if not any(f.endswith(f"/{name}") for f in files)] == []
