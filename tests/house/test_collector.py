"""Nothing is left to the garbage collector to close: neither in a server nor in a command.

In the tests' own process that is pytest's, which takes every warning for an error.
"""

from __future__ import annotations

import gc
import warnings
from typing import TYPE_CHECKING

import pytest

from tests.servers import masthead, serving

if TYPE_CHECKING:
    from pathlib import Path


def test_a_server_that_forgets_to_close_a_file_fails_its_test(tmp_path: Path) -> None:
    with (
        pytest.raises(AssertionError, match="ResourceWarning"),
        serving(f"sqlite:///{tmp_path}/forgotten.db", module="tests.house.forgetful"),
    ):
        pass


def test_a_command_that_forgets_to_close_a_file_fails_its_test(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ResourceWarning"):
        masthead(
            "accounts",
            "list",
            database=f"sqlite:///{tmp_path}/forgotten.db",
            module="tests.house.forgetful",
        )


def test_what_a_test_forgets_to_close_is_an_error(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        (tmp_path / "forgotten").open("w")
        gc.collect()
    assert [warning.category for warning in caught] == [ResourceWarning]
    assert ("error", None, Warning, None, 0) in [tuple(each) for each in warnings.filters]
