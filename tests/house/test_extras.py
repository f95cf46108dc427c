"""What an installation brings is what its code imports: the client, the mirror, everything.

Proved by import statements, those inside of functions included; `make release` tries it.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING

import grimp
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house import ROOT
from tests.house.test_locks import EXTRAS, PIPELINES, project

if TYPE_CHECKING:
    from collections.abc import Mapping

OF_OTHERS = {"compression"}
"""Names of the standard library of newer Pythons than one of those that run this."""

ELSEWHERE = {"dlt": ["dlt"], "singer_sdk": ["singer-sdk"]}
"""Modules that are not installed here, and the packages that bring them (`make test-pipelines`)."""

BROUGHT_BY_ANOTHER = {"anyio": "starlette", "httpcore2": "httpx2"}


def brought(extra: str | None) -> set[str]:
    """Return what an installation asks for, by the names of packages."""
    table = project()["project"]
    names = [*table["dependencies"], *(table["optional-dependencies"][extra] if extra else ())]
    wanted = [Requirement(name) for name in names]
    found = {str(canonicalize_name(requirement.name)) for requirement in wanted}
    included = {extra for one in wanted if one.name == table["name"] for extra in one.extras}
    for other in included:
        found |= brought(other)
    # The part of psycopg that is a package of its own, and is asked for as an extra.
    found |= {"psycopg-pool" for one in wanted if one.name == "psycopg" and "pool" in one.extras}
    return found - {table["name"]}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("masthead", include_external_packages=True, cache_dir=None)


def imported(graph: grimp.ImportGraph, *roots: str) -> set[str]:
    """Return the packages of others that some modules and all that they import need."""
    modules = {module for root in roots for module in graph.find_descendants(root) | {root}}
    every = modules.union(*(graph.find_upstream_modules(module) for module in modules))
    names = {name for name in every if name.partition(".")[0] != "masthead"}
    distributions = packages_distributions()
    found: set[str] = set()
    for name in names - set(sys.stdlib_module_names) - OF_OTHERS:
        (package,) = {canonicalize_name(one) for one in _owners(distributions, name)}
        found.add(BROUGHT_BY_ANOTHER.get(package, package))
    return found


def _owners(distributions: Mapping[str, list[str]], name: str) -> list[str]:
    """Return the packages that bring a module; several share the name ``backports``."""
    if name == "backports":
        return ["backports.zstd"]
    return ELSEWHERE.get(name) or distributions[name]


def test_the_client_alone_brings_what_the_client_imports(graph: grimp.ImportGraph) -> None:
    """decisions, "What an installation holds"."""
    assert imported(graph, "masthead.client") == brought(None)


def test_the_extra_for_the_mirror_brings_what_its_command_imports(
    graph: grimp.ImportGraph,
) -> None:
    """decisions, "What an installation holds"."""
    command = {"masthead.cli.mirror", "masthead.mirror"}
    assert imported(graph, "masthead.__main__", *command) == brought("duckdb")


def test_only_duckdb_and_parquet_need_the_packages_that_their_extra_adds(
    graph: grimp.ImportGraph,
) -> None:
    """rules, "Mirror: DuckDB": the mirror imports it for the URL of such a copy."""
    assert brought("duckdb") - brought("mirror") == {"duckdb"}
    module = "masthead.databases.duckdb"
    assert graph.find_modules_that_directly_import("duckdb") == {module}
    assert graph.find_modules_that_directly_import(module) == {"masthead.mirror.opening"}
    text = (ROOT / "src" / "masthead" / "mirror" / "opening.py").read_text()
    assert "\n        from masthead.databases import duckdb " in text


@pytest.mark.parametrize(
    ("extra", "module", "tool", "importers"),
    [
        ("dlt", "dlt", "dlt", set()),
        ("singer", "singer_sdk", "singer-sdk", {"masthead.tap"}),
    ],
)
def test_only_its_own_module_needs_the_packages_that_a_pipelines_extra_adds(
    graph: grimp.ImportGraph, extra: str, module: str, tool: str, importers: set[str]
) -> None:
    """rules, "Pipelines: an environment of their own": no command and no server imports it."""
    assert brought(extra) - brought("mirror") == {tool}
    assert graph.find_modules_that_directly_import(module) == {f"masthead.{extra}"}
    assert graph.find_modules_that_directly_import(f"masthead.{extra}") == importers
    assert imported(graph, f"masthead.{extra}") - {"duckdb"} <= brought(extra)


def test_the_checker_needs_no_more_than_the_client_click_and_rich(
    graph: grimp.ImportGraph,
) -> None:
    """decisions, "What an installation holds"."""
    command = {"masthead.cli.checking", "masthead.checker"}
    wanted = brought(None) | {"click", "rich"}
    assert imported(graph, "masthead.__main__", *command) == wanted
    assert wanted <= brought("mirror")


def test_the_extras_bring_what_anything_imports(graph: grimp.ImportGraph) -> None:
    """decisions, "What an installation holds": the plugin of pytest is imported by pytest alone."""
    every = {package for extra in EXTRAS + PIPELINES for package in brought(extra)}
    assert imported(graph, "masthead") - {"pytest"} <= every
    assert graph.find_modules_that_directly_import("pytest") == {"masthead.pytest_plugin"}
    assert not graph.find_modules_that_directly_import("masthead.pytest_plugin")


def test_only_drawing_needs_the_packages_that_the_extra_plots_adds(
    graph: grimp.ImportGraph,
) -> None:
    """rules, "Plots are an extra": the commands import it when a plot is asked for."""
    assert brought("plots") - brought("server") == {"matplotlib"}
    assert graph.find_modules_that_directly_import("matplotlib") == {"masthead.reporting.plots"}
    asking = graph.find_modules_that_directly_import("masthead.reporting.plots")
    assert asking == {"masthead.cli.reports"}
    for module in asking:
        text = ROOT.joinpath("src", *module.split(".")).with_suffix(".py").read_text()
        assert "\n        from masthead.reporting import plots" in text
        assert "\nfrom masthead.reporting import plots" not in text


def test_without_packages_only_the_standard_library_is_imported(
    graph: grimp.ImportGraph,
) -> None:
    """``import masthead`` costs nothing, and the command can say what is missing."""
    for module in ("masthead", "masthead.errors"):
        assert not {
            name
            for name in graph.find_modules_directly_imported_by(module)
            if name.partition(".")[0] not in {"masthead", *sys.stdlib_module_names}
        }


def test_a_server_of_the_interface_starts_without_the_console() -> None:
    """design, "The house": nor does it make the hash that a sign-in compares with."""
    program = (
        "import sys, masthead.cli.serving\n"
        "print([name for name in sys.modules if name.startswith("
        "('masthead.console', 'masthead.store.operators', 'jinja2'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def test_a_command_of_the_books_starts_without_what_only_servers_need() -> None:
    """A clerk waits for the start of each command: nothing that takes long is imported unused."""
    program = (
        "import sys\n"
        "from masthead.cli import accounts, operators, orders, payments, subscribers\n"
        "unused = {'asyncio', 'cryptography', 'jinja2', 'openpyxl', 'starlette', 'structlog'}\n"
        "print(unused & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"
