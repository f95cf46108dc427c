"""The wheel and the sdist hold what they must, nothing else, and say what they are."""

from __future__ import annotations

import re
import subprocess
import tarfile
import zipfile
from typing import TYPE_CHECKING

import pytest
from packaging.metadata import Metadata
from packaging.utils import parse_sdist_filename, parse_wheel_filename
from packaging.version import Version

import masthead
from tests.house import ROOT

if TYPE_CHECKING:
    from tests.release import Release

NEVER = re.compile(r"\.(py[co]|db|db-\w+|key|pem|log)$|(^|/)(\.git|\.venv|__pycache__)(/|$)|\.env$")


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    """The files of the project: those that git has."""
    assert (ROOT / ".git").exists(), "make a release in a clone: git knows the project's files"
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(filter(None, listed.stdout.split("\0")))


def names_in_the_sdist(release: Release) -> set[str]:
    with tarfile.open(release.sdist) as archive:
        files = [member.name for member in archive.getmembers() if not member.isdir()]
    folder = release.sdist.name.removesuffix(".tar.gz")
    assert {name.partition("/")[0] for name in files} == {folder}
    return {name.partition("/")[2] for name in files}


def names_in_the_wheel(release: Release) -> set[str]:
    with zipfile.ZipFile(release.wheel) as archive:
        return set(archive.namelist())


def metadata_of(release: Release) -> Metadata:
    with zipfile.ZipFile(release.wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Metadata.from_email(archive.read(name), validate=True)


def test_the_sdist_holds_the_project_and_nothing_else(release: Release, tracked: set[str]) -> None:
    """rules, "What a release is"."""
    assert names_in_the_sdist(release) == tracked | {"PKG-INFO"}
    for name in (
        *("LICENSE", "README.md", "CHANGELOG.md", "Makefile", "requirements/runtime.txt"),
        *("docs/operator.md", "deploy/masthead.service", "tests/release/test_contents.py"),
    ):
        assert name in tracked, name


def test_the_wheel_holds_the_package_with_its_documentation_and_nothing_else(
    release: Release, tracked: set[str]
) -> None:
    """rules, "What a release is"; "The user documentation"."""
    package = {name.removeprefix("src/") for name in tracked if name.startswith("src/masthead/")}
    package |= {
        f"masthead/manual/{name.removeprefix('docs/')}"
        for name in tracked
        if name.startswith("docs/") and name.endswith(".md")
    }
    info = f"masthead-{masthead.__version__}.dist-info"
    others = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
    assert names_in_the_wheel(release) == package | {f"{info}/{name}" for name in others}
    assert {"masthead/py.typed", "masthead/store/sql/sqlite/0001_start.sql"} <= package


def test_neither_holds_what_a_trial_run_leaves(release: Release) -> None:
    names = names_in_the_sdist(release) | names_in_the_wheel(release)
    assert not [name for name in names if NEVER.search(name)]


def test_both_have_the_version_of_the_package(release: Release) -> None:
    version = Version(masthead.__version__)
    assert parse_sdist_filename(release.sdist.name) == ("masthead", version)
    name, found, _, tags = parse_wheel_filename(release.wheel.name)
    assert (name, found) == ("masthead", version)
    assert {str(tag) for tag in tags} == {"py3-none-any"}


def test_the_metadata_are_valid_and_complete(release: Release) -> None:
    """decisions, "What an installation holds"."""
    metadata = metadata_of(release)
    assert str(metadata.requires_python) == ">=3.11"
    assert metadata.license_expression == "MIT"
    assert sorted(metadata.provides_extra or []) == [
        "billing",
        "dlt",
        "duckdb",
        "mirror",
        "plots",
        "server",
        "singer",
    ]
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description == (ROOT / "README.md").read_text()


def test_the_changelog_tells_of_the_version() -> None:
    """A version of development has no heading of its own, another has the first (Releases)."""
    headings = re.findall(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    version = masthead.__version__
    if Version(version).is_devrelease:
        assert Version(version).base_version not in headings
    else:
        assert headings[1] == version
