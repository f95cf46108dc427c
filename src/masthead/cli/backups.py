"""``masthead backup`` and ``restore``."""

from pathlib import Path

import click

from masthead.cli.deeds import deed
from masthead.cli.options import setting
from masthead.cli.progress import progress
from masthead.store import find_store
from masthead.store.backups import back_up, restore_backup

__all__ = ["backup", "restore"]

_FILE = click.Path(path_type=Path, dir_okay=False)
_MIB = 2**20


@click.command()
@click.argument("file", type=_FILE)
@setting("database")
def backup(file: Path, database: str) -> None:
    """Write the embedded database, as it is at this moment, to FILE.

    Servers and loads go on meanwhile. FILE is whole and checked once it is there; one that exists
    already is never replaced. The secret key is not in it.
    """
    with progress() as bars:
        task = bars.add_task("backup", total=None)

        def advance(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        back_up(find_store(database), file, advance=advance, by=deed())
    click.echo(f"{file}: {file.stat().st_size / _MIB:.1f} MiB, checked")
    click.echo(
        "It holds personal data, and not the secret key: keep a copy of that in another place"
    )


@click.command()
@click.argument("file", type=_FILE)
@click.option("--replace", is_flag=True, help="Lose what the database holds now.")
@setting("database")
def restore(file: Path, replace: bool, database: str) -> None:
    """Put the backup FILE in the place of the embedded database, and begin a new epoch.

    No server may run, nor a load, and the secret key has to be the one of the backup. The database
    has all of the backup or, where something goes wrong, what it had before. Every client of the
    change feed begins anew.
    """
    with progress() as bars:
        task = bars.add_task("restore", total=None)

        def advance(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        count = restore_backup(
            find_store(database), file, replace=replace, advance=advance, by=deed()
        )
    click.echo(f"restored; a new epoch began in {count} {'account' if count == 1 else 'accounts'}")
