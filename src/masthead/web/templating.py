"""The environment of the templates of pages.

A missing variable is an error, and all values are escaped.
"""

from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_SHARED = Path(__file__).parent / "html"


def environment(
    folder: Path, *, static: Callable[[str], str], extensions: Sequence[str] = ()
) -> Environment:
    """Return the environment of the templates in a folder and of those that all pages share.

    ``static`` names the files of the folder's pages.
    """
    made = Environment(
        loader=FileSystemLoader([folder, _SHARED]),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
        extensions=extensions,
    )
    made.globals["static"] = static
    return made
