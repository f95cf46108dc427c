"""What brings the packages that an installation lacks: the file of the release, with an extra.

Never the name alone: on a public index it is nobody's, so whoever takes it would be installed by
a hint that says it (rules, "What a hint says to install").
"""

from typing import Literal

from masthead import __version__

__all__ = ["WHEEL", "Extra", "install"]

Extra = Literal["duckdb", "mirror", "plots", "server"]

WHEEL = f"masthead-{__version__}-py3-none-any.whl"
"""The name of the release's file."""


def install(extra: Extra) -> str:
    """Return the command that adds an extra to an installation of this version."""
    return f"pip install './{WHEEL}[{extra}]'"
