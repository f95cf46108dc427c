"""The pytest plugin: the fixtures ``masthead_server`` and ``masthead_publisher``.

Each is an emulator for each test, without records or with those of the base set.

pytest imports this module in every run, so it imports nothing until a test uses the fixture. One
process serves all tests of a session. The fixture resets it before each test (rules,
"The fixture `masthead_server`").
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from masthead.emulator.remote import MastheadServer


@pytest.fixture(scope="session")
def _masthead_process() -> Iterator["MastheadServer"]:
    """An emulator that serves until the end of the session."""
    from masthead.emulator.remote import MastheadServer  # noqa: PLC0415

    with MastheadServer() as server:
        yield server


@pytest.fixture
def masthead_server(_masthead_process: "MastheadServer") -> "MastheadServer":
    """A service of Masthead without records: ``base_url``, ``credentials``, ``add`` and more."""
    _masthead_process.reset()
    return _masthead_process


@pytest.fixture
def masthead_publisher(masthead_server: "MastheadServer") -> "MastheadServer":
    """The service with a small publisher: ``masthead.emulator.BaseSet`` names its subscribers."""
    masthead_server.add_base_set()
    return masthead_server
