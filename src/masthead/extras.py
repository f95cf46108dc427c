"""The command that installs missing packages: the file of the release, with an extra.

It never uses the name alone. The name is not registered on a public index. Anyone could register
it there, and a hint would install their package (rules, "What a hint says to install").
"""

from typing import Literal

from masthead import __version__

Extra = Literal["billing", "duckdb", "mirror", "plots", "server", "singer"]

WHEEL = f"masthead-{__version__}-py3-none-any.whl"
"""The name of the release's file."""


def install(extra: Extra) -> str:
    """Return the command that adds an extra to an installation of this version."""
    return f"pip install './{WHEEL}[{extra}]'"
