"""``masthead feed``: new-epoch."""

import click

from masthead.cli.audit import actor
from masthead.cli.durations import Moment
from masthead.cli.options import setting
from masthead.cli.stores import opened
from masthead.store import epochs


@click.group()
def feed() -> None:
    """The change feed."""


@feed.command("new-epoch")
@click.option(
    "--after",
    type=Moment(),
    metavar="TIME",
    help="Latest time that clients may have, such as 2026-11-20T08:30:00Z, if the clock "
    "was ahead before; the epoch begins after it.",
)
@setting("database")
def new_epoch(after: int | None, database: str) -> None:
    """Make every client of the change feed load everything again, after restoring a backup.

    Clients may have changes that the backup lacks. A changed_since from before the new epoch gets
    410 at once, also from running servers. The epoch begins now, or after the newest change if that
    is later.
    """
    count = epochs.start_epochs(opened(database), after_us=after or 0, by=actor())
    click.echo(f"a new epoch began in {count} {'account' if count == 1 else 'accounts'}")
