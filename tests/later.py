"""A later version of Masthead, with one more migration, in this process or installed."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import masthead
from masthead.store import migrations as of_the_store
from masthead.store.migrations import Migration, migrations
from tests.servers import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

VERSION = "99.1.0"
HIDES_KEYS = (
    "ALTER TABLE subscribers ADD COLUMN note TEXT; "
    "UPDATE credentials SET key_hash = key_hash || '-later';"
)
"""The version before finds no credentials after this migration."""


@contextmanager
def knowing(sql: str) -> Iterator[None]:
    """Be a later version of Masthead, with one more migration."""
    more = Migration(2, "later", sql)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(of_the_store, "migrations", lambda dialect: [*migrations(dialect), more])
        yield


def later_version(folder: Path, sql: str | None = HIDES_KEYS) -> dict[str, str]:
    """Install a later version in a folder; return the environment in which it is the one that runs.

    ``sql`` is its migration; None: it has the same schema.
    """
    package = folder / "masthead"
    shutil.copytree(Path(masthead.__file__).parent, package)
    say_version(folder, VERSION)
    if sql:
        for dialect in ("sqlite", "postgresql"):
            (package / "store" / "sql" / dialect / "0002_later.sql").write_text(sql)
    return {"PYTHONPATH": f"{folder}:{ROOT}"}


def say_version(folder: Path, version: str) -> None:
    """Let what is installed in the folder be of that version."""
    file = folder / "masthead" / "__init__.py"
    # Python takes compiled code for current if the source has its size and, in whole seconds, time.
    for compiled in file.parent.glob("__pycache__/__init__.*.pyc"):
        compiled.unlink()
    found = masthead.__version__ if VERSION not in file.read_text() else VERSION
    file.write_text(file.read_text().replace(f'"{found}"', f'"{version}"'))
