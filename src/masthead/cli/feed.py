"""``masthead feed``: new-epoch."""

import click

from masthead.cli.audit import deed
from masthead.cli.options import setting
from masthead.store import commits, open_store

__all__ = ["feed"]


@click.group()
def feed() -> None:
    """The change feed from which partners keep their copies."""


@feed.command("new-epoch")
@setting("database")
def new_epoch(database: str) -> None:
    """Let every client of the feed begin anew: to be called after a backup was restored.

    What they have learned since that backup is not in the database any more. A time from before
    the new epoch gets 410, at once, from a running server too.
    """
    count = commits.start_epoch(open_store(database), by=deed())
    click.echo(f"a new epoch began in {count} {'account' if count == 1 else 'accounts'}")
