"""A process that makes documents with the templates that come with Masthead."""

from collections.abc import Iterator

import pytest

from masthead.documents.rendering import Appearance, Renderer


@pytest.fixture(scope="session")
def renderer() -> Iterator[Renderer]:
    """Makes documents for all tests of a run that change no template."""
    with Renderer(Appearance()) as opened:
        yield opened
