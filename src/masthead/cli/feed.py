"""``masthead feed``: new-epoch."""

import click

from masthead.cli.audit import deed
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.store import epochs

__all__ = ["feed"]


@click.group()
def feed() -> None:
    """The change feed."""


@feed.command("new-epoch")
@setting("database")
def new_epoch(database: str) -> None:
    """Let every client of the change feed load everything again, after restoring a backup.

    Clients may have changes that the backup lacks. A changed_since from before the new epoch gets
    410, at once, also from running servers.
    """
    count = epochs.start_epochs(opened(database), by=deed())
    click.echo(f"a new epoch began in {count} {'account' if count == 1 else 'accounts'}")
