"""``masthead database``: status."""

import click

from masthead.cli.options import setting
from masthead.store import find_store
from masthead.store.migrations import status

__all__ = ["database_group"]


@click.group("database")
def database_group() -> None:
    """The database."""


@database_group.command("status")
@setting("database")
def show_status(database: str) -> None:
    """Show each migration, and whether it is applied; change nothing.

    The next command that opens the database applies missing migrations.
    """
    with find_store(database).writer() as found:
        steps = status(found)
    for migration, is_applied in steps:
        state = "applied" if is_applied else "missing"
        click.echo(f"{migration.number:04}  {state}  {migration.name}")
    missing = sum(not is_applied for _, is_applied in steps)
    click.echo("up to date" if not missing else f"{missing} of {len(steps)} missing")
