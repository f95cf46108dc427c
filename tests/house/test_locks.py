"""The lock files satisfy pyproject.toml and one another, and can be installed anywhere."""

from __future__ import annotations

import re
import tomllib
from itertools import chain
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.house import ROOT

PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
LOCKS = ("runtime", "all", "build", "dev", "bench", "system", "pipelines")
ALL_LOCKS = (*LOCKS, "oldest")
EXTRAS = ("mirror", "duckdb", "server", "plots", "billing")
PIPELINES = ("dlt", "singer")
"""The extras that are locked and tested apart."""


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def dependencies(*extras: str) -> list[Requirement]:
    """What the project asks for, with these extras; one that includes another is left out."""
    table = project()["project"]
    named = [*table["dependencies"]]
    named += chain(*(table["optional-dependencies"][extra] for extra in extras or EXTRAS))
    wanted = [Requirement(name) for name in named]
    return [requirement for requirement in wanted if requirement.name != table["name"]]


def group(name: str) -> list[Requirement]:
    """What a group asks for, with the groups that it includes."""
    found = []
    for entry in project()["dependency-groups"][name]:
        included = entry.get("include-group") if isinstance(entry, dict) else None
        found += group(included) if included else [Requirement(entry)]
    return found


def wanted(lock: str) -> list[Requirement]:
    """What a lock file must hold."""
    if lock == "runtime":
        return dependencies("mirror", "server")
    if lock == "all":
        return dependencies("mirror", "server", "plots", "billing")
    if lock == "pipelines":
        extras = dependencies("mirror", "server", *PIPELINES)
        return extras + group("build") + group("pipelines")
    if lock == "oldest":
        return dependencies() + group("build") + group("tests")
    return group(lock)


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    return {canonicalize_name(name): version for name, version in PIN.findall(text)}


@pytest.mark.parametrize("lock", ALL_LOCKS)
def test_a_lock_file_holds_what_pyproject_asks_for(lock: str) -> None:
    locked = pins(lock)
    for requirement in wanted(lock):
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{name} is not in requirements/{lock}.txt: run `make lock`"
        assert requirement.specifier.contains(locked[name]), (
            f"requirements/{lock}.txt holds {name} {locked[name]}, "
            f"pyproject.toml asks for {requirement}: run `make lock`"
        )


def test_what_builds_the_project_is_locked() -> None:
    for name in project()["build-system"]["requires"]:
        requirement = Requirement(name)
        assert requirement.specifier.contains(pins("build")[requirement.name])


def test_the_oldest_versions_are_locked_as_pyproject_names_them() -> None:
    """rules, "The oldest packages": the bound 9 is locked as 9.0.0."""
    locked = pins("oldest")
    for requirement in dependencies():
        (oldest,) = (Version(one.version) for one in requirement.specifier if one.operator == ">=")
        found = Version(locked[canonicalize_name(requirement.name)])
        assert found.release[: len(oldest.release)] == oldest.release, (
            f"requirements/oldest.txt holds {requirement.name} {found}, the oldest that "
            f"pyproject.toml allows is {oldest}: run `make lock`"
        )


def test_no_package_is_locked_at_two_versions() -> None:
    seen: dict[str, str] = {}
    for lock in LOCKS:
        for name, version in pins(lock).items():
            assert seen.setdefault(name, version) == version, f"{name}: run `make lock`"


@pytest.mark.parametrize("lock", ALL_LOCKS)
def test_every_locked_package_has_a_hash(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    for entry in re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("lock", ALL_LOCKS)
def test_a_lock_file_names_no_place_to_install_from(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    assert "://" not in text
    assert "--index-url" not in text
    assert "--find-links" not in text


def test_contributing_lists_each_dependency_with_its_locked_version() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Dependencies")[2]
    listed = dict(re.findall(r"^\| ([\w.-]+) \| (\d[\w.]*) \|", text, re.MULTILINE))
    locked = pins("pipelines") | pins("dev") | pins("all")
    assert listed == {
        requirement.name: locked[canonicalize_name(requirement.name)]
        for requirement in dependencies(*EXTRAS, *PIPELINES)
    }
