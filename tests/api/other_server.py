"""The app for whatever server of ASGI runs it: ``uvicorn --factory tests.api.other_server:app``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from masthead.api.app import create_app
from masthead.store import open_store

if TYPE_CHECKING:
    from starlette.types import ASGIApp


def app() -> ASGIApp:
    """Return the app of the database that the environment names."""
    return create_app(open_store(os.environ["MASTHEAD_DATABASE"]))
