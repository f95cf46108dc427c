"""The lock files satisfy pyproject.toml and one another, and can be installed anywhere."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.house import ROOT

PIN = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)
LOCKS = ("runtime", "dev", "bench", "system")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def wanted(lock: str) -> list[Requirement]:
    """What a lock file must hold: its group, and for runtime the project's own dependencies too."""
    data = project()
    if lock == "runtime":
        names = data["project"]["dependencies"] + data["dependency-groups"]["build"]
    else:
        names = data["dependency-groups"][lock]
    return [Requirement(name) for name in names]


def pins(lock: str) -> dict[str, str]:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    return {canonicalize_name(name): version for name, version in PIN.findall(text)}


@pytest.mark.parametrize("lock", LOCKS)
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
        assert requirement.specifier.contains(pins("runtime")[requirement.name])


def test_no_package_is_locked_at_two_versions() -> None:
    seen: dict[str, str] = {}
    for lock in LOCKS:
        for name, version in pins(lock).items():
            assert seen.setdefault(name, version) == version, f"{name}: run `make lock`"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_hash(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    for entry in re.split(r"^(?=[\w.-]+==)", text, flags=re.MULTILINE)[1:]:
        assert "--hash=sha256:" in entry, entry


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_names_no_place_to_install_from(lock: str) -> None:
    text = (ROOT / "requirements" / f"{lock}.txt").read_text()
    assert "://" not in text
    assert "--index-url" not in text
    assert "--find-links" not in text


def test_contributing_lists_each_dependency_with_its_locked_version() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Dependencies")[2]
    listed = dict(re.findall(r"^\| ([\w.-]+) \| (\d[\w.]*) \|", text, re.MULTILINE))
    locked = pins("runtime")
    assert listed == {
        requirement.name: locked[canonicalize_name(requirement.name)]
        for requirement in map(Requirement, project()["project"]["dependencies"])
    }
