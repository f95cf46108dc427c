"""``masthead database``: migrate and status."""

import click

from masthead.cli.options import setting
from masthead.cli.stores import found
from masthead.store.migrations import status

__all__ = ["database_group"]


@click.group("database")
def database_group() -> None:
    """The database."""


@database_group.command("migrate")
@setting("database")
def migrate(database: str) -> None:
    """Create the tables, or bring them up to date.

    A file is brought up to date by every command that opens it. For PostgreSQL, run this as the
    user who owns the database, once, and after each upgrade: servers go on meanwhile. It also
    creates the role that servers log in as, which is named after the database: masthead_server.
    """
    done = found(database).migrate()
    for title in done:
        click.echo(f"applied  {title}")
    click.echo("up to date")


@database_group.command("status")
@setting("database")
def show_status(database: str) -> None:
    """Show each migration, and whether it is applied; change nothing."""
    with found(database).writer() as connection:
        steps = status(connection)
    for migration, is_applied in steps:
        click.echo(f"{'applied' if is_applied else 'missing'}  {migration.title}")
    missing = sum(not is_applied for _, is_applied in steps)
    click.echo("up to date" if not missing else f"{missing} of {len(steps)} missing")
