"""The lines of the log of pages that this process serves, for tests that look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead import log

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session", autouse=True)
def log_lines() -> Iterator[list[str]]:
    """The lines of the log; ``log.end_logs()`` waits for them.

    A thread writes them, also between two tests, when pytest captures nothing.
    """
    lines: list[str] = []

    def put(_writer: object, line: str) -> bool:
        lines.append(line)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log._Writer, "_put", put)
        yield lines
