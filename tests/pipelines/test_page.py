"""Every command of the page about pipelines does what the page says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.docs.pages import ROOT, blocks_of, fits, run

if TYPE_CHECKING:
    from pathlib import Path


def test_the_commands_of_the_page_work_and_print_what_it_says(tmp_path: Path) -> None:
    blocks = blocks_of(ROOT / "docs" / "pipelines.md")
    assert blocks
    for block, printed in zip(blocks, run(blocks, tmp_path), strict=True):
        assert block.prints is None or fits(block.prints, printed), (block, printed)
