"""``masthead database``: migrate, distribute and status."""

import click

from masthead.cli.options import setting
from masthead.cli.stores import found
from masthead.store import distribution
from masthead.store.migrations import status, steps


@click.group("database")
def database_group() -> None:
    """The database: its tables, and the machines that hold it."""


@database_group.command("migrate")
@setting("database")
def migrate(database: str) -> None:
    """Create the tables, or bring them up to date.

    Run this after each upgrade, when there is a backup and no load runs. For a file, `masthead
    serve` does it too; no other command does. From then on, servers of the earlier version answer
    with 503. For PostgreSQL, run it before the first use too, as the user who owns the database.
    There it also creates the role that servers log in as, which is named after the database:
    masthead_server.
    """
    done = found(database).migrate()
    for migration in done:
        click.echo(f"applied  {migration.title}")
    if said := steps(done):
        click.echo(said)
    click.echo("up to date")


@database_group.command("distribute")
@setting("database")
@click.option("--dry-run", is_flag=True, help="Only print the statements.")
def distribute(database: str, *, dry_run: bool) -> None:
    """Distribute the tables and their data over the machines of a Citus cluster.

    Run this on the coordinator, as the user who owns the database: before the first use, after each
    upgrade, and when a machine was added. Tables that are distributed already stay as they are.
    Loads and requests wait while tables are distributed.
    """
    statements = distribution.distribute(found(database), dry_run=dry_run)
    if dry_run:
        click.echo(";\n".join(" ".join(each.split()) for each in statements) + ";")
    else:
        click.echo("distributed")


@database_group.command("status")
@setting("database")
def show_status(database: str) -> None:
    """Show each migration, and the machines of a distributed database; change nothing."""
    with found(database).writer() as connection:
        shown = status(connection)
        distributed = distribution.distribution_of(connection)
    for migration, is_applied in shown:
        click.echo(f"{'applied' if is_applied else 'missing'}  {migration.title}")
    missing = sum(not is_applied for _, is_applied in shown)
    click.echo("up to date" if not missing else f"{missing} of {len(shown)} missing")
    if distributed:
        for node in distributed.nodes:
            state = "" if node.is_active else ", not active"
            click.echo(
                f"node {node.host}:{node.port}: {node.shards} shards, "
                f"{node.accounts} accounts{state}"
            )
        if distributed.not_distributed:
            names = ", ".join(distributed.not_distributed)
            click.echo(f"not distributed: {names}")
