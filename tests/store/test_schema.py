"""The schema of both databases is written from one source (``schema/write.py``)."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_the_schema_is_what_its_source_says(database: str) -> None:
    """`make schema` brings it up to date."""
    written = runpy.run_path(str(ROOT / "schema" / "write.py"))["schema"](database)
    schema = ROOT / "src/masthead/store/sql" / database / "0001_start.sql"
    assert schema.read_text() == written
