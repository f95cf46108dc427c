"""Publishers for the pipelines, and the warnings that the tools themselves cause."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.mirror.conftest import (
    database_of_copies,
    golden,
    new_publisher,
    publisher,
    serve,
    sparse,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["database_of_copies", "golden", "new_publisher", "publisher", "serve", "sparse"]


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is sent to the makers of a tool, and nothing is read from or left in a home."""
    monkeypatch.setenv("RUNTIME__DLTHUB_TELEMETRY", "false")
    monkeypatch.setenv("RUNTIME__LOG_LEVEL", "ERROR")
    # dlt takes its settings from variables of these names, also without a prefix.
    monkeypatch.delenv("WORKERS", raising=False)
    monkeypatch.setenv("DLT_DATA_DIR", str(tmp_path / "dlt"))
    monkeypatch.chdir(tmp_path)
