"""``masthead backup`` and ``restore``."""

from pathlib import Path

import click

from masthead.cli.audit import deed
from masthead.cli.options import setting
from masthead.cli.progress import progress
from masthead.cli.stores import found
from masthead.loading.erasures import read_erasures
from masthead.store.backups import back_up, restore_backup

__all__ = ["backup", "restore"]

_FILE = click.Path(path_type=Path, dir_okay=False)
_ID = click.IntRange(0, 2**63 - 1)
_MIB = 2**20


@click.command()
@click.argument("file", type=_FILE)
@setting("database")
def backup(file: Path, database: str) -> None:
    """Write a backup of the embedded database to FILE.

    Servers and imports can run meanwhile. FILE appears when it is complete and checked; an existing
    file is never replaced. FILE does not hold the secret key.
    """
    with progress() as bars:
        task = bars.add_task("backup", total=None)

        def advance(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        removed = back_up(found(database), file, advance=advance, by=deed())
    _say_removed(removed)
    click.echo(f"{file}: {file.stat().st_size / _MIB:.1f} MiB, checked")
    click.echo(
        "It holds personal data, and not the secret key: keep a copy of that in another place"
    )


@click.command()
@click.argument("file", type=_FILE)
@click.option("--replace", is_flag=True, help="Replace an existing database.")
@click.option(
    "--erasures",
    type=(_ID, _FILE),
    multiple=True,
    metavar="ACCOUNT FILE",
    help="Erase the subscribers of this list again, such as the erasures.csv of the account's "
    "latest `masthead export`. May be given several times.",
)
@click.option(
    "--even-if-unreadable",
    is_flag=True,
    help="Replace a database even if its list of erased subscribers cannot be read.",
)
@setting("database")
def restore(
    file: Path,
    database: str,
    *,
    replace: bool,
    erasures: tuple[tuple[int, Path], ...],
    even_if_unreadable: bool,
) -> None:
    """Replace the embedded database with the backup FILE, and begin a new epoch.

    No server and no import may run, and the secret key must be the one of the backup. If the
    restore fails, the database is unchanged. Every client of the change feed has to load everything
    again. The erased subscribers and the audit log of the replaced database are carried over:
    subscribers who were erased after the backup are erased again.
    """
    named = [erasure for each in erasures for erasure in read_erasures(*each)]
    with progress() as bars:
        task = bars.add_task("restore", total=None)

        def advance(done: int, total: int) -> None:
            bars.update(task, completed=done, total=total)

        restored = restore_backup(
            found(database),
            file,
            replace=replace,
            advance=advance,
            erasures=named,
            even_if_unreadable=even_if_unreadable,
            by=deed(),
        )
    _say_removed(restored.removed)
    count = restored.accounts
    click.echo(f"restored; a new epoch began in {count} {'account' if count == 1 else 'accounts'}")
    for account_id, subscriber_ids in sorted(restored.erased.items()):
        ids = ", ".join(map(str, sorted(subscriber_ids)))
        subscribers = "subscriber" if len(subscriber_ids) == 1 else "subscribers"
        click.echo(f"account {account_id}: erased again: {subscribers} {ids}")
    if restored.audit_entries:
        records = "record" if restored.audit_entries == 1 else "records"
        click.echo(f"{restored.audit_entries} {records} of who did what carried over")
    if restored.unread:
        click.echo(
            "Neither the list of the erased nor the record of who did what could be carried over "
            f"from the database that was replaced: {restored.unread}",
            err=True,
        )
    elif not restored.replaced and not named:
        click.echo(
            "No list of the erased was carried over: there was no database. Import the latest "
            "erasures.csv",
            err=True,
        )


def _say_removed(removed: list[Path]) -> None:
    for path in removed:
        click.echo(f"removed {path}, which a command that was killed had left")
