"""Cells of hundreds of thousands of characters, which take no longer than their length."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead.contract.records import TABLES_BY_NAME
from masthead.loading.batches import Batch
from masthead.loading.cleaning import cleaned, key_text
from masthead.loading.doubts import Doubts
from masthead.loading.guess import guess_mapping
from masthead.loading.plausible import most_plausible, segments

if TYPE_CHECKING:
    from pathlib import Path

LENGTH = 100_000
CELLS = [
    "0" * LENGTH + "x",
    "a@" + "." * LENGTH + "@",
    "a" * LENGTH,
    "'" * LENGTH,
    '="' * LENGTH,
    "a " * LENGTH,
    "abc" * LENGTH + " x",
    "0E+" * LENGTH,
    "\u200d" * LENGTH,
    "\u00c3" * LENGTH,
]


@pytest.mark.parametrize("cell", CELLS, ids=[cell[:3] for cell in CELLS])
def test_a_long_cell_is_read_in_one_pass(cell: str, tmp_path: Path) -> None:
    """rules, "Cells that are cleaned": if the time grew with the square, this took minutes."""
    assert key_text(cell) in {cell, cell.lower()}
    assert len(cleaned([cell])) == 1
    doubts = Doubts("x.csv", lambda _part, name: name, is_cleaned=False)
    doubts.look(0, TABLES_BY_NAME["subscribers"], Batch(["email"], [2], [[cell]], (), 0))
    assert len([*doubts.warnings()]) <= 2
    quoted = cell.replace('"', '""')
    (tmp_path / "x.csv").write_text(f'Nr,Mail,Valid until\n1,a@e.org,"{quoted}"\n"{quoted}"\n')
    assert "Nr" in guess_mapping([tmp_path / "x.csv"])


def test_the_encoding_of_long_words_is_found_in_one_pass() -> None:
    """rules, "What is detected"."""
    data = b"a" * LENGTH + b" B\xe4r " + b"a" * LENGTH + b"1\xe9" + b"abcd" * LENGTH
    pieces = [*segments(data)]
    assert pieces == [b"B\xe4r"]
    assert most_plausible("cp1252", pieces) == "cp1252"
