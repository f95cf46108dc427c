"""New readers of a file who look like existing ones, as lines (circulation, "Who is who")."""

from collections.abc import Sequence

import click

from masthead.books.orders import Resembling
from masthead.loading.order_files import PROBLEMS_SHOWN_MAX


def echo_first(lines: Sequence[str], what: str) -> None:
    """Print the first hundred lines, and how many more ``what`` there are."""
    for line in lines[:PROBLEMS_SHOWN_MAX]:
        click.echo(line)
    if len(lines) > PROBLEMS_SHOWN_MAX:
        click.echo(f"and {len(lines) - PROBLEMS_SHOWN_MAX} more such {what}")


def echo_newcomers(lines: Sequence[str]) -> None:
    """Print how many new readers look like existing ones, and a line about each of the first."""
    if lines:
        click.echo(f"new readers who look like existing ones: {len(lines)}")
        echo_first(lines, "readers")


def likeness(name: str, resembling: Sequence[Resembling]) -> str:
    """Return whom a new reader looks like, and what is the same."""
    like = "; ".join(f"{one.line} ({one.why})" for one in resembling)
    return f"{name} looks like {like}"
