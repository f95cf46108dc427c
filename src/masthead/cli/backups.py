"""``masthead backup`` and ``restore``."""

from pathlib import Path

import click

from masthead.cli.audit import actor
from masthead.cli.options import setting
from masthead.cli.progress import progress
from masthead.cli.stores import found
from masthead.loading.erasures import read_erasures
from masthead.store.backups import Restored, back_up, restore_backup

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

        removed = back_up(found(database), file, advance=advance, by=actor())
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
    again. The list of the erased and the audit log of the replaced database are carried over, and
    subscribers who were erased after the backup are erased again. API credentials, the accounts
    that are switched off, and the operators with their roles and passwords are carried over as
    well.
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
            by=actor(),
        )
    _say_removed(restored.removed)
    count = restored.accounts
    click.echo(f"restored; a new epoch began in {count} {'account' if count == 1 else 'accounts'}")
    for account_id, subscriber_ids in sorted(restored.erased.items()):
        ids = ", ".join(map(str, sorted(subscriber_ids)))
        subscribers = "subscriber" if len(subscriber_ids) == 1 else "subscribers"
        click.echo(f"account {account_id}: erased again: {subscribers} {ids}")
    for account_id, subscriber_ids in sorted(restored.left.items()):
        for subscriber_id in sorted(subscriber_ids):
            click.echo(
                f"account {account_id}: subscriber {subscriber_id} has issues or money left again: "
                f"say `masthead erase --account {account_id} --subscriber {subscriber_id}` with "
                "--refund or --earn"
            )
    for account_id, what in restored.carried.changed.items():
        click.echo(f"account {account_id}: as in the database that was replaced: {', '.join(what)}")
    for account_id in restored.carried.closed:
        click.echo(
            f"account {account_id}: removed after the backup, so it is switched off now, without "
            f"credentials and operators: `masthead accounts remove {account_id}` removes it"
        )
    if restored.audit_entries:
        records = "record" if restored.audit_entries == 1 else "records"
        click.echo(f"{restored.audit_entries} {records} of the audit log carried over")
    _warn(restored, has_list=bool(named))


def _warn(restored: Restored, *, has_list: bool) -> None:
    """Warn about data that the backup may have restored."""
    lists, admitted, stamps = restored.unread
    if not restored.replaced:
        lists = admitted = stamps = "there was none"
    if not restored.replaced and not has_list:
        click.echo(
            "No list of the erased was carried over: there was no database. Import the latest "
            "erasures.csv",
            err=True,
        )
    elif restored.replaced and lists:
        click.echo(
            "Neither the list of the erased nor the audit log could be carried over "
            f"from the replaced database: {lists}",
            err=True,
        )
    if admitted:
        click.echo(
            "Credentials, accounts and operators are as they were when the backup "
            "was made, since they could not be read from a replaced database: "
            f"{admitted}. Credentials that were changed, accounts that were "
            "switched off, and operators who were removed or got another role or "
            "password may be valid again: check `masthead accounts list` and "
            "`masthead operators list`, and run `masthead accounts rotate-credentials` or "
            "`masthead operators set` where they changed. All sessions of the "
            "console have ended",
            err=True,
        )
    if stamps:
        click.echo(
            "The new epoch begins at the time of this machine. If its clock was "
            "ahead when data were loaded that the backup lacks, run `masthead feed "
            "new-epoch --after TIME` with the latest time of that clock",
            err=True,
        )


def _say_removed(removed: list[Path]) -> None:
    for path in removed:
        click.echo(f"removed {path}, which a command that was killed had left")
