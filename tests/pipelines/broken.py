"""The responses that break off or fail in the tests of pipelines, by request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.client.service import refused
from tests.long import ONLY_EVERY
from tests.mirror.test_broken_answers import cut, half

if TYPE_CHECKING:
    from _pytest.mark import ParameterSet

HOWS = {"cut": cut, "half": half, "503": lambda _: refused(503)}


def breaking(first: str, *others: str) -> list[ParameterSet]:
    """Return pairs of a path and how its response breaks: without ``--every`` only one of them.

    The client reads all of them by the same code, and tests/client breaks them off in each way.
    """
    return [
        pytest.param(
            *(path, how),
            id=f"{path} {name}",
            marks=() if path == first and name == "half" else ONLY_EVERY,
        )
        for path in (first, *others)
        for name, how in HOWS.items()
    ]
