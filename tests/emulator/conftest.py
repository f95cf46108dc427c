"""One emulator for all of these tests, as the fixture of the plugin has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from masthead import Client
from masthead.emulator import MastheadServer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def _emulator() -> Iterator[MastheadServer]:
    with MastheadServer() as server:
        yield server


@pytest.fixture
def server(_emulator: MastheadServer) -> MastheadServer:
    """An emulator without records."""
    _emulator.reset()
    return _emulator


@pytest.fixture
def client(server: MastheadServer) -> Iterator[Client]:
    """A client of it that tries again for a second."""
    with Client(server.base_url, *server.credentials, patience_s=10) as client:
        yield client
