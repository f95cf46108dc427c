"""The lines of the log of pages that this process serves, for tests that look at them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead import log

if TYPE_CHECKING:
    from collections.abc import Iterator


_lines: list[str] = []


@pytest.fixture(scope="session", autouse=True)
def log_lines() -> Iterator[list[str]]:
    """The lines of the log; ``log.end_logs()`` waits for them.

    A thread writes them, also between two tests, when pytest captures nothing. Several folders of
    tests have this fixture in one session: they share the list.
    """

    def put(_writer: object, line: str) -> bool:
        _lines.append(line)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log._Writer, "_put", put)
        yield _lines
