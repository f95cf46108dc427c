"""Files that a command writes, which keep what exists unless --replace is given."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import click

from masthead.errors import BadInput
from masthead.private_files import new_file

replace_option = click.option("--replace", is_flag=True, help="Replace the file if it exists.")


def check_new(path: Path, *, replace: bool = False) -> None:
    """Raise BadInput if a file exists that is not to be replaced."""
    if path.exists() and not replace:
        raise BadInput(f"{path} exists already: --replace replaces it")


@contextmanager
def written(path: Path, encoding: str = "utf-8") -> Iterator[IO[str]]:
    """Yield a file that takes the place of ``path`` once it is written as a whole.

    Raises OSError.
    """
    partial = path.with_name(f"{path.name}.part")
    try:
        with new_file(partial, encoding=encoding) as out:
            yield out
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
