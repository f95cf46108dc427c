"""Who has a file open notices that another one is in its place."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.errors import StoreUnavailable
from masthead.store import open_store
from tests.store.conftest import opening

if TYPE_CHECKING:
    from pathlib import Path


def test_a_reader_of_the_earlier_file_does_not_end_what_a_check_found(tmp_path: Path) -> None:
    """rules, "A file that is gone": only a check of the path itself does."""
    path, other = tmp_path / "masthead.db", tmp_path / "other.db"
    open_store(f"sqlite:///{other}").close()
    with opening(f"sqlite:///{path}") as served, served.reader() as database:
        kept = path.rename(tmp_path / "kept.db")
        other.rename(path)
        with pytest.raises(StoreUnavailable, match="replaced by another file"):
            served.check()
        served.check_schema(database)
        with pytest.raises(StoreUnavailable, match="replaced by another file"), served.reader():
            pass
        kept.rename(path)
        served.check()
        with served.reader():
            pass
