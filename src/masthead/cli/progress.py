"""Progress bars."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from masthead.cli.streams import own_terminal


@contextmanager
def progress() -> Iterator[Progress]:
    """Show progress bars on standard error if it is a terminal."""
    console = Console(file=own_terminal(sys.stderr))
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn())
    with Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as bars:
        yield bars
